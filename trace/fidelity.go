package trace

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/trtmc-go/trtmc/internal/monotime"
)

// Observation is what is known of one offered request. Instants are 0 when not reached or unknown.
type Observation struct {
	Offset    time.Duration    // offered, from the start of the schedule
	Scheduled monotime.Instant // where the replay placed it on the clock
	Sent      monotime.Instant // first byte written
	Arrived   monotime.Instant // at the server
	Ended     monotime.Instant // at the client
}

// ClockFacts are what a comparison of instants rests on.
type ClockFacts struct {
	// Shared says that client and server instants are on one axis; without it arrivals are not used.
	Shared bool
	// WallStep is how far the wall clock moved against the monotonic clock during the run.
	WallStep time.Duration
}

// Fidelity is how a replay compares with its schedule.
type Fidelity struct {
	Offered   Rate `json:"offered"`
	Scheduled Rate `json:"scheduled"`
	Sent      Rate `json:"sent"`
	Arrived   Rate `json:"arrived"`
	// SendLateness and ArrivalLateness are sent and arrived minus scheduled.
	SendLateness    Distribution `json:"send_lateness"`
	ArrivalLateness Distribution `json:"arrival_lateness"`
	// SendSwaps and ArrivalSwaps count requests overtaken: sent (arrived) after one that was scheduled strictly later.
	SendSwaps    int `json:"send_swaps"`
	ArrivalSwaps int `json:"arrival_swaps"`
	MaxInFlight  int `json:"max_in_flight"` // sent and not ended
	// Doubts say what weakens the numbers above. They are sentences in a fixed order.
	Doubts []string `json:"doubts"`
}

// Rate is how often something happened. PerSecond is (Count-1)/SpanSeconds, the span being first to last; it is 0 when
// there are fewer than two different instants.
type Rate struct {
	Count       int     `json:"count"`
	SpanSeconds float64 `json:"span_seconds"`
	PerSecond   float64 `json:"per_second"`
}

func rateOf(instants []int64) Rate {
	r := Rate{Count: len(instants)}
	if r.Count == 0 {
		return r
	}
	span := time.Duration(slices.Max(instants) - slices.Min(instants)).Seconds()
	r.SpanSeconds = span
	if span > 0 {
		r.PerSecond = float64(r.Count-1) / span
	}
	return r
}

// Compare joins a workload with client rows and the server's arrivals by request id and measures the replay. Rows of
// requests that the workload does not hold are left out; they are the ledger's concern.
func Compare(items []Item, rows []Row, arrivals map[string]monotime.Instant, facts ClockFacts) Fidelity {
	byID := make(map[string]*Row, len(rows))
	for i := range rows {
		byID[rows[i].RequestID] = &rows[i]
	}
	seen := make([]Observation, len(items))
	for i, item := range items {
		seen[i] = Observation{Offset: item.Offset, Arrived: arrivals[item.RequestID]}
		if row := byID[item.RequestID]; row != nil {
			seen[i].Scheduled, seen[i].Sent = monotime.Instant(row.ScheduledNS), monotime.Instant(row.SentNS)
			seen[i].Ended = monotime.Instant(row.EndedNS)
		}
	}
	return Measure(seen, facts)
}

// Measure compares a replay with its schedule. Equal observations, in any order, give equal results.
func Measure(seen []Observation, facts ClockFacts) Fidelity {
	seen = slices.Clone(seen)
	slices.SortFunc(seen, func(a, b Observation) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Scheduled, b.Scheduled),
			cmp.Compare(a.Sent, b.Sent), cmp.Compare(a.Arrived, b.Arrived), cmp.Compare(a.Ended, b.Ended))
	})
	var offered, scheduled, sent, arrived []int64
	var sendLate, arriveLate []time.Duration
	for _, o := range seen {
		offered = append(offered, int64(o.Offset))
		if o.Scheduled != 0 {
			scheduled = append(scheduled, int64(o.Scheduled))
		}
		if o.Sent != 0 && o.Scheduled != 0 {
			sent = append(sent, int64(o.Sent))
			sendLate = append(sendLate, o.Sent.Sub(o.Scheduled))
		}
		if o.Arrived != 0 {
			arrived = append(arrived, int64(o.Arrived))
			if facts.Shared && o.Scheduled != 0 {
				arriveLate = append(arriveLate, o.Arrived.Sub(o.Scheduled))
			}
		}
	}
	f := Fidelity{
		Offered: rateOf(offered), Scheduled: rateOf(scheduled), Sent: rateOf(sent), Arrived: rateOf(arrived),
		SendLateness: Distribute(sendLate), ArrivalLateness: Distribute(arriveLate),
		SendSwaps:    swaps(seen, func(o Observation) monotime.Instant { return o.Sent }),
		ArrivalSwaps: swaps(seen, func(o Observation) monotime.Instant { return o.Arrived }),
		MaxInFlight:  maxInFlight(seen),
	}
	f.Doubts = f.doubts(sendLate, facts)
	return f
}

