package video

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native/task"
)

// holding makes a generator that waits until it is told to go on.
func holding(g *fakeGenerator) (release func()) {
	hold := make(chan struct{})
	g.do = func(_ context.Context, req task.VideoRequest) (task.Video, error) { <-hold; return g.paint(req), nil }
	return func() { close(hold) }
}

func TestFullQueueRefusesOnlyCreation(t *testing.T) {
	g := &fakeGenerator{defaults: smallScene()}
	release := holding(g)
	s, l := service(t, g, func(c *Config) { c.Queue = 2 })
	running := create(t, s, Spec{})
	l.wait(t, running.ID, EventStarted)
	first, second := create(t, s, Spec{}), create(t, s, Spec{})
	_, err := s.Create(t.Context(), Request{Spec: Spec{Prompt: "p"}})
	require.ErrorIs(t, err, ErrQueueFull)
	_, err = s.Delete(t.Context(), first.ID)
	require.NoError(t, err)
	require.Equal(t, CodeCancelled, l.finished(t, first.ID).Failure.Code)
	third := create(t, s, Spec{}) // the deleted job's place is free
	release()
	for _, j := range []Job{running, second, third} {
		require.Equal(t, Completed, l.finished(t, j.ID).State)
	}
	require.Equal(t, 3, g.called(), "a job that was deleted while it waited never starts")
	require.Equal(t, []Kind{EventCreated, EventFinished}, kinds(l.of(first.ID)))
}

func TestEveryLaneRunsOneJobInTheOrderOfCreation(t *testing.T) {
	g := &fakeGenerator{defaults: smallScene()}
	entered, leave := make(chan string), make(chan struct{})
	g.do = func(ctx context.Context, req task.VideoRequest) (task.Video, error) {
		j, _ := JobOf(ctx)
		entered <- j.ID
		<-leave
		return g.paint(req), nil
	}
	s, l := service(t, g, func(c *Config) { c.Models[0].Generators = []task.VideoGenerator{g, g} })
	var ids []string
	for range 6 {
		ids = append(ids, create(t, s, Spec{}).ID)
	}
	require.ElementsMatch(t, ids[:2], []string{<-entered, <-entered}, "as many calls at a time as there are lanes")
	for _, id := range ids[2:] {
		require.Equal(t, 2, g.called()-countFinished(l, ids), "no lane runs two jobs")
		leave <- struct{}{}
		require.Equal(t, id, <-entered)
	}
	leave <- struct{}{}
	leave <- struct{}{}
	for _, id := range ids {
		require.Equal(t, Completed, l.finished(t, id).State)
	}
}

func countFinished(l *eventLog, ids []string) int {
	n := 0
	for _, id := range ids {
		n += countKind(l.of(id), EventFinished)
	}
	return n
}

func TestModelsHaveQueuesOfTheirOwn(t *testing.T) {
	slow, quick := &fakeGenerator{defaults: smallScene()}, &fakeGenerator{defaults: smallScene()}
	release := holding(slow)
	defer release()
	s, l := service(t, slow, func(c *Config) {
		c.Queue = 1
		c.Models = append(c.Models, Model{Name: "quick", Decl: declared(), Generators: []task.VideoGenerator{quick}})
	})
	held := create(t, s, Spec{})
	l.wait(t, held.ID, EventStarted)
	create(t, s, Spec{})
	j, err := s.Create(t.Context(), Request{Model: "quick", Spec: Spec{Prompt: "p"}})
	require.NoError(t, err)
	require.Equal(t, Completed, l.finished(t, j.ID).State)
	_, err = s.Create(t.Context(), Request{Spec: Spec{Prompt: "p"}})
	require.ErrorContains(t, err, "model: missing, want one of: m, quick")
}

