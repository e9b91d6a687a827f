package qual

import (
	"fmt"
	"slices"
	"time"
)

// maxCheckIDs is how many ids a check itself names; the findings have all.
const maxCheckIDs = 20

// rule is a check that holds when the ledger found nothing of its kinds.
type rule struct {
	name  string
	kinds []Kind
	good  string
}

// ledgerRules are the checks that findings decide.
func ledgerRules() []rule {
	return []rule{
		{"one client row for every offered request", []Kind{KindNoRow, KindDoubleRow, KindDoubleOffer}, "none missing, none twice"},
		{"one server record for every sent request", []Kind{KindNoRecord}, "none missing"},
		{"no retries", []Kind{KindRetried}, "no request has more than one record"},
		{"nothing that nobody offered", []Kind{KindUnknownRow, KindUnknownRec}, "every row and record belongs to an offered request"},
		{"warm-up apart", []Kind{KindWrongPhase}, "every row has the phase of the workload that holds its id"},
		{"sent on the workload's schedule", []Kind{KindWrongPlace}, "every scheduled instant is zero plus the workload's offset"},
		{"records are valid", []Kind{KindInvalid}, "every record keeps its own rules and its instants are in order"},
		{"instants are in order", []Kind{KindTiming, KindAfterTheFact}, "no client instant before the one that precedes it, no Task call longer than its client waited"},
		{"every line is readable", []Kind{KindBadLine, KindTornLine}, "no damaged and no unfinished line"},
		{"both sides agree", []Kind{KindDisagree}, "client and server tell the same story of every request"},
		{"one Task call at a time on a lane", []Kind{KindLaneShared}, "no two overlap"},
		{"reference mark", []Kind{KindRefMark}, "every record carries the run's mark"},
		{"no request failed", []Kind{KindFailed}, "every request completed or was refused before any Task call"},
	}
}

// ledgerChecks turns findings into checks of the whole run.
func ledgerChecks(findings []Finding) []Check {
	var out []Check
	for _, r := range ledgerRules() {
		out = append(out, r.check("", findings))
	}
	return out
}

// check holds when no finding is of the rule's kinds. It names the first that is, and its id and those of others.
func (r rule) check(workload string, findings []Finding) Check {
	c := Check{Name: r.name, Workload: workload, Held: true, Detail: r.good}
	n := 0
	for _, f := range findings {
		if !slices.Contains(r.kinds, f.Kind) {
			continue
		}
		n++
		if c.Held {
			c.Held, c.Detail = false, fmt.Sprintf("%s: %s", subject(f), f.Detail)
		}
		if f.RequestID != "" && len(c.IDs) < maxCheckIDs && !slices.Contains(c.IDs, f.RequestID) {
			c.IDs = append(c.IDs, f.RequestID)
		}
	}
	if n > 1 {
		c.Detail = fmt.Sprintf("%d, the first is %s", n, c.Detail)
	}
	return c
}

func subject(f Finding) string {
	if f.RequestID == "" {
		return string(f.Kind)
	}
	return f.RequestID
}

// accountingCheck holds when the outcomes of both phases add up to what the workload files offer.
func accountingCheck(w Workload) Check {
	c := Check{Name: "accounting adds up", Workload: w.Name, Held: w.Measured.Offered > 0}
	for _, n := range []Counts{w.Measured, w.Warmup} {
		c.Held = c.Held && n.Offered == n.Completed+n.Rejected+n.Failed
	}
	c.Detail = fmt.Sprintf("measured %s; warm-up %s", w.Measured.sum(), w.Warmup.sum())
	if w.Measured.Offered == 0 {
		c.Detail = "nothing was offered"
	}
	return c
}

func (c Counts) sum() string {
	return fmt.Sprintf("%d offered = %d completed + %d rejected + %d failed", c.Offered, c.Completed, c.Rejected, c.Failed)
}

// fidelityCheck holds when the replay kept its schedule: p99 of lateness at sending within the limit, or the maximum
// when the samples are too few for a p99.
func fidelityCheck(w Workload, limitMS float64) Check {
	c := Check{Name: "replay kept its schedule", Workload: w.Name}
	send, word := w.Lateness.Send.P99, "p99"
	if !send.Known() {
		send, word = w.Lateness.Send.Max, "max"
	}
	c.Held = send.Known() && float64(send) <= limitMS
	c.Detail = fmt.Sprintf("lateness at sending %s %s ms, limit %g ms; at the server p99 %s ms, max %s ms",
		word, send, limitMS, w.Lateness.Arrival.P99, w.Lateness.Arrival.Max)
	if !send.Known() {
		c.Detail = "nothing was sent"
	}
	return c
}

// exitCheck holds when the run ended by itself and cleanly.
func exitCheck(run *Run) Check {
	e := run.Exit
	c := Check{Name: "the run ended cleanly", Held: true, Detail: fmt.Sprintf("drained in %v", time.Duration(e.DrainMS)*time.Millisecond)}
	for _, bad := range []struct {
		is    bool
		words string
	}{
		{e.Interrupted, "it was interrupted"},
		{e.ServerError != "", "server: " + e.ServerError},
		{e.ClientError != "", "client: " + e.ClientError},
		{!e.Drained, "the server did not drain before its deadline"},
		{e.RecordErrors > 0, fmt.Sprintf("%d records could not be written", e.RecordErrors)},
	} {
		if bad.is && c.Held {
			c.Held, c.Detail = false, bad.words
		}
	}
	return c
}
