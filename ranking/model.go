package ranking

import (
	"fmt"
	"strings"

	"github.com/trtmc-go/trtmc/native/task"
)

// Model is one model that a handler serves. Its Scorer is called by many requests at a time.
type Model struct {
	Name            string      // served name, compared exactly; names of the form org/model are reachable by path as well
	Scorer          task.Scorer // nil: the name is known and the model does not rank
	Truncate        task.Field  // the control that cuts a passage's end, zero when there is none; see TruncateField
	MaxPassageWords int         // longest passage in words of the model's own limit when END is not asked for; 0: the Task decides
}

// ModelOf returns what a loaded model serves under name: its Scorer and the truncation control that it declares. The
// error is that of [task.ScorerOf].
func ModelOf(name string, m task.Model) (Model, error) {
	scorer, err := task.ScorerOf(m)
	if err != nil {
		return Model{}, fmt.Errorf("serve ranking of %q: %w", name, err)
	}
	return Model{Name: name, Scorer: scorer, Truncate: TruncateField(m.Info())}, nil
}

// TruncateField returns the setting named truncate or truncation, of kind string (NONE, END) or bool, that a model
// declares for text_query_documents_to_relevance; the zero Field when it declares none.
func TruncateField(info task.Info) task.Field {
	decl, _ := info.Decl(task.TextQueryDocumentsToRelevance)
	for _, name := range []string{"truncate", "truncation"} {
		if f, ok := decl.Field(name); ok && (f.Kind == task.KindString || f.Kind == task.KindBool) {
			return f
		}
	}
	return task.Field{}
}

// Settings returns the settings of a Task call for t: the declared control set to t, with TruncateAbsent meaning NONE
// so that a model whose own default is to cut does not do so unasked. Without a declared control it returns none for
// NONE and a [*DecodeError] for END.
func (m Model) Settings(t Truncate) (task.Settings, error) {
	if m.Truncate.Name == "" {
		if t == TruncateEnd {
			return nil, &DecodeError{Path: "truncate", Msg: "the model declares no control for END, want NONE or no truncate", Code: CodeUnsupported}
		}
		return nil, nil
	}
	if m.Truncate.Kind == task.KindBool {
		return task.Settings{{Name: m.Truncate.Name, Value: task.Bool(t == TruncateEnd)}}, nil
	}
	if t == TruncateAbsent {
		t = TruncateNone
	}
	return task.Settings{{Name: m.Truncate.Name, Value: task.String(string(t))}}, nil
}

// checkLength refuses a passage that is longer than the model takes, unless the Task is asked to cut it.
func (m Model) checkLength(req *Request) error {
	if m.MaxPassageWords <= 0 || req.Truncate == TruncateEnd {
		return nil
	}
	for i, p := range req.Passages {
		if n := words(p); n > m.MaxPassageWords {
			return &DecodeError{
				Path: fmt.Sprintf("passages[%d].text", i), Code: CodeTooLong,
				Msg: fmt.Sprintf("%d words long, the model takes %d", n, m.MaxPassageWords),
			}
		}
	}
	return nil
}

// choose finds the model that a request names in its path, its body or both. A handler with one model serves it to
// requests that name none; when that model has no name, it serves every name.
func choose(models []Model, path, body string) (Model, error) {
	if path != "" && body != "" && path != body {
		return Model{}, &DecodeError{Path: "model", Msg: fmt.Sprintf("the path names %q and the body %q", clip(path), clip(body)), Code: CodeInvalid}
	}
	name := path
	if name == "" {
		name = body
	}
	if len(models) == 1 && (name == "" || models[0].Name == "") {
		return models[0], nil
	}
	if name == "" {
		return Model{}, &DecodeError{Path: "model", Msg: "missing, want one of: " + names(models), Code: CodeInvalid}
	}
	for _, m := range models {
		if m.Name == name {
			return m, nil
		}
	}
	return Model{}, &fault{status: 404, code: CodeModel, param: "model", msg: fmt.Sprintf("model %q is not served here, want one of: %s", clip(name), names(models))}
}

func names(models []Model) string {
	list := make([]string, len(models))
	for i, m := range models {
		list[i] = m.Name
	}
	return strings.Join(list, ", ")
}

// words counts the runs of bytes that are not ASCII white space.
func words(s string) int {
	n, in := 0, false
	for i := 0; i < len(s); i++ {
		space := s[i] <= ' ' && (s[i] == ' ' || s[i] >= '\t' && s[i] <= '\r')
		if !space && !in {
			n++
		}
		in = !space
	}
	return n
}
