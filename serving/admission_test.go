package serving

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func nothing(int) {}

func TestLanesGoToWaitersInOrderOfArrival(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(1, Queue{}.withDefaults())
		lane, err := p.acquire(t.Context(), 1, nothing)
		require.NoError(t, err)
		served := make(chan int, 3)
		for i := range 3 {
			go func() {
				lane, err := p.acquire(context.Background(), 1, nothing)
				if err == nil {
					served <- i
					p.release(lane, time.Second)
				}
			}()
			synctest.Wait()
		}
		require.Equal(t, 3, p.depth())
		p.release(lane, time.Second)
		synctest.Wait()
		require.Equal(t, []int{0, 1, 2}, []int{<-served, <-served, <-served})
		busy, waiting, bytes := p.state()
		require.Equal(t, [3]int64{}, [3]int64{int64(busy), int64(waiting), bytes})
	})
}

func TestIdleLanesAreUsedInTurn(t *testing.T) {
	p := newPool(3, Queue{}.withDefaults())
	var got []int
	for range 6 {
		lane, err := p.acquire(t.Context(), 0, nothing)
		require.NoError(t, err)
		got = append(got, lane)
		p.release(lane, 0)
	}
	require.Equal(t, []int{0, 1, 2, 0, 1, 2}, got)
}

func TestWaitIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(1, Queue{Wait: 7 * time.Second}.withDefaults())
		lane, err := p.acquire(t.Context(), 0, nothing)
		require.NoError(t, err)
		start := time.Now()
		_, err = p.acquire(t.Context(), 0, nothing)
		require.ErrorIs(t, err, ErrQueueWait)
		require.Equal(t, 7*time.Second, time.Since(start))
		require.Equal(t, 429, err.(*fault).status)
		require.Zero(t, p.depth())
		p.release(lane, 0)
	})
}

func TestWaiterWhoseContextEndsLeavesAtOnceWithItsCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(1, Queue{}.withDefaults())
		lane, err := p.acquire(t.Context(), 0, nothing)
		require.NoError(t, err)
		cause := errors.New("gone home")
		ctx, cancel := context.WithCancelCause(t.Context())
		got := make(chan error)
		go func() {
			_, err := p.acquire(ctx, 5, nothing)
			got <- err
		}()
		synctest.Wait()
		cancel(cause)
		require.ErrorIs(t, <-got, cause)
		_, waiting, bytes := p.state()
		require.Zero(t, waiting)
		require.Zero(t, bytes)
		p.release(lane, 0)
		_, err = p.acquire(ctx, 0, nothing)
		require.ErrorIs(t, err, cause, "a free lane is not taken either")
		require.Len(t, p.free, 1)
	})
}

func TestQueueIsBoundedByCountAndBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(1, Queue{Count: 2, Bytes: 10}.withDefaults())
		lane, err := p.acquire(t.Context(), 1000, nothing)
		require.NoError(t, err, "a free lane takes any size")
		wait := func(bytes int64) {
			go func() {
				if lane, err := p.acquire(context.Background(), bytes, nothing); err == nil {
					p.release(lane, 0)
				}
			}()
			synctest.Wait()
		}
		wait(6)
		_, err = p.acquire(t.Context(), 5, nothing)
		require.ErrorIs(t, err, ErrQueueFull)
		require.EqualValues(t, "queue_bytes_full", err.(*fault).reason)
		wait(4)
		depth := -1
		_, err = p.acquire(t.Context(), 0, func(n int) { depth = n })
		require.ErrorIs(t, err, ErrQueueFull)
		require.EqualValues(t, "queue_full", err.(*fault).reason)
		require.Equal(t, 2, depth)
		p.release(lane, 0)
	})
}

func TestNegativeCountMeansNoQueue(t *testing.T) {
	p := newPool(1, Queue{Count: -1}.withDefaults())
	_, err := p.acquire(t.Context(), 0, nothing)
	require.NoError(t, err)
	_, err = p.acquire(t.Context(), 0, nothing)
	require.ErrorIs(t, err, ErrQueueFull)
}

