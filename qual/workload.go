package qual

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Workload is the account of one workload. Percentiles, rates and causes are those of the measured phase; warm-up is
// counted and nothing else. Times are milliseconds.
type Workload struct {
	Name     string        `json:"name"`
	Measured Counts        `json:"measured"`
	Warmup   Counts        `json:"warmup"`
	Attempts Attempts      `json:"attempts"`
	Causes   []Cause       `json:"causes"`
	Statuses []StatusCount `json:"client_statuses"`
	Rates    Rates         `json:"rates"`
	Lateness Lateness      `json:"lateness_ms"`
	Client   ClientTimes   `json:"client_ms"`
	Server   ServerTimes   `json:"server_ms"`
	Queue    QueueDepth    `json:"queue"`
	Tokens   Tokens        `json:"tokens"`
	// BadTiming counts requests whose instants contradict each other; they are in no distribution.
	BadTiming int    `json:"bad_timing"`
	OverTime  Series `json:"over_time"`
}

// ClientTimes are seen from the client, from the instant it sent the request.
type ClientTimes struct {
	Latency      Distribution `json:"latency"`       // completed: to the last byte
	FromSchedule Distribution `json:"from_schedule"` // completed: from the scheduled instant to the last byte
	FirstContent Distribution `json:"first_content"` // completed streams: to the first content (time to first token)
	InterToken   Distribution `json:"inter_token"`   // completed streams with known token counts: mean gap of each
	InterChunk   Distribution `json:"inter_chunk"`   // completed streams: mean gap between content chunks of each
	Refusal      Distribution `json:"refusal"`       // rejected: to the last byte
}

// ServerTimes are the server's own three durations, each with one meaning on every route.
type ServerTimes struct {
	Queue    Distribution `json:"queue"`     // completed: waiting for a lane
	TaskCall Distribution `json:"task_call"` // completed: round the native call alone (public_task_call_wall)
	Handling Distribution `json:"handling"`  // completed: arrival to the last byte handed over
	Refusal  Distribution `json:"refusal"`   // rejected: whole handling
}

// Attempts counts server records of measured requests. Without retries every sent request has exactly one.
type Attempts struct {
	Records  int `json:"records"`
	Rejected int `json:"rejected"` // records of a refusal, whatever came of the request later
	Retried  int `json:"retried"`  // requests with more than one record
}

// QueueDepth is how many requests waited before a request when it arrived at the queue.
type QueueDepth struct {
	Mean Figure `json:"mean"`
	Max  int    `json:"max"`
}

// Tokens counts what completed requests produced.
type Tokens struct {
	Completion int64 `json:"completion"`
	Known      int   `json:"known"`   // completed requests whose count is known
	Unknown    int   `json:"unknown"` // and the others
}

// measured calls visit for every measured request of a workload.
func (l *Ledger) measured(w uint8, visit func(i int, e *entry)) {
	for i := range l.entries.n {
		if e := l.entries.at(i); e.workload == w && !e.warmup {
			visit(i, e)
		}
	}
}

// sample collects one quantity of the measured requests whose timing is sound and describes it in milliseconds. The
// values are valid until the next call.
func (l *Ledger) sample(w uint8, want outcomeCode, of func(e *entry) (span, bool)) (Distribution, []float64) {
	ms := l.samples[:0]
	l.measured(w, func(_ int, e *entry) {
		if e.badTiming || want != noOutcome && e.outcome != want {
			return
		}
		if v, ok := of(e); ok {
			ms = append(ms, float64(v)/float64(time.Millisecond))
		}
	})
	l.samples = ms
	return distribution(ms), ms
}

func (l *Ledger) summarize(w uint8) Workload {
	out := l.count(w)
	l.times(w, &out)
	out.Lateness, out.Rates, out.OverTime = l.lateness(w), l.rates(w), l.overTime(w)
	return out
}

