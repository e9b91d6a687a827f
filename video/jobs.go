package video

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Create stores a job and queues it. The answer is durable: whatever happens to the process afterwards, the job is
// found under its id until it is deleted or outlives its time. The error is a [*DecodeError] when the request asks for
// what the model does not declare, wraps [ErrQueueFull] or [ErrClosed], or is that of the store.
func (s *Service) Create(ctx context.Context, req Request) (Job, error) {
	model, err := s.choose(req.Model)
	if err != nil {
		return Job{}, err
	}
	if _, err := s.cfg.Models[model].Settings(req.Spec); err != nil {
		return Job{}, err
	}
	id, err := s.reserve(model)
	if err != nil {
		return Job{}, err
	}
	j := Job{
		ID: id, RequestID: req.RequestID, Tag: req.Tag, User: req.User, Spec: req.Spec, State: Queued, CreatedAt: time.Now(),
		Model: s.cfg.Models[model].Name,
	}
	if j.Model == "" {
		j.Model = req.Model
	}
	if err := s.store.Create(ctx, j); err != nil {
		s.enqueue(model, "")
		return Job{}, fmt.Errorf("store job: %w", err)
	}
	s.cfg.crash("created")
	s.emit(Event{Kind: EventCreated, Job: j})
	s.enqueue(model, j.ID)
	return j, nil
}

// choose returns the index of the model that a request names.
func (s *Service) choose(name string) (int, error) {
	models := s.cfg.Models
	if len(models) == 1 && (name == "" || models[0].Name == "") {
		return 0, nil
	}
	list := make([]string, len(models))
	for i, m := range models {
		if list[i] = m.Name; name == m.Name {
			return i, nil
		}
	}
	known := strings.Join(list, ", ")
	if name == "" {
		return 0, invalid("model", "missing, want one of: %s", known)
	}
	return 0, &DecodeError{Param: "model", Code: CodeModel, Msg: fmt.Sprintf("%q is not served here, want one of: %s", clip(name), known)}
}

// reserve takes a place in the queue of a model and makes an id.
func (s *Service) reserve(model int) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return "", ErrClosed
	}
	if n := len(s.queues[model]) + s.reserved[model]; n >= s.cfg.Queue {
		return "", fmt.Errorf("%w: %d jobs are waiting", ErrQueueFull, n)
	}
	s.reserved[model]++
	// Ids rise within the store, also when the clock was set back, because the order of ids is the order of the list.
	s.lastID = max(s.lastID+1, uint64(time.Now().UnixNano()))
	return newID(s.lastID), nil
}

// newID makes an id of a rising number and random bits, so that ids of several stores do not meet.
func newID(n uint64) string {
	var r [8]byte
	rand.Read(r[:]) // never fails
	return fmt.Sprintf("%s%016x%016x", idPrefix, n, binary.BigEndian.Uint64(r[:]))
}

// idNumber returns the number in an id, false when it is not an id of this service.
func idNumber(id string) (uint64, bool) {
	hex, ok := strings.CutPrefix(id, idPrefix)
	if !ok || len(hex) != 32 || strings.Trim(hex, "0123456789abcdef") != "" {
		return 0, false
	}
	n, err := strconv.ParseUint(hex[:16], 16, 64)
	return n, err == nil
}

// enqueue gives a reserved place back, and to a job when there is an id.
func (s *Service) enqueue(model int, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reserved[model]--
	if id != "" {
		s.queues[model] = append(s.queues[model], id)
		s.arrived.Broadcast()
	}
}

// Job returns a snapshot of a job; the error wraps [ErrNoJob].
func (s *Service) Job(ctx context.Context, id string) (Job, error) {
	if _, ok := idNumber(id); !ok {
		return Job{}, fmt.Errorf("job %q: %w", clip(id), ErrNoJob)
	}
	j, err := s.store.Job(ctx, id)
	if err != nil {
		return Job{}, err
	}
	if j, ok := s.overlay(j, time.Now()); ok {
		return j, nil
	}
	return Job{}, fmt.Errorf("job %s has outlived its time: %w", id, ErrNoJob)
}

// overlay adds what only memory knows, and reports false for a job that outlived its time and was not swept yet.
func (s *Service) overlay(j Job, now time.Time) (Job, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if newer, ok := s.unsaved[j.ID]; ok {
		return newer, true
	}
	if r := s.live[j.ID]; r != nil && j.State == InProgress {
		j.Progress = r.progress
	}
	return j, !j.expired(now)
}

