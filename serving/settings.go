package serving

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/trtmc-go/trtmc/native/task"
	"github.com/trtmc-go/trtmc/serving/record"
)

// plan is a request bound to a Task of its model.
type plan struct {
	m      *served
	decl   task.Decl
	set    task.Settings
	max    *int64 // tokens that may be generated: asked for, else the declared default; nil when unknown
	forced bool   // the request reached the Task with a setting that forces the length
}

// templateField is the name under which Tasks declare that they put a prompt into the model's chat template.
const templateField = "use_chat_template"

// maxFields are the names under which Tasks declare the most tokens to generate.
var maxFields = []string{"max_new_tokens", "max_tokens"}

// bind maps the controls of a request onto the settings that the Task declares, by name and with their kinds. A
// control that is not declared is refused, for a client must not believe that it had an effect.
func (t *textRequest) bind(m *served, decl task.Decl) (*plan, error) {
	p := &plan{m: m, decl: decl}
	maxField := ""
	for _, name := range maxFields {
		if _, ok := decl.Field(name); ok {
			maxField = name
			break
		}
	}
	for _, c := range t.controls {
		if c.key == maxField {
			if err := t.setMax(c.key, c.value); err != nil {
				return nil, err
			}
			continue
		}
		if err := p.control(c); err != nil {
			return nil, err
		}
	}
	return p, p.limitOutput(t, maxField)
}

func (p *plan) control(c member) error {
	f, ok := p.decl.Field(c.key)
	if !ok {
		if isNeutral(c) {
			return nil
		}
		if slices.Contains(openControls, c.key) {
			return unsupported(c.key, "not supported: the model's %s declares no such setting", p.decl.ID)
		}
		return unknownField(c.key, "the model's "+string(p.decl.ID)+" declares no such setting")
	}
	v, err := c.as(c.key, f.Kind)
	if err != nil {
		return err
	}
	p.set = append(p.set, task.Setting{Name: c.key, Value: v})
	p.forced = p.forced || c.key == "ignore_eos" && v.Bool() || c.key == "min_tokens" && v.Int() > 0
	return nil
}

func (p *plan) limitOutput(t *textRequest, field string) error {
	if t.maxTokens == nil {
		if f, ok := p.decl.Field(field); ok && f.Default.Kind() == task.KindInt {
			n := f.Default.Int()
			p.max = &n
		}
		return nil
	}
	n := *t.maxTokens
	if field == "" {
		return unsupported(t.maxParam, "not supported: the model's %s declares no such setting", p.decl.ID)
	}
	if limit := p.m.MaxOutputTokens; limit > 0 && n > int64(limit) && (p.m.ContextTokens == 0 || n < int64(p.m.ContextTokens)) {
		return invalid(t.maxParam, "the model gives at most %d tokens", limit)
	}
	p.max = t.maxTokens
	p.set = append(p.set, task.Setting{Name: field, Value: task.Int(n)})
	return nil
}

// count returns the tokens of a prompt, nil when they are not known.
func (p *plan) count(prompt string) *int64 {
	if p.m.CountTokens == nil {
		return nil
	}
	n := int64(p.m.CountTokens(prompt))
	return &n
}

// fits refuses what is known not to fit the model's context, given the fewest tokens that the prompt can be.
func (p *plan) fits(t *textRequest, least int64, promptParam string) error {
	limit, want := int64(p.m.ContextTokens), int64(0)
	if p.max != nil {
		want = *p.max
	}
	// Compared by subtraction: the sum of what a client sends may not fit 64 bits.
	if limit == 0 || want <= limit && least <= limit-want {
		return nil
	}
	param := promptParam
	if t.maxTokens != nil && least < limit {
		param = t.maxParam
	}
	return &fault{
		status: http.StatusBadRequest, reason: record.ReasonContextLength, param: param,
		msg: fmt.Sprintf("%s: the prompt and the requested output do not fit the model's context of %d tokens", param, limit),
	}
}

// templated reports whether the Task puts the prompt into a template of its own, whose length nobody knows.
func (p *plan) templated() bool {
	v, _ := p.set.Get(templateField)
	return v.Bool()
}

// as converts a JSON value to a setting's kind, exactly: no number becomes another one, and no string a number.
func (v value) as(param string, kind task.Kind) (task.Value, error) {
	wrong := func(want string) (task.Value, error) {
		return task.Value{}, invalid(param, "want %s, got %s", want, clip(string(v.raw)))
	}
	switch kind {
	case task.KindInt:
		if n, ok := v.integer(); ok {
			return task.Int(n), nil
		}
		return wrong("a whole number")
	case task.KindFloat:
		if f, ok := v.float(); ok {
			return task.Float(f), nil
		}
		return wrong("a number")
	case task.KindBool:
		if v.kind == 't' || v.kind == 'f' {
			return task.Bool(v.kind == 't'), nil
		}
		return wrong("true or false")
	case task.KindString:
		if v.kind == '"' {
			return task.String(v.str), nil
		}
		return wrong("a string")
	case task.KindInts:
		return listOf(v, param, task.KindInt, func(in []task.Value) task.Value { return task.Ints(each(in, task.Value.Int)...) })
	case task.KindFloats:
		return listOf(v, param, task.KindFloat, func(in []task.Value) task.Value { return task.Floats(each(in, task.Value.Float)...) })
	case task.KindStrings:
		return listOf(v, param, task.KindString, func(in []task.Value) task.Value { return task.Strings(each(in, task.Value.Str)...) })
	}
	return task.Value{}, unsupported(param, "the model declares this setting with kind %s, which cannot be set here", kind)
}

func listOf(v value, param string, kind task.Kind, of func([]task.Value) task.Value) (task.Value, error) {
	if v.kind != '[' {
		return task.Value{}, invalid(param, "want an array, got %s", v.word())
	}
	items := make([]task.Value, len(v.items))
	for i, item := range v.items {
		var err error
		if items[i], err = item.as(fmt.Sprintf("%s[%d]", param, i), kind); err != nil {
			return task.Value{}, err
		}
	}
	return of(items), nil
}

func each[T any](in []task.Value, of func(task.Value) T) []T {
	out := make([]T, len(in))
	for i, v := range in {
		out[i] = of(v)
	}
	return out
}