// count is the part of a summary that takes one look at each request.
func (l *Ledger) count(w uint8) Workload {
	out := Workload{Name: l.names[w], Attempts: l.attempts[w]}
	causes := map[Cause]int{}
	statuses := map[int]int{}
	depths, depthSum := 0, 0
	for i := range l.entries.n {
		e := l.entries.at(i)
		switch {
		case e.workload != w:
			continue
		case e.warmup:
			out.Warmup.take(e.outcome)
			continue
		}
		out.Measured.take(e.outcome)
		if e.outcome != completed {
			causes[Cause{Outcome: e.outcome.outcome(), Cause: l.words.text(e.cause)}]++
		}
		if e.rows > 0 {
			statuses[int(e.clientStatus)]++
		}
		if e.badTiming {
			out.BadTiming++
		}
		if e.queue != absent {
			depths++
			depthSum += int(e.queueDepth)
			out.Queue.Max = max(out.Queue.Max, int(e.queueDepth))
		}
		out.Tokens.take(e)
	}
	out.Queue.Mean = tooFew()
	if depths > 0 {
		out.Queue.Mean = Figure(float64(depthSum) / float64(depths))
	}
	out.Causes, out.Statuses = sortedCauses(causes), sortedStatuses(statuses)
	return out
}

func (t *Tokens) take(e *entry) {
	switch {
	case e.outcome != completed:
	case e.tokens < 0:
		t.Unknown++
	default:
		t.Known++
		t.Completion += int64(e.tokens)
	}
}

// times fills the distributions of the client and of the server.
func (l *Ledger) times(w uint8, out *Workload) {
	known := func(get func(e *entry) span) func(e *entry) (span, bool) {
		return func(e *entry) (span, bool) { s := get(e); return s, s != absent }
	}
	lastByte := known(func(e *entry) span { return e.lastByte })
	handling := known(func(e *entry) span { return e.handling })
	c, s := &out.Client, &out.Server
	var ms []float64
	c.Latency, ms = l.sample(w, completed, lastByte)
	c.Latency.ofAll(ms, out.Measured.Rejected+out.Measured.Failed)
	c.FromSchedule = distribution(nil)
	if !l.isClosed(w) {
		c.FromSchedule, ms = l.sample(w, completed, func(e *entry) (span, bool) {
			return span(e.sent-e.scheduled) + e.lastByte, e.lastByte != absent
		})
		c.FromSchedule.ofAll(ms, out.Measured.Rejected+out.Measured.Failed)
	}
	c.FirstContent, _ = l.sample(w, completed, func(e *entry) (span, bool) {
		return e.firstContent, e.streaming && e.firstContent != absent
	})
	c.InterToken, _ = l.sample(w, completed, func(e *entry) (span, bool) { return e.gap(e.tokens) })
	c.InterChunk, _ = l.sample(w, completed, func(e *entry) (span, bool) { return e.gap(e.chunks) })
	c.Refusal, _ = l.sample(w, rejected, lastByte)
	s.Queue, _ = l.sample(w, completed, known(func(e *entry) span { return e.queue }))
	s.TaskCall, _ = l.sample(w, completed, known(func(e *entry) span { return e.taskCall }))
	s.Handling, _ = l.sample(w, completed, handling)
	s.Refusal, _ = l.sample(w, rejected, handling)
}

// gap is the mean time between n pieces of streamed content.
func (e *entry) gap(n int32) (span, bool) {
	if !e.streaming || n < 2 || e.firstContent == absent || e.lastContent == absent {
		return absent, false
	}
	return (e.lastContent - e.firstContent) / span(n-1), true
}

func sortedCauses(counts map[Cause]int) []Cause {
	out := make([]Cause, 0, len(counts))
	for c, n := range counts {
		out = append(out, Cause{Outcome: c.Outcome, Cause: c.Cause, Count: n})
	}
	slices.SortFunc(out, func(a, b Cause) int {
		return cmp.Or(-cmp.Compare(a.Outcome, b.Outcome), -cmp.Compare(a.Count, b.Count), cmp.Compare(a.Cause, b.Cause))
	})
	return out
}

func sortedStatuses(counts map[int]int) []StatusCount {
	out := make([]StatusCount, 0, len(counts))
	for _, s := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, StatusCount{s, counts[s]})
	}
	return out
}
