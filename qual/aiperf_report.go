package qual

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/trtmc-go/trtmc/qual/aiperf"
)

// AIPerfReport is what a report says of a workload that AIPerf sent, beyond what every workload has.
type AIPerfReport struct {
	Of         string           `json:"of"` // the workload whose prepared files it sent
	Version    string           `json:"version"`
	Verified   bool             `json:"verified"` // its files are those of the published package
	ExitCode   int              `json:"exit_code"`
	End        aiperf.End       `json:"end"`
	WallMS     float64          `json:"wall_ms"`
	Joined     bool             `json:"joined"` // every offered request, from the prepared row to the Task call
	Rows       aiperf.Counts    `json:"rows"`   // measured, as the client classes them
	WarmupRows aiperf.Counts    `json:"warmup_rows"`
	Findings   []aiperf.Finding `json:"findings"` // what the exports hide or contradict
	Latency    Distribution     `json:"latency_as_reported_ms"`
	PollMS     float64          `json:"poll_ms,omitempty"` // video: the resolution of its latencies
	Fidelity   *AIPerfFidelity  `json:"fidelity,omitempty"`
}

// AIPerfFidelity compares how AIPerf and this module's replayer kept the same schedule, in milliseconds late. Each is
// over every measured request that got there.
type AIPerfFidelity struct {
	ZeroUnixNS  int64        `json:"zero_unix_ns"`
	ZeroSource  string       `json:"zero_source"`
	Credit      Distribution `json:"credit"`        // AIPerf's permission to send
	Start       Distribution `json:"request_start"` // as AIPerf states it
	Arrival     Distribution `json:"arrival"`       // at the server
	Swaps       int          `json:"arrival_swaps"`
	OwnSend     Distribution `json:"own_send"`    // this module's replayer, same file
	OwnArrival  Distribution `json:"own_arrival"` // at the server
	OwnSwaps    int          `json:"own_arrival_swaps"`
	LateCredits []string     `json:"on_time_credit_late_arrival"` // credit within 10 ms, arrival more than 50 ms late
}

// The limits of what is called on time and late where a credit and an arrival contradict each other.
const (
	creditOnTime = 10 * time.Millisecond
	arrivalLate  = 50 * time.Millisecond
)

// report makes the AIPerf part. own is the same workload as our own client sent it.
func (a *aiperfReplay) report(own, out WorkloadReport) *AIPerfReport {
	in, res := a.evidence.Installation, a.evidence.Result
	r := &AIPerfReport{Of: a.of.Name, Version: in.Version, Verified: in.Verified, ExitCode: res.ExitCode, End: res.End,
		WallMS: float64(res.WallNS) / float64(time.Millisecond), PollMS: float64(res.PollNS) / float64(time.Millisecond),
		Findings: []aiperf.Finding{}, Latency: distribution(nil)}
	if a.export == nil {
		return r
	}
	r.Rows, r.WarmupRows = a.export.Rows.Measured, a.export.Rows.Warmup
	offered := map[string]int{}
	for _, id := range a.offered {
		offered[id] = 1
	}
	r.Findings = append(r.Findings, a.export.Findings(aiperf.FactsOf(res, offered, out.Warmup.Offered))...)
	for i := range r.Findings {
		r.Findings[i].Text = strings.ReplaceAll(r.Findings[i].Text, a.export.Dir+"/", "")
	}
	var ms []float64
	for _, d := range a.export.Rows.Latencies() {
		ms = append(ms, float64(d)/float64(time.Millisecond))
	}
	r.Latency = distribution(ms)
	a.hiddenFromClient(r, out)
	if len(a.places) > 0 {
		r.Fidelity = a.fidelity(own, out)
		if late := r.Fidelity.LateCredits; len(late) > 0 {
			r.Findings = append(r.Findings, aiperf.Finding{Code: "credit-on-time-arrival-late", Count: len(late), IDs: late,
				Text: fmt.Sprintf("%d requests had a credit on time and reached the server more than %v late", len(late), arrivalLate)})
		}
	}
	return r
}

