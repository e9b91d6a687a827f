//go:build cgo

package native

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native/task"
)

func TestLaneHoldsOneAndWakesTheNext(t *testing.T) {
	l := newLane()
	var inside, most, done atomic.Int32
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range 500 {
				if l.enter(context.Background(), "x") != nil {
					return
				}
				if n := inside.Add(1); n > most.Load() {
					most.Store(n)
				}
				inside.Add(-1)
				done.Add(1)
				l.leave()
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 1, most.Load())
	require.EqualValues(t, 16*500, done.Load())
}

// TestLaneCloseRace closes a busy lane while others wait, come and give up: close always gets through, once.
func TestLaneCloseRace(t *testing.T) {
	for range 200 {
		l := newLane()
		ctx, cancel := context.WithCancel(context.Background())
		var released, after atomic.Int32
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				c := context.Background()
				if i%2 == 0 {
					c = ctx
				}
				for {
					err := l.enter(c, "x")
					if err == nil {
						after.Add(released.Load())
						l.leave()
						continue
					}
					if errors.Is(err, task.ErrClosed) {
						return
					}
					c = context.Background() // gave up once; comes again
				}
			})
		}
		cancel()
		for range 2 {
			wg.Go(func() { l.close(func() { released.Add(1) }) })
		}
		wg.Wait()
		require.EqualValues(t, 1, released.Load())
		require.Zero(t, after.Load(), "a call was inside after the release")
		require.ErrorIs(t, l.enter(context.Background(), "x"), task.ErrClosed)
	}
}