func TestShutdownWaitsForRunningJobs(t *testing.T) {
	g := &fakeGenerator{defaults: smallScene()}
	release := holding(g)
	dir := t.TempDir()
	s, l := service(t, g, func(c *Config) { c.Dir = dir })
	running := create(t, s, Spec{})
	l.wait(t, running.ID, EventCallStarted)
	queued := create(t, s, Spec{})
	done := make(chan error)
	go func() { done <- s.Shutdown(t.Context()) }()
	require.Eventually(t, func() bool {
		_, err := s.Create(t.Context(), Request{Spec: Spec{Prompt: "p"}})
		return err != nil
	}, waiting, time.Millisecond)
	release()
	require.NoError(t, <-done)
	j, err := s.Job(t.Context(), running.ID)
	require.NoError(t, err)
	require.Equal(t, Completed, j.State)
	j, err = s.Job(t.Context(), queued.ID)
	require.NoError(t, err)
	require.Equal(t, Queued, j.State, "it runs after the next start")
	require.NoError(t, s.Close())
	require.NoError(t, s.Close(), "Close is idempotent")
	s, l = service(t, g, func(c *Config) { c.Dir = dir })
	require.Equal(t, Completed, l.finished(t, queued.ID).State)
	require.Greater(t, create(t, s, Spec{}).ID, queued.ID, "ids rise over restarts")
}

func TestOneServiceAtATimeInADirectory(t *testing.T) {
	s, _ := service(t, &fakeGenerator{defaults: smallScene()}, nil)
	_, err := Open(s.cfg)
	require.ErrorContains(t, err, "another process")
}

func TestOpenRefusesWhatCannotServe(t *testing.T) {
	if !HasEncoder {
		t.Skip(ErrNoEncoder)
	}
	g := []task.VideoGenerator{&fakeGenerator{}}
	for name, models := range map[string][]Model{
		"no models":       nil,
		"no generators":   {{Name: "m"}},
		"one name twice":  {{Name: "m", Generators: g}, {Name: "m", Generators: g}},
		"a name is empty": {{Name: "m", Generators: g}, {Generators: g}},
	} {
		_, err := Open(Config{Dir: t.TempDir(), Models: models})
		require.ErrorContains(t, err, "open video service", name)
	}
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, writeFile(file))
	_, err := Open(Config{Dir: file, Models: []Model{{Generators: g}}})
	require.Error(t, err)
}

// TestFinishedJobsExpire runs in virtual time.
func TestFinishedJobsExpire(t *testing.T) {
	if !HasEncoder {
		t.Skip(ErrNoEncoder)
	}
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		l := newEventLog()
		s, err := Open(Config{Dir: dir, Observe: l.observe, TTL: time.Hour, SweepEvery: 10 * time.Minute,
			Models: []Model{{Decl: declared(), Generators: []task.VideoGenerator{&fakeGenerator{defaults: smallScene()}}}}})
		require.NoError(t, err)
		j, err := s.Create(t.Context(), Request{Spec: Spec{Prompt: "p"}})
		require.NoError(t, err)
		done := l.finished(t, j.ID)
		require.Equal(t, Completed, done.State)
		require.WithinDuration(t, time.Now().Add(time.Hour), done.ExpiresAt, time.Second)
		time.Sleep(time.Hour - time.Second)
		_, err = s.Job(t.Context(), j.ID)
		require.NoError(t, err)
		time.Sleep(time.Second)
		synctest.Wait()
		_, err = s.Job(t.Context(), j.ID)
		require.ErrorIs(t, err, ErrNoJob, "expired, whether or not it was swept yet")
		page, err := s.List(t.Context(), Query{Limit: 1})
		require.NoError(t, err)
		require.Empty(t, page.Jobs)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		_, err = s.store.Job(t.Context(), j.ID)
		require.ErrorIs(t, err, ErrNoJob)
		require.Empty(t, filesOf(t, dir))
		require.NoError(t, s.Close())
	})
}

