package aiperf

import (
	"fmt"
	"slices"
	"strings"
)

// Finding is one thing the exports hide or contradict.
type Finding struct {
	Code string `json:"code"`
	// Blocks is true when the run cannot be accepted with it: something is missing, contradicted or unsuccessful.
	// Otherwise it is a doubt that belongs beside the numbers.
	Blocks bool     `json:"blocks"`
	Text   string   `json:"text"`
	Count  int      `json:"count,omitempty"`
	IDs    []string `json:"ids,omitempty"` // every request concerned, sorted
}

// Facts is what is known of a run besides its exports.
type Facts struct {
	ExitCode  *int           // nil: unknown
	LastLines []string       // of the client's output, see Result
	Offered   map[string]int // measured requests per conversation, see Spec.Offered; nil: unknown
	Warmup    int            // warm-up requests asked for
}

// FactsOf takes the facts from a Result.
func FactsOf(r Result, offered map[string]int, warmup int) Facts {
	return Facts{ExitCode: &r.ExitCode, LastLines: r.LastLines, Offered: offered, Warmup: warmup}
}

// findings collects them in the order in which they are looked for.
type findings struct{ list []Finding }

func (f *findings) add(blocks bool, code, format string, args ...any) {
	f.list = append(f.list, Finding{Code: code, Blocks: blocks, Text: fmt.Sprintf(format, args...)})
}

// ids adds a finding about requests unless there are none. The format takes their number.
func (f *findings) ids(blocks bool, code string, ids []string, format string) {
	if len(ids) == 0 {
		return
	}
	ids = slices.Clone(ids)
	slices.Sort(ids)
	f.list = append(f.list, Finding{Code: code, Blocks: blocks, Text: fmt.Sprintf(format, len(ids)), Count: len(ids), IDs: ids})
}

// Findings lists what the exports hide, as far as it can be found from them and the facts, in a fixed order. What only
// the server's records show, such as a request that reached it without leaving a row, is not among them.
func (e *Export) Findings(facts Facts) []Finding {
	var f findings
	if e.notRun(&f, facts) {
		return f.list
	}
	e.filesAndLines(&f)
	e.identity(&f)
	e.hiddenFailures(&f, facts)
	e.lostRows(&f, facts)
	e.counts(&f)
	e.timing(&f)
	return f.list
}

// notRun tells a client that refused its options or died before sending from one that had failures.
func (e *Export) notRun(f *findings, facts Facts) bool {
	if e.Rows.Rows() > 0 || e.Raw.Rows() > 0 || len(e.Rows.Bad) > 0 || len(e.Raw.Bad) > 0 || e.Rows.Unknown > 0 {
		return false
	}
	exit := "unknown"
	if facts.ExitCode != nil {
		exit = fmt.Sprint(*facts.ExitCode)
	}
	text := "the client left no row of any request: the run did not take place (exit code " + exit + ")"
	if len(facts.LastLines) > 0 {
		text += "; its last words: " + strings.Join(facts.LastLines, " | ")
	}
	f.list = append(f.list, Finding{Code: "not-run", Blocks: true, Text: text})
	return true
}

func (e *Export) filesAndLines(f *findings) {
	for _, name := range e.Missing {
		f.add(true, "file-missing", "%s is missing", name)
	}
	for _, text := range e.Broken {
		f.add(true, "file-broken", "%s", text)
	}
	for _, t := range []*Tally{&e.Rows, &e.Raw} {
		for _, bad := range t.Bad {
			code := "line-corrupt"
			if bad.Truncated {
				code = "line-truncated"
			}
			f.add(true, code, "%s", bad.Error())
		}
	}
	if e.Rows.Unknown > 0 {
		f.list = append(f.list, Finding{Code: "rows-unknown", Blocks: true, Count: e.Rows.Unknown,
			Text: fmt.Sprintf("%d lines of %s are no requests; they are counted apart", e.Rows.Unknown, RowsFile)})
	}
	if s := e.Summary; s != nil {
		if s.AIPerfVersion != Version {
			f.add(true, "version", "the summary was written by version %q, want %s", s.AIPerfVersion, Version)
		}
		if s.WasCancelled || !s.IsComplete {
			f.add(true, "incomplete", "the client says of itself: cancelled %v, complete %v %s", s.WasCancelled, s.IsComplete, s.IncompleteReason)
		}
	}
}

func (e *Export) identity(f *findings) {
	for _, pos := range e.Rows.NoID {
		f.add(true, "request-id-missing", "%s has no request id: it can be joined to nothing", pos)
	}
	f.ids(true, "request-id-doubled", e.Rows.Duplicate, "%d request ids stand in more than one row")
	f.ids(true, "fields-missing", e.Rows.Partial, "%d rows lack a field that joins or latencies rely on")
	if e.Rows.NoPhase.Rows > 0 {
		f.add(true, "phase-missing", "%d rows do not say whether they are warm-up", e.Rows.NoPhase.Rows)
	}
	onlyRows, onlyRaw := difference(e.Rows.ids, e.Raw.ids), difference(e.Raw.ids, e.Rows.ids)
	if len(e.RawFiles) > 0 {
		f.ids(true, "raw-row-missing", onlyRows, "%d requests have a row but no raw row")
	}
	f.ids(true, "row-missing", onlyRaw, "%d requests have a raw row but no row")
}

func difference(a, b map[string]bool) []string {
	var out []string
	for id := range a {
		if _, ok := b[id]; !ok {
			out = append(out, id)
		}
	}
	return out
}

func (e *Export) hiddenFailures(f *findings, facts Facts) {
	m := e.Rows.Measured
	if n := m.Unsuccessful(); n > 0 {
		said := "an unknown exit code"
		if facts.ExitCode != nil {
			said = fmt.Sprintf("exit code %d", *facts.ExitCode)
		}
		f.add(true, "unsuccessful", "%d of %d measured requests did not succeed (%d refused, %d other HTTP errors, %d failed, %d cancelled, %d skipped, %d without metrics) behind %s",
			n, m.Rows, m.Refused, m.HTTPError-m.Refused, m.Failed, m.Cancelled, m.Skipped, m.Unmeasured, said)
	} else if facts.ExitCode != nil && *facts.ExitCode != 0 {
		f.add(true, "exit-code", "exit code %d although no row shows a failure", *facts.ExitCode)
	}
	if m.Rows > 0 && m.Success == 0 {
		f.add(true, "all-failed", "no measured request succeeded: there is no summary, and raw rows lie in %s", strings.Join(e.RawFiles, ", "))
	}
	if m.Rows == 0 {
		f.add(true, "no-measured-rows", "there is no row of a measured request")
	}
	f.ids(true, "silent-end", e.SilentEnd, "%d streams ended without [DONE], usage or a finish reason and count as successes")
	f.ids(true, "error-inside", e.ErrorInside, "%d answers hold an error object and count as successes")
}
