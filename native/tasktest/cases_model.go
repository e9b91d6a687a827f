package tasktest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/trtmc-go/trtmc/native/task"
)

func modelChecks() []check {
	return []check{
		{Case{"info-stable", "Info gives the same answer at any time, also after Close, whatever a caller does to what it got."}, infoStable},
		{Case{"tasks-declared", "Every expected Task is declared, and every declared Task of version 1.0 can be looked up."}, tasksDeclared},
		{Case{"undeclared-task-unsupported", "Lookup of a Task that is not declared gives an error that is ErrUnsupported."}, undeclaredTask},
		{Case{"fields-declared", "Declared fields have names that differ, a known kind, and a default of that kind or none."}, fieldsDeclared},
		{Case{"close-twice", "A second Close returns nil."}, closeTwice},
		{Case{"call-after-close", "A call on a closed model gives an error that is ErrClosed."}, callAfterClose},
	}
}

func infoStable(p *probe) error {
	first := p.model.Info()
	snapshot := fmt.Sprintf("%+v", first)
	for i := range first.Tasks {
		first.Tasks[i].ID = "overwritten"
	}
	if again := fmt.Sprintf("%+v", p.model.Info()); again != snapshot {
		return fmt.Errorf("a second Info differs from the first: %s, then %s", snapshot, again)
	}
	if err := p.model.Close(); err != nil {
		return err
	}
	if after := fmt.Sprintf("%+v", p.model.Info()); after != snapshot {
		return fmt.Errorf("the Info differs after Close: %s, then %s", snapshot, after)
	}
	return nil
}

func tasksDeclared(p *probe) error {
	var errs []error
	for _, id := range p.cfg.Tasks {
		if _, ok := p.info.Decl(id); !ok {
			errs = append(errs, fmt.Errorf("%s is expected and not declared", id))
		}
	}
	typed := typedLookups()
	for _, d := range p.info.Tasks {
		look, known := typed[d.ID]
		if !known || d.Major != 1 || d.Minor != 0 {
			continue
		}
		if err := look(p.model); err != nil {
			errs = append(errs, fmt.Errorf("%s is declared and its lookup fails: %w", d.ID, err))
		}
	}
	return errors.Join(errs...)
}

func typedLookups() map[task.ID]func(task.Model) error {
	return map[task.ID]func(task.Model) error{
		task.TextContinuation:              lookup(task.TextContinuerOf),
		task.StreamingTextContinuation:     lookup(task.TextStreamerOf),
		task.TextConversation:              lookup(task.ConverserOf),
		task.StreamingTextConversation:     lookup(task.ConversationStreamerOf),
		task.TextPairToRelevance:           lookup(task.PairScorerOf),
		task.TextQueryDocumentsToRelevance: lookup(task.ScorerOf),
		task.TextToEmbedding:               lookup(task.EmbedderOf),
		task.TextToVideo:                   lookup(task.VideoGeneratorOf),
		task.BatchTextToVideo:              lookup(task.BatchVideoGeneratorOf),
	}
}

func lookup[T any](of func(task.Model) (T, error)) func(task.Model) error {
	return func(m task.Model) error {
		_, err := of(m)
		return err
	}
}

func undeclaredTask(p *probe) error {
	ids := []task.ID{"no_such_task", ""}
	for id := range typedLookups() {
		if _, declared := p.info.Decl(id); !declared {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	var errs []error
	for _, id := range ids {
		_, err := p.model.Lookup(id)
		if err := is(err, task.ErrUnsupported); err != nil {
			errs = append(errs, fmt.Errorf("lookup of %q: %w", id, err))
		}
	}
	return errors.Join(errs...)
}

func fieldsDeclared(p *probe) error {
	var errs []error
	for _, d := range p.info.Tasks {
		seen := map[string]bool{}
		for _, f := range d.Fields {
			if f.Name == "" || seen[f.Name] {
				errs = append(errs, fmt.Errorf("%s: field %q is unnamed or declared twice", d.ID, f.Name))
			}
			seen[f.Name] = true
			if f.Kind < task.KindInt || f.Kind > task.KindStrings {
				errs = append(errs, fmt.Errorf("%s: field %q is of the unknown kind %d", d.ID, f.Name, f.Kind))
			}
			if k := f.Default.Kind(); k != task.KindNone && k != f.Kind {
				errs = append(errs, fmt.Errorf("%s: field %q is of kind %s and its default of kind %s", d.ID, f.Name, f.Kind, k))
			}
		}
	}
	return errors.Join(errs...)
}

func closeTwice(p *probe) error {
	if err := p.model.Close(); err != nil {
		return fmt.Errorf("first close: %w", err)
	}
	if err := p.model.Close(); err != nil {
		return fmt.Errorf("second close: %w", err)
	}
	return nil
}

func callAfterClose(p *probe) error {
	if err := p.model.Close(); err != nil {
		return err
	}
	return p.each(func(c call) error {
		_, err := c.run(p)
		return is(err, task.ErrClosed)
	})
}
