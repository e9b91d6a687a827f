package serving

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// jobTurn is how waiting for a lane ended.
type jobTurn struct {
	lane int
	err  error
}

func waitAsJob(ctx context.Context, p *pool) chan jobTurn {
	turn := make(chan jobTurn, 1)
	go func() {
		lane, err := p.acquireJob(ctx)
		turn <- jobTurn{lane, err}
	}()
	return turn
}

// TestJobWaitsForALaneBeyondTheLimitsOfRequests: a job was admitted when it was made, so neither the length of the
// queue, nor the longest wait, nor a shutdown that refuses requests takes its turn away.
func TestJobWaitsForALaneBeyondTheLimitsOfRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(1, Queue{Count: 1, Bytes: 1, Wait: time.Second})
		lane, err := p.acquire(t.Context(), 0, func(int) {})
		require.NoError(t, err)
		first := waitAsJob(t.Context(), p)
		synctest.Wait()
		second := waitAsJob(t.Context(), p)
		synctest.Wait()
		_, err = p.acquire(t.Context(), 0, func(int) {})
		require.ErrorIs(t, err, ErrQueueFull, "a request still meets its own limit")
		time.Sleep(time.Hour)
		p.stop()
		p.release(lane, time.Hour)
		require.Equal(t, jobTurn{lane, nil}, <-first)
		p.release(lane, time.Second)
		require.Equal(t, jobTurn{lane, nil}, <-second)
		p.release(lane, time.Second)
		busy, waiting, _ := p.state()
		require.Zero(t, busy)
		require.Zero(t, waiting)
	})
}

func TestJobWhoseContextEndsLeavesTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(1, Queue{Count: 1, Bytes: 1, Wait: time.Second})
		lane, err := p.acquireJob(t.Context())
		require.NoError(t, err)
		ctx, cancel := context.WithCancelCause(t.Context())
		waiting := waitAsJob(ctx, p)
		synctest.Wait()
		deleted := errors.New("deleted")
		cancel(deleted)
		require.Equal(t, jobTurn{-1, deleted}, <-waiting)
		_, err = p.acquireJob(ctx)
		require.ErrorIs(t, err, deleted)
		p.release(lane, 0)
		require.Equal(t, jobTurn{lane, nil}, <-waitAsJob(t.Context(), p))
	})
}
