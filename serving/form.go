package serving

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
)

// form renders answers as one route's clients want them, whole or in chunks.
type form struct {
	chat    bool
	id      string
	model   string
	created int64
}

// form returns the form of a request's answer; its id is made of the request's.
func (s *Server) form(d *delivery, t *textRequest) form {
	f := form{chat: t.messages != nil, id: "cmpl-" + d.o.id(), model: t.model, created: time.Now().Unix()}
	if f.chat {
		f.id = "chat" + f.id
	}
	return f
}

type wireAnswer struct {
	ID      string       `json:"id"`
	Object  string       `json:"object"`
	Created int64        `json:"created"`
	Model   string       `json:"model"`
	Choices []wireChoice `json:"choices"`
	Usage   *wireUsage   `json:"usage,omitempty"`
}

type wireChoice struct {
	Index        int          `json:"index"`
	Text         *string      `json:"text,omitempty"`
	Message      *wireMessage `json:"message,omitempty"`
	Delta        *wireDelta   `json:"delta,omitempty"`
	Logprobs     *struct{}    `json:"logprobs"`
	FinishReason *string      `json:"finish_reason"` // null: unknown, or not yet
}

type wireMessage struct {
	Role      string     `json:"role"`
	Content   *string    `json:"content"` // null when there are only tool calls
	Reasoning string     `json:"reasoning_content,omitempty"`
	ToolCalls []wireTool `json:"tool_calls,omitempty"`
}

type wireDelta struct {
	Role      string     `json:"role,omitempty"`
	Content   string     `json:"content,omitempty"`
	Reasoning string     `json:"reasoning_content,omitempty"`
	ToolCalls []wireTool `json:"tool_calls,omitempty"`
}

type wireTool struct {
	Index    *int         `json:"index,omitempty"` // in chunks only
	ID       string       `json:"id,omitempty"`
	Type     string       `json:"type,omitempty"`
	Function wireFunction `json:"function"`
}

type wireFunction struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

// wireUsage holds the counts that are known; the others are absent, which is not zero.
type wireUsage struct {
	Prompt     *int64 `json:"prompt_tokens,omitempty"`
	Completion *int64 `json:"completion_tokens,omitempty"`
	Total      *int64 `json:"total_tokens,omitempty"`
}

func usageOf(e *ending) *wireUsage {
	if e.prompt == nil && e.completion == nil && e.total == nil {
		return nil
	}
	return &wireUsage{e.prompt, e.completion, e.total}
}

func (f form) answer(object string, c ...wireChoice) wireAnswer {
	if c == nil {
		c = []wireChoice{}
	}
	return wireAnswer{ID: f.id, Object: object, Created: f.created, Model: f.model, Choices: c}
}

// whole renders an answer in one piece.
func (f form) whole(e *ending) []byte {
	c := wireChoice{FinishReason: pointerTo(e.finish)}
	object := "text_completion"
	if f.chat {
		object, c.Message = "chat.completion", message(e)
	} else {
		text := e.text()
		c.Text = &text
	}
	a := f.answer(object, c)
	a.Usage = usageOf(e)
	return encode(a)
}

func message(e *ending) *wireMessage {
	m := &wireMessage{Role: "assistant"}
	var reasoning strings.Builder
	for _, p := range e.pieces {
		reasoning.WriteString(p.reasoning)
		if p.tool != nil {
			m.ToolCalls = append(m.ToolCalls, p.tool.wire(nil))
		}
	}
	m.Reasoning = reasoning.String()
	if text := e.text(); text != "" || len(m.ToolCalls) == 0 {
		m.Content = &text
	}
	return m
}

func (e *ending) text() string {
	var b strings.Builder
	for _, p := range e.pieces {
		b.WriteString(p.text)
	}
	return b.String()
}

// chunk renders one piece of a stream. The role rides on the first: a chunk of its own would look like content that
// has no text.
func (f form) chunk(p piece, first bool) []byte {
	c := wireChoice{}
	if !f.chat {
		c.Text = &p.text
		return encode(f.answer("text_completion", c))
	}
	c.Delta = &wireDelta{Content: p.text, Reasoning: p.reasoning}
	if p.tool != nil {
		c.Delta.ToolCalls = []wireTool{p.tool.wire(&p.tool.ordinal)}
	}
	if first {
		c.Delta.Role = "assistant"
	}
	return encode(f.answer("chat.completion.chunk", c))
}

// last renders the chunk that says why the stream ends.
func (f form) last(finish string, first bool) []byte {
	c := wireChoice{FinishReason: pointerTo(finish)}
	if !f.chat {
		c.Text = new(string)
		return encode(f.answer("text_completion", c))
	}
	c.Delta = &wireDelta{}
	if first {
		c.Delta.Role = "assistant"
	}
	return encode(f.answer("chat.completion.chunk", c))
}

// usage renders the chunk that holds only the counts.
func (f form) usage(u *wireUsage) []byte {
	object := "text_completion"
	if f.chat {
		object = "chat.completion.chunk"
	}
	a := f.answer(object)
	a.Usage = u
	return encode(a)
}

func pointerTo(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// encode writes v as JSON without HTML escapes and without a line end.
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // the wire types always encode
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
}
