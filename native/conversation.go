package native

import (
	"context"
	"time"

	"github.com/trtmc-go/trtmc/native/internal/cabi"
	"github.com/trtmc-go/trtmc/native/task"
)

type converser struct{ h *handle }

func (c converser) Converse(ctx context.Context, req task.ConversationRequest) (task.ConversationResult, error) {
	const id = task.TextConversation
	if err := c.h.lane.enter(ctx, id); err != nil {
		return task.ConversationResult{}, err
	}
	defer c.h.lane.leave()
	res, err := c.h.native.Converse(c.h.conversationIn(req))
	if err != nil {
		return task.ConversationResult{}, callError(id, err)
	}
	return conversationOut(res), nil
}

type conversationStreamer struct{ h *handle }

func (c conversationStreamer) StreamConversation(ctx context.Context, req task.ConversationRequest, emit func(task.ConversationDelta) error) (task.ConversationResult, error) {
	const id = task.StreamingTextConversation
	if err := c.h.lane.enter(ctx, id); err != nil {
		return task.ConversationResult{}, err
	}
	defer c.h.lane.leave()
	s, start, err := c.h.native.StartConversation(c.h.conversationIn(req))
	if err != nil {
		return task.ConversationResult{}, callError(id, err)
	}
	var (
		seen  turn
		bad   error
		final cabi.ConversationResult
	)
	stopped, err := follow(ctx, s, func(ev cabi.ConversationEvent) cabi.EventKind { return ev.Kind }, func(ev cabi.ConversationEvent) error {
		if bad = seen.add(ev); bad != nil {
			return bad
		}
		return emit(deltaOut(ev))
	}, func(ev cabi.ConversationEvent) {
		final = ev.Final
		final.Span = cabi.Span{Start: start, Wall: time.Since(start)}
	})
	switch {
	case bad != nil:
		err = bad
	case stopped != nil:
		return task.ConversationResult{}, stopped
	case err == nil:
		err = seen.same(final)
	}
	if err != nil {
		return task.ConversationResult{}, callError(id, err)
	}
	return conversationOut(final), nil
}

func (h *handle) conversationIn(req task.ConversationRequest) cabi.ConversationRequest {
	in := cabi.ConversationRequest{Messages: make([]cabi.Message, len(req.Messages)), Settings: h.callSettings(req.Settings)}
	for i, m := range req.Messages {
		in.Messages[i] = cabi.Message{Role: uint32(m.Role), Parts: make([]cabi.Part, len(m.Parts))}
		for k, p := range m.Parts {
			in.Messages[i].Parts[k] = partIn(p)
		}
	}
	for _, t := range req.Tools {
		in.Tools = append(in.Tools, cabi.Tool(t))
	}
	return in
}

func partIn(p task.Part) cabi.Part {
	out := cabi.Part{Kind: uint32(p.Kind), Text: p.Text}
	switch p.Kind {
	case task.PartToolCall:
		out.CallID, out.Name, out.Arguments, out.State = p.Call.ID, p.Call.Name, p.Call.Arguments, uint32(p.Call.State)
	case task.PartToolResult:
		out.CallID, out.Text, out.IsError = p.Result.CallID, p.Result.Text, p.Result.IsError
	}
	return out
}

func conversationOut(r cabi.ConversationResult) task.ConversationResult {
	out := task.ConversationResult{
		TokenIDs: r.TokenIDs, Finish: task.FinishReason(r.Finish), OtherFinish: r.OtherFinish,
		Usage:  task.Usage{Input: r.Input, Output: r.Output, Total: r.Total},
		Timing: timing(r.Span, r.SetupMS, r.PrefillMS, r.DecodeMS),
	}
	for _, p := range r.Parts {
		part := task.Part{Kind: task.PartKind(p.Kind), Text: p.Text}
		if part.Kind == task.PartToolCall {
			part.Call = task.ToolCall{ID: p.CallID, Name: p.Name, Arguments: p.Arguments, State: task.ToolState(p.State)}
		}
		out.Parts = append(out.Parts, part)
	}
	return out
}

// The native kinds of a conversation delta.
const (
	nativeText uint32 = iota + 1
	nativeReasoning
	nativeToolDelta
	nativeToolEnd
	nativeTokens
)

func deltaOut(ev cabi.ConversationEvent) task.ConversationDelta {
	d := task.ConversationDelta{Kind: partKind(ev.Native), PartIndex: int(ev.PartIndex), TokenIDs: ev.TokenIDs}
	switch ev.Native {
	case nativeText, nativeReasoning:
		d.Text = ev.Text
	case nativeToolDelta:
		d.CallID, d.Name, d.Arguments = ev.CallID, ev.Name, ev.Arguments
	case nativeToolEnd:
		d.ToolEnd, d.State = true, task.ToolState(ev.State)
	}
	return d
}

func partKind(native uint32) task.PartKind {
	switch native {
	case nativeText:
		return task.PartText
	case nativeReasoning:
		return task.PartReasoning
	case nativeToolDelta, nativeToolEnd:
		return task.PartToolCall
	}
	return 0
}
