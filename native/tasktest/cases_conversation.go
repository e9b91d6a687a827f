package tasktest

import (
	"errors"
	"fmt"

	"github.com/trtmc-go/trtmc/native/task"
)

func conversationChecks() []check {
	return []check{
		{Case{"conversation-answer", "An answer holds text, reasoning and tool calls only, and says why it ended in a known way."}, conversationAnswer},
		{Case{"conversation-roles", "A conversation without messages, or with a part that its role may not hold, is refused as ErrInvalid."}, conversationRoles},
		{Case{"conversation-stream-adds-up", "The deltas of a streamed answer, joined per part, are the parts of its result."}, conversationAddsUp},
	}
}

func conversationAnswer(p *probe) error {
	if err := p.need(task.TextConversation); err != nil {
		return err
	}
	o, err := p.converse(p.ctx, p.model, p.settings(task.TextConversation))
	if err != nil {
		return err
	}
	r := o.value.(task.ConversationResult)
	for i, part := range r.Parts {
		if part.Kind < task.PartText || part.Kind > task.PartToolCall {
			return fmt.Errorf("part %d is of kind %d", i, part.Kind)
		}
	}
	if r.Finish > task.FinishOther || (r.OtherFinish != "") != (r.Finish == task.FinishOther) {
		return fmt.Errorf("finish reason %d with the text %q", r.Finish, r.OtherFinish)
	}
	return nil
}

func conversationRoles(p *probe) error {
	if err := p.need(task.TextConversation); err != nil {
		return err
	}
	t, err := task.ConverserOf(p.model)
	if err != nil {
		return err
	}
	one := func(role task.Role, part task.Part) []task.Message {
		return []task.Message{{Role: role, Parts: []task.Part{part}}}
	}
	bad := map[string][]task.Message{
		"no messages":              nil,
		"unknown role":             one(99, task.Part{Kind: task.PartText, Text: "x"}),
		"reasoning of the user":    one(task.RoleUser, task.Part{Kind: task.PartReasoning, Text: "x"}),
		"tool call of the user":    one(task.RoleUser, task.Part{Kind: task.PartToolCall, Call: task.ToolCall{ID: "1", Name: "f", State: task.ToolComplete}}),
		"tool result of the user":  one(task.RoleUser, task.Part{Kind: task.PartToolResult, Result: task.ToolResult{CallID: "1"}}),
		"text of a tool":           one(task.RoleTool, task.Part{Kind: task.PartText, Text: "x"}),
		"tool result without call": one(task.RoleTool, task.Part{Kind: task.PartToolResult}),
	}
	var errs []error
	for name, messages := range bad {
		_, err := t.Converse(p.ctx, task.ConversationRequest{Messages: messages, Settings: p.settings(task.TextConversation)})
		if err := isInvalid(err); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

func conversationAddsUp(p *probe) error {
	if err := p.need(task.StreamingTextConversation); err != nil {
		return err
	}
	t, err := task.ConversationStreamerOf(p.model)
	if err != nil {
		return err
	}
	var parts []task.Part
	var ids []int32
	r, err := t.StreamConversation(p.ctx, p.conversation(p.settings(task.StreamingTextConversation)), func(d task.ConversationDelta) error {
		ids = append(ids, d.TokenIDs...)
		if d.Kind == 0 {
			return nil
		}
		for len(parts) <= d.PartIndex {
			parts = append(parts, task.Part{Kind: d.Kind})
		}
		part := &parts[d.PartIndex]
		part.Text += d.Text
		part.Call.Name += d.Name
		part.Call.Arguments += d.Arguments
		if d.CallID != "" {
			part.Call.ID = d.CallID
		}
		if d.ToolEnd {
			part.Call.State = d.State
		}
		return nil
	})
	if err != nil {
		return err
	}
	if !same(parts, r.Parts) || !same(ids, r.TokenIDs) {
		return fmt.Errorf("deltas %s %v, result %s %v", brief(parts), ids, brief(r.Parts), r.TokenIDs)
	}
	return nil
}
