package video

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native/task"
)

// waiting is how long a test waits for something that takes milliseconds, on a machine that is busy with others.
const waiting = 30 * time.Second

// eventLog is an observer that remembers and that a test can wait on.
type eventLog struct {
	mu     sync.Mutex
	events []Event
	grew   chan struct{}
}

func newEventLog() *eventLog { return &eventLog{grew: make(chan struct{})} }

func (l *eventLog) observe(e Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, e)
	close(l.grew)
	l.grew = make(chan struct{})
}

// of returns the events of one job.
func (l *eventLog) of(id string) []Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []Event
	for _, e := range l.events {
		if e.Job.ID == id {
			out = append(out, e)
		}
	}
	return out
}

func kinds(events []Event) []Kind {
	var out []Kind
	for _, e := range events {
		out = append(out, e.Kind)
	}
	return out
}

// wait returns the first event of that kind of a job.
func (l *eventLog) wait(t testing.TB, id string, kind Kind) Event {
	t.Helper()
	deadline := time.After(waiting)
	for {
		l.mu.Lock()
		grew := l.grew
		l.mu.Unlock()
		for _, e := range l.of(id) {
			if e.Kind == kind {
				return e
			}
		}
		select {
		case <-grew:
		case <-deadline:
			require.FailNow(t, "no such event", "%s of %s in %v", kind, id, kinds(l.of(id)))
		}
	}
}

func (l *eventLog) finished(t testing.TB, id string) Job {
	t.Helper()
	return l.wait(t, id, EventFinished).Job
}

func smallScene() scene { return scene{width: 64, height: 48, frames: 4, fps: 8} }

func service(t testing.TB, g task.VideoGenerator, edit func(*Config)) (*Service, *eventLog) {
	t.Helper()
	if !HasEncoder {
		t.Skip(ErrNoEncoder)
	}
	l := newEventLog()
	cfg := Config{Dir: t.TempDir(), Observe: l.observe, Models: []Model{{Name: "m", Decl: declared(), Generators: []task.VideoGenerator{g}}}}
	if edit != nil {
		edit(&cfg)
	}
	s, err := Open(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s, l
}

func create(t testing.TB, s *Service, spec Spec) Job {
	t.Helper()
	if spec.Prompt == "" {
		spec.Prompt = "a red ball"
	}
	j, err := s.Create(t.Context(), Request{RequestID: "r", Model: "m", Spec: spec})
	require.NoError(t, err)
	return j
}

// filesOf lists what is on disk.
func filesOf(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, "artifacts"))
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestJobRunsToACheckedArtifact(t *testing.T) {
	g := &fakeGenerator{defaults: smallScene()}
	s, l := service(t, g, nil)
	seed := int64(7)
	j := create(t, s, Spec{Seed: &seed, Frames: 9})
	require.Equal(t, Queued, j.State)
	done := l.finished(t, j.ID)
	require.Nil(t, done.Failure)
	require.Equal(t, Completed, done.State)
	require.Equal(t, 100, done.Progress)
	a := done.Artifact
	require.Equal(t, 9, a.Frames)
	require.Equal(t, Rate{8, 1}, a.Rate)
	require.Equal(t, time.Second+125*time.Millisecond, a.Duration)
	require.Positive(t, done.Times.TaskCall)
	require.Positive(t, done.Times.Encode)
	require.Equal(t, []Kind{EventCreated, EventStarted, EventCallStarted, EventCallEnded, EventEncoded, EventFinished}, kinds(l.of(j.ID)))

	stored, err := s.Job(t.Context(), j.ID)
	require.NoError(t, err)
	require.Equal(t, done.Artifact, stored.Artifact)
	file, _, err := s.Content(t.Context(), j.ID, VideoMP4)
	require.NoError(t, err)
	require.NoError(t, a.Verify(file, a.Bytes))
	require.NoError(t, file.Close())

	direct := g.paint(task.VideoRequest{Settings: task.Settings{{Name: "seed", Value: task.Int(7)}, {Name: "num_frames", Value: task.Int(9)}}})
	want, err := FramesSHA256(direct)
	require.NoError(t, err)
	require.Equal(t, want, a.FramesSHA256, "the frames of a direct call are the frames of the job")
	require.Equal(t, []string{j.ID + ".jpg", j.ID + ".mp4"}, filesOf(t, s.cfg.Dir))
}

