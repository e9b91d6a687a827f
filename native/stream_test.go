//go:build cgo

package native

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native/internal/cabi"
	"github.com/trtmc-go/trtmc/native/task"
)

// script is a stream whose events are written down. After cancel it goes on with its other list.
type script struct {
	events, afterCancel []cabi.EventKind
	cancels, closes     int
	fail                error
}

func (s *script) Next(time.Duration) (cabi.EventKind, error) {
	list := &s.events
	if s.cancels > 0 && s.afterCancel != nil {
		list = &s.afterCancel
	}
	if len(*list) == 0 {
		return cabi.EventEnd, s.fail
	}
	k := (*list)[0]
	*list = (*list)[1:]
	return k, nil
}

func (s *script) Cancel() error { s.cancels++; return nil }
func (s *script) Close()        { s.closes++ }

func TestStreamIsFollowedToItsEndAndReleased(t *testing.T) {
	const again, end, delta, complete, cancelled = cabi.EventAgain, cabi.EventEnd, cabi.EventDelta, cabi.EventComplete, cabi.EventCancelled
	full, broken := errors.New("receiver is full"), errors.New("device lost")
	rows := []struct {
		name    string
		s       script
		takeErr error
		stopped error
		err     string
		taken   int
	}{
		{name: "whole", s: script{events: []cabi.EventKind{delta, again, delta, complete, end}}, taken: 2},
		{name: "empty", s: script{events: []cabi.EventKind{complete}}},
		{name: "no end in time", s: script{events: []cabi.EventKind{complete, again, delta}}},
		{name: "no terminal", s: script{events: []cabi.EventKind{delta, end}}, taken: 1, err: "ended without a terminal event"},
		{name: "two terminals", s: script{events: []cabi.EventKind{complete, complete}}, err: "a complete event came after the terminal complete event"},
		{name: "delta after terminal", s: script{events: []cabi.EventKind{complete, delta}}, err: "a delta event came after the terminal complete event"},
		{name: "cancelled by itself", s: script{events: []cabi.EventKind{delta, cancelled}}, taken: 1, err: "cancelled by the runtime itself"},
		{name: "fatal", s: script{events: []cabi.EventKind{delta}, fail: broken}, taken: 1, err: "device lost"},
		{name: "receiver stops", s: script{events: []cabi.EventKind{delta, delta}, afterCancel: []cabi.EventKind{again, delta, cancelled}}, takeErr: full, stopped: full, taken: 1},
		{name: "complete wins the race", s: script{events: []cabi.EventKind{delta}, afterCancel: []cabi.EventKind{complete}}, takeErr: full, stopped: full, taken: 1},
		{name: "stops, then fails", s: script{events: []cabi.EventKind{delta}, afterCancel: []cabi.EventKind{}, fail: broken}, takeErr: full, stopped: full, taken: 1, err: "device lost"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			taken, done := 0, 0
			stopped, err := follow(context.Background(), &row.s, func(k cabi.EventKind) cabi.EventKind { return k },
				func(cabi.EventKind) error { taken++; return row.takeErr }, func(cabi.EventKind) { done++ })
			require.Equal(t, row.stopped, stopped)
			if row.err == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, row.err)
			}
			require.Equal(t, row.taken, taken)
			require.LessOrEqual(t, done, 1)
			require.Equal(t, 1, row.s.closes, "released once")
		})
	}
}

func TestAnswerMustBeWhatItsDeltasAddUpTo(t *testing.T) {
	text := func(part uint64, s string) cabi.ConversationEvent {
		return cabi.ConversationEvent{Native: nativeText, PartIndex: part, Text: s}
	}
	tool := func(part uint64, id, name, args string) cabi.ConversationEvent {
		return cabi.ConversationEvent{Native: nativeToolDelta, PartIndex: part, CallID: id, Name: name, Arguments: args}
	}
	end := cabi.ConversationEvent{Native: nativeToolEnd, PartIndex: 1, State: 1}
	good := []cabi.ConversationEvent{
		text(0, "a"), text(0, "b"), tool(1, "", "f", "{"), tool(1, "call", "", "}"), end, {Native: nativeTokens, TokenIDs: []int32{1, 2}},
	}
	final := cabi.ConversationResult{
		Parts:    []cabi.Part{{Kind: 1, Text: "ab"}, {Kind: 3, CallID: "call", Name: "f", Arguments: "{}", State: 1}},
		TokenIDs: []int32{1, 2},
	}
	var sum turn
	for _, ev := range good {
		require.NoError(t, sum.add(ev))
	}
	require.NoError(t, sum.same(final))
	for _, change := range []func(*cabi.ConversationResult){
		func(r *cabi.ConversationResult) { r.Parts = r.Parts[:1] },
		func(r *cabi.ConversationResult) { r.Parts[0].Text = "abc" },
		func(r *cabi.ConversationResult) { r.Parts[1].CallID = "other" },
		func(r *cabi.ConversationResult) { r.Parts[1].State = 2 },
		func(r *cabi.ConversationResult) { r.TokenIDs = nil },
	} {
		other := final
		other.Parts = append([]cabi.Part(nil), final.Parts...)
		change(&other)
		require.ErrorContains(t, sum.same(other), "delta mismatch")
	}
	require.ErrorContains(t, sum.add(text(3, "x")), "a delta of part 3 came when 2 parts had begun")
	require.ErrorContains(t, sum.add(tool(0, "", "f", "")), "part 0 is of kind 1")
	require.ErrorContains(t, sum.add(tool(1, "", "", "x")), "ended: true")
	var changed turn
	require.NoError(t, changed.add(tool(0, "one", "", "")))
	require.ErrorContains(t, changed.add(tool(0, "two", "", "")), "the call id of part 0 changed")
}

func TestEveryStatusHasItsClass(t *testing.T) {
	for status, want := range map[int32]error{
		2: task.ErrInvalid, 3: task.ErrInvalid, 4: task.ErrUnsupported, 5: task.ErrUnsupported, 6: task.ErrResource,
		7: task.ErrInternal, 8: task.ErrInternal, 9: task.ErrBusy, 77: task.ErrInternal, -5: task.ErrInternal,
	} {
		err := callError("some_task", &cabi.CallError{Op: "run", Status: status, Message: "why"})
		require.ErrorIs(t, err, want, status)
		require.ErrorContains(t, err, "some_task: run")
		require.ErrorContains(t, err, "why")
	}
}