func (j Job) expired(now time.Time) bool {
	return j.State.Final() && !j.ExpiresAt.IsZero() && !now.Before(j.ExpiresAt)
}

// List returns jobs in the order of their creation.
func (s *Service) List(ctx context.Context, q Query) (Page, error) {
	p, err := s.store.List(ctx, q)
	if err != nil {
		return Page{}, err
	}
	now := time.Now()
	kept := p.Jobs[:0]
	for _, j := range p.Jobs {
		if j, ok := s.overlay(j, now); ok {
			kept = append(kept, j)
		}
	}
	p.Jobs = kept
	return p, nil
}

// Delete removes a job with its artifact and returns its last snapshot; the error wraps [ErrNoJob]. A job that waits
// is never started. Of a job on a lane the context ends at once; the Task text_to_video cannot be cancelled, so the
// lane is free when its call returns, which Delete does not wait for. A deleted job never comes back.
func (s *Service) Delete(ctx context.Context, id string) (Job, error) {
	if _, ok := idNumber(id); !ok {
		return Job{}, fmt.Errorf("job %q: %w", clip(id), ErrNoJob)
	}
	j, err := s.store.Delete(ctx, id)
	if err != nil && !errors.Is(err, ErrNoJob) && ctx.Err() == nil {
		j, err = s.makeRoom(ctx, id, err)
	}
	if err != nil {
		return Job{}, err
	}
	s.cfg.crash("deleted")
	s.forget(id)
	if j.State == Queued {
		s.emit(Event{Kind: EventFinished, Job: j.deleted(), Err: errDeleted})
	}
	if j.State != InProgress {
		if err := s.files.remove(id); err != nil {
			// The job is gone all the same; the next start removes the file.
			s.cfg.Logger.Error("remove files of deleted job", "job", id, "error", err)
		}
	}
	return j, nil
}

// makeRoom deletes a job that the store would not delete. On a full disk a store cannot even forget, so the files of a
// finished job, which is what takes the room, go first.
func (s *Service) makeRoom(ctx context.Context, id string, cause error) (Job, error) {
	j, err := s.store.Job(ctx, id)
	if err != nil || j.State != Completed {
		return Job{}, cause
	}
	if err := s.files.remove(id); err != nil {
		return Job{}, errors.Join(cause, err)
	}
	return s.store.Delete(ctx, id)
}

// Load is how many jobs of one model are not final.
type Load struct {
	Model      string
	Queued     int // waiting for a lane
	InProgress int // on a lane, which a deleted job also is until its Task call has returned
}

// Loads returns the load of every model, in the order of Config.Models.
func (s *Service) Loads() []Load {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Load, len(s.cfg.Models))
	for i, m := range s.cfg.Models {
		out[i] = Load{Model: m.Name, Queued: len(s.queues[i])}
		for _, r := range s.live {
			if r.model == m.Name {
				out[i].InProgress++
			}
		}
	}
	return out
}

// forget takes a deleted job out of memory and ends its context when it runs.
func (s *Service) forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.unsaved, id)
	for i, q := range s.queues {
		s.queues[i] = slices.DeleteFunc(q, func(x string) bool { return x == id })
	}
	if r := s.live[id]; r != nil {
		r.cancel(errDeleted)
	}
}

// deleted is how a job that was deleted before its end is accounted for.
func (j Job) deleted() Job {
	j.State, j.Progress, j.FinishedAt = Failed, 0, time.Now()
	j.Failure = &Failure{Code: CodeCancelled, Message: "the job was deleted before it was finished"}
	return j
}

// Content opens a file of a completed job; the caller closes it. The error wraps [ErrNoJob], [ErrNotReady],
// [ErrJobFailed] or [ErrArtifactGone].
func (s *Service) Content(ctx context.Context, id string, v Variant) (*os.File, Job, error) {
	j, err := s.Job(ctx, id)
	if err != nil {
		return nil, Job{}, err
	}
	switch j.State {
	case Completed:
	case Failed:
		return nil, j, fmt.Errorf("%w: %s", ErrJobFailed, j.Failure.Message)
	default:
		return nil, j, fmt.Errorf("%w: it is %s", ErrNotReady, j.State)
	}
	f, err := s.files.open(id, v)
	if err != nil {
		return nil, j, err
	}
	if info, err := f.Stat(); v == VideoMP4 && (err != nil || info.Size() != j.Artifact.Bytes) {
		return nil, j, errors.Join(fmt.Errorf("%s of %s: %w: it has another size", v, id, ErrArtifactGone), err, f.Close())
	}
	return f, j, nil
}
