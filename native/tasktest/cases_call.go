package tasktest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/trtmc-go/trtmc/native/task"
)

func callChecks() []check {
	return []check{
		{Case{"equal-input-equal-output", "The same request with the same seed gives the same result to the bit."}, equalOutput},
		{Case{"timing-measured", "Timing.Start is set, Timing.Call is positive, and the reported phases fit into it."}, timingMeasured},
		{Case{"ended-context-not-started", "A context that has ended before the call gives its cause, and the call does not happen."}, endedContext},
		{Case{"calls-on-one-model", "Calls that come at once on one model all succeed, with the results they have alone."}, callsOnOneModel},
		{Case{"models-overlap", "Calls on two models run side by side."}, modelsOverlap},
		{Case{"results-owned", "A result stays what it is when the next call is made and when the model is closed."}, resultsOwned},
	}
}

func equalOutput(p *probe) error {
	return p.each(func(c call) error {
		a, err := c.run(p)
		if err != nil {
			return err
		}
		b, err := c.run(p)
		if err != nil {
			return err
		}
		if !same(a.value, b.value) {
			return fmt.Errorf("first %s, then %s", brief(a.value), brief(b.value))
		}
		return nil
	})
}

func timingMeasured(p *probe) error {
	return p.each(func(c call) error {
		o, err := c.run(p)
		if err != nil {
			return err
		}
		t := o.timing
		if t.Start.IsZero() || time.Since(t.Start) < 0 || t.Call <= 0 {
			return fmt.Errorf("start %v, call %v", t.Start, t.Call)
		}
		// A model reports milliseconds of its own clock; one of them is room for rounding.
		if phases := t.Setup + t.Prefill + t.Decode + t.Inference; phases > t.Call+time.Millisecond {
			return fmt.Errorf("the phases sum up to %v and the call took %v", phases, t.Call)
		}
		return nil
	})
}

func endedContext(p *probe) error {
	cause := errors.New("the caller changed its mind")
	ctx, cancel := context.WithCancelCause(p.ctx)
	cancel(cause)
	return p.each(func(c call) error {
		_, err := c.do(ctx, p.model, p.settings(c.id))
		return is(err, cause)
	})
}

func callsOnOneModel(p *probe) error {
	return p.each(func(c call) error {
		alone, err := c.run(p)
		if err != nil {
			return err
		}
		const n = 4
		var wg sync.WaitGroup
		errs := make([]error, n)
		for i := range n {
			wg.Go(func() {
				o, err := c.run(p)
				switch {
				case err != nil:
					errs[i] = err
				case !same(o.value, alone.value):
					errs[i] = fmt.Errorf("at once %s, alone %s", brief(o.value), brief(alone.value))
				}
			})
		}
		wg.Wait()
		return errors.Join(errs...)
	})
}

// modelsOverlap holds each of two streams in its first delta until the other has come that far too.
func modelsOverlap(p *probe) error {
	if err := p.need(task.StreamingTextContinuation); err != nil {
		return err
	}
	other, err := p.another(p.cfg.Open)
	if err != nil {
		return err
	}
	defer other.Close()
	arrived := [2]chan struct{}{make(chan struct{}), make(chan struct{})}
	stream := func(m task.Model, here, there chan struct{}) error {
		t, err := task.TextStreamerOf(m)
		if err != nil {
			return err
		}
		var once sync.Once
		_, err = t.StreamText(p.ctx, task.TextRequest{Text: p.prompt(), Settings: p.settings(task.StreamingTextContinuation)}, func(task.TextDelta) error {
			once.Do(func() { close(here) })
			select {
			case <-there:
				return nil
			case <-time.After(p.cfg.timeout() / 10):
				return errors.New("the other model did not get to its first delta meanwhile")
			}
		})
		return err
	}
	var errs [2]error
	var wg sync.WaitGroup
	wg.Go(func() { errs[0] = stream(p.model, arrived[0], arrived[1]) })
	wg.Go(func() { errs[1] = stream(other, arrived[1], arrived[0]) })
	wg.Wait()
	return errors.Join(errs[:]...)
}

func resultsOwned(p *probe) error {
	type kept struct {
		id     task.ID
		value  any
		before string
	}
	var all []kept
	err := p.each(func(c call) error {
		o, err := c.run(p)
		if err != nil {
			return err
		}
		all = append(all, kept{c.id, o.value, fmt.Sprintf("%+v", o.value)})
		return nil
	})
	if err != nil {
		return err
	}
	if err := p.each(func(c call) error { return p.otherInput(c) }); err != nil {
		return err
	}
	if err := p.model.Close(); err != nil {
		return err
	}
	var errs []error
	for _, k := range all {
		if now := fmt.Sprintf("%+v", k.value); now != k.before {
			errs = append(errs, fmt.Errorf("%s: the result was %s and became %s", k.id, brief(k.before), brief(now)))
		}
	}
	return errors.Join(errs...)
}

// otherInput makes the call with another prompt, so that memory used again holds something else.
func (p *probe) otherInput(c call) error {
	cfg := *p.cfg
	cfg.Prompt = "a quite different beginning"
	q := &probe{cfg: &cfg, ctx: p.ctx, model: p.model, info: p.info}
	for _, d := range q.calls() {
		if d.id == c.id {
			_, err := d.run(q)
			return err
		}
	}
	return nil
}
