package videotest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/trtmc-go/trtmc/video"
)

// Store runs every rule of [video.Store] as a subtest, each on an empty store of its own that open makes and closes
// with its argument's Cleanup.
func Store(t *testing.T, open func(testing.TB) video.Store) {
	for _, r := range Rules() {
		t.Run(r.Name, func(t *testing.T) {
			if err := r.Check(t.Context(), open(t)); err != nil {
				t.Errorf("rule: %s\nbroken: %v", r.Text, err)
			}
		})
	}
}

// Rule is one rule of the contract.
type Rule struct {
	Name  string
	Text  string
	Check func(context.Context, video.Store) error // on an empty store; the error says what was seen
}

// Rules returns the rules, for callers that are not tests.
func Rules() []Rule {
	return []Rule{
		{"CreateThenRead", "a created job is read back with every field", createThenRead},
		{"CreateTwice", "an id that is taken is refused with ErrJobExists and the first job stays", createTwice},
		{"ReadMissing", "a job that is not there gives ErrNoJob from every method", readMissing},
		{"UpdateStores", "Update returns and keeps what change made", updateStores},
		{"UpdateError", "an error of change is returned as it is and leaves the job", updateError},
		{"DeleteReturnsLast", "Delete returns the last snapshot and the job is gone", deleteReturnsLast},
		{"DeletedStaysDeleted", "an Update after Delete does not bring a job back", deletedStaysDeleted},
		{"UpdatesDoNotMix", "concurrent Updates of one job lose none", updatesDoNotMix},
		{"ListOrder", "List gives jobs by rising or falling id, whatever the order of creation", listOrder},
		{"ListPages", "pages join to the whole list, More is true exactly when jobs are left", listPages},
		{"ListAfterDeleted", "a page goes on behind an id that is no longer there", listAfterDeleted},
		{"SnapshotsStay", "a returned snapshot does not change when the job does", snapshotsStay},
		{"EndedContext", "a context that has ended keeps every method from starting", endedContext},
	}
}

// sample is a job with something in every field.
func sample(id string) video.Job {
	n, f, s := int64(7), 1.5, "blurry"
	at := time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC)
	return video.Job{
		ID: id, RequestID: "r-" + id, Model: "m", User: "u", State: video.Queued, Progress: 3,
		Spec: video.Spec{Prompt: "p\x00\u2028é", NegativePrompt: &s, Width: 64, Height: 48, Frames: 9, Seconds: 1.125,
			FPS: video.Rate{Num: 8, Den: 1}, Steps: &n, Guidance: &f, Seed: &n},
		CreatedAt: at, StartedAt: at.Add(1), FinishedAt: at.Add(2), ExpiresAt: at.Add(3),
		Failure:  &video.Failure{Code: "c", Message: "m", Detail: "d"},
		Artifact: &video.Artifact{Frames: 9, Rate: video.Rate{Num: 24000, Den: 1001}, Duration: time.Second, Bytes: 1 << 40, SHA256: "aa"},
		Times:    video.Times{Queue: 1, TaskCall: 2, Setup: 3, Inference: 4, Encode: 5},
	}
}

func same(got, want video.Job) error {
	if !reflect.DeepEqual(got, want) {
		return fmt.Errorf("got %+v, want %+v", got, want)
	}
	return nil
}

func wantError(op string, got, want error) error {
	if !errors.Is(got, want) {
		return fmt.Errorf("%s: got error %v, want one that wraps %q", op, got, want)
	}
	return nil
}

func createThenRead(ctx context.Context, s video.Store) error {
	want := sample("video_1")
	if err := s.Create(ctx, want); err != nil {
		return err
	}
	got, err := s.Job(ctx, want.ID)
	return errors.Join(err, same(got, want))
}

func createTwice(ctx context.Context, s video.Store) error {
	first, second := sample("video_1"), sample("video_1")
	second.Model = "other"
	if err := s.Create(ctx, first); err != nil {
		return err
	}
	if err := wantError("Create", s.Create(ctx, second), video.ErrJobExists); err != nil {
		return err
	}
	got, err := s.Job(ctx, first.ID)
	return errors.Join(err, same(got, first))
}

