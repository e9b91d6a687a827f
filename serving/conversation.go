package serving

import (
	"context"
	"net/http"

	"github.com/trtmc-go/trtmc/native/task"
	"github.com/trtmc-go/trtmc/serving/record"
)

// toolPiece is a tool call, or the next fragment of one in a stream.
type toolPiece struct {
	ordinal   int  // among the answer's tool calls
	opens     bool // the call's first piece, which carries its id
	id        string
	name      string
	arguments string
}

func (t *toolPiece) wire(index *int) wireTool {
	w := wireTool{Index: index, ID: t.id, Function: wireFunction{Name: t.name, Arguments: t.arguments}}
	if t.opens {
		w.Type = "function"
	}
	return w
}

// converse serves messages through text_conversation or its stream.
func (s *Server) converse(d *delivery, r *http.Request, t *textRequest, p *plan, text string) error {
	// How many tokens the messages are is the Task's to say: they go into a template of its own.
	if err := p.fits(t, int64(min(1, len(text))), "messages"); err != nil {
		return err
	}
	req := task.ConversationRequest{Tools: t.tools, Settings: p.set}
	for _, m := range t.messages {
		req.Messages = append(req.Messages, m.Message)
	}
	gen := func(ctx context.Context, lane task.Model, emit func(piece) error) (*ending, error) {
		res, err := conversation(ctx, lane, p.decl.ID, req, emit)
		if err != nil {
			return nil, err
		}
		return conversed(res), nil
	}
	return s.generate(d, r, t, p, s.form(d, t), gen)
}

func conversation(ctx context.Context, lane task.Model, id task.ID, req task.ConversationRequest, emit func(piece) error) (task.ConversationResult, error) {
	if id == task.TextConversation {
		c, err := task.ConverserOf(lane)
		if err != nil {
			return task.ConversationResult{}, err
		}
		return c.Converse(ctx, req)
	}
	c, err := task.ConversationStreamerOf(lane)
	if err != nil {
		return task.ConversationResult{}, err
	}
	turn := turn{emit: emit}
	res, err := c.StreamConversation(ctx, req, turn.delta)
	if err == nil {
		err = turn.close()
	}
	return res, err
}

// turn makes pieces of a streamed turn's deltas.
type turn struct {
	emit  func(piece) error
	parts []*turnPart // in the order of first use
}

type turnPart struct {
	index   int // in the final list of parts
	kind    task.PartKind
	joined  joiner // text, or a call's arguments
	tool    toolPiece
	started bool
}

func (t *turn) part(index int, kind task.PartKind) *turnPart {
	tools := 0
	for _, p := range t.parts {
		if p.index == index {
			return p
		}
		if p.kind == task.PartToolCall {
			tools++
		}
	}
	p := &turnPart{index: index, kind: kind, tool: toolPiece{ordinal: tools}}
	t.parts = append(t.parts, p)
	return p
}

func (t *turn) delta(d task.ConversationDelta) error {
	switch d.Kind {
	case task.PartText, task.PartReasoning:
		p := t.part(d.PartIndex, d.Kind)
		return t.text(p, p.joined.add(d.Text))
	case task.PartToolCall:
		p := t.part(d.PartIndex, d.Kind)
		p.tool.name += d.Name
		if d.CallID != "" {
			p.tool.id = d.CallID
		}
		p.tool.arguments += p.joined.add(d.Arguments)
		return t.tool(p, d.ToolEnd)
	}
	return nil
}

func (t *turn) text(p *turnPart, s string) error {
	switch {
	case s == "":
		return nil
	case p.kind == task.PartReasoning:
		return t.emit(piece{reasoning: s})
	}
	return t.emit(piece{text: s})
}

// tool sends what has gathered of a call. Clients want a call's id and name in its first piece, so nothing is sent
// before both are there, or the call has ended without.
func (t *turn) tool(p *turnPart, ended bool) error {
	now := p.tool
	switch {
	case !p.started && !ended && (now.id == "" || now.name == "" || now.arguments == ""):
		return nil // the name may still grow until arguments begin
	case p.started && now.arguments == "" && now.name == "":
		return nil
	}
	if now.opens = !p.started; !now.opens {
		now.id = ""
	}
	p.started, p.tool.name, p.tool.arguments = true, "", ""
	return t.emit(piece{tool: &now})
}

// close sends what was held back.
func (t *turn) close() error {
	for _, p := range t.parts {
		rest := p.joined.rest()
		if p.kind != task.PartToolCall {
			if err := t.text(p, rest); err != nil {
				return err
			}
			continue
		}
		p.tool.arguments += rest
		if err := t.tool(p, true); err != nil {
			return err
		}
	}
	return nil
}

// conversed says what a finished turn tells.
func conversed(res task.ConversationResult) *ending {
	e := &ending{finish: finishWord(res), source: record.TokensUnknown, timing: res.Timing}
	tools := 0
	for _, p := range res.Parts {
		switch p.Kind {
		case task.PartText:
			e.pieces = append(e.pieces, piece{text: p.Text})
		case task.PartReasoning:
			e.pieces = append(e.pieces, piece{reasoning: p.Text})
		case task.PartToolCall:
			e.pieces = append(e.pieces, piece{tool: &toolPiece{ordinal: tools, opens: true, id: p.Call.ID, name: p.Call.Name, arguments: p.Call.Arguments}})
			tools++
		}
	}
	e.prompt, e.completion, e.total = signed(res.Usage.Input), signed(res.Usage.Output), signed(res.Usage.Total)
	switch n := int64(len(res.TokenIDs)); {
	case e.completion != nil:
		e.source = record.TokensFromTaskUsage
	case n > 0:
		e.completion, e.source = &n, record.TokensFromTaskIDs
	}
	if e.total == nil && e.prompt != nil && e.completion != nil {
		sum := *e.prompt + *e.completion
		e.total = &sum
	}
	return e
}

func signed(n *uint64) *int64 {
	if n == nil {
		return nil
	}
	v := int64(*n)
	return &v
}

func finishWord(res task.ConversationResult) string {
	switch res.Finish {
	case task.FinishStop:
		return "stop"
	case task.FinishLength:
		return "length"
	case task.FinishToolCalls:
		return "tool_calls"
	case task.FinishContentFilter:
		return "content_filter"
	case task.FinishOther:
		return res.OtherFinish
	}
	return ""
}
