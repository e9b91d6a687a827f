package video

import (
	"context"
	"time"

	"github.com/trtmc-go/trtmc/native/task"
)

// Kind is what an [Event] tells of.
type Kind string

// The events of a job, in order. A job has one Created and, unless the process is killed, one Finished event; a job
// that is interrupted by the end of the process has its Finished event when the service is opened again, and one that
// waits through it a Resumed event. Both of these come before Open returns.
const (
	EventCreated     Kind = "created"      // the job is stored
	EventResumed     Kind = "resumed"      // the job waited when the service was opened, and waits again
	EventStarted     Kind = "started"      // a lane was taken
	EventCallStarted Kind = "call_started" // the generator is about to be called, with Settings
	EventCallEnded   Kind = "call_ended"   // the generator has returned, with Timing or Err
	EventEncoded     Kind = "encoded"      // the artifact is written and checked, or Err says why not
	EventFinished    Kind = "finished"     // the job is final or deleted; the lane is free when it had one
)

// Event is one step of a job. It is given to [Config].Observe on the goroutine that takes the step, so an observer
// should be quick. Events of one job come one after the other, those of several jobs at the same time.
type Event struct {
	Kind     Kind
	At       time.Time // with a monotonic reading
	Job      Job       // as it is after this step; a deleted job is shown as failed with CodeCancelled
	Settings task.Settings
	Timing   task.Timing
	Err      error
}

type jobKey struct{}

// JobOf returns the job that a generator is called for, from the context of the call, and whether there is one.
func JobOf(ctx context.Context) (Job, bool) {
	j, ok := ctx.Value(jobKey{}).(Job)
	return j, ok
}

func withJob(ctx context.Context, j Job) context.Context {
	return context.WithValue(ctx, jobKey{}, j)
}
