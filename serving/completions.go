package serving

import (
	"net/http"

	"github.com/trtmc-go/trtmc/native/task"
	"github.com/trtmc-go/trtmc/serving/record"
)

// decodeCompletion reads the body of POST /v1/completions.
func decodeCompletion(body []byte) (*textRequest, error) {
	given := false
	t, err := decodeText(body, func(t *textRequest, key string, v value) (known bool, err error) {
		if key != "prompt" {
			return false, nil
		}
		given = true
		t.prompt, err = promptOf(v)
		return true, err
	})
	if err == nil && !given {
		err = invalid("prompt", "missing")
	}
	return t, err
}

// promptOf reads a prompt: a string, or an array that holds just one.
func promptOf(v value) (string, error) {
	if v.kind == '[' {
		if len(v.items) != 1 || v.items[0].kind != '"' {
			return "", invalid("prompt", "want a string or an array of one string; send one request for each prompt, and no token ids")
		}
		v = v.items[0]
	}
	return v.text("prompt")
}

func (s *Server) completions(d *delivery, r *http.Request) error {
	body, err := s.readBody(d, r)
	if err != nil {
		return err
	}
	t, err := decodeCompletion(body)
	if err != nil {
		return err
	}
	m, err := s.textModel(d.o, t, t.prompt)
	if err != nil {
		return err
	}
	if len(t.prompt) > s.cfg.Limits.PromptBytes {
		return tooLarge("prompt", "longer than the limit of %d bytes", s.cfg.Limits.PromptBytes)
	}
	decl, ok := m.first(continuations(t.stream)...)
	if !ok {
		return task.Unsupported(task.TextContinuation)
	}
	p, err := t.bind(m, decl)
	if err != nil {
		return err
	}
	return s.continueText(d, r, t, p, t.prompt, "prompt")
}

// continuations lists the Tasks that continue a text, the best for the request first.
func continuations(stream bool) []task.ID {
	if stream {
		return []task.ID{task.StreamingTextContinuation, task.TextContinuation}
	}
	return []task.ID{task.TextContinuation, task.StreamingTextContinuation}
}

// textModel finds the model of a decoded request and notes what is known of the request by now.
func (s *Server) textModel(o *observation, t *textRequest, text string) (*served, error) {
	o.note(func(r *record.Record) {
		r.Streaming = t.stream
		r.Text = &record.Text{PromptBytes: len(text), PromptWords: words(text), TokenSource: record.TokensUnknown}
	})
	m := s.model(t.model)
	if m == nil {
		return nil, s.noModel()
	}
	o.noteModel(m)
	return m, nil
}
