package serving

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/trtmc-go/trtmc/native/task"
)

// chatMessage is one decoded message with its place in the request.
type chatMessage struct {
	param string // messages[0]
	role  string
	task.Message
}

// decodeChat reads the body of POST /v1/chat/completions.
func decodeChat(body []byte) (*textRequest, error) {
	noTools := false
	t, err := decodeText(body, func(t *textRequest, key string, v value) (known bool, err error) {
		switch {
		case key == "messages":
			t.messages, err = messagesOf(v)
		case key == "tools" && v.kind != 'n':
			t.toolParam = key
			t.tools, err = toolsOf(v)
		case key == "tool_choice" && v.kind != 'n':
			noTools, err = toolChoice(v)
		default:
			known = key == "tools" || key == "tool_choice"
			return known, nil
		}
		return true, err
	})
	switch {
	case err != nil:
		return nil, err
	case t.messages == nil:
		return nil, invalid("messages", "missing")
	case noTools:
		t.tools = nil
	}
	return t, nil
}

func (s *Server) chat(d *delivery, r *http.Request) error {
	body, err := s.readBody(d, r)
	if err != nil {
		return err
	}
	t, err := decodeChat(body)
	if err != nil {
		return err
	}
	text := t.allText()
	m, err := s.textModel(d.o, t, text)
	if err != nil {
		return err
	}
	if len(text) > s.cfg.Limits.PromptBytes {
		return tooLarge("messages", "longer than the limit of %d bytes", s.cfg.Limits.PromptBytes)
	}
	decl, ok := m.first(append(conversations(t.stream), continuations(t.stream)...)...)
	if !ok {
		return task.Unsupported(task.TextConversation)
	}
	p, err := t.bind(m, decl)
	if err != nil {
		return err
	}
	if decl.ID == task.TextConversation || decl.ID == task.StreamingTextConversation {
		return s.converse(d, r, t, p, text)
	}
	prompt, err := t.render(p)
	if err != nil {
		return err
	}
	return s.continueText(d, r, t, p, prompt, "messages")
}

// conversations lists the Tasks that take messages as they are, the best for the request first. They come before any
// continuation, streamed or not: roles matter more than the time of the first piece.
func conversations(stream bool) []task.ID {
	if stream {
		return []task.ID{task.StreamingTextConversation, task.TextConversation}
	}
	return []task.ID{task.TextConversation, task.StreamingTextConversation}
}

// render makes one prompt of the messages, for a model that only continues text: the system message, if any, then the
// user messages, with a blank line between two. A model that declares use_chat_template puts the result into its own
// template as a user's turn; one that declares system_prompt gets the system message there instead.
func (t *textRequest) render(p *plan) (string, error) {
	if t.tools != nil {
		return "", unsupported("tools", "not supported: the model declares %s, which knows no tools", p.decl.ID)
	}
	var texts []string
	users := 0
	for i, m := range t.messages {
		system := m.Role == task.RoleSystem || m.Role == task.RoleDeveloper
		if m.Role != task.RoleUser && (!system || i > 0) {
			return "", unsupported(m.param+".role", "%q is not supported here: the model declares %s, which takes one system message at most and then user messages", m.role, p.decl.ID)
		}
		text := m.text()
		if f, ok := p.decl.Field("system_prompt"); ok && system && f.Kind == task.KindString {
			p.set = p.set.With(f.Name, task.String(text))
			continue
		}
		texts = append(texts, text)
		if !system {
			users++
		}
	}
	if users == 0 {
		return "", invalid("messages", "want at least one user message")
	}
	if f, ok := p.decl.Field(templateField); ok && f.Kind == task.KindBool {
		if _, given := p.set.Get(templateField); !given {
			p.set = append(p.set, task.Setting{Name: templateField, Value: task.Bool(true)})
		}
	}
	return strings.Join(texts, "\n\n"), nil
}

// text joins the text parts.
func (m chatMessage) text() string {
	var b strings.Builder
	for _, p := range m.Parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

// allText joins everything that the model will read, for its length.
func (t *textRequest) allText() string {
	var all []string
	for _, m := range t.messages {
		for _, p := range m.Parts {
			all = append(all, p.Text+p.Call.Arguments+p.Result.Text)
		}
	}
	for _, tool := range t.tools {
		all = append(all, tool.Description+tool.Schema)
	}
	return strings.Join(all, "\n")
}

// toolChoice reads tool_choice and reports whether it forbids tools.
func toolChoice(v value) (none bool, err error) {
	if v.kind == '"' && (v.str == "auto" || v.str == "none") {
		return v.str == "none", nil
	}
	return false, unsupported("tool_choice", "want auto or none: no model can be made to call a tool")
}

func toolsOf(v value) ([]task.Tool, error) {
	if v.kind != '[' || len(v.items) == 0 {
		return nil, invalid("tools", "want an array of at least one function")
	}
	var out []task.Tool
	for i, item := range v.items {
		tool, err := toolOf(item, fmt.Sprintf("tools[%d]", i))
		if err != nil {
			return nil, err
		}
		out = append(out, tool)
	}
	return out, nil
}

func toolOf(v value, param string) (tool task.Tool, err error) {
	err = v.fields(param, func(key, at string, v value) (bool, error) {
		switch key {
		case "type":
			if v.kind != '"' || v.str != "function" {
				return true, unsupported(at, "want function")
			}
		case "function":
			return true, v.fields(at, func(key, at string, v value) (known bool, err error) {
				switch key {
				case "name":
					tool.Name, err = v.text(at)
				case "description":
					tool.Description, err = v.text(at)
				case "parameters":
					tool.Schema = string(v.raw)
					if v.kind != '{' {
						err = invalid(at, "want a JSON Schema object, got %s", v.word())
					}
				case "strict":
					if v.kind != 'f' {
						err = unsupported(at, "want false: the model's arguments are not held to the schema")
					}
				default:
					return false, nil
				}
				return true, err
			})
		default:
			return false, nil
		}
		return true, nil
	})
	if err == nil && tool.Name == "" {
		err = invalid(param+".function.name", "missing")
	}
	return tool, err
}

// fields calls read for each field of an object that is not null; read reports whether it knows the name.
func (v value) fields(param string, read func(key, at string, v value) (bool, error)) error {
	if v.kind != '{' {
		return invalid(param, "want an object, got %s", v.word())
	}
	for _, m := range v.members {
		if m.kind == 'n' {
			continue
		}
		at := param + "." + clip(m.key)
		known, err := read(m.key, at, m.value)
		if err != nil {
			return err
		}
		if !known {
			return unknownField(at, "it is not part of the documented shape")
		}
	}
	return nil
}