func keep(j video.Job) (video.Job, error) { return j, nil }

func readMissing(ctx context.Context, s video.Store) error {
	_, err := s.Job(ctx, "video_1")
	_, uerr := s.Update(ctx, "video_1", keep)
	_, derr := s.Delete(ctx, "video_1")
	p, lerr := s.List(ctx, video.Query{Limit: 10})
	if len(p.Jobs) != 0 || p.More {
		return fmt.Errorf("an empty store lists %+v", p)
	}
	return errors.Join(wantError("Job", err, video.ErrNoJob), wantError("Update", uerr, video.ErrNoJob), wantError("Delete", derr, video.ErrNoJob), lerr)
}

func updateStores(ctx context.Context, s video.Store) error {
	want := sample("video_1")
	if err := s.Create(ctx, want); err != nil {
		return err
	}
	want.State, want.Progress, want.Failure = video.InProgress, 50, nil
	got, err := s.Update(ctx, want.ID, func(video.Job) (video.Job, error) { return want, nil })
	if err := errors.Join(err, same(got, want)); err != nil {
		return err
	}
	got, err = s.Job(ctx, want.ID)
	return errors.Join(err, same(got, want))
}

func updateError(ctx context.Context, s video.Store) error {
	want, refused := sample("video_1"), errors.New("refused")
	if err := s.Create(ctx, want); err != nil {
		return err
	}
	_, err := s.Update(ctx, want.ID, func(j video.Job) (video.Job, error) {
		j.Model = "other"
		return j, refused
	})
	if err := wantError("Update", err, refused); err != nil {
		return err
	}
	got, err := s.Job(ctx, want.ID)
	return errors.Join(err, same(got, want))
}

func deleteReturnsLast(ctx context.Context, s video.Store) error {
	want := sample("video_1")
	if err := s.Create(ctx, want); err != nil {
		return err
	}
	got, err := s.Delete(ctx, want.ID)
	if err := errors.Join(err, same(got, want)); err != nil {
		return err
	}
	_, err = s.Job(ctx, want.ID)
	return wantError("Job", err, video.ErrNoJob)
}

func deletedStaysDeleted(ctx context.Context, s video.Store) error {
	if err := s.Create(ctx, sample("video_1")); err != nil {
		return err
	}
	if _, err := s.Delete(ctx, "video_1"); err != nil {
		return err
	}
	_, err := s.Update(ctx, "video_1", keep)
	if err := wantError("Update", err, video.ErrNoJob); err != nil {
		return err
	}
	p, err := s.List(ctx, video.Query{Limit: 10})
	if len(p.Jobs) != 0 {
		return fmt.Errorf("the deleted job is listed")
	}
	return err
}

func updatesDoNotMix(ctx context.Context, s video.Store) error {
	const writers, each = 8, 10
	j := sample("video_1")
	j.Progress = 0
	if err := s.Create(ctx, j); err != nil {
		return err
	}
	var wg sync.WaitGroup
	errs := make([]error, writers)
	for w := range writers {
		wg.Go(func() {
			for range each {
				_, err := s.Update(ctx, j.ID, func(j video.Job) (video.Job, error) { j.Progress++; return j, nil })
				errs[w] = errors.Join(errs[w], err)
			}
		})
	}
	wg.Wait()
	got, err := s.Job(ctx, j.ID)
	if got.Progress != writers*each {
		return fmt.Errorf("%d updates of %d are left", got.Progress, writers*each)
	}
	return errors.Join(append(errs, err)...)
}

