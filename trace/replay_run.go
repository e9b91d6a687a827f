package trace

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trtmc-go/trtmc/internal/monotime"
)

// run is one call of [Replayer.Run] or [Replayer.RunClosed].
type run struct {
	r      *Replayer
	ctx    context.Context
	cancel context.CancelCauseFunc
	clock  monotime.Clock
	sink   func(Row) error
	flying atomic.Int64
	dials  sync.WaitGroup
	zero   monotime.Instant
	fed    chan struct{} // capacity 1: rows are waiting
	handed chan struct{} // closed when all rows are handed out

	mu   sync.Mutex
	rows []Row // settled, not yet handed out

	// Owned by the goroutine that hands out rows, until handed is closed.
	summary Summary
	sinkErr error
}

func newRun(ctx context.Context, r *Replayer, phase Phase, total int, sink func(Row) error) *run {
	ctx, cancel := context.WithCancelCause(ctx)
	run := &run{
		r: r, ctx: ctx, cancel: cancel, clock: r.Sender.Clock, sink: sink,
		fed: make(chan struct{}, 1), handed: make(chan struct{}),
		summary: Summary{Phase: phase, Items: total, Results: map[Result]int{}, ClockShared: r.Sender.Clock.Shared()},
	}
	go run.handOut()
	return run
}

// pace launches each item at its instant. The next request's bytes are made before its instant comes.
func (r *run) pace(items []Item, zero monotime.Instant) {
	r.zero = zero
	p := newPacer(r.clock, r.r.RuntimeTimers)
	defer p.close()
	landed := func(row Row) {
		r.flying.Add(-1)
		r.settle(row)
	}
	for i, item := range items {
		x := r.r.Sender.exchange(item, landed)
		due := zero.Add(item.Offset)
		if i > 0 && due.Sub(r.clock.Now()) > 2*spareLead {
			p.wait(r.ctx, due.Add(-spareLead))
			r.spare(items[i:])
		}
		p.wait(r.ctx, due)
		if n := r.flying.Add(1); r.r.MaxInFlight <= 0 || n <= int64(r.r.MaxInFlight) {
			x.launch(r.ctx, due)
			continue
		}
		x.row.ScheduledNS = int64(due)
		x.unsent(CodeMaxInFlight, fmt.Errorf("%d requests were under way", r.r.MaxInFlight))
	}
}

// spare makes the connections that the burst at the head of items lacks. The pacer does not wait for them: a request
// whose connection is late makes its own.
func (r *run) spare(items []Item) {
	if lacking := predialFor(items) - r.r.Sender.Idle(); lacking > 0 {
		r.dials.Go(func() { r.r.Sender.Predial(r.ctx, lacking) })
	}
}

// settle queues a row. It never waits for the sink, so that a slow sink cannot delay the schedule.
func (r *run) settle(row Row) {
	r.mu.Lock()
	r.rows = append(r.rows, row)
	r.mu.Unlock()
	select {
	case r.fed <- struct{}{}:
	default:
	}
}

// handOut gives the rows to the sink until there was one for every item.
func (r *run) handOut() {
	defer close(r.handed)
	var batch []Row
	for done := 0; done < r.summary.Items; {
		<-r.fed
		r.mu.Lock()
		batch, r.rows = r.rows, batch[:0]
		r.mu.Unlock()
		for i := range batch {
			row := batch[i]
			row.Phase = r.summary.Phase
			r.summary.Results[row.Result]++
			if r.sinkErr == nil && r.sink != nil {
				if r.sinkErr = r.sink(row); r.sinkErr != nil {
					r.cancel(r.sinkErr)
				}
			}
			done++
			if r.r.Progress != nil {
				r.r.Progress(done, r.summary.Items)
			}
		}
	}
}

// end waits for all rows and sums up.
func (r *run) end() (Summary, error) {
	<-r.handed
	r.dials.Wait()
	now := time.Now()
	r.summary.ZeroNS = int64(r.zero)
	r.summary.EndedNS = int64(r.clock.At(now))
	r.summary.WallStepNS = now.UnixNano() - int64(r.clock.At(now)) - r.clock.WallBase()
	if r.sinkErr != nil {
		return r.summary, fmt.Errorf("replay: hand out rows: %w", r.sinkErr)
	}
	if r.ctx.Err() != nil {
		return r.summary, fmt.Errorf("replay: %w", context.Cause(r.ctx))
	}
	return r.summary, nil
}
