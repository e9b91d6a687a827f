package native

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/trtmc-go/trtmc/native/task"
)

// lane lets one call at a time onto a model handle. Waiting ends with the context or with close.
//
// Entering a free lane costs one atomic exchange. Whoever finds it taken counts itself as a waiter before it looks again,
// and whoever leaves looks for waiters after it has freed the lane; so a free lane with waiters always has a wake-up
// under way. A caller that comes at the right moment may pass the waiters.
type lane struct {
	taken   atomic.Bool
	waiters atomic.Int32
	wake    chan struct{} // one pending wake-up at most
	shut    atomic.Bool
	closing chan struct{} // closed once shut is set
	once    sync.Once
}

func newLane() *lane {
	return &lane{wake: make(chan struct{}, 1), closing: make(chan struct{})}
}

// enter waits for the handle. It returns the context's cause, or ErrClosed, without having entered.
func (l *lane) enter(ctx context.Context, id task.ID) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if !l.taken.CompareAndSwap(false, true) {
		if err := l.wait(ctx, id); err != nil {
			return err
		}
	}
	if l.shut.Load() {
		l.leave()
		return closed(id)
	}
	return nil
}

func (l *lane) wait(ctx context.Context, id task.ID) error {
	l.waiters.Add(1)
	defer l.waiters.Add(-1)
	for !l.taken.CompareAndSwap(false, true) {
		select {
		case <-l.wake:
		case <-l.closing:
			return closed(id)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if ctx.Err() != nil {
		l.leave()
		return context.Cause(ctx)
	}
	return nil
}

func (l *lane) leave() {
	l.taken.Store(false)
	if l.waiters.Load() > 0 {
		select {
		case l.wake <- struct{}{}:
		default:
		}
	}
}

// close refuses new calls, waits for the one inside and then runs release, once. Later calls wait for the first.
func (l *lane) close(release func()) {
	l.once.Do(func() {
		l.shut.Store(true)
		close(l.closing)
		l.waiters.Add(1)
		for !l.taken.CompareAndSwap(false, true) {
			<-l.wake
		}
		release() // the lane stays taken for ever
	})
}

func closed(id task.ID) error {
	return &task.Error{Op: "call", Task: id, Detail: "the model is closed", Err: task.ErrClosed}
}
