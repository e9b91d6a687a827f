//go:build cgo

package native_test

import (
	"context"
	"math"
	"os"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native"
	"github.com/trtmc-go/trtmc/native/reference"
	"github.com/trtmc-go/trtmc/native/task"
)

// everyTask makes one call of each Task on a model and returns the errors.
func everyTask(t *testing.T, m *native.Model) map[task.ID]error {
	t.Helper()
	ctx := context.Background()
	errs := map[task.ID]error{}
	_, errs[task.TextContinuation] = continuer(t, m).ContinueText(ctx, task.TextRequest{Text: "We the"})
	_, errs[task.StreamingTextContinuation] = streamer(t, m).StreamText(ctx, task.TextRequest{Text: "We the"}, func(task.TextDelta) error { return nil })
	turn := task.ConversationRequest{Messages: []task.Message{{Role: task.RoleUser, Parts: []task.Part{{Kind: task.PartText, Text: "hello"}}}}}
	_, errs[task.TextConversation] = must[task.Converser](t)(task.ConverserOf(m)).Converse(ctx, turn)
	_, errs[task.StreamingTextConversation] = must[task.ConversationStreamer](t)(task.ConversationStreamerOf(m)).StreamConversation(ctx, turn, func(task.ConversationDelta) error { return nil })
	_, errs[task.TextPairToRelevance] = must[task.PairScorer](t)(task.PairScorerOf(m)).ScorePair(ctx, task.PairRequest{Query: "a", Document: "b"})
	_, errs[task.TextQueryDocumentsToRelevance] = scorerOf(t, m).Score(ctx, task.ScoreRequest{Query: "a", Documents: []string{"b", "c"}})
	_, errs[task.TextToEmbedding] = must[task.Embedder](t)(task.EmbedderOf(m)).Embed(ctx, task.EmbeddingRequest{Text: "a"})
	v, err := clips(t, m).GenerateVideo(ctx, task.VideoRequest{Prompt: "a"})
	if errs[task.TextToVideo] = err; err == nil {
		v.Release()
	}
	vs, err := must[task.BatchVideoGenerator](t)(task.BatchVideoGeneratorOf(m)).GenerateVideos(ctx, []task.VideoRequest{{Prompt: "a"}, {Prompt: "b"}})
	errs[task.BatchTextToVideo] = err
	for _, v := range vs {
		v.Release()
	}
	return errs
}

// allLives makes calls on an honest model and wants all of them to go well: the process and the runtime are whole.
func allLives(t *testing.T, rt *native.Runtime) {
	t.Helper()
	p := fast(reference.AllParams())
	m := load(t, rt, p)
	defer m.Close()
	for id, err := range everyTask(t, m) {
		require.NoError(t, err, id)
	}
}

// TestFaultOfEveryTask shows what a caller sees of a fault: which Task, which status, which class, the native text.
func TestFaultOfEveryTask(t *testing.T) {
	rows := []struct {
		fault  reference.Fault
		status int32
		class  error
		text   string
	}{
		{reference.Fault{Kind: reference.FaultError, Message: "the weights are gone"}, 7, task.ErrInternal, "the weights are gone"},
		{reference.Fault{Kind: reference.FaultErrorWithoutObject}, 7, task.ErrInternal, ""},
		{reference.Fault{Kind: reference.FaultOutOfMemory}, 6, task.ErrResource, "out_of_memory"},
		{reference.Fault{Kind: reference.FaultBusy}, 9, task.ErrBusy, ""},
		{reference.Fault{Kind: reference.FaultFailEvery, Every: 1}, 7, task.ErrInternal, "fail_every"},
	}
	rt := embedded(t)
	for _, row := range rows {
		t.Run(string(row.fault.Kind), func(t *testing.T) {
			m := load(t, rt, faulty(reference.AllParams(), row.fault))
			defer m.Close()
			for id, err := range everyTask(t, m) {
				var e *task.Error
				require.ErrorAs(t, err, &e, id)
				require.Equal(t, id, e.Task)
				require.NotEmpty(t, e.Op)
				require.Equal(t, row.status, e.Status, id)
				require.ErrorIs(t, err, row.class, id)
				require.Contains(t, e.Detail, row.text, id)
			}
			allLives(t, rt)
		})
	}
}

func TestMessageThatIsNotUTF8BecomesValid(t *testing.T) {
	m := load(t, embedded(t), faulty(reference.AllParams(), reference.Fault{Kind: reference.FaultNonUTF8Message}))
	defer m.Close()
	for id, err := range everyTask(t, m) {
		require.ErrorIs(t, err, task.ErrInternal, id)
		require.True(t, utf8.ValidString(err.Error()), id)
		require.Contains(t, err.Error(), "\uFFFD", id)
	}
}