// fill creates jobs in mixed order and returns their ids in rising order.
func fill(ctx context.Context, s video.Store) ([]string, error) {
	ids := []string{"video_1", "video_2", "video_3", "video_4", "video_5"}
	for _, i := range []int{3, 0, 4, 1, 2} {
		if err := s.Create(ctx, sample(ids[i])); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

func listed(p video.Page) []string {
	var ids []string
	for _, j := range p.Jobs {
		ids = append(ids, j.ID)
	}
	return ids
}

func listOrder(ctx context.Context, s video.Store) error {
	ids, err := fill(ctx, s)
	if err != nil {
		return err
	}
	up, err := s.List(ctx, video.Query{Limit: 10})
	if got := listed(up); err != nil || !reflect.DeepEqual(got, ids) {
		return fmt.Errorf("rising: got %v (%v), want %v", got, err, ids)
	}
	down, err := s.List(ctx, video.Query{Limit: 10, Descending: true})
	got := listed(down)
	for i := range got {
		if err != nil || len(got) != len(ids) || got[i] != ids[len(ids)-1-i] {
			return fmt.Errorf("falling: got %v (%v), want the reverse of %v", got, err, ids)
		}
	}
	return same(up.Jobs[0], sample(ids[0]))
}

func listPages(ctx context.Context, s video.Store) error {
	ids, err := fill(ctx, s)
	if err != nil {
		return err
	}
	for _, down := range []bool{false, true} {
		for limit := 1; limit <= len(ids)+1; limit++ {
			q := video.Query{Limit: limit, Descending: down}
			seen := 0
			for {
				p, err := s.List(ctx, q)
				if err != nil {
					return err
				}
				seen += len(p.Jobs)
				if len(p.Jobs) == 0 || len(p.Jobs) > limit || p.More != (seen < len(ids)) {
					return fmt.Errorf("limit %d: page %v with more=%t after %d jobs of %d", limit, listed(p), p.More, seen, len(ids))
				}
				if q.After = p.Jobs[len(p.Jobs)-1].ID; !p.More {
					break
				}
			}
		}
	}
	return nil
}

func listAfterDeleted(ctx context.Context, s video.Store) error {
	ids, err := fill(ctx, s)
	if err != nil {
		return err
	}
	if _, err := s.Delete(ctx, ids[2]); err != nil {
		return err
	}
	for _, down := range []bool{false, true} {
		want := ids[3:]
		if down {
			want = []string{ids[1], ids[0]}
		}
		p, err := s.List(ctx, video.Query{Limit: 10, After: ids[2], Descending: down})
		if got := listed(p); err != nil || !reflect.DeepEqual(got, want) {
			return fmt.Errorf("behind %s: got %v (%v), want %v", ids[2], got, err, want)
		}
	}
	return nil
}

func snapshotsStay(ctx context.Context, s video.Store) error {
	want := sample("video_1")
	given := sample("video_1")
	if err := s.Create(ctx, given); err != nil {
		return err
	}
	given.Artifact.Frames = 1 // the caller's own copy
	before, err := s.Job(ctx, want.ID)
	if err != nil {
		return err
	}
	_, err = s.Update(ctx, want.ID, func(j video.Job) (video.Job, error) {
		j.Artifact.Frames, j.Failure = 2, nil
		return j, nil
	})
	return errors.Join(err, same(before, want))
}

func endedContext(ctx context.Context, s video.Store) error {
	if err := s.Create(ctx, sample("video_1")); err != nil {
		return err
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err := s.Job(ended, "video_1")
	_, lerr := s.List(ended, video.Query{Limit: 1})
	cerr := s.Create(ended, sample("video_2"))
	_, uerr := s.Update(ended, "video_1", keep)
	_, derr := s.Delete(ended, "video_1")
	for op, err := range map[string]error{"Job": err, "List": lerr, "Create": cerr, "Update": uerr, "Delete": derr} {
		if err := wantError(op, err, context.Canceled); err != nil {
			return err
		}
	}
	p, err := s.List(ctx, video.Query{Limit: 10})
	if len(p.Jobs) != 1 {
		return fmt.Errorf("%d jobs are left of 1", len(p.Jobs))
	}
	return err
}