func TestRetryAfterFollowsTheTimeThatLanesAreHeld(t *testing.T) {
	for _, c := range []struct {
		held  time.Duration
		lanes int
		want  string
	}{{0, 1, "1"}, {10 * time.Millisecond, 1, "1"}, {5 * time.Second, 1, "5"}, {5 * time.Second, 2, "3"}, {time.Hour, 1, "60"}} {
		p := newPool(c.lanes, Queue{Count: -1}.withDefaults())
		for _, held := range []time.Duration{c.held, 0} {
			for range c.lanes {
				_, err := p.acquire(t.Context(), 0, nothing)
				require.NoError(t, err)
			}
			for lane := range c.lanes {
				if held > 0 {
					p.release(lane, held)
				}
			}
			if c.held == 0 {
				break
			}
		}
		_, last := p.acquire(t.Context(), 0, nothing)
		var f *fault
		require.ErrorAs(t, last, &f)
		require.Equal(t, c.want, retryAfter(f.retry), "%+v", c)
	}
}

// TestPoolLosesNoLane drives a pool in any order and holds it to its own rules after each step.
func TestPoolLosesNoLane(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		lanes := rapid.IntRange(1, 3).Draw(rt, "lanes")
		p := newPool(lanes, Queue{Count: rapid.IntRange(1, 4).Draw(rt, "count"), Wait: time.Hour})
		p.limits.Bytes = 100
		type request struct {
			cancel context.CancelFunc
			done   chan int // lane, -1 for none
		}
		var pending []request
		var held []int
		collect := func() {
			kept := pending[:0]
			for _, r := range pending {
				select {
				case lane := <-r.done:
					if lane >= 0 {
						held = append(held, lane)
					}
				default:
					kept = append(kept, r)
				}
			}
			pending = kept
		}
		synctestRun := func(step func()) {
			step()
			synctest.Wait()
			collect()
		}
		check := func() {
			busy, waiting, bytes := p.state()
			if busy != len(held) || waiting != len(pending) || bytes != int64(waiting) {
				rt.Fatalf("busy %d held %d waiting %d pending %d bytes %d", busy, len(held), waiting, len(pending), bytes)
			}
			if waiting > 0 && busy < lanes {
				rt.Fatalf("%d wait beside a free lane", waiting)
			}
			seen := map[int]bool{}
			for _, lane := range held {
				if seen[lane] {
					rt.Fatalf("lane %d is held twice", lane)
				}
				seen[lane] = true
			}
		}
		synctest.Test(t, func(*testing.T) {
			for range rapid.IntRange(1, 30).Draw(rt, "steps") {
				switch op := rapid.IntRange(0, 2).Draw(rt, "op"); {
				case op == 0:
					synctestRun(func() {
						ctx, cancel := context.WithCancel(context.Background())
						r := request{cancel, make(chan int, 1)}
						go func() {
							lane, _ := p.acquire(ctx, 1, nothing)
							r.done <- lane
						}()
						pending = append(pending, r)
					})
				case op == 1 && len(held) > 0:
					i := rapid.IntRange(0, len(held)-1).Draw(rt, "release")
					lane := held[i]
					held = append(held[:i], held[i+1:]...)
					synctestRun(func() { p.release(lane, time.Second) })
				case op == 2 && len(pending) > 0:
					i := rapid.IntRange(0, len(pending)-1).Draw(rt, "cancel")
					synctestRun(pending[i].cancel)
				}
				check()
			}
			synctestRun(p.stop)
			if len(pending) != 0 {
				rt.Fatalf("%d still wait after stop", len(pending))
			}
		})
	})
}

// BenchmarkAdmission is the cost of a lane for a request that finds one free.
func BenchmarkAdmission(b *testing.B) {
	p := newPool(2, Queue{}.withDefaults())
	b.ReportAllocs()
	for b.Loop() {
		lane, err := p.acquire(b.Context(), 100, nothing)
		if err != nil {
			b.Fatal(err)
		}
		p.release(lane, time.Millisecond)
	}
}