func TestLongMessageIsCut(t *testing.T) {
	long := make([]byte, 100_000)
	for i := range long {
		long[i] = "é"[i%2]
	}
	m := load(t, embedded(t), fast(reference.TextParams()))
	defer m.Close()
	_, err := continuer(t, m).ContinueText(context.Background(), task.TextRequest{Settings: task.Settings{{Name: string(long), Value: task.Int(1)}}})
	require.ErrorIs(t, err, task.ErrInvalid)
	require.Less(t, len(err.Error()), 5000)
	require.True(t, utf8.ValidString(err.Error()))
}

func TestNULInATextReachesTheCaller(t *testing.T) {
	m := load(t, embedded(t), faulty(reference.TextParams(), reference.Fault{Kind: reference.FaultEmbeddedNUL}))
	defer m.Close()
	r, err := continuer(t, m).ContinueText(context.Background(), task.TextRequest{Text: "We the"})
	require.NoError(t, err)
	require.Contains(t, r.Text, "\x00")
	s, err := streamer(t, m).StreamText(context.Background(), task.TextRequest{Text: "We the"}, func(task.TextDelta) error { return nil })
	require.NoError(t, err)
	require.Equal(t, r.Text, s.Text)
}

func TestScoresOfAFaultyRuntime(t *testing.T) {
	rt := embedded(t)
	short := load(t, rt, faulty(reference.RankingParams(), reference.Fault{Kind: reference.FaultShortScores}))
	defer short.Close()
	_, err := scorerOf(t, short).Score(context.Background(), task.ScoreRequest{Query: "a", Documents: []string{"b", "c", "d"}})
	require.ErrorIs(t, err, task.ErrInternal)
	require.ErrorContains(t, err, "text_query_documents_to_relevance: run: internal error")
	require.ErrorContains(t, err, "2 scores for 3 documents")

	nan := load(t, rt, faulty(reference.RankingParams(), reference.Fault{Kind: reference.FaultNaNScore}))
	defer nan.Close()
	r, err := scorerOf(t, nan).Score(context.Background(), task.ScoreRequest{Query: "a", Documents: []string{"b", "c", "d"}})
	require.NoError(t, err, "a NaN is the caller's to judge")
	require.True(t, math.IsNaN(float64(r.Scores[0])))
	require.False(t, math.IsNaN(float64(r.Scores[1])))
	allLives(t, rt)
}

func TestFramesOfAFaultyRuntime(t *testing.T) {
	rt := embedded(t)
	video := func(kind reference.FaultKind) *native.Model {
		return load(t, rt, faulty(reference.VideoParams(32, 16, 3, 8, 1), reference.Fault{Kind: kind}))
	}
	unequal := video(reference.FaultUnequalFrames)
	defer unequal.Close()
	_, err := clips(t, unequal).GenerateVideo(context.Background(), task.VideoRequest{Prompt: "a"})
	require.ErrorIs(t, err, task.ErrInternal)
	require.ErrorContains(t, err, "text_to_video: run: internal error")
	require.ErrorContains(t, err, "frame 2 is 15x32x3 and frame 0 is 16x32x3")
	_, err = must[task.BatchVideoGenerator](t)(task.BatchVideoGeneratorOf(unequal)).GenerateVideos(context.Background(), []task.VideoRequest{{Prompt: "a"}, {Prompt: "b"}})
	require.ErrorIs(t, err, task.ErrInternal)

	zero := video(reference.FaultZeroFrames)
	defer zero.Close()
	v, err := clips(t, zero).GenerateVideo(context.Background(), task.VideoRequest{Prompt: "a"})
	require.NoError(t, err, "another rank owns the output")
	require.Zero(t, v.Info().Frames)
	require.Empty(t, v.Info().Timestamps)
	_, err = v.Frame(0)
	require.ErrorIs(t, err, task.ErrInvalid)
	v.Release()

	nan := video(reference.FaultNaNFrame)
	defer nan.Close()
	v, err = clips(t, nan).GenerateVideo(context.Background(), task.VideoRequest{Prompt: "a"})
	require.NoError(t, err)
	frames, err := task.CopyFrames(v)
	v.Release()
	require.NoError(t, err)
	found := false
	for _, x := range frames[0].Pixels {
		found = found || math.IsNaN(float64(x))
	}
	require.True(t, found, "a NaN sample is the encoder's to judge")
	allLives(t, rt)
}

