package trace

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"time"
)

// Window is a part of a trace by recorded time. Both ends are included; a nil end is open.
type Window struct {
	Start *time.Duration `json:"start_ns"`
	End   *time.Duration `json:"end_ns"`
}

// Plan says which rows of a trace are sent and how fast.
type Plan struct {
	Window Window
	// Speed divides the time between requests: 2 is twice as fast as recorded, 1 is as recorded. It must be a finite
	// number above 0.
	Speed float64
	// Shard is this machine's number from 0 of Shards; row i of the window belongs to shard i mod Shards. All shards
	// count from the same zero. Shards 0 means 1.
	Shard, Shards int
}

// ErrNoRows is returned when a trace, or the window of it, has no row to send.
var ErrNoRows = errors.New("no rows to send")

// Schedule is when which row of a trace is sent: pure arithmetic, no clock. It is immutable.
//
// Zero is the start of the window when one is given, else the smallest kept timestamp, as in AIPerf. Time is scaled
// from zero, so absolute timestamps do not matter. Rows are in order of time, equal times in file order; none is
// dropped for being equal to another.
type Schedule struct {
	zero time.Duration
	at   []time.Duration
	row  []int32
}

// NewSchedule plans rows with the recorded offsets, in file order.
func NewSchedule(recorded []time.Duration, plan Plan) (Schedule, error) {
	shards := max(plan.Shards, 1)
	switch {
	case !(plan.Speed > 0) || math.IsInf(plan.Speed, 0):
		return Schedule{}, fmt.Errorf("speed %v: want a finite number above 0", plan.Speed)
	case plan.Shards < 0 || plan.Shard < 0 || plan.Shard >= shards:
		return Schedule{}, fmt.Errorf("shard %d of %d: want 0 to one less than their number", plan.Shard, shards)
	case len(recorded) > math.MaxInt32:
		return Schedule{}, fmt.Errorf("%d rows: want at most %d", len(recorded), math.MaxInt32)
	case plan.Window.Start != nil && plan.Window.End != nil && *plan.Window.End < *plan.Window.Start:
		return Schedule{}, fmt.Errorf("window from %v to %v: want the end not before the start", *plan.Window.Start, *plan.Window.End)
	}
	kept := keep(recorded, plan.Window)
	if len(kept) == 0 {
		return Schedule{}, fmt.Errorf("window of %d rows: %w", len(recorded), ErrNoRows)
	}
	s := Schedule{zero: recorded[kept[0]]}
	if plan.Window.Start != nil {
		s.zero = *plan.Window.Start
	}
	scale := newScale(plan.Speed)
	for i := plan.Shard; i < len(kept); i += shards {
		at, ok := scale.divide(uint64(recorded[kept[i]]) - uint64(s.zero))
		if !ok {
			return Schedule{}, fmt.Errorf("speed %v: the schedule would last more than 292 years", plan.Speed)
		}
		s.at, s.row = append(s.at, at), append(s.row, kept[i])
	}
	return s, nil
}

// keep returns the rows of the window by time.
func keep(recorded []time.Duration, w Window) []int32 {
	kept := make([]int32, 0, len(recorded))
	for i, at := range recorded {
		if (w.Start == nil || at >= *w.Start) && (w.End == nil || at <= *w.End) {
			kept = append(kept, int32(i))
		}
	}
	slices.SortStableFunc(kept, func(a, b int32) int { return cmp.Compare(recorded[a], recorded[b]) })
	return kept
}

// Len returns the number of requests of this shard, which may be 0 when there are more shards than rows.
func (s Schedule) Len() int { return len(s.at) }

// At returns when request i is sent, counted from the start of the schedule.
func (s Schedule) At(i int) time.Duration { return s.at[i] }

// Row returns which of the recorded offsets request i is.
func (s Schedule) Row(i int) int { return int(s.row[i]) }

// Zero returns the recorded time that is the start of the schedule.
func (s Schedule) Zero() time.Duration { return s.zero }

// Span returns when the last request is sent, 0 when there is none.
func (s Schedule) Span() time.Duration {
	if len(s.at) == 0 {
		return 0
	}
	return s.at[len(s.at)-1]
}

// scale divides durations by a speed, exactly, rounding to the nearest nanosecond, halves up. A float division would
// lose nanoseconds of long traces.
type scale struct {
	identity bool
	num, den *big.Int // of the speed
	v, r     big.Int
}

func newScale(speed float64) *scale {
	exact := new(big.Rat).SetFloat64(speed)
	return &scale{identity: speed == 1, num: exact.Num(), den: exact.Denom()}
}

func (s *scale) divide(d uint64) (time.Duration, bool) {
	if s.identity {
		return time.Duration(d), d <= math.MaxInt64
	}
	// (2·d·den + num) / (2·num)
	s.v.SetUint64(d)
	s.v.Mul(&s.v, s.den)
	s.v.Lsh(&s.v, 1)
	s.v.Add(&s.v, s.num)
	s.r.Lsh(s.num, 1)
	s.v.Quo(&s.v, &s.r)
	return time.Duration(s.v.Uint64()), s.v.IsInt64()
}
