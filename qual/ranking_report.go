package qual

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// RankingReport is what a report says of a ranking workload beyond what every workload has. Distributions, rates and
// identity are those of the measured phase unless they say otherwise.
type RankingReport struct {
	Manifest *RankingManifest `json:"manifest"`
	// The rates are those of completed requests over Span, the time from the first sending to the last answer.
	SpanSeconds       Figure `json:"span_seconds"`
	RequestsPerSecond Figure `json:"requests_per_second"`
	PassagesPerSecond Figure `json:"passages_per_second"`
	Passages          int64  `json:"passages"` // scored by completed requests
	// PassagesOverTime counts those passages in windows of WindowSeconds from the first sending on, by when the answer
	// was whole.
	WindowSeconds    int   `json:"window_seconds"`
	PassagesOverTime []int `json:"passages_over_time"`

	PassagesPerRequest Distribution `json:"passages_per_request"` // offered
	QueryWords         Distribution `json:"query_words"`          // offered
	QueryBytes         Distribution `json:"query_bytes"`          // offered
	PassageWords       Distribution `json:"passage_words"`        // offered, of single passages
	PassageBytes       Distribution `json:"passage_bytes"`        // offered, of single passages

	ScoreKinds    []ScoreKindCount `json:"score_kinds"`         // of completed requests, as recorded
	DirectCall    Distribution     `json:"direct_task_call_ms"` // direct Task calls, of all measured requests
	WarmupLatency Distribution     `json:"warmup_latency_ms"`   // client latency of completed warm-up requests
	Identity      RankingIdentity  `json:"identity"`
}

// ScoreKindCount counts the completed requests whose scores are of one kind.
type ScoreKindCount struct {
	Kind  string `json:"kind"`
	Count int    `json:"count"`
}

// ranking makes the ranking part of a report and its checks, and returns what it found.
func (j *judge) ranking(name string, m *RankingManifest) (*RankingReport, []Finding, error) {
	e, err := j.gatherRanking(name, m)
	if err != nil {
		return nil, nil, err
	}
	out := &RankingReport{Manifest: m, Identity: e.identity()}
	e.lengths()
	e.figures(out)
	j.checks = append(j.checks, e.checks(out.Identity)...)
	return out, e.findings, nil
}

func (e *rankingEvidence) figures(out *RankingReport) {
	var passages, queryWords, queryBytes, direct, warmup []float64
	kinds := map[string]int{}
	done := 0
	for _, r := range e.order {
		if r.warmup {
			if e.completed(r) {
				warmup = append(warmup, float64(r.lastByte-r.sent)/float64(time.Millisecond))
			}
			continue
		}
		passages = append(passages, float64(r.offered.Passages))
		queryWords = append(queryWords, float64(r.offered.QueryWords))
		queryBytes = append(queryBytes, float64(r.offered.QueryBytes))
		if r.direct != nil && r.direct.Error == "" {
			direct = append(direct, float64(r.direct.TaskCallNS)/float64(time.Millisecond))
		}
		if e.completed(r) {
			done++
			out.Passages += int64(r.offered.Passages)
			if r.record != nil && r.record.Ranking != nil {
				kinds[r.record.Ranking.ScoreKind]++
			}
		}
	}
	out.PassagesPerRequest, out.QueryWords, out.QueryBytes = distribution(passages), distribution(queryWords), distribution(queryBytes)
	out.PassageWords, out.PassageBytes = distribution(e.words), distribution(e.bytes)
	out.DirectCall, out.WarmupLatency = distribution(direct), distribution(warmup)
	out.ScoreKinds = []ScoreKindCount{}
	for kind, n := range kinds {
		out.ScoreKinds = append(out.ScoreKinds, ScoreKindCount{kind, n})
	}
	slices.SortFunc(out.ScoreKinds, func(a, b ScoreKindCount) int { return cmp.Compare(a.Kind, b.Kind) })
	out.SpanSeconds, out.RequestsPerSecond, out.PassagesPerSecond = tooFew(), tooFew(), tooFew()
	if span := e.span(); span > 0 {
		out.SpanSeconds = Figure(span)
		out.RequestsPerSecond, out.PassagesPerSecond = Figure(float64(done)/span), Figure(float64(out.Passages)/span)
	}
	out.WindowSeconds, out.PassagesOverTime = e.passagesOverTime()
}

// doubts says what the ranking figures cannot carry.
func (r *RankingReport) doubts() []string {
	if r == nil || r.Identity.Made {
		return nil
	}
	return []string{"scores were not compared with direct Task calls: the run knows no bundle of the served model"}
}

// ranking writes the ranking part of a workload.
func (p *page) ranking(w WorkloadReport) {
	r := w.Ranking
	m := r.Manifest
	p.head(3, "Ranking")
	p.line("Scores equal to a direct Task call: %s measured, %s warm-up. Permuted passages with permuted scores: %s.", r.Identity.Measured, r.Identity.Warmup, r.Identity.Permuted)
	if !r.Identity.Made {
		p.line("\nNo direct Task call was made: the run knows no bundle of the served model.")
	}
	p.line("\nOver the %s s from the first sending to the last answer of completed requests: %s requests/s, %s passages/s.", r.SpanSeconds, r.RequestsPerSecond, r.PassagesPerSecond)
	p.line("")
	var rows [][]string
	for _, d := range []struct {
		name string
		d    Distribution
	}{
		{"passages a request", r.PassagesPerRequest}, {"words of a query", r.QueryWords}, {"bytes of a query", r.QueryBytes},
		{"words of a passage", r.PassageWords}, {"bytes of a passage", r.PassageBytes},
		{"client: latency from sending, ms", w.Client.Latency}, {"client: latency of warm-up, ms", r.WarmupLatency},
		{"server: waiting for a lane, ms", w.Server.Queue}, {"server: Task call, ms", w.Server.TaskCall}, {"direct: Task call, ms", r.DirectCall},
	} {
		rows = append(rows, distributionRow(d.name, d.d))
	}
	p.table([]string{"", "samples", "min", "mean", "p50", "p90", "p99", "max"}, rows)
	p.line("")
	kinds := ""
	for _, k := range r.ScoreKinds {
		kinds += fmt.Sprintf("%s: %d ", k.Kind, k.Count)
	}
	truncate := string(m.Truncate)
	if truncate == "" {
		truncate = "absent"
	}
	p.table([]string{"", ""}, [][]string{
		{"kind of scores: requests", kinds},
		{"source", fmt.Sprintf("%s, sha256 %s, %d groups", m.Source.Name, m.Source.SHA256, m.Source.Rows)},
		{"requests, warm-up", fmt.Sprintf("%d, %d", m.Requests, m.WarmupRequests)},
		{"load", m.Load.Words()},
		{"request", fmt.Sprintf("POST %s, model %s, truncate %s", m.Request.Path, m.Request.Model, truncate)},
		{"passages, words, bytes in all", fmt.Sprintf("%d, %d, %d", m.Lengths.Passages, m.Lengths.PassageWords, m.Lengths.PassageBytes)},
		{"sha256 of the workload", m.Files[WorkloadFile].SHA256},
	})
}

func distributionRow(name string, d Distribution) []string {
	return []string{name, itoa(d.Samples), d.Min.String(), d.Mean.String(), d.P50.String(), d.P90.String(), d.P99.String(), d.Max.String()}
}
