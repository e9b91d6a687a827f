package inventory

import (
	"encoding/hex"
	"fmt"
)

// Status is how far a row has come. It is computed; nothing in the data states one.
type Status string

// The ladder, lowest first.
const (
	Planned         Status = "planned"
	Implemented     Status = "implemented"
	FamilyValidated Status = "family-validated"
	AIPerfQualified Status = "AIPerf-qualified"
)

// QualifyingAIPerf is the release of the client whose runs qualify.
const QualifyingAIPerf = "0.13.0"

// Evidence is what a status is computed from. Every field states something that was shown; the zero value shows
// nothing. Whoever fills it does so from files of a run, see package qual.
type Evidence struct {
	AdapterChecks bool `json:"adapter_checks"` // the adapter was driven through the native ABI and every check held
	VendorRuntime bool `json:"vendor_runtime"` // the vendor's library computed the results, not the CPU reference runtime

	BundleSHA256     string `json:"bundle_sha256"`     // of the bundle that was served, 64 hexadecimal digits
	ValidationBundle string `json:"validation_bundle"` // digest of the bundle that the validation command ran on
	ValidationPassed bool   `json:"validation_passed"` // the owner's unchanged correctness case ended with success
	ValidationRan    bool   `json:"validation_ran"`    // it ran: a skipped case ends with success too

	AIPerfVersion  string `json:"aiperf_version"`  // of the client that drove the run
	AIPerfVerified bool   `json:"aiperf_verified"` // its files are those of the published package
	Joined         bool   `json:"joined"`          // every offered request joined through client row, request and server record
	Identity       bool   `json:"identity"`        // what HTTP delivered equals a direct Task call
	Complete       bool   `json:"complete"`        // no piece of evidence that a publication needs is missing
}

// need is one condition of a step, in the words used when it is not met.
type need struct {
	met   bool
	words string
}

func (e Evidence) needs(step Status) []need {
	switch step {
	case Implemented:
		return []need{{e.AdapterChecks, "the adapter's checks passed on this ABI"}}
	case FamilyValidated:
		return []need{
			{e.VendorRuntime, "the vendor's runtime (the reference runtime proves the path and qualifies nothing)"},
			{isDigest(e.BundleSHA256), "the digest of the served bundle"},
			{e.ValidationRan, "the checkpoint owner's validation command ran and was not skipped"},
			{e.ValidationRan && e.ValidationPassed, "the validation command passed"},
			{isDigest(e.BundleSHA256) && e.ValidationBundle == e.BundleSHA256, "the validation ran on the bundle that was served"},
		}
	case AIPerfQualified:
		return []need{
			{e.AIPerfVersion == QualifyingAIPerf, "a run of AIPerf " + QualifyingAIPerf},
			{e.AIPerfVersion == QualifyingAIPerf && e.AIPerfVerified, "the client's files are those of the published package"},
			{e.Joined, "every offered request joined without a gap"},
			{e.Identity, "identity of HTTP and direct Task results"},
			{e.Complete, "complete evidence"},
		}
	}
	return nil
}

func isDigest(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == 32
}

// StatusOf climbs the ladder as far as the evidence carries and says what is missing for the steps above, each with
// its step: "family-validated: ...". A step counts only when every step below it does. missing is empty exactly for
// AIPerfQualified.
func StatusOf(e Evidence) (status Status, missing []string) {
	status = Planned
	for _, step := range []Status{Implemented, FamilyValidated, AIPerfQualified} {
		for _, n := range e.needs(step) {
			if !n.met {
				missing = append(missing, fmt.Sprintf("%s: %s", step, n.words))
			}
		}
		if len(missing) == 0 {
			status = step
		}
	}
	return status, missing
}

// rank orders the ladder; -1 is no status.
func (s Status) rank() int {
	for i, step := range []Status{Planned, Implemented, FamilyValidated, AIPerfQualified} {
		if s == step {
			return i
		}
	}
	return -1
}

// Claim returns nil when the evidence carries the status that is to be printed, else an *UnprovenError that names
// what is missing up to it.
func Claim(want Status, e Evidence) error {
	proven, _ := StatusOf(e)
	if want.rank() < 0 {
		return fmt.Errorf("%w: %q is no status", ErrUnproven, want)
	}
	if want.rank() <= proven.rank() {
		return nil
	}
	out := &UnprovenError{Claimed: want, Proven: proven}
	for _, step := range []Status{Implemented, FamilyValidated, AIPerfQualified} {
		for _, n := range e.needs(step) {
			if !n.met && step.rank() <= want.rank() {
				out.Missing = append(out.Missing, fmt.Sprintf("%s: %s", step, n.words))
			}
		}
	}
	return out
}
