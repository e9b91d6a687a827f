package qual

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/trtmc-go/trtmc/trace"
)

// offer reads the workload and warm-up files of a workload into the ledger and checks them against their manifest,
// and that against the run. It returns the manifest, nil when it cannot be read.
func (j *judge) offer(w RunWorkload) *trace.Manifest {
	m, err := trace.ReadManifest(filepath.Join(j.dir, WorkloadDir, w.Name, ManifestFile))
	if err != nil {
		m = nil
		j.check("the manifest is readable", w.Name, []string{relative(j.dir, err)}, "")
	}
	var problems []string
	found := map[string]trace.ManifestPart{}
	for _, f := range []struct {
		name  string
		phase trace.Phase
	}{{WorkloadFile, trace.PhaseMeasured}, {WarmupFile, trace.PhaseWarmup}} {
		part, err := j.offerFile(w.Name, f.name, f.phase)
		if err != nil {
			problems = append(problems, relative(j.dir, err))
		}
		found[f.name] = part
	}
	if m != nil {
		problems = append(problems, compareManifest(m, w, found)...)
	}
	j.check("the workload is the prepared one", w.Name, problems, "workload and warm-up have the digests and lines of the manifest, the manifest is of the run's source and request")
	return m
}

// offerFile offers every line of a workload file.
func (j *judge) offerFile(workload, name string, phase trace.Phase) (trace.ManifestPart, error) {
	rel := workloadPath(workload, name)
	src, err := trace.Open(filepath.Join(j.dir, filepath.FromSlash(rel)))
	if os.IsNotExist(err) {
		return trace.ManifestPart{}, fmt.Errorf("%s is missing", rel)
	}
	if err != nil {
		return trace.ManifestPart{}, err
	}
	defer src.Close()
	var part trace.ManifestPart
	r := trace.NewMooncakeReader(src, rel, trace.MooncakeOptions{})
	for r.Scan() {
		part.Lines++
		switch rec := r.Record().(type) {
		case *trace.Request:
			if err := j.offerRequest(workload, phase, rec.SessionID, rec.Offset); err != nil {
				return part, err
			}
		case *trace.SyntaxError:
			j.ledger.AddBadLine(workload, rec.Pos.String(), rec.Msg, rec.Torn)
		}
	}
	if err := r.Err(); err != nil {
		return part, err
	}
	part.SHA256, err = src.SHA256()
	return part, err
}

// compareManifest says where a manifest differs from the files beside it and from what the run says it sent.
func compareManifest(m *trace.Manifest, w RunWorkload, found map[string]trace.ManifestPart) []string {
	var out []string
	differ := func(what string, got, want any) {
		if got != want {
			out = append(out, fmt.Sprintf("%s is %v, the manifest says %v", what, got, want))
		}
	}
	for name, part := range found {
		differ("sha256 of "+name, part.SHA256, m.Files[name].SHA256)
		differ("lines of "+name, part.Lines, m.Files[name].Lines)
	}
	differ("the number of requests", found[WorkloadFile].Lines, m.Requests)
	differ("the number of warm-up requests", found[WarmupFile].Lines, m.WarmupRequests)
	differ("the run's workload", w.Name, m.Workload)
	differ("sha256 of the run's source", w.SourceSHA256, m.Source.SHA256)
	differ("the run's model", w.Model, m.Request.Model)
	differ("the run's path", w.Path, m.Request.Path)
	differ("the run's streaming", w.Streaming, m.Request.Streaming)
	return out
}

// workloadReport joins an account with its manifest. The trace's own rate is known only with one.
func workloadReport(w Workload, m *trace.Manifest) WorkloadReport {
	if m != nil && m.Schedule.Speed > 0 {
		w.Rates.Offered = w.Rates.Offered.stretch(m.Schedule.Speed)
	}
	return WorkloadReport{Workload: w, Manifest: m}
}

// prepared writes how a workload was made.
func (p *page) prepared(m *trace.Manifest) {
	p.head(3, "Workload")
	if m == nil {
		p.line("The manifest cannot be read.")
		return
	}
	bound := func(d *time.Duration) string {
		if d == nil {
			return "open"
		}
		return d.String()
	}
	p.table([]string{"", ""}, [][]string{
		{"source", fmt.Sprintf("%s, sha256 %s, %d rows (%s)", m.Source.Name, m.Source.SHA256, m.Source.Rows, m.Source.Format)},
		{"bad lines, rows recorded as failed", fmt.Sprintf("%d, %d (%s)", len(m.Source.BadLines), len(m.Source.FailedRows), m.Source.FailedPolicy)},
		{"window in recorded time", bound(m.Schedule.Window.Start) + " to " + bound(m.Schedule.Window.End)},
		{"rows in the window, requests, warm-up", fmt.Sprintf("%d, %d, %d", m.Schedule.WindowRows, m.Requests, m.WarmupRequests)},
		{"speed", fmt.Sprintf("%g", m.Schedule.Speed)},
		{"request", fmt.Sprintf("POST %s, model %s, streaming %t", m.Request.Path, m.Request.Model, m.Request.Streaming)},
		{"fit to the context", fitWords(m.Fit)},
		{"prompts", fmt.Sprintf("%s, seed %d, %d words", m.Prompts.Synthesis, m.Prompts.Seed, m.Prompts.Words)},
		{"sha256 of the workload", m.Files[WorkloadFile].SHA256},
	})
}

// fitWords says what a fit policy did to the rows.
func fitWords(f trace.ManifestFit) string {
	if f.Policy == trace.FitNone {
		return "none: rows are sent as they are"
	}
	words := fmt.Sprintf("%s to %d tokens (%d reserved): %d inputs and %d outputs changed, %d rows dropped",
		f.Policy, f.ContextTokens, f.ReserveTokens, f.InputChanged, f.OutputChanged, len(f.Dropped))
	if f.Factor != "" {
		words += ", factor " + f.Factor
	}
	return words
}
