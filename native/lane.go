package native

import (
	"context"
	"sync"

	"github.com/trtmc-go/trtmc/native/task"
)

// lane lets one call at a time onto a model handle. Waiting ends with the context or with close.
type lane struct {
	slot    chan struct{} // holds a token while a call is inside; close keeps it for ever
	closing chan struct{}
	once    sync.Once
}

func newLane() lane {
	return lane{slot: make(chan struct{}, 1), closing: make(chan struct{})}
}

// enter waits for the handle. It returns the context's cause, or ErrClosed, without having entered.
func (l *lane) enter(ctx context.Context, id task.ID) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	select {
	case l.slot <- struct{}{}:
	default:
		select {
		case l.slot <- struct{}{}:
		case <-l.closing:
			return closed(id)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	select {
	case <-l.closing:
		l.leave()
		return closed(id)
	default:
	}
	if ctx.Err() != nil {
		l.leave()
		return context.Cause(ctx)
	}
	return nil
}

func (l *lane) leave() { <-l.slot }

// close refuses new calls, waits for the one inside and then runs release, once. Later calls wait for the first.
func (l *lane) close(release func()) {
	l.once.Do(func() {
		close(l.closing)
		l.slot <- struct{}{}
		release()
	})
}

func closed(id task.ID) error {
	return &task.Error{Op: "enter", Task: id, Detail: "the model is closed", Err: task.ErrClosed}
}
