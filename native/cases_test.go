//go:build cgo

package native_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native"
	"github.com/trtmc-go/trtmc/native/reference"
	"github.com/trtmc-go/trtmc/native/task"
)

// TestCase_E03 fails calls from many goroutines and wants each to get its own text.
func TestCase_E03(t *testing.T) {
	rt := embedded(t)
	p := fast(reference.TextParams())
	var models []*native.Model
	for range 4 {
		models = append(models, load(t, rt, p))
	}
	var wg sync.WaitGroup
	failed := make(chan error, 100)
	for g := range 100 {
		wg.Go(func() {
			text := continuer(t, models[g%len(models)])
			for i := range 100 {
				name := fmt.Sprintf("goroutine_%d_call_%d", g, i)
				_, err := text.ContinueText(context.Background(), task.TextRequest{Text: "x", Settings: task.Settings{{Name: name, Value: task.Int(1)}}})
				var e *task.Error
				if !errors.As(err, &e) || !bytes.Contains([]byte(e.Detail), []byte(name+`"`)) {
					failed <- fmt.Errorf("%s got %w", name, err)
					return
				}
				if i%10 == 0 {
					if _, err := text.ContinueText(context.Background(), task.TextRequest{Text: "x", Settings: task.Settings{{Name: "max_new_tokens", Value: task.Int(1)}}}); err != nil {
						failed <- fmt.Errorf("good call of goroutine %d got %w", g, err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	close(failed)
	require.NoError(t, <-failed)
}

func TestCase_E05(t *testing.T) {
	rt := embedded(t)
	before := reference.LiveHandles()
	m := load(t, rt, fast(reference.TextParams()))
	require.Equal(t, before.Models+1, reference.LiveHandles().Models)
	text := continuer(t, m)
	twin := *m // a copy is the same model
	var wg sync.WaitGroup
	var failures atomic.Int32
	for range 8 {
		wg.Go(func() {
			if m.Close() != nil || twin.Close() != nil {
				failures.Add(1)
			}
		})
	}
	wg.Wait()
	require.Zero(t, failures.Load())
	require.NoError(t, errors.Join(m.Close(), twin.Close()))
	require.Equal(t, before, reference.LiveHandles())
	_, err := text.ContinueText(context.Background(), task.TextRequest{Text: "x"})
	require.ErrorIs(t, err, task.ErrClosed)
	_, err = continuer(t, &twin).ContinueText(context.Background(), task.TextRequest{Text: "x"})
	require.ErrorIs(t, err, task.ErrClosed)
}

// TestCase_E07 hands over strings that live in memory with pointers beside them, or in buffers of other packages.
func TestCase_E07(t *testing.T) {
	m := load(t, embedded(t), fast(reference.RankingParams()))
	defer m.Close()
	scorer := scorerOf(t, m)
	score := func(backing string, docs ...string) []float32 {
		r, err := scorer.Score(context.Background(), task.ScoreRequest{Query: "human events", Documents: docs, Backing: backing})
		require.NoError(t, err)
		return r.Scores
	}
	view := func(b []byte) string { return unsafe.String(&b[0], len(b)) }
	const text = "the course of human events in a larger piece of memory"
	want := score("", text[10:20], text[20:])

	var mixed struct {
		p   *int
		buf [64]byte
	}
	mixed.p = new(int)
	n := copy(mixed.buf[:], text)
	whole := view(mixed.buf[:n])
	require.Equal(t, want, score("", whole[10:20], whole[20:]))
	require.Equal(t, want, score(whole, whole[10:20], whole[20:]), "with backing")

	data, err := json.Marshal(text)
	require.NoError(t, err)
	whole = view(data)
	require.Equal(t, want, score(whole, whole[11:21], whole[21:len(whole)-1]))

	sink := &scoringWriter{score: func(b []byte) {
		r := score(view(b), view(b))
		require.Equal(t, score("", string(bytes.Clone(b))), r)
	}}
	z := gzip.NewWriter(sink)
	_, err = z.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	require.Positive(t, sink.calls)
}

// scoringWriter hands the slices it is given to native code before it returns.
type scoringWriter struct {
	score func([]byte)
	calls int
}

func (w *scoringWriter) Write(b []byte) (int, error) {
	if len(b) > 0 {
		w.score(b)
		w.calls++
	}
	return len(b), nil
}

func TestCase_E08(t *testing.T) {
	m := load(t, embedded(t), fast(reference.AllParams()))
	defer m.Close()
	ctx := context.Background()
	few := task.Settings{{Name: "max_new_tokens", Value: task.Int(2)}}
	answered := func(err error) {
		t.Helper()
		if err != nil {
			require.ErrorIs(t, err, task.ErrInvalid)
		}
	}
	for _, req := range []task.TextRequest{{}, {Settings: few}, {TokenIDs: []int32{}, Settings: few}, {Settings: task.Settings{}}} {
		_, err := continuer(t, m).ContinueText(ctx, req)
		answered(err)
		_, err = streamer(t, m).StreamText(ctx, req, func(task.TextDelta) error { return nil })
		answered(err)
	}
	for _, req := range []task.ScoreRequest{{}, {Documents: []string{}}, {Backing: "x"}, {Query: "x", Documents: []string{"", ""}}, {Documents: []string{""}, Backing: "x"}} {
		r, err := scorerOf(t, m).Score(ctx, req)
		require.NoError(t, err)
		require.Len(t, r.Scores, len(req.Documents))
	}
	pair := must[task.PairScorer](t)(task.PairScorerOf(m))
	_, err := pair.ScorePair(ctx, task.PairRequest{})
	answered(err)
	embed := must[task.Embedder](t)(task.EmbedderOf(m))
	_, err = embed.Embed(ctx, task.EmbeddingRequest{})
	answered(err)
	chat := must[task.Converser](t)(task.ConverserOf(m))
	for _, messages := range [][]task.Message{nil, {{Role: task.RoleUser}}, {{Role: task.RoleUser, Parts: []task.Part{{Kind: task.PartText}}}}} {
		_, err = chat.Converse(ctx, task.ConversationRequest{Messages: messages, Tools: []task.Tool{}, Settings: few})
		answered(err)
	}
	v, err := clips(t, m).GenerateVideo(ctx, task.VideoRequest{InitialLatents: []float32{}, Settings: task.Settings{{Name: "num_frames", Value: task.Int(1)}}})
	answered(err)
	if err == nil {
		v.Release()
	}
	many := must[task.BatchVideoGenerator](t)(task.BatchVideoGeneratorOf(m))
	_, err = many.GenerateVideos(ctx, []task.VideoRequest{})
	require.ErrorIs(t, err, task.ErrInvalid)
	for _, v := range []task.Value{task.Ints(), task.Strings(), task.Floats(), task.String(""), {}} {
		_, err = continuer(t, m).ContinueText(ctx, task.TextRequest{Settings: task.Settings{{Name: "stop_strings", Value: v}, {Name: "max_new_tokens", Value: task.Int(1)}}})
		answered(err)
	}
}

// TestCase_E13 counts, inside the runtime, the calls that are at work at once.
func TestCase_E13(t *testing.T) {
	rt := embedded(t)
	p := reference.RankingParams()
	p.Timing = reference.Timing{DocumentUS: 300}
	a, b := load(t, rt, p), load(t, rt, p)
	var mu sync.Mutex
	inside := map[uint64]int{}
	overlap, together := 0, 0
	defer reference.SetHook(func(ev reference.Event) reference.Action {
		mu.Lock()
		defer mu.Unlock()
		if ev.Phase == reference.Begin {
			inside[ev.Model]++
		} else {
			inside[ev.Model]--
		}
		busy := 0
		for _, n := range inside {
			overlap = max(overlap, n)
			busy += n
		}
		together = max(together, busy)
		return reference.Action{}
	})()
	var wg sync.WaitGroup
	var failures atomic.Int32
	for g := range 64 {
		scorer := scorerOf(t, []*native.Model{a, b}[g%2])
		wg.Go(func() {
			for range 4 {
				if _, err := scorer.Score(context.Background(), task.ScoreRequest{Query: "x", Documents: []string{"x", "y"}}); err != nil {
					failures.Add(1)
				}
			}
		})
	}
	wg.Wait()
	mu.Lock()
	defer mu.Unlock()
	require.Zero(t, failures.Load())
	require.Equal(t, 1, overlap, "calls on one handle")
	require.Equal(t, 2, together, "calls on two handles")
}

// TestCase_E14 calls back into Go from threads of the runtime, and panics there once.
func TestCase_E14(t *testing.T) {
	rt := embedded(t)
	m := load(t, rt, fast(reference.TextParams()))
	text, stream := continuer(t, m), streamer(t, m)
	var calls atomic.Int64
	remove := reference.SetHook(func(ev reference.Event) reference.Action {
		if calls.Add(1) == 501 {
			panic("boom in the hook")
		}
		return reference.Action{}
	})
	require.Equal(t, 1, reference.LiveHooks())
	few := task.Settings{{Name: "max_new_tokens", Value: task.Int(1)}}
	var panicked []error
	for range 500 {
		_, err := stream.StreamText(context.Background(), task.TextRequest{Text: "x", Settings: few}, func(task.TextDelta) error { return nil })
		if err != nil {
			panicked = append(panicked, err)
		}
	}
	require.GreaterOrEqual(t, calls.Load(), int64(1000))
	require.Len(t, panicked, 1)
	require.ErrorIs(t, panicked[0], task.ErrInternal)
	require.ErrorContains(t, panicked[0], "boom in the hook")
	_, err := text.ContinueText(context.Background(), task.TextRequest{Text: "x", Settings: few})
	require.NoError(t, err)
	remove()
	remove()
	require.Zero(t, reference.LiveHooks())
}