func TestStreamThatBreaksTheRulesIsAnError(t *testing.T) {
	rows := []struct {
		kind reference.FaultKind
		text string
	}{
		{reference.FaultTwoTerminals, "a complete event came after the terminal complete event"},
		{reference.FaultDeltaMismatch, "delta mismatch"},
	}
	rt := embedded(t)
	for _, row := range rows {
		t.Run(string(row.kind), func(t *testing.T) {
			m := load(t, rt, faulty(reference.ConversationParams(), reference.Fault{Kind: row.kind}))
			defer m.Close()
			_, err := streamer(t, m).StreamText(context.Background(), task.TextRequest{Text: "We the"}, func(task.TextDelta) error { return nil })
			require.ErrorIs(t, err, task.ErrInternal)
			require.ErrorContains(t, err, "streaming_text_continuation: stream: internal error")
			require.ErrorContains(t, err, row.text)
			turn := task.ConversationRequest{Messages: []task.Message{{Role: task.RoleUser, Parts: []task.Part{{Kind: task.PartText, Text: "hello"}}}}}
			_, err = must[task.ConversationStreamer](t)(task.ConversationStreamerOf(m)).StreamConversation(context.Background(), turn, func(task.ConversationDelta) error { return nil })
			require.ErrorIs(t, err, task.ErrInternal)
			require.ErrorContains(t, err, row.text)
			_, err = continuer(t, m).ContinueText(context.Background(), task.TextRequest{Text: "We the"})
			require.NoError(t, err, "the model is idle again")
		})
	}
	allLives(t, rt)
}

func TestStreamThatFailsHalfwayKeepsTheNativeText(t *testing.T) {
	m := load(t, embedded(t), faulty(reference.TextParams(), reference.Fault{Kind: reference.FaultErrorAfterTokens, AfterTokens: 3}))
	defer m.Close()
	deltas := 0
	_, err := streamer(t, m).StreamText(context.Background(), task.TextRequest{Text: "We the"}, func(task.TextDelta) error { deltas++; return nil })
	require.ErrorIs(t, err, task.ErrInternal)
	require.ErrorContains(t, err, "streaming_text_continuation: next: internal error (native status 7): reference fault: error_after_tokens")
	require.Equal(t, 3, deltas)
}

// TestHangingStreamEndsWithItsContext and returns only when the runtime has ended it.
func TestHangingStreamEndsWithItsContext(t *testing.T) {
	m := load(t, embedded(t), faulty(reference.TextParams(), reference.Fault{Kind: reference.FaultHang, MS: 60_000}))
	defer m.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := streamer(t, m).StreamText(ctx, task.TextRequest{Text: "We the"}, func(task.TextDelta) error { return nil })
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Less(t, time.Since(start), 30*time.Second, "the stream was cancelled, not waited for")
	require.Zero(t, reference.LiveHandles().Streams)
}

// TestOneShotCallReturnsOnlyWhenTheRuntimeDoes whatever became of the context.
func TestOneShotCallReturnsOnlyWhenTheRuntimeDoes(t *testing.T) {
	m := load(t, embedded(t), faulty(reference.TextParams(), reference.Fault{Kind: reference.FaultHang, MS: 150}))
	defer m.Close()
	finished := make(chan struct{}, 1)
	ctx, cancel := context.WithCancel(context.Background())
	defer reference.SetHook(func(ev reference.Event) reference.Action {
		if ev.Phase == reference.Begin {
			cancel()
		} else {
			finished <- struct{}{}
		}
		return reference.Action{}
	})()
	_, err := continuer(t, m).ContinueText(ctx, task.TextRequest{Text: "We the"})
	require.ErrorIs(t, err, task.ErrInternal)
	require.Len(t, finished, 1)
}

func TestBundleThatDoesNotLoadSaysWhy(t *testing.T) {
	rt := embedded(t)
	p := faulty(reference.TextParams(), reference.Fault{Kind: reference.FaultLoad, Message: "no such device"})
	path := writeBundle(t, p)
	_, err := rt.Load(path, native.LoadOptions{})
	require.ErrorIs(t, err, task.ErrInternal)
	require.ErrorContains(t, err, "load: internal error (native status 7): ")
	require.ErrorContains(t, err, path)
	_, statErr := os.Stat(path)
	require.NoError(t, statErr)
	allLives(t, rt)
}

// TestCoreTableWithAHole opens libraries whose core table lacks one function that calls need.
func TestCoreTableWithAHole(t *testing.T) {
	for _, slot := range []string{"model_info", "model_get_task_api", "result_release"} {
		t.Run(slot, func(t *testing.T) {
			rt := openRuntime(t, native.Options{Library: faultLibrary(t, "-DTRTMC_FAULT_NULL_SLOT="+slot)})
			m, err := rt.Load(writeBundle(t, fast(reference.TextParams())), native.LoadOptions{})
			if err == nil {
				defer m.Close()
				var text task.TextContinuer
				if text, err = task.TextContinuerOf(m); err == nil {
					_, err = text.ContinueText(context.Background(), task.TextRequest{Text: "x"})
				}
			}
			require.ErrorIs(t, err, task.ErrUnsupported)
			require.ErrorContains(t, err, "lacks the function "+slot)
		})
	}
}
