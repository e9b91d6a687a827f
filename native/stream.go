package native

import (
	"context"
	"fmt"
	"time"

	"github.com/trtmc-go/trtmc/native/internal/cabi"
)

// nextBound bounds one wait inside C. A context that ends wakes the stream at once; the bound is for a runtime that
// does not wake up.
const nextBound = 100 * time.Millisecond

// source is a started native stream.
type source[E any] interface {
	Next(timeout time.Duration) (E, error)
	Cancel() error
	Close()
}

// follow reads a stream to its end and releases it before it returns. take gets every delta in order; an error of it, or
// the end of ctx, cancels the stream, whose rest is then read and dropped. done gets the final event.
//
// stopped is why the caller's side cancelled; err is what the native side did wrong.
func follow[E any](ctx context.Context, s source[E], kind func(E) cabi.EventKind, take func(E) error, done func(E)) (stopped, err error) {
	defer s.Close()
	// Cancel after Close does nothing, so nobody has to wait for this function.
	defer context.AfterFunc(ctx, func() { _ = s.Cancel() })()
	var terminal cabi.EventKind
	for {
		if stopped == nil && terminal == 0 && ctx.Err() != nil {
			stopped = context.Cause(ctx)
			_ = s.Cancel()
		}
		ev, err := s.Next(nextBound)
		if err != nil {
			return stopped, err
		}
		k := kind(ev)
		switch {
		case k == cabi.EventEnd || k == cabi.EventAgain && terminal != 0:
			return ended(ctx, stopped, terminal)
		case k == cabi.EventAgain:
		case terminal != 0:
			return stopped, mismatch("a %s event came after the terminal %s event", kindName(k), kindName(terminal))
		case k == cabi.EventComplete:
			terminal = k
			done(ev)
		case k == cabi.EventCancelled:
			terminal = k
		case stopped == nil:
			if stopped = take(ev); stopped != nil {
				_ = s.Cancel()
			}
		}
	}
}

// ended judges how a stream that is over came to its end.
func ended(ctx context.Context, stopped error, terminal cabi.EventKind) (error, error) {
	switch {
	case stopped != nil:
		return stopped, nil
	case terminal == cabi.EventComplete:
		return nil, nil
	case ctx.Err() != nil:
		return context.Cause(ctx), nil
	case terminal == cabi.EventCancelled:
		return nil, mismatch("the stream was cancelled by the runtime itself")
	}
	return nil, mismatch("the stream ended without a terminal event")
}

func kindName(k cabi.EventKind) string {
	return [...]string{"again", "end", "delta", "complete", "cancelled"}[k]
}

// mismatch is an error for a stream whose events break the rules.
func mismatch(format string, args ...any) error {
	return &cabi.ContractError{Op: "stream", Detail: fmt.Sprintf(format, args...)}
}
