package qual

import "slices"

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
