package tasktest_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trtmc-go/trtmc/native/task"
)

// Models that break a rule of calls or streams.

func callLiars(t *testing.T) map[string]func() task.Model {
	stop := make(chan struct{})
	t.Cleanup(func() { close(stop) })
	var oneAtATime sync.Mutex
	return map[string]func() task.Model{
		"timing-measured": scored(func(ctx context.Context, f *fake, r task.ScoreRequest) (task.ScoreResult, error) {
			res, err := f.Score(ctx, r)
			res.Timing.Call = 0
			return res, err
		}),
		"ended-context-not-started": scored(func(_ context.Context, f *fake, r task.ScoreRequest) (task.ScoreResult, error) {
			return f.Score(context.Background(), r)
		}),
		"calls-on-one-model": func() task.Model {
			f := newFake()
			var inside atomic.Int32
			return replacing(f, task.TextQueryDocumentsToRelevance, scoreFunc(func(ctx context.Context, r task.ScoreRequest) (task.ScoreResult, error) {
				defer inside.Add(-1)
				if inside.Add(1) > 1 {
					return task.ScoreResult{}, &task.Error{Op: "run", Task: task.TextQueryDocumentsToRelevance, Err: task.ErrBusy}
				}
				time.Sleep(2 * time.Millisecond) // long enough for calls that come at once to meet
				return f.Score(ctx, r)
			}))
		},
		"models-overlap": streamed(func(ctx context.Context, f *fake, r task.TextRequest, emit func(task.TextDelta) error) (task.TextResult, error) {
			oneAtATime.Lock()
			defer oneAtATime.Unlock()
			return f.StreamText(ctx, r, emit)
		}),
		"results-owned": func() task.Model {
			f := newFake()
			var mu sync.Mutex
			var lent [][]float32
			l := replacing(f, task.TextToEmbedding, embedFunc(func(ctx context.Context, r task.EmbeddingRequest) (task.EmbeddingResult, error) {
				res, err := f.Embed(ctx, r)
				mu.Lock()
				defer mu.Unlock()
				lent = append(lent, res.Values)
				return res, err
			}))
			l.close = func() error {
				for _, v := range lent {
					clear(v)
				}
				return f.Close()
			}
			return l
		},
		"text-of-any-content": scored(func(ctx context.Context, f *fake, r task.ScoreRequest) (task.ScoreResult, error) {
			if slices.Contains(r.Documents, "before\x00after") {
				return task.ScoreResult{}, &task.Error{Op: "run", Task: task.TextQueryDocumentsToRelevance, Err: task.ErrInternal}
			}
			return f.Score(ctx, r)
		}),
		"nothing-left": scored(func(ctx context.Context, f *fake, r task.ScoreRequest) (task.ScoreResult, error) {
			go func() { <-stop }()
			return f.Score(ctx, r)
		}),
	}
}

func streamLiars() map[string]func() task.Model {
	return map[string]func() task.Model{
		"stream-adds-up": streamed(func(ctx context.Context, f *fake, r task.TextRequest, emit func(task.TextDelta) error) (task.TextResult, error) {
			n := 0
			return f.StreamText(ctx, r, func(d task.TextDelta) error {
				if n++; n == 3 {
					return nil
				}
				return emit(d)
			})
		}),
		"stream-equals-call": streamed(func(ctx context.Context, f *fake, r task.TextRequest, emit func(task.TextDelta) error) (task.TextResult, error) {
			r.Text += "streamed"
			return f.StreamText(ctx, r, emit)
		}),
		"stream-emit-error": streamed(func(ctx context.Context, f *fake, r task.TextRequest, emit func(task.TextDelta) error) (task.TextResult, error) {
			return f.StreamText(ctx, r, func(d task.TextDelta) error {
				_ = emit(d)
				return nil
			})
		}),
		"stream-context-end": streamed(func(ctx context.Context, f *fake, r task.TextRequest, emit func(task.TextDelta) error) (task.TextResult, error) {
			if ctx.Err() != nil {
				return task.TextResult{}, context.Cause(ctx)
			}
			return f.StreamText(context.WithoutCancel(ctx), r, emit)
		}),
		"stream-on-caller": streamed(func(ctx context.Context, f *fake, r task.TextRequest, emit func(task.TextDelta) error) (res task.TextResult, err error) {
			var wg sync.WaitGroup
			wg.Go(func() { res, err = f.StreamText(ctx, r, emit) })
			wg.Wait()
			return res, err
		}),
	}
}
