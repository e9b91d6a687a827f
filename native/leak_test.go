//go:build cgo

package native_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native"
	"github.com/trtmc-go/trtmc/native/internal/cabi"
	"github.com/trtmc-go/trtmc/native/reference"
	"github.com/trtmc-go/trtmc/native/task"
)

// TestNothingIsLeftAfterFiftyRounds opens, calls, fails, cancels and closes, and counts on both sides of the boundary.
func TestNothingIsLeftAfterFiftyRounds(t *testing.T) {
	good := writeBundle(t, fast(reference.AllParams()))
	bad := writeBundle(t, faulty(reference.AllParams(), reference.Fault{Kind: reference.FaultError}))
	short := writeBundle(t, faulty(reference.RankingParams(), reference.Fault{Kind: reference.FaultShortScores}))
	before := cabi.Live()
	beforeReference := reference.LiveHandles()
	stop := errors.New("enough")
	for range 50 {
		rt, err := native.Open(native.Options{})
		require.NoError(t, err)
		m, err := rt.Load(good, native.LoadOptions{})
		require.NoError(t, err)
		for id, err := range everyTask(t, m) {
			require.NoError(t, err, id)
		}
		_, err = streamer(t, m).StreamText(context.Background(), task.TextRequest{Text: "x"}, func(task.TextDelta) error { return stop })
		require.ErrorIs(t, err, stop)
		kept, err := clips(t, m).GenerateVideo(context.Background(), task.VideoRequest{Prompt: "x"})
		require.NoError(t, err)
		b, err := rt.OpenBundle(good)
		require.NoError(t, err)
		_, err = b.ReadSection(reference.Section)
		require.NoError(t, err)

		faultyModel, err := rt.Load(bad, native.LoadOptions{})
		require.NoError(t, err)
		for id, err := range everyTask(t, faultyModel) {
			require.Error(t, err, id)
		}
		shortModel, err := rt.Load(short, native.LoadOptions{})
		require.NoError(t, err)
		_, err = scorerOf(t, shortModel).Score(context.Background(), task.ScoreRequest{Documents: []string{"a", "b"}})
		require.Error(t, err)
		_, err = rt.Load(good+".none", native.LoadOptions{})
		require.Error(t, err)
		require.NoError(t, rt.Close()) // closes the models and the bundle
		require.Equal(t, beforeReference.Results+1, reference.LiveHandles().Results, "the clip outlives its model")
		kept.Release()
	}
	require.Equal(t, before, cabi.Live())
	require.Equal(t, beforeReference, reference.LiveHandles())
}

// TestCloseWaitsForTheCallInFlight while callers in the queue get ErrClosed.
func TestCloseWaitsForTheCallInFlight(t *testing.T) {
	m := load(t, embedded(t), fast(reference.TextParams()))
	begun, goOn := make(chan struct{}), make(chan struct{})
	first := true
	defer reference.SetHook(func(ev reference.Event) reference.Action {
		if ev.Phase == reference.Begin && first {
			first = false
			close(begun)
			<-goOn
		}
		return reference.Action{}
	})()
	text := continuer(t, m)
	call := func(ctx context.Context) chan error {
		done := make(chan error, 1)
		go func() {
			_, err := text.ContinueText(ctx, task.TextRequest{Text: "We the"})
			done <- err
		}()
		return done
	}
	inFlight := call(context.Background())
	<-begun
	gone, cancel := context.WithCancelCause(context.Background())
	leaver := call(gone)
	why := errors.New("the client left the queue")
	cancel(why)
	require.ErrorIs(t, <-leaver, why, "waiting respects the context")

	queued := call(context.Background())
	closed := make(chan error, 1)
	go func() { closed <- m.Close() }()
	require.ErrorIs(t, <-queued, task.ErrClosed)
	select {
	case <-closed:
		t.Fatal("Close returned while a call was inside")
	case err := <-inFlight:
		t.Fatalf("the call returned early: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	close(goOn)
	require.NoError(t, <-inFlight)
	require.NoError(t, <-closed)
}
