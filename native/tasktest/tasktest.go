package tasktest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/trtmc-go/trtmc/native/task"
)

// Config says what is judged.
type Config struct {
	// Open returns a new model on each call. The kit closes it.
	Open func() (task.Model, error)
	// Tasks must all be declared. Nil: whatever the model declares is judged.
	Tasks []task.ID
	// Deviations maps the names of cases that the model departs from on purpose to the reason.
	Deviations map[string]string
	// Settings are the settings of the kit's calls per Task, in place of the kit's own choice.
	Settings map[task.ID]task.Settings
	// Prompt is the text of the kit's calls; empty for one of its own.
	Prompt string
	// LongText is the length in bytes of the longest text that is tried; 0 for 1 MiB.
	LongText int
	// Timeout ends a case that hangs; 0 for one minute.
	Timeout time.Duration
	// OpenNaN returns a model whose scorer gives NaN for the first document; nil skips that case.
	OpenNaN func() (task.Model, error)
	// Live returns how many native handles exist in the process; nil leaves handles out of the leak case.
	Live func() int
}

// Case is the name and the rule of one case.
type Case struct {
	Name string
	Rule string // one sentence
}

// errSkip is wrapped by the result of a case that does not apply.
var errSkip = errors.New("skipped")

func skip(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errSkip, fmt.Sprintf(format, args...))
}

type check struct {
	Case
	run func(*probe) error
}

// Cases lists the cases in the order in which they run.
func Cases() []Case {
	var out []Case
	for _, c := range checks() {
		out = append(out, c.Case)
	}
	return out
}

func checks() []check {
	var out []check
	for _, group := range [][]check{modelChecks(), settingChecks(), callChecks(), textChecks(), streamChecks(), scoreChecks(), conversationChecks(), videoChecks(), leakChecks()} {
		out = append(out, group...)
	}
	return out
}

// Run judges a model in one subtest per case.
func Run(t *testing.T, cfg Config) {
	t.Helper()
	if err := cfg.valid(); err != nil {
		t.Fatal(err)
	}
	for _, c := range checks() {
		t.Run(c.Name, func(t *testing.T) {
			switch err := cfg.judge(c); {
			case errors.Is(err, errSkip):
				t.Skip(err)
			case err != nil:
				t.Errorf("%v\nrule: %s", err, c.Rule)
			}
		})
	}
}

// Check judges a model and returns nil, or one error that joins a [*Violation] for each case that failed.
func Check(cfg Config) error {
	if err := cfg.valid(); err != nil {
		return err
	}
	var errs []error
	for _, c := range checks() {
		if err := cfg.judge(c); err != nil && !errors.Is(err, errSkip) {
			errs = append(errs, &Violation{Case: c.Case, Err: err})
		}
	}
	return errors.Join(errs...)
}

// Violation is a broken rule and how it was broken.
type Violation struct {
	Case
	Err error
}

// Error returns the case, what was seen and the rule.
func (v *Violation) Error() string { return fmt.Sprintf("%s: %v (rule: %s)", v.Name, v.Err, v.Rule) }

// Unwrap returns what was seen.
func (v *Violation) Unwrap() error { return v.Err }

func (cfg *Config) valid() error {
	if cfg.Open == nil {
		return errors.New("tasktest: Config.Open is nil; it must return a new model")
	}
	known := map[string]bool{}
	for _, c := range checks() {
		known[c.Name] = true
	}
	for name, reason := range cfg.Deviations {
		if !known[name] || reason == "" {
			return fmt.Errorf("tasktest: deviation %q with reason %q; it must name a case and give a reason", name, reason)
		}
	}
	return nil
}

// judge runs one case on a model of its own.
func (cfg *Config) judge(c check) error {
	if reason, ok := cfg.Deviations[c.Name]; ok {
		return skip("declared deviation: %s", reason)
	}
	ctx, cancel := context.WithTimeout(context.Background(), cfg.timeout())
	defer cancel()
	p := &probe{cfg: cfg, ctx: ctx}
	if err := p.open(); err != nil {
		return err
	}
	defer p.model.Close() // what it returns is judged by close-twice
	return c.run(p)
}

func (cfg *Config) timeout() time.Duration {
	if cfg.Timeout > 0 {
		return cfg.Timeout
	}
	return time.Minute
}
