package video

import (
	"fmt"
	"slices"
	"time"
)

// State is where a job stands. These four are all that the wire ever shows.
type State string

// The states of a job.
const (
	Queued     State = "queued"
	InProgress State = "in_progress"
	Completed  State = "completed" // the artifact is on disk and was checked
	Failed     State = "failed"    // Failure says why
)

// next is the transition table: a job moves only along it, and never out of a final state.
func (s State) next() []State {
	switch s {
	case Queued:
		return []State{InProgress, Failed}
	case InProgress:
		return []State{Completed, Failed}
	}
	return nil
}

// CanBecome reports whether a job in state s may enter state to.
func (s State) CanBecome(to State) bool { return slices.Contains(s.next(), to) }

// Final reports whether a job in state s stays as it is.
func (s State) Final() bool { return s == Completed || s == Failed }

// Failure is why a job failed.
type Failure struct {
	Code    string `json:"code"`             // one of the Code constants, or the generator's own
	Message string `json:"message"`          // for the client, never empty, the same text for the same cause
	Detail  string `json:"detail,omitempty"` // the whole error for the operator; may hold text of native code
}

// Job is a snapshot of a job. It is a value that nothing changes afterwards; do not write through its pointers.
type Job struct {
	ID        string `json:"id"` // safe in a URL path; later jobs have greater ids
	RequestID string `json:"request_id,omitempty"`
	Tag       string `json:"tag,omitempty"` // as in [Request]
	Model     string `json:"model,omitempty"`
	User      string `json:"user,omitempty"`
	Spec      Spec   `json:"spec"`
	State     State  `json:"state"`
	// Progress is 0 to 100: the share of frames encoded while the job is in progress, because a Task call itself
	// reports none, and 100 exactly when the job is completed.
	Progress   int       `json:"progress"`
	CreatedAt  time.Time `json:"created_at"`
	StartedAt  time.Time `json:"started_at,omitzero"`
	FinishedAt time.Time `json:"finished_at,omitzero"`
	ExpiresAt  time.Time `json:"expires_at,omitzero"` // when a finished job is removed; zero: never
	Failure    *Failure  `json:"failure,omitempty"`
	Artifact   *Artifact `json:"artifact,omitempty"`
	Times      Times     `json:"times"`
}

// Times are the durations of a job's phases, apart from each other; 0 is not reached or not reported.
type Times struct {
	Queue     time.Duration `json:"queue_ns,omitempty"`     // from creation to start
	TaskCall  time.Duration `json:"task_call_ns,omitempty"` // public_task_call_wall, as in task.Timing
	Setup     time.Duration `json:"setup_ns,omitempty"`     // as the model reports
	Inference time.Duration `json:"inference_ns,omitempty"` // as the model reports
	Encode    time.Duration `json:"encode_ns,omitempty"`    // converting, encoding, writing and checking
}

// enter returns the job in another state; the error wraps ErrTransition.
func (j Job) enter(to State) (Job, error) {
	if !j.State.CanBecome(to) {
		return j, fmt.Errorf("job %s from %s to %s: %w", j.ID, j.State, to, ErrTransition)
	}
	j.State = to
	return j, nil
}

func (j Job) start(now time.Time) (Job, error) {
	j.StartedAt = now
	j.Times.Queue = max(0, now.Sub(j.CreatedAt))
	return j.enter(InProgress)
}

func (j Job) complete(now time.Time, ttl time.Duration, a Artifact, t Times) (Job, error) {
	t.Queue = j.Times.Queue
	j.Artifact, j.Times, j.Progress = &a, t, 100
	return j.finish(now, ttl, Completed)
}

func (j Job) fail(now time.Time, ttl time.Duration, why Failure, t Times) (Job, error) {
	t.Queue = j.Times.Queue
	j.Failure, j.Times = &why, t
	return j.finish(now, ttl, Failed)
}

func (j Job) finish(now time.Time, ttl time.Duration, to State) (Job, error) {
	j.FinishedAt = now
	if ttl > 0 {
		j.ExpiresAt = now.Add(ttl)
	}
	return j.enter(to)
}
