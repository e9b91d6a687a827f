package qual

import "time"

// passagesOverTime counts the passages of completed measured requests in windows from the first sending on.
func (e *rankingEvidence) passagesOverTime() (seconds int, passages []int) {
	total := time.Duration(e.span() * float64(time.Second))
	seconds, passages = windowSeconds(total), []int{}
	first := int64(0)
	for _, r := range e.order {
		if !r.warmup && e.completed(r) && (first == 0 || r.sent < first) {
			first = r.sent
		}
	}
	if first == 0 {
		return seconds, passages
	}
	width := int64(seconds) * int64(time.Second)
	passages = make([]int, int64(total)/width+2)
	for _, r := range e.order {
		if !r.warmup && e.completed(r) {
			passages[(r.lastByte-first)/width] += r.offered.Passages
		}
	}
	if n := len(passages); passages[n-1] == 0 {
		passages = passages[:n-1]
	}
	return seconds, passages
}
