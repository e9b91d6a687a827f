package serving

import (
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/trtmc-go/trtmc/native/task"
)

// call is one Task call to make on a lane: it looks the Task up and calls it.
type call func(lane task.Model) (task.Timing, error)

// run waits for a lane, makes the call and gives the lane back when the call has returned, whatever became of the
// client meanwhile: a one-shot native call cannot be stopped, and a lane is free only when it is. Everything is noted
// in o. The error is a fault of the admission, the cause of ctx, or the Task's own.
func (s *Server) run(ctx context.Context, o *observation, m *served, id task.ID, set task.Settings, do call) error {
	lane, release, err := s.admit(ctx, o, m)
	if err != nil {
		return err
	}
	defer release()
	// Requests that came in the same instant are taken before this one occupies its slot of the scheduler with a native
	// call; on two CPUs that brings the last of a burst of ten in a millisecond earlier.
	runtime.Gosched()
	o.noteCallStart(id, set)
	timing, err := do(lane)
	o.noteCallEnd(timing, !errors.Is(err, task.ErrClosed))
	return err
}

// admit takes one of the model's lanes for o, waiting in the model's queue. The caller must call release once it has
// no more use for the lane; calling it again does nothing.
func (s *Server) admit(ctx context.Context, o *observation, m *served) (task.Model, func(), error) {
	i, err := m.pool.acquire(ctx, o.bytes(), o.noteEnqueued)
	return m.hold(o, i, err)
}

// admitJob takes a lane for a job that has waited in a queue of its own; release is as in admit.
func (s *Server) admitJob(ctx context.Context, o *observation, m *served) (task.Model, func(), error) {
	i, err := m.pool.acquireJob(ctx)
	return m.hold(o, i, err)
}

// hold notes how the waiting for a lane ended and returns the lane with what gives it back.
func (m *served) hold(o *observation, i int, err error) (task.Model, func(), error) {
	o.noteLeftQueue(i)
	if err != nil {
		return nil, nil, err
	}
	start, released := time.Now(), false
	release := func() {
		if !released {
			released = true
			m.pool.release(i, time.Since(start))
		}
	}
	return m.Lanes[i], release, nil
}
