package qual

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// checkLanes finds Task calls that overlap on one lane. A lane is one model handle, so two calls at one time would
// mean that the recorded instants or lanes are not true.
func (l *Ledger) checkLanes() {
	type call struct {
		start, end int64
		lane       uint16
		request    uint32
	}
	calls := make([]call, 0, l.entries.n)
	for i := range l.entries.n {
		if e := l.entries.at(i); e.taskStart != 0 {
			calls = append(calls, call{e.taskStart, e.taskStart + int64(e.taskCall), e.lane, uint32(i)})
		}
	}
	slices.SortFunc(calls, func(a, b call) int { return cmp.Or(cmp.Compare(a.lane, b.lane), cmp.Compare(a.start, b.start)) })
	for i := 1; i < len(calls); i++ {
		before, c := calls[i-1], calls[i]
		// The rounding of a span can lengthen a call by one part in 2^24.
		if rounding := (before.end - before.start) >> 23; before.lane == c.lane && c.start < before.end-rounding {
			e := l.entries.at(int(c.request))
			l.find(KindLaneShared, l.names[e.workload], l.ids.id(int(c.request)), fmt.Sprintf("%s was still in a Task call, of %q, for %v",
				l.words.text(c.lane), l.ids.id(int(before.request)), time.Duration(before.end-c.start)))
		}
	}
}
