package qual

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Names returns the names of the workloads, sorted.
func (r *Report) Names() []string { return slices.Sorted(maps.Keys(r.Workloads)) }

// workload writes one workload: rates, lateness, times, causes and how it was prepared.
func (p *page) workload(w WorkloadReport) {
	p.head(2, "Workload %s", w.Name)
	p.head(3, "Rates")
	p.line("Rate = (count - 1) / (last - first).\n")
	var rows [][]string
	for _, r := range []struct {
		name string
		r    Rate
	}{
		{"offered", w.Rates.Offered}, {"scheduled (after scaling)", w.Rates.Scheduled}, {"sent", w.Rates.Sent},
		{"arrived at the server", w.Rates.Arrived}, {"completed", w.Rates.Completed},
	} {
		if r.r.Count > 1 && !r.r.SpanSeconds.Known() {
			continue // a closed loop: nothing is due
		}
		rows = append(rows, []string{r.name, itoa(r.r.Count), r.r.SpanSeconds.String(), r.r.PerSecond.String()})
	}
	p.table([]string{"", "requests", "span s", "per second"}, rows)

	p.head(3, "Times in milliseconds")
	p.line("Lateness is over every request that got there, the rest over completed requests. Client times and the server's")
	p.line("own times are different quantities and are not to be subtracted.\n")
	p.table([]string{"", "samples", "min", "mean", "p50", "p90", "p99", "max"}, w.timeRows())
	if all := w.Client.Latency.OfAll; all != nil {
		p.line("\nOver all %d offered requests, the %d that did not complete counted as slower than any: client latency p50 %s, p90 %s, p99 %s.",
			all.Samples, all.NotReached, all.P50, all.P90, all.P99)
	}
	p.outcomes(w)
	switch {
	case w.Ranking != nil:
		p.ranking(w)
	case w.Video != nil:
		p.video(w)
	default:
		p.prepared(w.Manifest)
	}
	if w.AIPerf != nil {
		p.aiperf(w.AIPerf)
	}
	p.overTime(w.OverTime)
}

func (w WorkloadReport) timeRows() [][]string {
	var rows [][]string
	add := func(name string, d Distribution) {
		if d.Samples > 0 {
			rows = append(rows, []string{name, itoa(d.Samples), d.Min.String(), d.Mean.String(), d.P50.String(), d.P90.String(), d.P99.String(), d.Max.String()})
		}
	}
	add("lateness at sending", w.Lateness.Send)
	add("lateness at the server's arrival", w.Lateness.Arrival)
	add("client: latency from sending", w.Client.Latency)
	add("client: latency from the schedule", w.Client.FromSchedule)
	add("client: time to first content", w.Client.FirstContent)
	add("client: mean gap between tokens", w.Client.InterToken)
	add("client: mean gap between chunks", w.Client.InterChunk)
	add("client: refusal heard", w.Client.Refusal)
	add("server: waiting for a lane", w.Server.Queue)
	add("server: Task call", w.Server.TaskCall)
	add("server: whole handling", w.Server.Handling)
	add("server: whole handling of refusals", w.Server.Refusal)
	return rows
}

func (p *page) outcomes(w WorkloadReport) {
	p.head(3, "Outcomes")
	p.line("%d server records for %d measured requests (%d of them refused, %d requests recorded more than once). "+
		"Queue depth met on arrival: mean %s, deepest %d.",
		w.Attempts.Records, w.Measured.Offered, w.Attempts.Rejected, w.Attempts.Retried, w.Queue.Mean, w.Queue.Max)
	if w.Rates.Offered.SpanSeconds.Known() { // else a closed loop, where nothing is due
		p.line("Requests under way at once: at most %d. Requests that left, and that arrived, after one that was due later: %d, %d.",
			w.Lateness.MaxInFlight, w.Lateness.SendSwaps, w.Lateness.ArrivalSwaps)
	}
	if w.isText() {
		p.line("Tokens completed: %d over %d requests; unknown for %d.", w.Tokens.Completion, w.Tokens.Known, w.Tokens.Unknown)
	}
	if len(w.Causes) > 0 {
		p.line("")
		var rows [][]string
		for _, c := range w.Causes {
			rows = append(rows, []string{string(c.Outcome), c.Cause, itoa(c.Count)})
		}
		p.table([]string{"outcome", "cause", "requests"}, rows)
	}
	var seen []string
	for _, s := range w.Statuses {
		seen = append(seen, fmt.Sprintf("%d: %d", s.Status, s.Count))
	}
	p.line("\nHTTP statuses at the client (0: none): %s", strings.Join(seen, ", "))
}

func (p *page) overTime(s Series) {
	if len(s.Scheduled) == 0 {
		return
	}
	p.head(3, "Over time, in windows of %d s", s.WindowSeconds)
	var rows [][]string
	for i := range s.Scheduled {
		rows = append(rows, []string{
			itoa(i * s.WindowSeconds), itoa(s.Scheduled[i]), itoa(s.Sent[i]), itoa(s.Arrived[i]),
			itoa(s.Completed[i]), itoa(s.Rejected[i]), itoa(s.QueueMax[i]),
		})
	}
	p.table([]string{"from s", "scheduled", "sent", "arrived", "completed", "rejected", "queue max"}, rows)
}
