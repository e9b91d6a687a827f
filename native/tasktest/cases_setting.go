package tasktest

import (
	"errors"
	"fmt"

	"github.com/trtmc-go/trtmc/native/task"
)

func settingChecks() []check {
	return []check{
		{Case{"undeclared-setting-refused", "A setting that the Task does not declare gives an error that is ErrInvalid."}, undeclaredSetting},
		{Case{"doubled-setting-refused", "A setting given twice gives an error that is ErrInvalid."}, doubledSetting},
		{Case{"wrong-kind-refused", "A setting of another kind than declared gives an error that is ErrInvalid: nothing is converted."}, wrongKind},
		{Case{"default-equals-absent", "A setting that is given its declared default changes nothing."}, defaultEqualsAbsent},
		{Case{"absent-is-not-zero", "A max_new_tokens of 0 asks for an empty text; one that is absent does not."}, absentIsNotZero},
		{Case{"error-says-what", "A refused call gives a *task.Error that names the Task, the operation and a reason."}, errorSaysWhat},
	}
}

func undeclaredSetting(p *probe) error {
	return p.each(func(c call) error {
		_, err := c.do(p.ctx, p.model, p.settings(c.id).With("no_such_setting", task.Int(1)))
		return isInvalid(err)
	})
}

func doubledSetting(p *probe) error {
	return p.each(func(c call) error {
		f, ok := p.fixedField(c.id)
		if !ok {
			return nil
		}
		s := p.settings(c.id).With(f.Name, f.Default)
		_, err := c.do(p.ctx, p.model, append(s, task.Setting{Name: f.Name, Value: f.Default}))
		return isInvalid(err)
	})
}

// fixedField returns a declared field whose default is known.
func (p *probe) fixedField(id task.ID) (task.Field, bool) {
	d, _ := p.info.Decl(id)
	for _, f := range d.Fields {
		if f.Default.Kind() != task.KindNone {
			return f, true
		}
	}
	return task.Field{}, false
}

func wrongKind(p *probe) error {
	return p.each(func(c call) error {
		d, _ := p.info.Decl(c.id)
		var errs []error
		for _, f := range d.Fields {
			other := task.String("1")
			if f.Kind == task.KindString {
				other = task.Int(1)
			}
			_, err := c.do(p.ctx, p.model, p.settings(c.id).With(f.Name, other))
			if err := isInvalid(err); err != nil {
				errs = append(errs, fmt.Errorf("field %s of kind %s given %s: %w", f.Name, f.Kind, other.Kind(), err))
			}
		}
		return errors.Join(errs...)
	})
}

func defaultEqualsAbsent(p *probe) error {
	return p.each(func(c call) error {
		base := p.settings(c.id)
		plain, err := c.do(p.ctx, p.model, base)
		if err != nil {
			return err
		}
		full := base
		d, _ := p.info.Decl(c.id)
		for _, f := range d.Fields {
			if _, set := base.Get(f.Name); !set && f.Default.Kind() != task.KindNone {
				full = full.With(f.Name, f.Default)
			}
		}
		given, err := c.do(p.ctx, p.model, full)
		if err != nil {
			return fmt.Errorf("with every default given: %w", err)
		}
		if !same(plain.value, given.value) {
			return fmt.Errorf("with every default given the result is %s; without %s", brief(given.value), brief(plain.value))
		}
		return nil
	})
}

func absentIsNotZero(p *probe) error {
	if err := p.need(task.TextContinuation); err != nil {
		return err
	}
	d, _ := p.info.Decl(task.TextContinuation)
	f, ok := d.Field("max_new_tokens")
	if !ok || f.Kind != task.KindInt || f.Default.Int() == 0 {
		return skip("the model declares no max_new_tokens with a default other than 0")
	}
	var text [2]task.TextResult
	for i, s := range []task.Settings{{{Name: f.Name, Value: task.Int(0)}}, nil} {
		o, err := p.continueText(p.ctx, p.model, s)
		if err != nil {
			return err
		}
		text[i] = o.value.(task.TextResult)
	}
	if text[0].Text != "" || len(text[0].TokenIDs) != 0 {
		return fmt.Errorf("max_new_tokens 0 gave %s", brief(text[0]))
	}
	if text[1].Text == "" {
		return errors.New("without max_new_tokens the text is empty too")
	}
	return nil
}

func errorSaysWhat(p *probe) error {
	return p.each(func(c call) error {
		_, err := c.do(p.ctx, p.model, p.settings(c.id).With("no_such_setting", task.Int(1)))
		if err == nil {
			return nil // that it is refused at all is another case
		}
		var e *task.Error
		if !errors.As(err, &e) {
			return fmt.Errorf("error %v is not a *task.Error", err)
		}
		if e.Task != c.id || e.Op == "" || e.Detail == "" {
			return fmt.Errorf("error %q has task %q, operation %q and detail %q; all three must be given", e, e.Task, e.Op, e.Detail)
		}
		return nil
	})
}

// brief is a value for a message, cut short.
func brief(v any) string {
	s := fmt.Sprintf("%+v", v)
	if len(s) > 200 {
		s = s[:200] + "..."
	}
	return s
}
