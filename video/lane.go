package video

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image/jpeg"
	"io"
	"time"

	"github.com/trtmc-go/trtmc/native/task"
)

// lane runs the jobs of one model, one after the other, on one generator, until the service closes.
func (s *Service) lane(model int, g task.VideoGenerator) {
	for {
		id, ok := s.next(model)
		if !ok {
			return
		}
		s.run(id, s.cfg.Models[model], g)
	}
}

// next waits for a job; false says that the service is closed.
func (s *Service) next(model int) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.queues[model]) == 0 && !s.closed {
		s.arrived.Wait()
	}
	if s.closed {
		return "", false
	}
	id := s.queues[model][0]
	s.queues[model] = s.queues[model][1:]
	return id, true
}

// run takes one job from its start to its end.
func (s *Service) run(id string, m Model, g task.VideoGenerator) {
	ctx, cancel := context.WithCancelCause(s.base)
	defer cancel(nil)
	// Known as live before it is started, so that whoever deletes a started job finds its context.
	r := &run{model: m.Name, cancel: cancel}
	s.mu.Lock()
	s.live[id] = r
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.live, id)
		s.mu.Unlock()
	}()

	j, err := s.store.Update(s.base, id, func(j Job) (Job, error) { return j.start(time.Now()) })
	if err != nil {
		s.notStarted(id, err)
		return
	}
	s.cfg.crash("started")
	s.emit(Event{Kind: EventStarted, Job: j})
	a, times, err := s.produce(ctx, j, m, g, r)
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, errDeleted) {
		err = cause
	}
	s.settle(j, a, times, err)
}

// notStarted ends a job that the store would not start: it was deleted, which Delete accounted for, or the store
// itself failed.
func (s *Service) notStarted(id string, err error) {
	if errors.Is(err, ErrNoJob) || errors.Is(err, ErrTransition) || s.base.Err() != nil {
		return
	}
	if err := s.fail(id, Failure{Code: CodeStore, Message: withoutPath("the job could not be started", err), Detail: printable(err.Error())}, Times{}); err != nil {
		s.cfg.Logger.Info("job was deleted before it could be started", "job", id)
	}
}

// produce calls the Task and turns what it gives into an artifact.
func (s *Service) produce(ctx context.Context, j Job, m Model, g task.VideoGenerator, r *run) (a Artifact, t Times, err error) {
	settings, err := m.Settings(j.Spec)
	if err != nil {
		return a, t, err
	}
	s.emit(Event{Kind: EventCallStarted, Job: j, Settings: settings})
	v, err := g.GenerateVideo(withJob(ctx, j), task.VideoRequest{Prompt: j.Spec.Prompt, Settings: settings})
	if err != nil {
		s.emit(Event{Kind: EventCallEnded, Job: j, Settings: settings, Err: err})
		return a, t, err
	}
	defer v.Release()
	info := v.Info()
	t.TaskCall, t.Setup, t.Inference = info.Timing.Call, info.Timing.Setup, info.Timing.Inference
	j.Times = t
	s.emit(Event{Kind: EventCallEnded, Job: j, Settings: settings, Timing: info.Timing})
	s.cfg.crash("generated")

	began := time.Now()
	a, err = s.artifact(ctx, j, m.rate(j.Spec), v, func(done int) { s.progress(r, done, info.Frames) })
	if err != nil && !isTaskError(err) {
		err = fmt.Errorf("%w: %w", errArtifact, err)
	}
	t.Encode = time.Since(began)
	j.Times = t
	if err == nil {
		j.Artifact = &a
	}
	s.emit(Event{Kind: EventEncoded, Job: j, Settings: settings, Timing: info.Timing, Err: err})
	return a, t, err
}

// progress notes how many frames are encoded; 100 is for completed jobs alone.
func (s *Service) progress(r *run, done, frames int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.progress = 99 * done / frames
}

// artifact encodes a clip frame by frame and leaves its files on disk.
func (s *Service) artifact(ctx context.Context, j Job, declared Rate, v task.Video, progress func(int)) (Artifact, error) {
	info := v.Info()
	if info.Frames == 0 {
		return Artifact{}, fmt.Errorf("%w: the clip has no frames", ErrFrames)
	}
	if n := j.Spec.Frames; n != 0 && info.Frames != n {
		return Artifact{}, fmt.Errorf("%w: the clip has %d frames, %d were asked for", ErrFrames, info.Frames, n)
	}
	if n := len(info.Timestamps); n != 0 && n != info.Frames {
		return Artifact{}, fmt.Errorf("%w: %d timestamps for %d frames", ErrFrames, n, info.Frames)
	}
	rate, err := RateOf(info.Timestamps, declared)
	if err != nil {
		return Artifact{}, err
	}
	first, err := v.Frame(0)
	if err != nil {
		return Artifact{}, fmt.Errorf("frame 0: %w", err)
	}
	if w, h := j.Spec.Width, j.Spec.Height; w != 0 && (first.Width != w || first.Height != h) {
		return Artifact{}, fmt.Errorf("%w: the clip is %dx%d, %dx%d was asked for", ErrFrames, first.Width, first.Height, w, h)
	}
	e, err := NewEncoder(EncoderConfig{Width: first.Width, Height: first.Height, Rate: rate, Frames: info.Frames, BitRate: s.cfg.BitRate})
	if err != nil {
		return Artifact{}, err
	}
	poster, err := encodeAll(ctx, e, v, progress)
	if err := errors.Join(err, e.Close()); err != nil {
		return Artifact{}, err
	}
	s.cfg.crash("encoded")
	a, err := s.write(j.ID, e, poster)
	a.ConditionedPrefix = info.ConditionedPrefix
	return a, err
}