// TestJobSaysWhyItFailed goes through what a Task can give that is no clip.
func TestJobSaysWhyItFailed(t *testing.T) {
	taskError := func(err error, detail string) error {
		return &task.Error{Op: "run", Task: task.TextToVideo, Status: 7, Detail: detail, Err: err}
	}
	tests := map[string]struct {
		spec    Spec
		do      func(*fakeVideo) (task.Video, error)
		code    string
		message string
	}{
		"no frames": {do: func(v *fakeVideo) (task.Video, error) { v.info = task.VideoInfo{}; return v, nil }, code: CodeTaskResult, message: "the clip has no frames"},
		"unequal frames": {do: func(v *fakeVideo) (task.Video, error) {
			v.edit = func(i int, f *task.Frame) {
				if i == 2 {
					f.Height--
					f.Pixels = f.Pixels[:f.Width*f.Height*3]
				}
			}
			return v, nil
		}, code: CodeTaskResult, message: "frame 2 is 64x47, the clip is 64x48"},
		"not finite": {do: func(v *fakeVideo) (task.Video, error) {
			v.edit = func(i int, f *task.Frame) {
				if i == 1 {
					f.Pixels[64*3*5+3*7+2] = nan()
				}
			}
			return v, nil
		}, code: CodeTaskResult, message: "frame 1 holds NaN at row 5, column 7, channel 2"},
		"odd size": {do: func(v *fakeVideo) (task.Video, error) { v.width = 63; return v, nil }, code: CodeTaskResult, message: "even numbers"},
		"four channels": {do: func(v *fakeVideo) (task.Video, error) {
			v.edit = func(_ int, f *task.Frame) { f.Channels = 4 }
			return v, nil
		}, code: CodeTaskResult, message: "4 channels"},
		"fewer frames":   {spec: Spec{Frames: 4}, do: func(v *fakeVideo) (task.Video, error) { v.info.Frames = 3; v.info.Timestamps = nil; return v, nil }, code: CodeTaskResult, message: "3 frames, 4 were asked for"},
		"another size":   {spec: Spec{Width: 64, Height: 48}, do: func(v *fakeVideo) (task.Video, error) { v.width = 32; return v, nil }, code: CodeTaskResult, message: "32x48, 64x48 was asked for"},
		"another rate":   {spec: Spec{FPS: Rate{16, 1}}, do: func(v *fakeVideo) (task.Video, error) { return smallScene().video(), nil }, code: CodeTaskResult, message: "not 16/1"},
		"stamps missing": {do: func(v *fakeVideo) (task.Video, error) { v.info.Timestamps = v.info.Timestamps[:2]; return v, nil }, code: CodeTaskResult, message: "2 timestamps for 4 frames"},
		"released":       {do: func(v *fakeVideo) (task.Video, error) { v.Release(); return v, nil }, code: CodeTaskError, message: "failed to make the clip"},
		"out of memory": {do: func(*fakeVideo) (task.Video, error) {
			return nil, taskError(task.ErrResource, "out of memory at step 3")
		}, code: CodeTaskResource, message: "ran out of resources"},
		"refused input": {do: func(*fakeVideo) (task.Video, error) {
			return nil, taskError(task.ErrInvalid, "num_frames must be 4k+1")
		}, code: CodeTaskInvalid, message: "num_frames must be 4k+1"},
		"busy": {do: func(*fakeVideo) (task.Video, error) { return nil, taskError(task.ErrBusy, "") }, code: CodeTaskBusy, message: "busy"},
		"internal": {do: func(*fakeVideo) (task.Video, error) {
			return nil, taskError(task.ErrInternal, "cannot read /srv/models/x")
		}, code: CodeTaskError, message: "the model failed to make the clip"},
		"with a HTTP form": {do: func(*fakeVideo) (task.Video, error) { return nil, fmt.Errorf("acquire lane: %w", formedError{}) }, code: "queue_wait_exceeded", message: "waited too long"},
		"deadline":         {do: func(*fakeVideo) (task.Video, error) { return nil, context.DeadlineExceeded }, code: CodeDeadline, message: "ran out"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			g := &fakeGenerator{defaults: smallScene()}
			g.do = func(_ context.Context, req task.VideoRequest) (task.Video, error) { return tt.do(g.paint(req)) }
			s, l := service(t, g, nil)
			j := l.finished(t, create(t, s, tt.spec).ID)
			require.Equal(t, Failed, j.State)
			require.Equal(t, tt.code, j.Failure.Code)
			require.Contains(t, j.Failure.Message, tt.message)
			require.NotContains(t, j.Failure.Message, "/srv")
			require.NotEmpty(t, j.Failure.Detail)
			require.NotEqual(t, 100, j.Progress)
			require.Empty(t, filesOf(t, s.cfg.Dir))
			// The lane serves the next job.
			g.do = nil
			require.Equal(t, Completed, l.finished(t, create(t, s, Spec{}).ID).State)
		})
	}
}

