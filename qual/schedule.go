package qual

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/trtmc-go/trtmc/internal/monotime"
	"github.com/trtmc-go/trtmc/trace"
)

// Rates compare what was offered with what became of it, over the measured phase. In a closed loop nothing is due, so
// that Offered and Scheduled have a count and no rate.
type Rates struct {
	Offered   Rate `json:"offered"`   // as the trace recorded it
	Scheduled Rate `json:"scheduled"` // after time scaling
	Sent      Rate `json:"sent"`
	Arrived   Rate `json:"arrived"` // at the server
	Completed Rate `json:"completed"`
}

// Rate is how often something happened: PerSecond = (Count-1)/SpanSeconds, the span being first to last.
type Rate struct {
	Count       int    `json:"count"`
	SpanSeconds Figure `json:"span_seconds"`
	PerSecond   Figure `json:"per_second"`
}

// Lateness is how far the replay was from its schedule, over all measured requests that were sent or arrived.
type Lateness struct {
	Send    Distribution `json:"send"`    // sent minus scheduled
	Arrival Distribution `json:"arrival"` // arrived at the server minus scheduled
	// Comparable says that client and server instants are on one axis; without it there is no arrival lateness.
	Comparable bool `json:"comparable"`
	// SendSwaps and ArrivalSwaps count requests that left, or arrived, after one that was due strictly later.
	SendSwaps    int `json:"send_swaps"`
	ArrivalSwaps int `json:"arrival_swaps"`
	MaxInFlight  int `json:"max_in_flight"` // sent and not ended
	// Doubts say what weakens the replay as such.
	Doubts []string `json:"doubts"`
}

// Series counts events in equal windows of time; the first starts at the schedule's zero, events before it count in
// the first. Each row of counts adds up to its total.
type Series struct {
	WindowSeconds int   `json:"window_seconds"`
	Scheduled     []int `json:"scheduled"`
	Sent          []int `json:"sent"`
	Arrived       []int `json:"arrived"`
	Completed     []int `json:"completed"`
	Rejected      []int `json:"rejected"`
	Failed        []int `json:"failed"`
	TooMany       []int `json:"status_429"` // answers with status 429 at the client
	QueueMax      []int `json:"queue_max"`  // deepest queue met by a request that arrived in the window
}

// comparable reports whether client and server instants are on one axis.
func (l *Ledger) comparable() bool {
	c, s := l.clocks.client, l.clocks.server
	if c.mixed || s.mixed || c.name == "" || c.name != s.name {
		return false
	}
	return l.SharedProcess || c.name == sharedClock
}

// sharedClock is the clock whose instants compare between the processes of one host.
const sharedClock = "CLOCK_MONOTONIC"

// zero is the instant from which a workload's offsets count: the median of scheduled minus offset, which one changed
// row cannot move. It is 0 when no row has a schedule.
func (l *Ledger) zero(w uint8) int64 {
	zeros := make([]int64, 0, l.entries.n)
	l.measured(w, func(_ int, e *entry) {
		if e.scheduled != 0 {
			zeros = append(zeros, e.scheduled-e.offset)
		}
	})
	if len(zeros) == 0 {
		return 0
	}
	slices.Sort(zeros)
	return zeros[len(zeros)/2]
}

// scheduleSlack is how far a row's scheduled instant may be from zero plus offset: rounding, nothing else.
const scheduleSlack = time.Microsecond

// checkSchedule finds rows that were scheduled for another instant than the workload says.
func (l *Ledger) checkSchedule(w uint8) {
	zero := l.zero(w)
	l.measured(w, func(i int, e *entry) {
		off := time.Duration(e.scheduled - e.offset - zero)
		if e.scheduled != 0 && off.Abs() > scheduleSlack {
			l.find(KindWrongPlace, l.names[w], l.ids.id(i), fmt.Sprintf("scheduled %v from its place in the workload", off))
		}
	})
}

func (l *Ledger) lateness(w uint8) Lateness {
	out := Lateness{Comparable: l.comparable()}
	if l.isClosed(w) {
		out.Send, out.Arrival = distribution(nil), distribution(nil)
		return out
	}
	out.Send, _ = l.sample(w, noOutcome, func(e *entry) (span, bool) {
		return span(e.sent - e.scheduled), e.sent != 0 && e.scheduled != 0
	})
	f := trace.Measure(l.observations(w), trace.ClockFacts{Shared: out.Comparable, WallStep: l.WallStep})
	out.SendSwaps, out.ArrivalSwaps, out.MaxInFlight, out.Doubts = f.SendSwaps, f.ArrivalSwaps, f.MaxInFlight, f.Doubts
	if !out.Comparable {
		out.Arrival = distribution(nil)
		return out
	}
	out.Arrival, _ = l.sample(w, noOutcome, func(e *entry) (span, bool) {
		return span(e.arrived - e.scheduled), e.arrived != 0 && e.scheduled != 0
	})
	return out
}

