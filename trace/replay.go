package trace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/trtmc-go/trtmc/internal/monotime"
)

// Replayer sends the items of a workload and hands out one [Row] for each. It is used by one goroutine at a time.
type Replayer struct {
	// Sender sends; it stays the caller's.
	Sender *Sender
	// StartAt is the zero of the schedule; the zero time stands for as soon as everything is ready. Shards of one
	// schedule on several machines share it.
	StartAt time.Time
	// MaxInFlight bounds the requests under way; those due beyond it are not sent and their rows say so. It never
	// delays one. 0 means no limit.
	MaxInFlight int
	// RuntimeTimers paces with the timers of the Go runtime even where the system has better ones. Tests in virtual
	// time need it.
	RuntimeTimers bool
	// Progress is called after each settled request, one call at a time; nil means nobody asks.
	Progress func(done, total int)
}

// Summary is the sum of one run.
type Summary struct {
	Phase   Phase          `json:"phase"`
	Items   int            `json:"items"`
	Results map[Result]int `json:"results"`
	// ZeroNS is the instant from which offsets count, on the sender's clock; 0 for a closed loop.
	ZeroNS int64 `json:"zero_ns"`
	// EndedNS is the instant at which the last row was settled.
	EndedNS int64 `json:"ended_ns"`
	// WallStepNS is how far the wall clock moved against the monotonic clock during the run. More than some
	// milliseconds mean that somebody set it.
	WallStepNS int64 `json:"wall_step_ns"`
	// ClockShared says that instants compare with those of other processes of the host.
	ClockShared bool `json:"clock_shared"`
}

// startLead is the time between the end of the preparations and the first instant.
const startLead = 20 * time.Millisecond

// Predialled connections cover the requests of the first instants, and of the first instants after a pause, so that a
// burst does not wait for its connections.
const (
	predialWindow = 10 * time.Millisecond
	predialMax    = 64
	predialLead   = time.Second            // before the first request
	spareLead     = 100 * time.Millisecond // before a burst after a pause of at least twice that
)

// Run sends every item at its offset from the start of the schedule, whatever the server does, and calls sink with its
// row as soon as that is settled, one call at a time, in no particular order. It returns when all rows are out.
//
// When ctx ends, requests under way are cut, those not yet due are not sent, and all have rows; Run then returns the
// cause. An error of sink ends the run too, without further rows. Other errors are found before anything is sent: a
// bad configuration, a doubled request id, a negative offset.
func (r *Replayer) Run(ctx context.Context, items []Item, phase Phase, sink func(Row) error) (Summary, error) {
	items, err := r.check(items)
	if err != nil {
		return Summary{}, err
	}
	run := newRun(ctx, r, phase, len(items), sink)
	defer run.cancel(nil)
	zero := r.start(run, items)
	run.pace(items, zero)
	return run.end()
}

// start makes the first connections shortly before they are needed and returns the zero of the schedule.
func (r *Replayer) start(run *run, items []Item) monotime.Instant {
	if r.StartAt.IsZero() && (len(items) == 0 || items[0].Offset < predialLead) {
		r.Sender.Predial(run.ctx, predialFor(items))
		return run.clock.Now().Add(startLead)
	}
	zero := run.clock.Now().Add(startLead)
	if !r.StartAt.IsZero() {
		zero = run.clock.At(r.StartAt)
	}
	if len(items) > 0 {
		rest(run.ctx, zero.Add(items[0].Offset-predialLead).Sub(run.clock.Now()))
		r.Sender.Predial(run.ctx, predialFor(items))
	}
	return zero
}

// RunClosed sends the items in order, concurrency of them at a time (at least 1), each as soon as an earlier one is
// settled. It is how warm-up is done; offsets are not used. Rows, sink and errors are as in Run.
func (r *Replayer) RunClosed(ctx context.Context, items []Item, phase Phase, concurrency int, sink func(Row) error) (Summary, error) {
	if _, err := r.check(items); err != nil {
		return Summary{}, err
	}
	run := newRun(ctx, r, phase, len(items), sink)
	defer run.cancel(nil)
	next := make(chan Item)
	var workers sync.WaitGroup
	for range min(max(concurrency, 1), max(len(items), 1)) {
		workers.Go(func() {
			for item := range next {
				run.settle(r.Sender.Do(run.ctx, item, 0))
			}
		})
	}
	for _, item := range items {
		next <- item
	}
	close(next)
	workers.Wait()
	return run.end()
}

// check returns the items by offset, equal offsets in their order.
func (r *Replayer) check(items []Item) ([]Item, error) {
	if r.Sender == nil {
		return nil, errors.New("replay: no sender")
	}
	if err := r.Sender.Check(); err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	seen := make(map[string]struct{}, len(items))
	for i := range items {
		if items[i].Offset < 0 {
			return nil, fmt.Errorf("replay: request %q has offset %v; want 0 or more", items[i].RequestID, items[i].Offset)
		}
		if _, double := seen[items[i].RequestID]; double {
			return nil, fmt.Errorf("replay: request id %q occurs twice; every request needs its own", items[i].RequestID)
		}
		seen[items[i].RequestID] = struct{}{}
	}
	byOffset := func(a, b Item) int { return cmp.Compare(a.Offset, b.Offset) }
	if !slices.IsSortedFunc(items, byOffset) {
		items = slices.Clone(items)
		slices.SortStableFunc(items, byOffset)
	}
	return items, nil
}

func predialFor(items []Item) int {
	n := 0
	for n < min(len(items), predialMax) && items[n].Offset-items[0].Offset <= predialWindow {
		n++
	}
	return n
}
