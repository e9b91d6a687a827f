package task

import (
	"context"
	"time"
)

// Timing is what is known of one Task call's duration.
//
// Call is measured on the Go side round the native call alone (public_task_call_wall); for a streamed call it spans
// start to terminal event and so includes the time the receiver took (back pressure). The other figures are what the
// model reports; 0 also when it did not measure that phase. None of them contains queueing or delivery to a client.
type Timing struct {
	Start   time.Time // wall and monotonic instant just before the native call
	Call    time.Duration
	Setup   time.Duration
	Prefill time.Duration
	Decode  time.Duration
	// Inference is set by video Tasks in place of Prefill and Decode.
	Inference time.Duration
}

// TextRequest asks for the continuation of a prefix. TokenIDs, when not nil, is the prefix and Text is ignored.
type TextRequest struct {
	Text     string
	TokenIDs []int32
	Settings Settings
}

// TextResult is a finished continuation. TokenIDs are the generated tokens in order, empty when the model does not
// report them. The Task reports neither a finish reason nor the number of prompt tokens.
type TextResult struct {
	Text     string
	TokenIDs []int32
	Timing   Timing
}

// TextDelta is one piece of a streamed continuation. A piece may hold text without tokens or tokens without text;
// text may end inside a UTF-8 sequence, so join the bytes before validating.
type TextDelta struct {
	Text     string
	TokenIDs []int32
}

// TextContinuer is the Task text_continuation.
type TextContinuer interface {
	// ContinueText returns when the native call has ended; a context that ends meanwhile does not shorten it.
	ContinueText(ctx context.Context, req TextRequest) (TextResult, error)
}

// TextStreamer is the Task streaming_text_continuation.
type TextStreamer interface {
	// StreamText calls emit on the caller's goroutine for each delta in order and returns the final result.
	// When ctx ends or emit returns an error the native stream is cancelled and joined before StreamText returns
	// that error (context.Cause for ctx). The model is idle again when StreamText has returned.
	StreamText(ctx context.Context, req TextRequest, emit func(TextDelta) error) (TextResult, error)
}
