//go:build cgo

package reference_test

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"github.com/trtmc-go/trtmc/native"
	"github.com/trtmc-go/trtmc/native/reference"
	"github.com/trtmc-go/trtmc/native/task"
)

// continuer loads a quick text model of the embedded runtime. Tests that set the one hook do not run in parallel.
func continuer(t *testing.T) (task.TextContinuer, task.TextStreamer) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.bundle")
	p := reference.TextParams()
	p.Timing = reference.Timing{}
	require.NoError(t, reference.WriteBundle(path, p))
	rt, err := native.Open(native.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, rt.Close()) })
	m, err := rt.Load(path, native.LoadOptions{})
	require.NoError(t, err)
	c, err := task.TextContinuerOf(m)
	require.NoError(t, err)
	s, err := task.TextStreamerOf(m)
	require.NoError(t, err)
	return c, s
}

var short = task.TextRequest{Text: "We hold", Settings: task.Settings{{Name: "max_new_tokens", Value: task.Int(2)}}}

func TestHookSeesBothEndsOfEveryCallAndIsRemovedOnce(t *testing.T) {
	c, s := continuer(t)
	var mu sync.Mutex
	var events []reference.Event
	remove := reference.SetHook(func(e reference.Event) reference.Action {
		mu.Lock()
		defer mu.Unlock()
		events = append(events, e)
		return reference.Action{}
	})
	require.Equal(t, 1, reference.LiveHooks())
	_, err := c.ContinueText(context.Background(), short)
	require.NoError(t, err)
	_, err = s.StreamText(context.Background(), short, func(task.TextDelta) error { return nil })
	require.NoError(t, err)
	remove()
	remove()
	require.Zero(t, reference.LiveHooks())
	_, err = c.ContinueText(context.Background(), short)
	require.NoError(t, err)
	require.Len(t, events, 4)
	for i, want := range []reference.Event{
		{Task: "text_continuation", Phase: reference.Begin}, {Task: "text_continuation", Phase: reference.Finish},
		{Task: "streaming_text_continuation", Phase: reference.Begin}, {Task: "streaming_text_continuation", Phase: reference.Finish},
	} {
		require.NotZero(t, events[i].Thread)
		want.Model, want.Thread = events[0].Model, events[i].Thread
		require.Equal(t, want, events[i])
	}
	require.NotEqual(t, events[2].Thread, events[3].Thread, "a stream finishes on its producer thread")
}

func TestHookInjectsAFaultWithItsMessage(t *testing.T) {
	c, _ := continuer(t)
	long := strings.Repeat("é", 400) // 800 bytes, cut to 512 and not inside a character
	defer reference.SetHook(func(e reference.Event) reference.Action {
		return reference.Action{Status: 6, Message: long}
	})()
	_, err := c.ContinueText(context.Background(), short)
	require.ErrorIs(t, err, task.ErrResource)
	var te *task.Error
	require.ErrorAs(t, err, &te)
	require.True(t, utf8.ValidString(te.Detail))
	require.Contains(t, te.Detail, strings.Repeat("é", 250))
}

func TestPanicInAHookBecomesAnErrorOfTheCall(t *testing.T) {
	c, s := continuer(t)
	remove := reference.SetHook(func(e reference.Event) reference.Action {
		if e.Phase == reference.Finish {
			panic("boom")
		}
		return reference.Action{}
	})
	_, err := c.ContinueText(context.Background(), short)
	require.ErrorIs(t, err, task.ErrInternal)
	require.ErrorContains(t, err, "hook panicked: boom")
	_, err = s.StreamText(context.Background(), short, func(task.TextDelta) error { return nil }) // panics on a thread of C
	require.ErrorContains(t, err, "hook panicked: boom")
	remove()
	_, err = c.ContinueText(context.Background(), short)
	require.NoError(t, err)
}

func TestALaterHookReplacesTheOneBefore(t *testing.T) {
	c, _ := continuer(t)
	var first, second int
	removeFirst := reference.SetHook(func(reference.Event) reference.Action { first++; return reference.Action{} })
	removeSecond := reference.SetHook(func(reference.Event) reference.Action { second++; return reference.Action{} })
	require.Equal(t, 2, reference.LiveHooks())
	removeFirst() // was replaced already: the second one stays
	_, err := c.ContinueText(context.Background(), short)
	require.NoError(t, err)
	removeSecond()
	require.Zero(t, first)
	require.Equal(t, 2, second)
	require.Zero(t, reference.LiveHooks())
}

func TestEntryIsThereWithCgo(t *testing.T) {
	entry, ok := reference.Entry()
	require.True(t, ok)
	require.NotNil(t, entry)
}
