package qual

import (
	"cmp"
	"fmt"
	"slices"
)

// ClosedLoop says that the requests of a workload have no instants of their own: each was sent when an earlier one had
// ended. They are placed in time by when the client took them up, and nothing is said of lateness. Call it before
// Close.
func (l *Ledger) ClosedLoop(workload string) {
	if !slices.Contains(l.closed, workload) {
		l.closed = append(l.closed, workload)
	}
}

func (l *Ledger) isClosed(w uint8) bool { return slices.Contains(l.closed, l.names[w]) }

// placeClosed gives the measured requests of a closed loop the offsets at which the client took them up, from the
// first of them on.
func (l *Ledger) placeClosed(w uint8) {
	if !l.isClosed(w) {
		return
	}
	first := int64(0)
	l.measured(w, func(_ int, e *entry) {
		if e.scheduled != 0 && (first == 0 || e.scheduled < first) {
			first = e.scheduled
		}
	})
	l.measured(w, func(_ int, e *entry) {
		if e.scheduled != 0 {
			e.offset = e.scheduled - first
		}
	})
}

// busySpan is the time from which to which a client was busy with a request.
type busySpan struct{ from, to int64 }

// concurrencyCheck holds when a closed loop had no more requests under way than it was asked for.
func concurrencyCheck(workload string, busy []busySpan, limit int) Check {
	c := Check{Name: "the closed loop kept its concurrency", Workload: workload}
	type event struct {
		at   int64
		step int
	}
	var events []event
	for _, b := range busy {
		events = append(events, event{b.from, 1}, event{b.to, -1})
	}
	// An end and a start in one instant do not overlap.
	slices.SortFunc(events, func(a, b event) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.step, b.step)) })
	now, most := 0, 0
	for _, ev := range events {
		now += ev.step
		most = max(most, now)
	}
	c.Held = most > 0 && most <= limit
	c.Detail = fmt.Sprintf("at most %d requests under way, asked for were %d", most, limit)
	if most == 0 {
		c.Detail = "nothing was sent"
	}
	return c
}
