package qual

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/trtmc-go/trtmc/qual/inventory"
	"github.com/trtmc-go/trtmc/ranking"
	"github.com/trtmc-go/trtmc/video"
)

// ResultRow is the status of one checkpoint for one workload, with the evidence that it was computed from.
type ResultRow struct {
	Workload   string             `json:"workload"`
	Model      string             `json:"model"`   // served name
	Profile    string             `json:"profile"` // row of the inventory; empty: the plan names none
	Checkpoint string             `json:"checkpoint,omitempty"`
	Revision   string             `json:"revision,omitempty"`
	Status     inventory.Status   `json:"status"`
	Missing    []string           `json:"missing"`
	Evidence   inventory.Evidence `json:"evidence"`
}

// InventoryRow is one row of the inventory with its status in this run; what was not run is planned.
type InventoryRow struct {
	Profile    string           `json:"profile"`
	Scope      inventory.Scope  `json:"scope"`
	Workload   string           `json:"workload"`
	Checkpoint string           `json:"checkpoint,omitempty"`
	Revision   string           `json:"revision,omitempty"`
	Status     inventory.Status `json:"status"`
	Run        bool             `json:"run"` // it was run here
	Gap        string           `json:"gap,omitempty"`
}

// statuses computes the status of every workload, of the report, and of the rows of the inventory.
func (j *judge) statuses(r *Report, validations []Validation) error {
	inv, err := inventory.Load()
	if err != nil {
		return err
	}
	r.Results = []ResultRow{}
	for _, w := range j.run.own() {
		row, gaps := j.result(r, w, inv, validations)
		row.Status, row.Missing = inventory.StatusOf(row.Evidence)
		for _, gap := range gaps {
			row.Missing = append(row.Missing, "evidence: "+gap)
		}
		r.Results = append(r.Results, row)
	}
	r.Status = StatusResult{Status: inventory.Planned, Missing: []string{}}
	for i, row := range r.Results {
		if i == 0 || inventory.Claim(r.Status.Status, row.Evidence) != nil {
			r.Status.Status = row.Status
		}
		for _, m := range row.Missing {
			if !slices.Contains(r.Status.Missing, m) {
				r.Status.Missing = append(r.Status.Missing, m)
			}
		}
	}
	for _, row := range inv.Rows {
		out := InventoryRow{Profile: row.Profile, Scope: row.Scope, Workload: row.Workload, Checkpoint: row.Checkpoint, Revision: row.Revision, Status: inventory.Planned, Gap: row.Gap}
		for _, res := range r.Results {
			if res.Profile == row.Profile && res.Workload == row.Workload {
				out.Run, out.Status = true, res.Status
			}
		}
		r.Inventory = append(r.Inventory, out)
	}
	return nil
}

// result gathers the evidence of one workload, and says what evidence is missing.
func (j *judge) result(r *Report, w RunWorkload, inv inventory.Inventory, validations []Validation) (ResultRow, []string) {
	b := j.bundleOf(w.Model)
	row := ResultRow{Workload: w.Name, Model: w.Model, Profile: b.Profile, Checkpoint: b.Checkpoint, Revision: b.Revision}
	own := r.Workloads[w.Name]
	twin := r.Workloads[w.Name+"-"+AIPerfClient]
	e := inventory.Evidence{
		AdapterChecks: r.heldFor(w.Name) && own.Measured.Completed > 0, VendorRuntime: !j.run.Runtime.Reference, BundleSHA256: b.SHA256,
	}
	for _, v := range validations {
		if v.Model != w.Model || e.ValidationRan && !e.ValidationPassed {
			continue // of several, the worst counts
		}
		e.ValidationRan = v.Result() != "skipped"
		e.ValidationPassed = v.Result() == "passed"
		if e.ValidationBundle = v.BundleBefore; v.BundleAfter != v.BundleBefore {
			e.ValidationBundle = ""
		}
	}
	if twin.AIPerf != nil {
		e.AIPerfVersion, e.AIPerfVerified, e.Joined = twin.AIPerf.Version, twin.AIPerf.Verified, twin.AIPerf.Joined && twin.Measured.Completed > 0
		e.Identity = sameResults(w, own, twin, r.Findings)
	}
	gaps := j.gaps(w, b, twin, inv)
	e.Complete = len(gaps) == 0
	row.Evidence = e
	return row, gaps
}

// heldFor reports whether every check that concerns a workload, by either client, held.
func (r *Report) heldFor(workload string) bool {
	mine := []string{"", workload, workload + "-" + AIPerfClient}
	rules := ledgerRules()
	for _, c := range r.Checks {
		if c.Held || !slices.Contains(mine, c.Workload) {
			continue
		}
		i := slices.IndexFunc(rules, func(x rule) bool { return x.name == c.Name })
		if c.Workload != "" || i < 0 {
			return false
		}
		// A rule over all findings concerns this workload only with findings of its own or of none.
		if slices.ContainsFunc(r.Findings, func(f Finding) bool {
			return slices.Contains(rules[i].kinds, f.Kind) && slices.Contains(mine, f.Workload)
		}) {
			return false
		}
	}
	return true
}

