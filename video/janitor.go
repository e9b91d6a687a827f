package video

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// pageSize is how many jobs are read from the store at a time.
const pageSize = 100

// retryEvery is how often a final state is offered again to a store that refused it.
const retryEvery = time.Second

// each calls visit for every stored job, earliest first.
func (s *Service) each(visit func(Job) error) error {
	q := Query{Limit: pageSize}
	for {
		p, err := s.store.List(context.Background(), q)
		if err != nil {
			return err
		}
		for _, j := range p.Jobs {
			if err := visit(j); err != nil {
				return err
			}
			q.After = j.ID
		}
		if !p.More {
			return nil
		}
	}
}

// recover brings what the last process left into order, before any worker runs.
func (s *Service) recover() error {
	completed := map[string]bool{}
	err := s.each(func(j Job) error {
		if n, ok := idNumber(j.ID); ok {
			s.lastID = max(s.lastID, n)
		}
		switch j.State {
		case Completed:
			completed[j.ID] = true
		case Queued:
			return s.requeue(j)
		case InProgress:
			return s.recoverAs(j, Failure{Code: CodeRestart, Message: restarted})
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("recover jobs: %w", err)
	}
	n, err := s.files.sweep(completed)
	if n > 0 {
		s.cfg.Logger.Info("removed files of unfinished jobs", "files", n)
	}
	return err
}

// requeue puts a job that waited back into its queue.
func (s *Service) requeue(j Job) error {
	model, err := s.choose(j.Model)
	if err != nil {
		return s.recoverAs(j, Failure{Code: CodeModel, Message: "the model is no longer served", Detail: err.Error()})
	}
	s.queues[model] = append(s.queues[model], j.ID)
	s.emit(Event{Kind: EventResumed, Job: j})
	return nil
}

func (s *Service) recoverAs(j Job, why Failure) error {
	failed, err := s.store.Update(context.Background(), j.ID, func(j Job) (Job, error) {
		return j.fail(time.Now(), s.cfg.TTL, why, j.Times)
	})
	if err == nil {
		s.emit(Event{Kind: EventFinished, Job: failed})
	}
	return err
}

// janitor removes jobs in time and brings unsaved states to the store, until the service is closed.
func (s *Service) janitor() {
	sweep := time.NewTicker(s.cfg.SweepEvery)
	defer sweep.Stop()
	for {
		var retry <-chan time.Time
		if s.hasUnsaved() {
			retry = time.After(retryEvery)
		}
		select {
		case <-s.stop:
			s.retryUnsaved()
			return
		case <-retry:
			s.retryUnsaved()
			continue
		case <-sweep.C:
		case <-s.nudge:
			if s.hasUnsaved() {
				continue
			}
		}
		if err := s.sweep(time.Now()); err != nil {
			s.cfg.Logger.Error("remove old jobs", "error", err)
		}
	}
}

func (s *Service) wakeJanitor() {
	select {
	case s.nudge <- struct{}{}:
	default: // it is awake already
	}
}

// sweep removes jobs that outlived their time, and the oldest artifacts while all together pass the budget.
func (s *Service) sweep(now time.Time) error {
	s.sweeping.Lock()
	defer s.sweeping.Unlock()
	var kept []Job
	var total int64
	var old []Job
	err := s.each(func(j Job) error {
		if j.expired(now) {
			old = append(old, j)
		} else if j.State == Completed {
			kept = append(kept, j)
			total += j.Artifact.Bytes
		}
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(kept, func(a, b Job) int { return a.FinishedAt.Compare(b.FinishedAt) })
	for s.cfg.DiskBytes > 0 && total > s.cfg.DiskBytes && len(kept) > 1 {
		total -= kept[0].Artifact.Bytes
		old, kept = append(old, kept[0]), kept[1:]
	}
	for _, j := range old {
		if _, derr := s.Delete(context.Background(), j.ID); derr != nil && !errors.Is(derr, ErrNoJob) {
			err = errors.Join(err, derr)
		}
	}
	return err
}

// keepUnsaved remembers that a job failed while the store cannot take it.
func (s *Service) keepUnsaved(id string, why Failure, t Times, cause error) {
	s.cfg.Logger.Error("store failed job, will try again", "job", id, "reason", why.Code, "error", cause)
	j, err := s.store.Job(context.Background(), id)
	if err == nil {
		j, err = j.fail(time.Now(), s.cfg.TTL, why, t)
	}
	if err != nil {
		// Deleted, finished, or unreadable: nothing is left to be remembered.
		s.cfg.Logger.Error("read failed job", "job", id, "error", err)
		return
	}
	s.mu.Lock()
	s.unsaved[id] = j
	s.mu.Unlock()
	s.emit(Event{Kind: EventFinished, Job: j})
	s.wakeJanitor()
}

func (s *Service) hasUnsaved() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.unsaved) > 0
}

// retryUnsaved offers each unsaved state to the store again. One that it still refuses is found in progress by the
// next start and failed there.
func (s *Service) retryUnsaved() {
	s.mu.Lock()
	var pending []Job
	for _, j := range s.unsaved {
		pending = append(pending, j)
	}
	s.mu.Unlock()
	for _, want := range pending {
		_, err := s.store.Update(context.Background(), want.ID, func(j Job) (Job, error) {
			if !j.State.CanBecome(want.State) {
				return j, ErrTransition
			}
			return want, nil
		})
		if err != nil && !errors.Is(err, ErrNoJob) && !errors.Is(err, ErrTransition) {
			continue
		}
		s.mu.Lock()
		delete(s.unsaved, want.ID)
		s.mu.Unlock()
	}
}
