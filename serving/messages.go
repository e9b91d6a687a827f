package serving

import (
	"fmt"

	"github.com/trtmc-go/trtmc/native/task"
)

func messagesOf(v value) ([]chatMessage, error) {
	if v.kind != '[' || len(v.items) == 0 {
		return nil, invalid("messages", "want an array of at least one message")
	}
	out := make([]chatMessage, len(v.items))
	for i, item := range v.items {
		out[i].param = fmt.Sprintf("messages[%d]", i)
		if err := out[i].decode(item); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// rawMessage is a message before its role is known to allow what it holds.
type rawMessage struct {
	parts     []task.Part // of content
	reasoning string
	calls     []task.Part
	callID    string
}

func (m *chatMessage) decode(v value) error {
	var raw rawMessage
	err := v.fields(m.param, func(key, at string, v value) (known bool, err error) {
		switch key {
		case "role":
			m.role, err = v.text(at)
		case "content":
			raw.parts, err = contentOf(v, at)
		case "reasoning_content":
			raw.reasoning, err = v.text(at)
		case "tool_calls":
			raw.calls, err = callsOf(v, at)
		case "tool_call_id":
			raw.callID, err = v.text(at)
		case "annotations": // clients send a former answer back with an empty one
			return v.kind == '[' && len(v.items) == 0, nil
		default:
			return false, nil
		}
		return true, err
	})
	if err != nil {
		return err
	}
	return m.assemble(raw)
}

// assemble puts the parts in the order of an assistant's turn and checks that the role may have them.
func (m *chatMessage) assemble(raw rawMessage) error {
	role, ok := map[string]task.Role{
		"system": task.RoleSystem, "developer": task.RoleDeveloper, "user": task.RoleUser, "assistant": task.RoleAssistant, "tool": task.RoleTool,
	}[m.role]
	if !ok {
		return invalid(m.param+".role", "want system, developer, user, assistant or tool, got %q", clip(m.role))
	}
	m.Role = role
	switch {
	case role != task.RoleAssistant && raw.reasoning != "":
		return invalid(m.param+".reasoning_content", "only in an assistant message")
	case role != task.RoleAssistant && raw.calls != nil:
		return invalid(m.param+".tool_calls", "only in an assistant message")
	case role != task.RoleTool && raw.callID != "":
		return invalid(m.param+".tool_call_id", "only in a tool message")
	case role == task.RoleTool && raw.callID == "":
		return invalid(m.param+".tool_call_id", "missing in a tool message")
	case raw.parts == nil && raw.calls == nil && raw.reasoning == "":
		return invalid(m.param+".content", "missing")
	}
	if role == task.RoleTool {
		m.Parts = []task.Part{{Kind: task.PartText}}
		for _, p := range raw.parts {
			m.Parts[0].Result.Text += p.Text
		}
		m.Parts[0].Kind, m.Parts[0].Result.CallID = task.PartToolResult, raw.callID
		return nil
	}
	if raw.reasoning != "" {
		m.Parts = append(m.Parts, task.Part{Kind: task.PartReasoning, Text: raw.reasoning})
	}
	m.Parts = append(append(m.Parts, raw.parts...), raw.calls...)
	return nil
}

// contentOf reads a message's content: a string, or a list of text parts.
func contentOf(v value, param string) ([]task.Part, error) {
	if v.kind == '"' {
		return []task.Part{{Kind: task.PartText, Text: v.str}}, nil
	}
	if v.kind != '[' || len(v.items) == 0 {
		return nil, invalid(param, "want a string or an array of text parts")
	}
	out := make([]task.Part, len(v.items))
	for i, item := range v.items {
		out[i].Kind = task.PartText
		kind := ""
		given := false
		at := fmt.Sprintf("%s[%d]", param, i)
		err := item.fields(at, func(key, at string, v value) (known bool, err error) {
			switch key {
			case "type":
				kind, err = v.text(at)
			case "text":
				given = true
				out[i].Text, err = v.text(at)
			default: // named by the type below
				given = given || kind != "text"
				return kind != "text", nil
			}
			return true, err
		})
		switch {
		case err != nil:
			return nil, err
		case kind != "text":
			return nil, unsupported(at+".type", "want text, got %q", clip(kind))
		case !given:
			return nil, invalid(at+".text", "missing")
		}
	}
	return out, nil
}

func callsOf(v value, param string) ([]task.Part, error) {
	if v.kind != '[' || len(v.items) == 0 {
		return nil, invalid(param, "want an array of at least one tool call")
	}
	out := make([]task.Part, len(v.items))
	for i, item := range v.items {
		out[i].Kind = task.PartToolCall
		call := &out[i].Call
		call.State = task.ToolComplete
		at := fmt.Sprintf("%s[%d]", param, i)
		err := item.fields(at, func(key, at string, v value) (known bool, err error) {
			switch key {
			case "id":
				call.ID, err = v.text(at)
			case "type":
				if v.kind != '"' || v.str != "function" {
					err = unsupported(at, "want function")
				}
			case "function":
				err = functionOf(v, at, call)
			case "index": // clients that gather chunks send it back
			default:
				return false, nil
			}
			return true, err
		})
		switch {
		case err != nil:
			return nil, err
		case call.ID == "":
			return nil, invalid(at+".id", "missing")
		case call.Name == "":
			return nil, invalid(at+".function.name", "missing")
		}
	}
	return out, nil
}

func functionOf(v value, param string, call *task.ToolCall) error {
	return v.fields(param, func(key, at string, v value) (known bool, err error) {
		switch key {
		case "name":
			call.Name, err = v.text(at)
		case "arguments":
			call.Arguments, err = v.text(at)
		default:
			return false, nil
		}
		return true, err
	})
}