// hiddenFromClient adds what only the server's records show.
func (a *aiperfReplay) hiddenFromClient(r *AIPerfReport, out WorkloadReport) {
	add := func(blocks bool, code, format string, args ...any) {
		r.Findings = append(r.Findings, aiperf.Finding{Code: code, Blocks: blocks, Text: fmt.Sprintf(format, args...)})
	}
	c := out.Measured
	if r.ExitCode == 0 && c.Completed < c.Offered {
		add(false, "exit-code-hides", "exit code 0, but %d of %d offered requests did not complete (%d refused, %d failed)", c.Offered-c.Completed, c.Offered, c.Rejected, c.Failed)
	}
	if r.Rows.Success > c.Completed {
		add(false, "success-hides", "the client counts %d successes, %d requests completed on both sides", r.Rows.Success, c.Completed)
	}
	if s := a.export.Summary; s != nil {
		if n, ok := s.Total("request_count"); ok && n != int64(c.Offered) {
			add(false, "count-hides", "request_count is %d of %d offered requests: percentiles of the summary are over these", n, c.Offered)
		}
	}
}

// fidelity compares the instants that AIPerf states, and those at the server, with what was due.
func (a *aiperfReplay) fidelity(own, out WorkloadReport) *AIPerfFidelity {
	f := &AIPerfFidelity{ZeroUnixNS: a.zero.UnixNS, ZeroSource: a.zero.Source, Arrival: out.Lateness.Arrival, Swaps: out.Lateness.ArrivalSwaps,
		OwnSend: own.Lateness.Send, OwnArrival: own.Lateness.Arrival, OwnSwaps: own.Lateness.ArrivalSwaps, LateCredits: []string{}}
	var credit, start []float64
	ms := func(ns int64) float64 { return float64(ns) / float64(time.Millisecond) }
	for _, p := range a.places {
		if p.credit != 0 {
			credit = append(credit, ms(p.credit-p.due))
		}
		if p.start != 0 {
			start = append(start, ms(p.start-p.due))
		}
		if arrived := a.arrivals[p.id]; arrived != 0 && p.credit != 0 &&
			time.Duration(p.credit-p.due) < creditOnTime && time.Duration(arrived-p.due) > arrivalLate {
			f.LateCredits = append(f.LateCredits, p.id)
		}
	}
	f.Credit, f.Start = distribution(credit), distribution(start)
	return f
}

// aiperf writes the AIPerf part of a workload.
func (p *page) aiperf(r *AIPerfReport) {
	p.head(3, "Sent by AIPerf")
	p.line("AIPerf %s (files verified: %t) sent the prepared requests of %s. It ended by %q with exit code %d after %.1f s; joined without a gap: %t.\n",
		r.Version, r.Verified, r.Of, r.End, r.ExitCode, r.WallMS/1000, r.Joined)
	p.table([]string{"rows of AIPerf", "all", "success", "HTTP error", "of them refused", "failed", "cancelled", "skipped", "without metrics"}, [][]string{
		countsRow("measured", r.Rows), countsRow("warm-up", r.WarmupRows)})
	p.line("")
	p.table([]string{"", "samples", "min", "mean", "p50", "p90", "p99", "max"}, [][]string{distributionRow("latency as AIPerf reports it, successes only, ms", r.Latency)})
	if len(r.Findings) > 0 {
		p.line("\nWhat its exports hide or contradict:\n")
		var lines []string
		for _, f := range r.Findings {
			lines = append(lines, f.Code+": "+f.Text)
		}
		p.list(lines, 40)
	}
	if f := r.Fidelity; f != nil {
		p.line("\nThe same file, sent by both clients: milliseconds late against zero (%s) plus the row's offset. Requests that arrived after one due later: AIPerf %d, our replayer %d.\n", f.ZeroSource, f.Swaps, f.OwnSwaps)
		p.table([]string{"", "samples", "min", "mean", "p50", "p90", "p99", "max"}, [][]string{
			distributionRow("AIPerf: credit", f.Credit), distributionRow("AIPerf: request_start", f.Start), distributionRow("AIPerf: arrival at the server", f.Arrival),
			distributionRow("our replayer: sent", f.OwnSend), distributionRow("our replayer: arrival at the server", f.OwnArrival)})
	}
}

func countsRow(name string, c aiperf.Counts) []string {
	return []string{name, itoa(c.Rows), itoa(c.Success), itoa(c.HTTPError), itoa(c.Refused), itoa(c.Failed), itoa(c.Cancelled), itoa(c.Skipped), itoa(c.Unmeasured)}
}

func sha256Hex(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