// encodeAll encodes every frame and returns the middle one as JPEG.
func encodeAll(ctx context.Context, e *Encoder, v task.Video, progress func(int)) ([]byte, error) {
	var jpg bytes.Buffer
	frames := v.Info().Frames
	for i := range frames {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		f, err := v.Frame(i)
		if err != nil {
			return nil, fmt.Errorf("frame %d: %w", i, err)
		}
		if err := e.WriteFrame(f); err != nil {
			return nil, err
		}
		if i == frames/2 {
			if err := jpeg.Encode(&jpg, poster(f.Pixels, f.Width, f.Height), &jpeg.Options{Quality: 90}); err != nil {
				return nil, fmt.Errorf("%w: thumbnail: %w", ErrEncode, err)
			}
		}
		progress(i + 1)
	}
	return jpg.Bytes(), nil
}

// write saves thumbnail and clip, the clip last and checked. On an error neither is left.
func (s *Service) write(id string, e *Encoder, poster []byte) (a Artifact, err error) {
	err = s.files.save(id, ThumbnailJPEG, func(w io.Writer) error {
		_, err := w.Write(poster)
		return err
	}, func(io.ReaderAt) error { return nil })
	if err == nil {
		err = s.files.save(id, VideoMP4, func(w io.Writer) (err error) {
			a, err = e.Finish(w)
			return err
		}, func(r io.ReaderAt) error { return a.Verify(r, a.Bytes) })
	}
	if err != nil {
		return Artifact{}, errors.Join(err, s.files.remove(id))
	}
	return a, nil
}

// settle stores how a job ended and accounts for it. The store decides: a job that was deleted or failed meanwhile
// stays so, whatever its lane has to say.
func (s *Service) settle(j Job, a Artifact, t Times, err error) {
	if err == nil {
		err = s.complete(j.ID, a, t)
	}
	if err != nil && !errors.Is(err, errDeleted) && !errors.Is(err, ErrNoJob) {
		err = s.fail(j.ID, failureOf(s.base, err), t)
	}
	if errors.Is(err, errDeleted) || errors.Is(err, ErrNoJob) {
		j.Times.TaskCall, j.Times.Setup, j.Times.Inference, j.Times.Encode = t.TaskCall, t.Setup, t.Inference, t.Encode
		s.emit(Event{Kind: EventFinished, Job: j.deleted(), Err: errDeleted})
	}
}

// complete stores that the artifact of a job is on disk; when it cannot, nothing is left of the artifact.
func (s *Service) complete(id string, a Artifact, t Times) error {
	done, err := s.finish(id, func(j Job) (Job, error) { return j.complete(time.Now(), s.cfg.TTL, a, t) })
	if err == nil {
		s.cfg.crash("completed")
		s.emit(Event{Kind: EventFinished, Job: done})
		s.wakeJanitor()
		return nil
	}
	if rerr := s.files.remove(id); rerr != nil {
		s.cfg.Logger.Error("remove files of unfinished job", "job", id, "error", rerr)
	}
	if errors.Is(err, ErrNoJob) || errors.Is(err, ErrTransition) {
		return err
	}
	return fmt.Errorf("%w: %w", errStore, err)
}

// fail stores that a job failed. The error wraps ErrNoJob when it was deleted. When the store cannot take it now, as
// on a full disk, memory keeps it and the janitor goes on trying; after a crash the next start finds the job in
// progress and fails it.
func (s *Service) fail(id string, why Failure, t Times) error {
	j, err := s.finish(id, func(j Job) (Job, error) { return j.fail(time.Now(), s.cfg.TTL, why, t) })
	switch {
	case err == nil:
		s.emit(Event{Kind: EventFinished, Job: j})
	case errors.Is(err, ErrNoJob):
		return err
	case !errors.Is(err, ErrTransition):
		s.keepUnsaved(id, why, t, err)
	}
	return nil
}

// finish changes a job to a final state, unless memory holds one for it already.
func (s *Service) finish(id string, change func(Job) (Job, error)) (Job, error) {
	s.mu.Lock()
	_, decided := s.unsaved[id]
	s.mu.Unlock()
	if decided {
		return Job{}, ErrTransition
	}
	return s.store.Update(context.WithoutCancel(s.base), id, change)
}
