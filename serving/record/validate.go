package record

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Validate checks that a record does not contradict itself: outcome, reason and stage fit each other, the instants are
// in order, and the durations are those of the instants. It returns what does not fit, or nil.
func (r *Record) Validate() error {
	stages := []Stage{StageReceived, StageQueued, StageRunning, StageDelivering, StageDone}
	switch {
	case r.Schema < 1 || r.Schema > Schema:
		return fmt.Errorf("schema %d, want 1 to %d", r.Schema, Schema)
	case r.RequestID == "":
		return errors.New("no request_id")
	case r.RequestIDSource != "client" && r.RequestIDSource != "generated":
		return fmt.Errorf("request_id_source %q, want client or generated", r.RequestIDSource)
	case !slices.Contains(stages, r.Stage):
		return fmt.Errorf("stage %q is not known", r.Stage)
	case r.ArrivedNS <= 0:
		return errors.New("no instant of arrival")
	}
	if err := r.validateOutcome(); err != nil {
		return err
	}
	if err := r.validateInstants(); err != nil {
		return err
	}
	if err := r.validateVideo(); err != nil {
		return err
	}
	return r.validateDurations()
}

// validateVideo checks what only the record of a job has.
func (r *Record) validateVideo() error {
	v := r.Video
	switch {
	case v == nil:
	case v.JobID == "":
		return errors.New("a video job without an id")
	case r.Outcome == Completed && (v.Frames < 1 || v.FileSHA256 == "" || v.FramesSHA256 == ""):
		return errors.New("a completed video job without a file")
	case v.FinishedNS < max(r.ArrivedNS, r.TaskCallEndNS):
		return errors.New("a video job that was final before its Task call had ended")
	case r.HandlingNS > v.FinishedNS-r.ArrivedNS:
		return fmt.Errorf("handling is %v, its instants span %v", time.Duration(r.HandlingNS), time.Duration(v.FinishedNS-r.ArrivedNS))
	}
	return nil
}

func (r *Record) validateOutcome() error {
	began := r.TaskCallStartNS != 0
	switch r.Outcome {
	case Completed:
		switch {
		case r.Reason != "" || r.Stage != StageDone:
			return fmt.Errorf("completed with reason %q at stage %q, want none and done", r.Reason, r.Stage)
		case !began || r.TaskCallEndNS == 0:
			return errors.New("completed without a whole Task call")
		}
	case Rejected, Failed:
		switch {
		case r.Reason == "" || r.Stage == StageDone:
			return fmt.Errorf("%s with reason %q at stage %q, want a reason and an earlier stage", r.Outcome, r.Reason, r.Stage)
		case r.Outcome == Rejected && began:
			return errors.New("rejected although a Task call had begun")
		}
	default:
		return fmt.Errorf("outcome %q, want completed, rejected or failed", r.Outcome)
	}
	return nil
}

func (r *Record) validateInstants() error {
	last, name := r.ArrivedNS, "arrived"
	for _, at := range []struct {
		name string
		ns   int64
	}{
		{"enqueued", r.EnqueuedNS}, {"admitted", r.AdmittedNS},
		{"task call start", r.TaskCallStartNS}, {"task call end", r.TaskCallEndNS},
	} {
		if at.ns == 0 {
			continue
		}
		if at.ns < last {
			return fmt.Errorf("%s is %v before %s", at.name, time.Duration(last-at.ns), name)
		}
		last, name = at.ns, at.name
	}
	// The first byte of a stream leaves during the Task call, so bytes are ordered among themselves only.
	switch {
	case r.FirstByteNS != 0 && r.FirstByteNS < r.ArrivedNS:
		return errors.New("first byte before arrival")
	case r.LastByteNS != 0 && r.LastByteNS < max(r.FirstByteNS, r.ArrivedNS):
		return errors.New("last byte before the first or before arrival")
	case r.TaskCallStartNS != 0 && r.Lane < 0:
		return errors.New("a Task call without a lane")
	}
	return nil
}

func (r *Record) validateDurations() error {
	switch {
	case r.QueueNS < 0 || r.TaskCallNS < 0 || r.HandlingNS < 0:
		return errors.New("a negative duration")
	case r.AdmittedNS != 0 && r.EnqueuedNS != 0 && r.QueueNS != r.AdmittedNS-r.EnqueuedNS:
		return fmt.Errorf("queue is %v, its instants span %v", time.Duration(r.QueueNS), time.Duration(r.AdmittedNS-r.EnqueuedNS))
	case r.TaskCallStartNS != 0 && r.TaskCallEndNS != 0 && r.TaskCallNS > r.TaskCallEndNS-r.TaskCallStartNS:
		return fmt.Errorf("public_task_call_wall is %v, its instants span %v", time.Duration(r.TaskCallNS), time.Duration(r.TaskCallEndNS-r.TaskCallStartNS))
	case r.LastByteNS != 0 && r.HandlingNS > r.LastByteNS-r.ArrivedNS:
		return fmt.Errorf("handling is %v, its instants span %v", time.Duration(r.HandlingNS), time.Duration(r.LastByteNS-r.ArrivedNS))
	}
	return nil
}
