package qual

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/trtmc-go/trtmc/qual/inventory"
	"github.com/trtmc-go/trtmc/trace"
)

// ReportSchema is the version written into every report.json.
const ReportSchema = 1

// ReferenceNotice stands in the first lines of every report of the CPU reference runtime.
const ReferenceNotice = "reference runtime: proves the path, qualifies nothing"

// Report is all that a judged run says. Equal evidence gives equal bytes: it holds no instant of judging and its
// lists are sorted.
type Report struct {
	Schema    int                       `json:"schema"`
	Notice    string                    `json:"notice,omitempty"` // ReferenceNotice, or empty
	Reference bool                      `json:"reference"`
	Verdict   Verdict                   `json:"verdict"`
	Status    StatusResult              `json:"status"`
	Results   []ResultRow               `json:"results"`   // the status of every checkpoint and workload
	Inventory []InventoryRow            `json:"inventory"` // all rows, with what was run here
	Checks    []Check                   `json:"checks"`
	Workloads map[string]WorkloadReport `json:"workloads"`
	Doubts    []string                  `json:"doubts"` // what the numbers cannot carry, beside the checks
	Run       *Run                      `json:"run"`
	Findings  []Finding                 `json:"findings"`
	Evidence  []FileDigest              `json:"evidence"` // files that were judged, as they are now
}

// StatusResult is a computed status and, in words, what is missing for the steps above it.
type StatusResult struct {
	Status  inventory.Status `json:"status"`
	Missing []string         `json:"missing"`
}

// Verdict is one word for the whole report: Held is true only when every check held.
type Verdict struct {
	Held   bool     `json:"held"`
	Failed []string `json:"failed"` // names of the checks that did not hold
}

// Check is one rule and whether the evidence keeps it.
type Check struct {
	Name     string   `json:"name"`
	Workload string   `json:"workload,omitempty"` // empty: the whole run
	Held     bool     `json:"held"`
	Detail   string   `json:"detail"`        // the figures, or why it did not hold
	IDs      []string `json:"ids,omitempty"` // requests that break it, at most 20; all are in Findings
}

// WorkloadReport is the account of one workload and how it was made.
type WorkloadReport struct {
	Workload
	Manifest *trace.Manifest `json:"manifest"`          // nil when it cannot be read or is one of another kind
	Ranking  *RankingReport  `json:"ranking,omitempty"` // of a ranking workload
	AIPerf   *AIPerfReport   `json:"aiperf,omitempty"`  // of a workload that AIPerf sent
	Video    *VideoReport    `json:"video,omitempty"`   // of a video workload
}

// isText reports whether the workload is one of text requests, which have tokens.
func (w WorkloadReport) isText() bool { return w.Ranking == nil && w.Video == nil }

// Held returns an error that names the failed checks, or nil when every check held.
func (r *Report) Held() error {
	if r.Verdict.Held {
		return nil
	}
	return fmt.Errorf("checks that did not hold: %q", r.Verdict.Failed)
}

// Write writes report.json, report.md and report.html into a folder.
func (r *Report) Write(dir string) error {
	data, err := r.JSON()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, ReportJSON), data, 0o644); err != nil {
		return err
	}
	page, err := r.HTML()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, ReportHTML), page, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, ReportMD), r.Markdown(), 0o644)
}

// JSON returns report.json.
func (r *Report) JSON() ([]byte, error) { return encodeJSON(r) }
