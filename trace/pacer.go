package trace

import (
	"context"
	"time"

	"github.com/trtmc-go/trtmc/internal/monotime"
)

// pacer waits for instants. It is used by one goroutine from its making to its close.
type pacer interface {
	// wait returns at the instant, as close after it as the pacer can, or earlier when ctx ends.
	wait(ctx context.Context, until monotime.Instant)
	close()
}

// timerPacer waits with the timers of the Go runtime, which may be a millisecond late when the process is idle.
type timerPacer struct{ clock monotime.Clock }

func (p timerPacer) wait(ctx context.Context, until monotime.Instant) {
	for {
		left := until.Sub(p.clock.Now())
		if left <= 0 || !rest(ctx, left) {
			return
		}
	}
}

func (p timerPacer) close() {}

// rest waits for d and reports whether ctx is still alive.
func rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
