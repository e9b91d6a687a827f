package videotest_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/trtmc-go/trtmc/video"
	"github.com/trtmc-go/trtmc/video/videotest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestBoltStore(t *testing.T) {
	videotest.Store(t, func(t testing.TB) video.Store {
		s, err := video.OpenBolt(filepath.Join(t.TempDir(), "jobs.db"))
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, s.Close()) })
		return s
	})
}

func TestBoltStoreSurvivesReopening(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.db")
	s, err := video.OpenBolt(path)
	require.NoError(t, err)
	_, err = video.OpenBolt(path)
	require.ErrorContains(t, err, "another process", "one process at a time")
	want := video.Job{ID: "video_1", State: video.Queued, CreatedAt: time.Unix(1, 0).UTC()}
	require.NoError(t, s.Create(t.Context(), want))
	require.NoError(t, s.Close())
	s, err = video.OpenBolt(path)
	require.NoError(t, err)
	got, err := s.Job(t.Context(), want.ID)
	require.NoError(t, err)
	require.Equal(t, want, got)
	require.NoError(t, s.Close())
}

// memory is a right store in memory; liar bends it.
type memory struct {
	mu   sync.Mutex
	jobs map[string][]byte
	liar string
}

func (m *memory) is(lie string) bool { return m.liar == lie }

func (m *memory) lock(ctx context.Context) error {
	if err := ctx.Err(); err != nil && !m.is("EndedContext") {
		return err
	}
	m.mu.Lock()
	return nil
}

func (m *memory) load(id string) (video.Job, error) {
	b, ok := m.jobs[id]
	if !ok {
		return video.Job{}, fmt.Errorf("job %s: %w", id, video.ErrNoJob)
	}
	var j video.Job
	return j, json.Unmarshal(b, &j)
}

func (m *memory) save(j video.Job) error {
	if m.is("CreateThenRead") {
		j.User = ""
	}
	b, err := json.Marshal(j)
	m.jobs[j.ID] = b
	return err
}

func (m *memory) Job(ctx context.Context, id string) (video.Job, error) {
	if err := m.lock(ctx); err != nil {
		return video.Job{}, err
	}
	defer m.mu.Unlock()
	j, err := m.load(id)
	if m.is("ReadMissing") {
		err = nil
	}
	return j, err
}

func (m *memory) Create(ctx context.Context, j video.Job) error {
	if err := m.lock(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	if _, ok := m.jobs[j.ID]; ok && !m.is("CreateTwice") {
		return video.ErrJobExists
	}
	return m.save(j)
}

func (m *memory) Update(ctx context.Context, id string, change func(video.Job) (video.Job, error)) (video.Job, error) {
	if err := m.lock(ctx); err != nil {
		return video.Job{}, err
	}
	defer m.mu.Unlock()
	old, err := m.load(id)
	if m.is("DeletedStaysDeleted") && err != nil {
		old, err = video.Job{ID: id}, nil
	}
	if err != nil {
		return video.Job{}, err
	}
	if m.is("UpdatesDoNotMix") {
		m.mu.Unlock()
		time.Sleep(time.Microsecond) // lets another writer in between
		defer m.mu.Lock()
	}
	j, err := change(old)
	if err != nil && !m.is("UpdateError") {
		return video.Job{}, err
	}
	if m.is("UpdateStores") {
		return j, nil
	}
	if m.is("UpdatesDoNotMix") {
		m.mu.Lock()
		defer m.mu.Unlock()
	}
	return j, cmp.Or(err, m.save(j))
}

func (m *memory) Delete(ctx context.Context, id string) (video.Job, error) {
	if err := m.lock(ctx); err != nil {
		return video.Job{}, err
	}
	defer m.mu.Unlock()
	j, err := m.load(id)
	if !m.is("DeleteReturnsLast") {
		delete(m.jobs, id)
	}
	return j, err
}

func (m *memory) List(ctx context.Context, q video.Query) (video.Page, error) {
	if err := m.lock(ctx); err != nil {
		return video.Page{}, err
	}
	defer m.mu.Unlock()
	var p video.Page
	var ids []string
	for id := range m.jobs {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	if q.Descending && !m.is("ListOrder") {
		slices.Reverse(ids)
	}
	if m.is("ListAfterDeleted") && q.After != "" && !slices.Contains(ids, q.After) {
		return p, nil
	}
	for _, id := range ids {
		if q.After != "" && (id == q.After || q.Descending != (id < q.After)) {
			continue
		}
		if len(p.Jobs) == q.Limit {
			p.More = !m.is("ListPages")
			break
		}
		j, err := m.load(id)
		if err != nil {
			return p, err
		}
		p.Jobs = append(p.Jobs, j)
	}
	return p, nil
}

func TestMemoryStorePasses(t *testing.T) {
	videotest.Store(t, func(testing.TB) video.Store { return &memory{jobs: map[string][]byte{}} })
}

// TestEachLieIsCaughtByItsRule proves that the rules can fail.
func TestEachLieIsCaughtByItsRule(t *testing.T) {
	for _, r := range videotest.Rules() {
		if r.Name == "SnapshotsStay" {
			continue // see below: this store cannot lie so
		}
		t.Run(r.Name, func(t *testing.T) {
			require.Error(t, r.Check(t.Context(), &memory{jobs: map[string][]byte{}, liar: r.Name}))
			require.NoError(t, r.Check(t.Context(), &memory{jobs: map[string][]byte{}}))
		})
	}
}

// sharing hands out its own live job.
type sharing struct {
	memory
	live video.Job
}

func (s *sharing) Create(_ context.Context, j video.Job) error { s.live = j; return nil }

func (s *sharing) Job(context.Context, string) (video.Job, error) { return s.live, nil }

func (s *sharing) Update(_ context.Context, _ string, change func(video.Job) (video.Job, error)) (j video.Job, err error) {
	s.live, err = change(s.live)
	return s.live, err
}

func TestSharedMemoryIsCaught(t *testing.T) {
	for _, r := range videotest.Rules() {
		if r.Name == "SnapshotsStay" {
			require.Error(t, r.Check(t.Context(), &sharing{}))
		}
	}
}

func ExampleRules() {
	fmt.Println(videotest.Rules()[6].Text)
	// Output: an Update after Delete does not bring a job back
}
