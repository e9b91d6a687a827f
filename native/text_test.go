//go:build cgo

package native_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native/reference"
	"github.com/trtmc-go/trtmc/native/task"
)

func TestCallTimeIsWhatTheCallTook(t *testing.T) {
	p := reference.TextParams()
	p.Timing = reference.Timing{SetupMS: 5, DecodeUSPerToken: 2000}
	m := load(t, embedded(t), p)
	defer m.Close()
	settings := task.Settings{{Name: "max_new_tokens", Value: task.Int(10)}, {Name: "ignore_eos", Value: task.Bool(true)}}
	before := time.Now()
	r, err := continuer(t, m).ContinueText(context.Background(), task.TextRequest{Text: "We the", Settings: settings})
	around := time.Since(before)
	require.NoError(t, err)
	require.GreaterOrEqual(t, r.Timing.Call, 25*time.Millisecond)
	require.LessOrEqual(t, r.Timing.Call, around)
	require.GreaterOrEqual(t, r.Timing.Decode, 19*time.Millisecond)
	require.False(t, r.Timing.Start.Before(before))

	s, err := streamer(t, m).StreamText(context.Background(), task.TextRequest{Text: "We the", Settings: settings}, func(task.TextDelta) error { return nil })
	require.NoError(t, err)
	require.GreaterOrEqual(t, s.Timing.Call, 25*time.Millisecond)
	require.Equal(t, r.Text, s.Text)
}

func TestPrefixMayBeTokenIDs(t *testing.T) {
	m := load(t, embedded(t), fast(reference.TextParams()))
	defer m.Close()
	first, err := continuer(t, m).ContinueText(context.Background(), task.TextRequest{Text: "When in the", Settings: task.Settings{{Name: "max_new_tokens", Value: task.Int(4)}}})
	require.NoError(t, err)
	byID, err := continuer(t, m).ContinueText(context.Background(), task.TextRequest{TokenIDs: first.TokenIDs, Text: "ignored"})
	require.NoError(t, err)
	byText, err := continuer(t, m).ContinueText(context.Background(), task.TextRequest{Text: strings.TrimPrefix(first.Text, " ")})
	require.NoError(t, err)
	require.Equal(t, byText.Text, byID.Text)
}

// TestReceiverThatPanicsLeavesTheModelIdle because the stream is released on the way out.
func TestReceiverThatPanicsLeavesTheModelIdle(t *testing.T) {
	m := load(t, embedded(t), fast(reference.TextParams()))
	defer m.Close()
	require.PanicsWithValue(t, "receiver", func() {
		_, _ = streamer(t, m).StreamText(context.Background(), task.TextRequest{Text: "We the"}, func(task.TextDelta) error { panic("receiver") })
	})
	require.Zero(t, reference.LiveHandles().Streams)
	_, err := continuer(t, m).ContinueText(context.Background(), task.TextRequest{Text: "We the"})
	require.NoError(t, err)
}

// TestConversationWithATool lets the reference runtime call a tool, answers it, and goes on.
func TestConversationWithATool(t *testing.T) {
	m := load(t, embedded(t), fast(reference.ConversationParams()))
	defer m.Close()
	tools := []task.Tool{{Name: "get_weather", Description: "weather of a place", Schema: `{"type":"object","properties":{"place":{"type":"string"}},"required":["place"]}`}}
	ask := task.Message{Role: task.RoleUser, Parts: []task.Part{{Kind: task.PartText, Text: "please use get_weather for Paris"}}}
	chat := must[task.Converser](t)(task.ConverserOf(m))
	stream := must[task.ConversationStreamer](t)(task.ConversationStreamerOf(m))
	req := task.ConversationRequest{Messages: []task.Message{ask}, Tools: tools, Settings: task.Settings{{Name: "enable_thinking", Value: task.Bool(true)}}}
	r, err := chat.Converse(context.Background(), req)
	require.NoError(t, err)
	require.Equal(t, task.FinishToolCalls, r.Finish)
	call := r.Parts[len(r.Parts)-1]
	require.Equal(t, task.PartToolCall, call.Kind)
	require.Equal(t, "get_weather", call.Call.Name)
	require.Equal(t, task.ToolComplete, call.Call.State)
	require.NotEmpty(t, call.Call.ID)
	require.Contains(t, call.Call.Arguments, "place")
	require.Equal(t, task.PartReasoning, r.Parts[0].Kind)
	require.NotNil(t, r.Usage.Output)

	kinds := map[task.PartKind]bool{}
	s, err := stream.StreamConversation(context.Background(), req, func(d task.ConversationDelta) error {
		kinds[d.Kind] = true
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, r.Parts, s.Parts)
	require.True(t, kinds[task.PartReasoning] && kinds[task.PartToolCall])

	req.Messages = append(req.Messages,
		task.Message{Role: task.RoleAssistant, Parts: []task.Part{call}},
		task.Message{Role: task.RoleTool, Parts: []task.Part{{Kind: task.PartToolResult, Result: task.ToolResult{CallID: call.Call.ID, Text: `{"sky":"grey"}`}}}})
	r, err = chat.Converse(context.Background(), req)
	require.NoError(t, err)
	require.Equal(t, task.PartText, r.Parts[len(r.Parts)-1].Kind)
	require.NotEqual(t, task.FinishToolCalls, r.Finish)
}

func TestContextThatHasEndedKeepsTheRuntimeOut(t *testing.T) {
	m := load(t, embedded(t), fast(reference.AllParams()))
	defer m.Close()
	calls := 0
	defer reference.SetHook(func(reference.Event) reference.Action { calls++; return reference.Action{} })()
	why := errors.New("gone")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(why)
	_, err := continuer(t, m).ContinueText(ctx, task.TextRequest{Text: "x"})
	require.ErrorIs(t, err, why)
	_, err = scorerOf(t, m).Score(ctx, task.ScoreRequest{Documents: []string{"x"}})
	require.ErrorIs(t, err, why)
	_, err = clips(t, m).GenerateVideo(ctx, task.VideoRequest{})
	require.ErrorIs(t, err, why)
	require.Zero(t, calls)
}
