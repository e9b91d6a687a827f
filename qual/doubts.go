package qual

import "fmt"

// doubts says what the numbers of a workload cannot carry.
func (w WorkloadReport) doubts() []string {
	var out []string
	add := func(text string) {
		if text != "" {
			out = append(out, w.Name+": "+text)
		}
	}
	for _, text := range w.Lateness.Doubts {
		add(text)
	}
	add(w.Client.Latency.doubt("client latency"))
	if w.Measured.Rejected > 0 {
		add(fmt.Sprintf("%d of %d requests were refused: latencies are those of an overloaded server's chosen requests",
			w.Measured.Rejected, w.Measured.Offered))
	}
	if w.Measured.Failed > 0 {
		add(fmt.Sprintf("%d of %d requests failed: percentiles over completed requests do not show them", w.Measured.Failed, w.Measured.Offered))
	}
	for _, text := range w.Ranking.doubts() {
		add(text)
	}
	for _, text := range w.Video.doubts() {
		add(text)
	}
	if w.Tokens.Unknown > 0 && w.isText() {
		add(fmt.Sprintf("the token count of %d completed requests is unknown", w.Tokens.Unknown))
	}
	if w.Warmup.Offered > 0 && w.Warmup.Completed == 0 {
		add("no warm-up request completed: the first measured requests met a cold server")
	}
	if w.Warmup.Offered == 0 {
		add("there was no warm-up")
	}
	return out
}
