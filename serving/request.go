package serving

import (
	"strconv"
	"strings"

	"github.com/trtmc-go/trtmc/native/task"
)

// textRequest is a decoded request of a text route: what its shape says, before any model is looked at.
type textRequest struct {
	model        string
	prompt       string        // of a completion
	messages     []chatMessage // of a chat
	tools        []task.Tool
	toolParam    string // "tools" when tools were given
	stream       bool
	includeUsage bool
	maxTokens    *int64
	maxParam     string   // the field that gave maxTokens
	controls     []member // the other fields, for the Task's settings
}

// textFields are the fields that both text routes know by shape. Their other spellings are never taken for settings.
var textFields = []string{"model", "prompt", "messages", "stream", "stream_options", "max_tokens", "max_completion_tokens", "stop", "tools", "tool_choice", "user"}

// openControls are fields of the OpenAI interface that a Task may or may not declare as settings; what else is not
// declared is called unknown.
var openControls = []string{
	"temperature", "top_p", "top_k", "min_p", "seed", "n", "best_of", "echo", "suffix", "logprobs", "top_logprobs", "logit_bias",
	"presence_penalty", "frequency_penalty", "repetition_penalty", "ignore_eos", "min_tokens", "stop_token_ids", "response_format",
	"reasoning_effort", "metadata", "store", "service_tier", "modalities", "audio", "prediction", "functions", "function_call",
	"parallel_tool_calls", "enable_thinking", "chat_template_kwargs",
}

// isNeutral reports whether a control has a value that asks for nothing, so that a Task need not declare it.
func isNeutral(c member) bool {
	switch string(c.raw) {
	case "1":
		return c.key == "n" || c.key == "best_of"
	case "0":
		return c.key == "presence_penalty" || c.key == "frequency_penalty"
	case "false":
		return c.key == "echo" || c.key == "logprobs" || c.key == "store"
	case "true":
		return c.key == "parallel_tool_calls"
	}
	return false
}

// decodeText reads the fields that both routes share and hands the others to own, which reports whether it knew them.
func decodeText(body []byte, own func(t *textRequest, key string, v value) (bool, error)) (*textRequest, error) {
	v, err := parseJSON(body)
	if err != nil {
		return nil, err
	}
	if v.kind != '{' {
		return nil, invalid("", "the body is %s, want an object", v.word())
	}
	t := &textRequest{}
	var options *value
	for _, m := range v.members {
		if m.key == "stream_options" && m.kind != 'n' {
			options = &m.value
			continue
		}
		known, err := own(t, m.key, m.value)
		if err == nil && !known {
			err = t.shared(m.key, m.value)
		}
		if err != nil {
			return nil, err
		}
	}
	if options != nil {
		if err := t.streamOptions(*options); err != nil {
			return nil, err
		}
	}
	if t.model == "" {
		return nil, invalid("model", "missing")
	}
	return t, nil
}

func (t *textRequest) shared(key string, v value) (err error) {
	switch key {
	case "model":
		if t.model, err = v.text(key); err == nil && t.model == "" {
			err = invalid(key, "want the name of a model, got an empty string")
		}
	case "stream":
		t.stream, err = v.truth(key)
	case "stream_options": // null
	case "max_tokens", "max_completion_tokens":
		err = t.setMax(key, v)
	case "stop":
		if v.kind != 'n' {
			err = unsupported(key, "not supported; settings that the model declares are listed by /v1/serving/info")
		}
	case "user":
		if v.kind != 'n' {
			_, err = v.text(key)
		}
	default:
		for _, f := range textFields {
			if strings.EqualFold(f, key) {
				return unknownField(key, "did you mean "+f+"?")
			}
		}
		if v.kind != 'n' {
			t.controls = append(t.controls, member{key, v})
		}
	}
	return err
}

func unknownField(param, hint string) *fault {
	name := param[strings.LastIndexByte(param, '.')+1:]
	return unsupported(param, "unknown field %q; %s", clip(name), hint)
}

// setMax takes the most tokens to generate, under either name.
func (t *textRequest) setMax(key string, v value) error {
	if v.kind == 'n' {
		return nil
	}
	n, ok := v.integer()
	switch {
	case !ok || n < 1:
		return invalid(key, "want a whole number of at least 1, got %s", clip(string(v.raw)))
	case t.maxTokens != nil && *t.maxTokens != n:
		return invalid(key, "differs from %s; give one of them", t.maxParam)
	}
	t.maxTokens, t.maxParam = &n, key
	return nil
}

func (t *textRequest) streamOptions(v value) error {
	const key = "stream_options"
	if v.kind != '{' {
		return invalid(key, "want an object, got %s", v.word())
	}
	if !t.stream {
		return invalid(key, "only with stream true")
	}
	for _, m := range v.members {
		if m.key != "include_usage" {
			return unknownField(key+"."+m.key, "want include_usage")
		}
		var err error
		if t.includeUsage, err = m.truth(key + "." + m.key); err != nil {
			return err
		}
	}
	return nil
}

func (v value) text(param string) (string, error) {
	if v.kind != '"' {
		return "", invalid(param, "want a string, got %s", v.word())
	}
	return v.str, nil
}

// truth reads a boolean; null is false.
func (v value) truth(param string) (bool, error) {
	if v.kind != 't' && v.kind != 'f' && v.kind != 'n' {
		return false, invalid(param, "want true or false, got %s", v.word())
	}
	return v.kind == 't', nil
}

// integer reads a number written as a whole one: no point, no exponent, within 64 bits.
func (v value) integer() (int64, bool) {
	if v.kind != '0' {
		return 0, false
	}
	n, err := strconv.ParseInt(string(v.raw), 10, 64)
	return n, err == nil
}

// float reads a number within the range of a 64-bit one.
func (v value) float() (float64, bool) {
	if v.kind != '0' {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(v.raw), 64)
	return f, err == nil
}

// words counts the runs of bytes that are not ASCII white space.
func words(s string) int {
	n, in := 0, false
	for i := range len(s) {
		space := s[i] == ' ' || s[i] >= '\t' && s[i] <= '\r'
		if !space && !in {
			n++
		}
		in = !space
	}
	return n
}