// sameResults reports whether what HTTP delivered to both clients is what direct Task calls give. For text, which is
// not compared with direct calls, the bodies that were sent and the token counts that came back must be the recorded ones.
func sameResults(w RunWorkload, own, twin WorkloadReport, findings []Finding) bool {
	all := func(made bool, parts ...Compared) bool {
		for _, p := range parts {
			made = made && p.Equal == p.Compared
		}
		return made && parts[0].Compared > 0
	}
	switch w.Path {
	case ranking.RouteRanking:
		return own.Ranking != nil && twin.Ranking != nil &&
			all(own.Ranking.Identity.Made, own.Ranking.Identity.Measured, own.Ranking.Identity.Warmup, own.Ranking.Identity.Permuted) &&
			all(twin.Ranking.Identity.Made, twin.Ranking.Identity.Measured, twin.Ranking.Identity.Warmup)
	case video.RouteVideos:
		return own.Video != nil && twin.Video != nil &&
			all(own.Video.Identity.Made, own.Video.Identity.Measured, own.Video.Identity.Warmup) &&
			all(twin.Video.Identity.Made, twin.Video.Identity.Measured, twin.Video.Identity.Warmup)
	}
	return twin.Measured.Completed > 0 && !slices.ContainsFunc(findings, func(f Finding) bool {
		return f.Workload == twin.Name && (f.Kind == KindBody || f.Kind == KindTokens)
	})
}

// gaps says what a publication would lack.
func (j *judge) gaps(w RunWorkload, b BundleFacts, twin WorkloadReport, inv inventory.Inventory) []string {
	var out []string
	need := func(met bool, words string) {
		if !met {
			out = append(out, words)
		}
	}
	need(b.Profile != "", "the profile of the bundle (row of the inventory)")
	need(b.Checkpoint != "" && b.Revision != "", "checkpoint and revision that the bundle was made from")
	if row, err := inv.Row(b.Profile); err == nil {
		need(row.Workload == w.Name, fmt.Sprintf("a profile of this workload: %s is one of %s", b.Profile, row.Workload))
		need(row.Scope == inventory.InScope, fmt.Sprintf("a profile in scope: %s is a %s", b.Profile, row.Scope))
		need(row.Checkpoint == b.Checkpoint && row.Revision == b.Revision, "the checkpoint and revision that the inventory pins for "+b.Profile)
	} else {
		need(b.Profile == "", fmt.Sprintf("a profile of the inventory: %q is none", b.Profile))
	}
	need(j.run.Runtime.Version != "" && (j.run.Runtime.Reference || j.run.Runtime.SHA256 != ""), "version and digest of the runtime")
	need(j.run.Program.SHA256 != "", "the digest of the program")
	need(j.run.Host.CPU != "", "the processor of the host")
	need(j.run.Runtime.Reference || j.run.Stack != nil && len(j.run.Stack.GPUs) > 0, "the GPU and its driver (nvidia-smi)")
	need(twin.AIPerf != nil, "the exports of a run by AIPerf")
	return out
}

// Claim returns nil when every result of the report carries a status, else an error that says what is missing for it.
func (r *Report) Claim(want inventory.Status) error {
	if len(r.Results) == 0 {
		return errors.New("the report has no result that could be " + string(want))
	}
	var errs []error
	for _, row := range r.Results {
		if err := inventory.Claim(want, row.Evidence); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", row.Workload, err))
		}
	}
	return errors.Join(errs...)
}

// CheckPrinted returns an error when the report.json that lies in a folder prints a higher status than this report,
// which was computed from the evidence. A folder without one is fine.
func (r *Report) CheckPrinted(dir string) error {
	data, err := os.ReadFile(filepath.Join(dir, ReportJSON))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var printed struct {
		Status  StatusResult `json:"status"`
		Results []ResultRow  `json:"results"`
	}
	if err := json.Unmarshal(data, &printed); err != nil {
		return fmt.Errorf("%s cannot be read; remove it: %w", ReportJSON, err)
	}
	var errs []error
	for _, p := range printed.Results {
		i := slices.IndexFunc(r.Results, func(row ResultRow) bool { return row.Workload == p.Workload })
		if i < 0 {
			errs = append(errs, fmt.Errorf("%s prints a result of %s, which was not run", ReportJSON, p.Workload))
		} else if err := inventory.Claim(p.Status, r.Results[i].Evidence); err != nil {
			errs = append(errs, fmt.Errorf("%s prints more than the evidence carries: %s: %w", ReportJSON, p.Workload, err))
		}
	}
	if printed.Status.Status != "" {
		if err := r.Claim(printed.Status.Status); err != nil && len(errs) == 0 {
			errs = append(errs, fmt.Errorf("%s prints more than the evidence carries: %w", ReportJSON, err))
		}
	}
	return errors.Join(errs...)
}
