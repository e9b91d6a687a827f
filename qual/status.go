package qual

import "fmt"

// Status is how far a checkpoint and workload have come. It is computed from evidence, never typed in.
type Status string

// The statuses, from the lowest to the highest.
const (
	Planned         Status = "planned"
	Implemented     Status = "implemented"
	FamilyValidated Status = "family-validated"
	AIPerfQualified Status = "AIPerf-qualified"
)

// QualifyingAIPerf is the published client version whose runs can qualify.
const QualifyingAIPerf = "0.13.0"

// StatusEvidence is what a status is computed from. The zero value proves nothing.
type StatusEvidence struct {
	// ChecksHeld says that the adapter was driven through the native ABI and every check of the report held.
	ChecksHeld bool
	// Reference says that the CPU reference runtime computed the results.
	Reference bool
	// BundleSHA256 is the digest of the bundle that was served.
	BundleSHA256 string
	// Validated is the digest of the bundle on which the owner's unchanged correctness case passed; empty when it was
	// not run, was skipped, or failed.
	Validated string
	// AIPerf is the version of the AIPerf client that drove the run; empty when another client did.
	AIPerf string
	// Joined says that every request of the AIPerf run was joined with a client row and a server record.
	Joined bool
	// Identical says that what HTTP delivered equals a direct Task call.
	Identical bool
	// Complete says that no piece of the evidence that a publication needs is missing.
	Complete bool
}

// StatusResult is a computed status and, in words, what stands in the way of the next one.
type StatusResult struct {
	Status  Status   `json:"status"`
	Missing []string `json:"missing"`
}

// ComputeStatus climbs the ladder planned, implemented, family-validated, AIPerf-qualified as far as the evidence
// carries. Results of the reference runtime stop at implemented.
func ComputeStatus(e StatusEvidence) StatusResult {
	steps := []struct {
		status Status
		needs  []need
	}{
		{Implemented, []need{{e.ChecksHeld, "every check of the report held"}}},
		{FamilyValidated, []need{
			{!e.Reference, "the vendor's runtime: the reference runtime proves the path and qualifies nothing"},
			{e.Validated != "", "the validation command of the checkpoint's owner passed"},
			{e.Validated == "" || e.Validated == e.BundleSHA256, fmt.Sprintf("the validation ran on the bundle that was served (%s)", e.BundleSHA256)},
		}},
		{AIPerfQualified, []need{
			{e.AIPerf == QualifyingAIPerf, "a run of the published AIPerf " + QualifyingAIPerf},
			{e.AIPerf != "" && e.Joined, "every request of the AIPerf run joined with a client row and a server record"},
			{e.Identical, "what HTTP delivered equals a direct Task call"},
			{e.Complete, "complete evidence"},
		}},
	}
	at := StatusResult{Status: Planned, Missing: []string{}}
	for _, step := range steps {
		for _, n := range step.needs {
			if !n.met {
				at.Missing = append(at.Missing, n.words)
			}
		}
		if len(at.Missing) > 0 {
			return at
		}
		at.Status = step.status
	}
	return at
}

// need is one condition of a step, in the words that a report prints when it is not met.
type need struct {
	met   bool
	words string
}