type formedError struct{}

func (formedError) Error() string             { return "waited too long" }
func (formedError) HTTPStatus() int           { return 503 }
func (formedError) Code() string              { return "queue_wait_exceeded" }
func (formedError) RetryAfter() time.Duration { return 3 * time.Second }

func TestRateIsNeverInvented(t *testing.T) {
	unknown := declared()
	for i := range unknown.Fields {
		if unknown.Fields[i].Name == "fps" {
			unknown.Fields[i].Default = task.Value{}
		}
	}
	g := &fakeGenerator{defaults: scene{width: 64, height: 48, frames: 3}}
	s, l := service(t, g, func(c *Config) { c.Models[0].Decl = unknown })
	j := l.finished(t, create(t, s, Spec{}).ID)
	require.Equal(t, CodeTaskResult, j.Failure.Code)
	require.Contains(t, j.Failure.Message, "neither the request nor the model declares fps")
	g.do = func(_ context.Context, req task.VideoRequest) (task.Video, error) {
		v := g.paint(req)
		v.info.Timestamps = nil
		return v, nil
	}
	j = l.finished(t, create(t, s, Spec{FPS: Rate{12, 1}}).ID)
	require.Equal(t, Completed, j.State, "%+v", j.Failure)
	require.Equal(t, Rate{12, 1}, j.Artifact.Rate)
}

// quota is a disk with so many bytes left, for the files made on it.
type quota struct {
	left int
	make func(path string) (artifactFile, error)
}

func (q *quota) create(path string) (artifactFile, error) {
	f, err := q.make(path)
	return &quotaFile{f, q}, err
}

type quotaFile struct {
	artifactFile
	disk *quota
}

func (f *quotaFile) Write(b []byte) (int, error) {
	if len(b) > f.disk.left {
		n, _ := f.artifactFile.Write(b[:f.disk.left])
		f.disk.left = 0
		return n, &os.PathError{Op: "write", Path: "/private/clip.mp4.tmp", Err: syscall.ENOSPC}
	}
	f.disk.left -= len(b)
	return f.artifactFile.Write(b)
}

func TestFullDiskFailsTheJobAndNothingElse(t *testing.T) {
	s, l := service(t, &fakeGenerator{defaults: smallScene()}, nil)
	whole := l.finished(t, create(t, s, Spec{}).ID)
	info, err := os.Stat(s.files.path(whole.ID, ThumbnailJPEG))
	require.NoError(t, err)
	jpg, mp4 := int(info.Size()), int(whole.Artifact.Bytes)
	_, err = s.Delete(t.Context(), whole.ID)
	require.NoError(t, err)

	onDisk := s.files.create
	for _, room := range []int{0, jpg / 2, jpg, jpg + 100, jpg + mp4 - 1} {
		s.files.create = (&quota{room, onDisk}).create
		j := l.finished(t, create(t, s, Spec{}).ID)
		require.Equal(t, Failed, j.State)
		require.Equal(t, CodeArtifact, j.Failure.Code)
		require.Equal(t, "the clip could not be written: write: no space left on device", j.Failure.Message)
		require.Empty(t, filesOf(t, s.cfg.Dir))
	}
	s.files.create = (&quota{jpg + mp4, onDisk}).create
	require.Equal(t, Completed, l.finished(t, create(t, s, Spec{}).ID).State)
}

// badStore refuses changes to final states while it is bad.
type badStore struct {
	Store
	bad func() bool
}

var errNoSpace = errors.New("no space left on device")

func (s badStore) Update(ctx context.Context, id string, change func(Job) (Job, error)) (Job, error) {
	return s.Store.Update(ctx, id, func(j Job) (Job, error) {
		j, err := change(j)
		if err == nil && j.State.Final() && s.bad() {
			return j, errNoSpace
		}
		return j, err
	})
}

func writeFile(path string) error { return os.WriteFile(path, []byte("x"), 0o600) }