// observations is the measured phase as package trace measures replays.
func (l *Ledger) observations(w uint8) []trace.Observation {
	out := make([]trace.Observation, 0, l.entries.n)
	l.measured(w, func(_ int, e *entry) {
		o := trace.Observation{
			Offset: time.Duration(e.offset), Scheduled: monotime.Instant(e.scheduled), Sent: monotime.Instant(e.sent), Arrived: monotime.Instant(e.arrived),
		}
		if e.sent != 0 {
			o.Ended = monotime.Instant(e.ended())
		}
		out = append(out, o)
	})
	return out
}

func (l *Ledger) rates(w uint8) Rates {
	var scheduled, sent, arrived, done extent
	l.measured(w, func(_ int, e *entry) {
		scheduled.take(e.offset)
		if e.sent != 0 {
			sent.take(e.sent)
		}
		if e.arrived != 0 {
			arrived.take(e.arrived)
		}
		if e.outcome == completed && !e.badTiming {
			done.take(e.sent + int64(e.lastByte))
		}
	})
	r := Rates{Scheduled: scheduled.rate(), Sent: sent.rate(), Arrived: arrived.rate(), Completed: done.rate()}
	if l.isClosed(w) {
		r.Scheduled.SpanSeconds, r.Scheduled.PerSecond = tooFew(), tooFew()
	}
	r.Offered = r.Scheduled
	return r
}

// stretch undoes time scaling: the trace recorded the same requests over a span that is speed times as long.
func (r Rate) stretch(speed float64) Rate {
	if r.SpanSeconds.Known() {
		r.SpanSeconds *= Figure(speed)
	}
	if r.PerSecond.Known() {
		r.PerSecond /= Figure(speed)
	}
	return r
}

// extent is the number, first and last of some instants.
type extent struct {
	n           int
	first, last int64
}

func (x *extent) take(at int64) {
	if x.n == 0 {
		x.first, x.last = at, at
	}
	x.first, x.last = min(x.first, at), max(x.last, at)
	x.n++
}

func (x *extent) rate() Rate {
	r := Rate{Count: x.n, SpanSeconds: tooFew(), PerSecond: tooFew()}
	if x.n > 0 {
		r.SpanSeconds = Figure(time.Duration(x.last - x.first).Seconds())
	}
	if x.n > 1 && x.last > x.first {
		r.PerSecond = Figure(float64(x.n-1) / time.Duration(x.last-x.first).Seconds())
	}
	return r
}

// maxWindows bounds the length of a series.
const maxWindows = 120

func (l *Ledger) overTime(w uint8) Series {
	zero := l.zero(w)
	same := l.comparable()
	end := int64(0)
	l.measured(w, func(_ int, e *entry) {
		end = max(end, e.offset, e.ended()-zero)
		if same {
			end = max(end, e.arrived-zero)
		}
	})
	s := Series{WindowSeconds: windowSeconds(time.Duration(end))}
	width := int64(s.WindowSeconds) * int64(time.Second)
	n := int(end/width) + 1
	for _, row := range []*[]int{&s.Scheduled, &s.Sent, &s.Arrived, &s.Completed, &s.Rejected, &s.Failed, &s.TooMany, &s.QueueMax} {
		*row = make([]int, n)
	}
	at := func(ns int64) int { return int(max(ns, 0) / width) }
	l.measured(w, func(_ int, e *entry) {
		s.Scheduled[at(e.offset)]++
		if e.sent != 0 {
			s.Sent[at(e.sent-zero)]++
		}
		if e.arrived != 0 && same {
			slot := at(e.arrived - zero)
			s.Arrived[slot]++
			s.QueueMax[slot] = max(s.QueueMax[slot], int(e.queueDepth))
		}
		switch e.outcome {
		case completed:
			s.Completed[at(e.ended()-zero)]++
		case rejected:
			s.Rejected[at(e.ended()-zero)]++
		default:
			s.Failed[at(e.ended()-zero)]++
		}
		if e.clientStatus == http.StatusTooManyRequests {
			s.TooMany[at(e.ended()-zero)]++
		}
	})
	return s
}

// ended is the instant of the last byte at the client, or of sending when there was none, or 0.
func (e *entry) ended() int64 { return e.sent + int64(max(e.lastByte, 0)) }

func windowSeconds(total time.Duration) int {
	for _, s := range []int{1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600} {
		if total/(time.Duration(s)*time.Second) < maxWindows {
			return s
		}
	}
	return int(total/time.Second/maxWindows) + 1
}
