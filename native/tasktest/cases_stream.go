package tasktest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/trtmc-go/trtmc/native/task"
)

func streamChecks() []check {
	return []check{
		{Case{"stream-adds-up", "The deltas of a text stream, joined, are the text and the token ids of its result."}, streamAddsUp},
		{Case{"stream-equals-call", "A streamed text is the text that the one-shot Task gives for the same request."}, streamEqualsCall},
		{Case{"stream-emit-error", "An error of the receiver ends the stream, is returned, and leaves the model idle."}, streamEmitError},
		{Case{"stream-context-end", "A context that ends during a stream ends it, gives its cause, and leaves the model idle."}, streamContextEnd},
		{Case{"stream-on-caller", "The receiver is called on the caller's goroutine."}, streamOnCaller},
		{Case{"close-waits", "Close waits for the call in flight, which ends whole."}, closeWaits},
	}
}

// stream runs the ordinary text stream with a receiver.
func (p *probe) stream(ctx context.Context, emit func(task.TextDelta) error) (task.TextResult, error) {
	t, err := task.TextStreamerOf(p.model)
	if err != nil {
		return task.TextResult{}, err
	}
	return t.StreamText(ctx, task.TextRequest{Text: p.prompt(), Settings: p.settings(task.StreamingTextContinuation)}, emit)
}

func streamAddsUp(p *probe) error {
	if err := p.need(task.StreamingTextContinuation); err != nil {
		return err
	}
	var text strings.Builder
	var ids []int32
	r, err := p.stream(p.ctx, func(d task.TextDelta) error {
		text.WriteString(d.Text)
		ids = append(ids, d.TokenIDs...)
		return nil
	})
	if err != nil {
		return err
	}
	if text.String() != r.Text || fmt.Sprint(ids) != fmt.Sprint(r.TokenIDs) {
		return fmt.Errorf("deltas %q %v, result %q %v", text.String(), ids, r.Text, r.TokenIDs)
	}
	return nil
}

func streamEqualsCall(p *probe) error {
	if err := p.need(task.TextContinuation, task.StreamingTextContinuation); err != nil {
		return err
	}
	whole, err := p.continueText(p.ctx, p.model, p.settings(task.TextContinuation))
	if err != nil {
		return err
	}
	streamed, err := p.streamText(p.ctx, p.model, p.settings(task.TextContinuation))
	if err != nil {
		return err
	}
	if !same(whole.value, streamed.value) {
		return fmt.Errorf("streamed %s, one-shot %s", brief(streamed.value), brief(whole.value))
	}
	return nil
}

func streamEmitError(p *probe) error {
	if err := p.need(task.StreamingTextContinuation); err != nil {
		return err
	}
	full := errors.New("the receiver is full")
	calls := 0
	_, err := p.stream(p.ctx, func(task.TextDelta) error {
		calls++
		return full
	})
	if calls == 0 {
		return skip("the stream had no delta")
	}
	if err := is(err, full); err != nil {
		return err
	}
	if calls > 1 {
		return fmt.Errorf("the receiver was called %d times although its first call failed", calls)
	}
	return p.idle()
}

func streamContextEnd(p *probe) error {
	if err := p.need(task.StreamingTextContinuation); err != nil {
		return err
	}
	gone := errors.New("the client went away")
	ctx, cancel := context.WithCancelCause(p.ctx)
	defer cancel(nil)
	calls := 0
	_, err := p.stream(ctx, func(task.TextDelta) error {
		calls++
		cancel(gone)
		return nil
	})
	if calls == 0 {
		return skip("the stream had no delta")
	}
	if err := is(err, gone); err != nil {
		return err
	}
	if calls > 1 {
		return fmt.Errorf("the receiver was called %d times although the context ended in its first call", calls)
	}
	return p.idle()
}

// idle wants the model to take the next call.
func (p *probe) idle() error {
	if _, err := p.stream(p.ctx, func(task.TextDelta) error { return nil }); err != nil {
		return fmt.Errorf("next call: %w", err)
	}
	return nil
}

func streamOnCaller(p *probe) error {
	if err := p.need(task.StreamingTextContinuation); err != nil {
		return err
	}
	want := goroutine()
	_, err := p.stream(p.ctx, func(task.TextDelta) error {
		if got := goroutine(); got != want {
			return fmt.Errorf("receiver on %s, caller on %s", got, want)
		}
		return nil
	})
	return err
}

// goroutine returns the name that a stack trace gives the current goroutine.
func goroutine() string {
	buf := make([]byte, 64)
	name, _, _ := bytes.Cut(buf[:runtime.Stack(buf, false)], []byte(" ["))
	return string(name)
}

// closeWaits closes the model from inside a stream, on another goroutine, and gives Close time to come back early.
func closeWaits(p *probe) error {
	if err := p.need(task.StreamingTextContinuation); err != nil {
		return err
	}
	var returned atomic.Bool
	done := make(chan error, 1)
	deltas, early := 0, false
	whole, err := p.stream(p.ctx, func(task.TextDelta) error { return nil })
	if err != nil {
		return err
	}
	r, err := p.stream(p.ctx, func(task.TextDelta) error {
		if deltas++; deltas == 1 {
			go func() {
				err := p.model.Close()
				returned.Store(true)
				done <- err
			}()
		}
		for wait := 0; wait < 10 && deltas == 2 && !returned.Load(); wait++ {
			time.Sleep(2 * time.Millisecond)
		}
		early = early || returned.Load()
		return nil
	})
	if deltas == 0 {
		return skip("the stream had no delta")
	}
	closeErr := <-done
	switch {
	case err != nil:
		return fmt.Errorf("the stream was cut: %w", err)
	case early:
		return errors.New("the model was closed while the stream went on")
	case r.Text != whole.Text:
		return fmt.Errorf("the stream ended with %q in place of %q", r.Text, whole.Text)
	}
	return closeErr
}