// swaps counts the requests after which, in the schedule, one with a strictly later offset happened earlier.
func swaps(byOffset []Observation, at func(Observation) monotime.Instant) int {
	n := 0
	earliest := monotime.Instant(1<<63 - 1) // of all with a later offset
	pending := earliest                     // of those with the same offset
	for i := len(byOffset) - 1; i >= 0; i-- {
		if i+1 < len(byOffset) && byOffset[i].Offset != byOffset[i+1].Offset {
			earliest = min(earliest, pending)
		}
		when := at(byOffset[i])
		if when == 0 {
			continue
		}
		if when > earliest {
			n++
		}
		pending = min(pending, when)
	}
	return n
}

// maxInFlight returns how many requests were under way at once; one that ends as another is sent is not with it.
func maxInFlight(seen []Observation) int {
	type change struct {
		at monotime.Instant
		by int
	}
	var changes []change
	for _, o := range seen {
		if o.Sent != 0 && o.Ended != 0 {
			changes = append(changes, change{o.Sent, 1}, change{o.Ended, -1})
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) })
	flying, most := 0, 0
	for _, c := range changes {
		flying += c.by
		most = max(most, flying)
	}
	return most
}

// Limits beyond which a number is doubted.
const (
	maxWallStep    = 10 * time.Millisecond
	saturationRise = 10 * time.Millisecond // of the median lateness from the first to the last quarter
	rateTolerance  = 0.02
)

func (f *Fidelity) doubts(sendLate []time.Duration, facts ClockFacts) []string {
	doubts := []string{}
	add := func(format string, args ...any) { doubts = append(doubts, fmt.Sprintf(format, args...)) }
	if n := f.Offered.Count - f.Sent.Count; n > 0 {
		add("%d of %d offered requests were not sent or have no row", n, f.Offered.Count)
	}
	if need := QuantileSamples(0.99); f.Sent.Count > 0 && f.Sent.Count < need {
		add("p99 needs %d samples, there are %d sent requests", need, f.Sent.Count)
	}
	if !facts.Shared {
		add("the clocks of client and server are not shared: there is no arrival lateness")
	}
	if n := f.Sent.Count - f.Arrived.Count; n > 0 {
		add("%d sent requests have no arrival at the server", n)
	}
	if early := f.ArrivalLateness; early.Samples > 0 && early.MinMS < -0.001 {
		add("a request arrived %.3f ms before it was scheduled: the clocks may disagree", -early.MinMS)
	}
	if facts.WallStep.Abs() > maxWallStep {
		add("the wall clock moved by %v against the monotonic clock during the run", facts.WallStep)
	}
	if rise := saturation(sendLate); rise > saturationRise {
		add("the client was saturated: the median send lateness rose by %v from the first to the last quarter", rise.Round(10*time.Microsecond))
	}
	if off := f.Sent.PerSecond/f.Scheduled.PerSecond - 1; f.Scheduled.PerSecond > 0 && f.Sent.Count > 1 && (off > rateTolerance || off < -rateTolerance) {
		add("the sent rate is %+.1f %% off the scheduled rate", 100*off)
	}
	return doubts
}

// saturation returns by how much the median lateness of the last quarter of the schedule exceeds that of the first.
func saturation(late []time.Duration) time.Duration {
	quarter := len(late) / 4
	if quarter < 5 {
		return 0
	}
	median := func(part []time.Duration) time.Duration {
		part = slices.Sorted(slices.Values(part))
		return part[len(part)/2]
	}
	return median(late[len(late)-quarter:]) - median(late[:quarter])
}

// Within returns nil when the replay kept to its schedule: something was sent, and the p99 of lateness, at the server
// where arrivals are known and else at sending, is at most limit. With fewer than 100 samples the maximum decides.
func (f Fidelity) Within(limit time.Duration) error {
	late, where := f.ArrivalLateness, "arrival"
	if late.Samples == 0 {
		late, where = f.SendLateness, "send"
	}
	if late.Samples == 0 {
		return errors.New("nothing was sent: the replay has no lateness")
	}
	worst, name := late.P99MS, "p99"
	if late.Samples < QuantileSamples(0.99) {
		worst, name = late.MaxMS, "maximum"
	}
	if allowed := float64(limit) / float64(time.Millisecond); worst > allowed {
		return fmt.Errorf("%s %s lateness is %.3f ms over %d samples; want at most %.3f ms", name, where, worst, late.Samples, allowed)
	}
	return nil
}