func TestDiskBudgetRemovesTheOldest(t *testing.T) {
	g := &fakeGenerator{defaults: smallScene()}
	dir := t.TempDir()
	s, l := service(t, g, func(c *Config) { c.Dir = dir })
	size := l.finished(t, create(t, s, Spec{}).ID).Artifact.Bytes
	require.NoError(t, s.Close())
	s, l = service(t, g, func(c *Config) { c.Dir, c.DiskBytes = dir, 2*size+size/2 })
	var ids []string
	for range 4 {
		id := create(t, s, Spec{}).ID
		l.finished(t, id)
		ids = append(ids, id)
	}
	require.NoError(t, s.sweep(time.Now()))
	page, err := s.List(t.Context(), Query{Limit: 10})
	require.NoError(t, err)
	require.Len(t, page.Jobs, 2)
	require.Equal(t, ids[2], page.Jobs[0].ID)
	require.Len(t, filesOf(t, dir), 4)
	s.cfg.DiskBytes = 1
	require.NoError(t, s.sweep(time.Now()))
	_, err = s.Job(t.Context(), ids[3])
	require.NoError(t, err, "the last one stays although it passes the budget alone")
}

// TestStoreThatRefusesTheEnd lets the store take no final state for a while, as on a full disk: no job is stuck in
// progress for those who ask, none says completed, and the store learns the end later.
func TestStoreThatRefusesTheEnd(t *testing.T) {
	var bad atomic.Bool
	bolt, err := OpenBolt(filepath.Join(t.TempDir(), "jobs.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, bolt.Close()) })
	s, l := service(t, &fakeGenerator{defaults: smallScene()}, func(c *Config) { c.Store = badStore{bolt, bad.Load} })
	bad.Store(true)
	j := l.finished(t, create(t, s, Spec{}).ID)
	require.Equal(t, Failed, j.State)
	require.Equal(t, CodeStore, j.Failure.Code)
	require.Empty(t, filesOf(t, s.cfg.Dir), "an artifact that is not stored is not kept")
	stored, err := bolt.Job(t.Context(), j.ID)
	require.NoError(t, err)
	require.Equal(t, InProgress, stored.State)
	shown, err := s.Job(t.Context(), j.ID)
	require.NoError(t, err)
	require.Equal(t, Failed, shown.State)
	bad.Store(false)
	require.Equal(t, Completed, l.finished(t, create(t, s, Spec{}).ID).State)
	require.NoError(t, s.Close()) // the janitor's last act
	stored, err = bolt.Job(t.Context(), j.ID)
	require.NoError(t, err)
	require.Equal(t, Failed, stored.State)
	require.Equal(t, 1, countKind(l.of(j.ID), EventFinished))
}

func TestCreateOnAStoreThatRefuses(t *testing.T) {
	bolt, err := OpenBolt(filepath.Join(t.TempDir(), "jobs.db"))
	require.NoError(t, err)
	s := newSite(t, &fakeGenerator{defaults: smallScene()}, func(c *Config) { c.Store, c.Queue = bolt, 1 })
	require.NoError(t, bolt.Close())
	for range 3 { // the place in the queue is given back each time
		a := s.post(`{"prompt":"p"}`)
		require.Equal(t, 503, a.StatusCode)
		require.Equal(t, CodeStore, a.code(t))
	}
}

func TestProgressIsTheShareOfEncodedFrames(t *testing.T) {
	g := &fakeGenerator{defaults: scene{width: 64, height: 48, frames: 10, fps: 8}}
	at, goOn := make(chan struct{}), make(chan struct{})
	g.do = func(_ context.Context, req task.VideoRequest) (task.Video, error) {
		v := g.paint(req)
		v.edit = func(i int, _ *task.Frame) {
			if i == 5 {
				at <- struct{}{}
				<-goOn
			}
		}
		return v, nil
	}
	s, l := service(t, g, nil)
	j := create(t, s, Spec{})
	<-at
	half, err := s.Job(t.Context(), j.ID)
	require.NoError(t, err)
	require.Equal(t, 49, half.Progress)
	close(goOn)
	require.Equal(t, 100, l.finished(t, j.ID).Progress)
}

func TestVideoIsReleasedBeforeTheJobEnds(t *testing.T) {
	g := &fakeGenerator{defaults: smallScene()}
	var v *fakeVideo
	g.do = func(ctx context.Context, req task.VideoRequest) (task.Video, error) {
		j, ok := JobOf(ctx)
		require.True(t, ok)
		require.Equal(t, "r", j.RequestID)
		v = g.paint(req)
		return v, nil
	}
	s, l := service(t, g, nil)
	l.finished(t, create(t, s, Spec{}).ID)
	require.True(t, v.released.Load())
}

func TestModelThatIsNoLongerServed(t *testing.T) {
	g := &fakeGenerator{defaults: smallScene()}
	release := holding(g)
	dir := t.TempDir()
	s, l := service(t, g, func(c *Config) { c.Dir = dir })
	l.wait(t, create(t, s, Spec{}).ID, EventCallStarted)
	queued := create(t, s, Spec{})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.Error(t, s.Shutdown(ended))
	release()
	require.NoError(t, s.Close())
	_, l = service(t, g, func(c *Config) { c.Dir, c.Models[0].Name = dir, "other" })
	require.Equal(t, CodeModel, l.finished(t, queued.ID).Failure.Code)
	require.Equal(t, 1, g.called())
}

// TestFullFileSystem fills a small file system, where the job store cannot grow either.
func TestFullFileSystem(t *testing.T) {
	dir := t.TempDir()
	if err := mountSmall(dir); err != nil {
		t.Skipf("SKIPPED: needs the right to mount a small tmpfs (TestFullDiskFailsTheJobAndNothingElse covers the writer): %v", err)
	}
	t.Cleanup(func() { require.NoError(t, unmount(dir)) })
	s, l := service(t, &fakeGenerator{defaults: scene{width: 128, height: 96, frames: 8, fps: 8, noise: 0.8}}, func(c *Config) { c.Dir = filepath.Join(dir, "v") })
	whole := l.finished(t, create(t, s, Spec{}).ID)
	require.Equal(t, Completed, whole.State)

	for _, left := range []int{0, 4, 12, 24, 40} { // KiB
		filler := filepath.Join(dir, "filler")
		fill(t, filler, left<<10)
		j, err := s.Create(t.Context(), Request{Spec: Spec{Prompt: "p"}})
		if err == nil { // else the store itself is full, and says so to the client
			j = l.finished(t, j.ID)
			require.Equal(t, Failed, j.State, "with %d KiB left", left)
			require.Contains(t, j.Failure.Message, "no space left on device")
			require.NotContains(t, j.Failure.Message, dir)
			j, err = s.Job(t.Context(), j.ID)
			require.NoError(t, err)
			require.Equal(t, Failed, j.State, "nobody sees it in progress for ever")
		}
		require.Len(t, filesOf(t, filepath.Join(dir, "v")), 2, "only the files of the first job")
		require.NoError(t, os.Remove(filler))
	}
	fill(t, filepath.Join(dir, "filler"), 0)
	_, err := s.Delete(t.Context(), whole.ID)
	require.NoError(t, err, "deleting a clip makes room on a full disk")
	require.Empty(t, filesOf(t, filepath.Join(dir, "v")))
	require.NoError(t, os.Remove(filepath.Join(dir, "filler")))
	require.Equal(t, Completed, l.finished(t, create(t, s, Spec{}).ID).State, "the store is usable")
	page, err := s.List(t.Context(), Query{Limit: 100})
	require.NoError(t, err)
	for _, j := range page.Jobs {
		require.True(t, j.State.Final())
	}
}

// fill takes all room of a file system but so many bytes.
func fill(t *testing.T, path string, left int) {
	t.Helper()
	f, err := os.Create(path)
	require.NoError(t, err)
	defer f.Close()
	size := 0
	for err == nil {
		var n int
		n, err = f.Write(make([]byte, 4096))
		size += n
	}
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.NoError(t, f.Truncate(int64(max(0, size-left))))
}
