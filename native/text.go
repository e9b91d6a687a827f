package native

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/trtmc-go/trtmc/native/internal/cabi"
	"github.com/trtmc-go/trtmc/native/task"
)

type textContinuer struct{ h *handle }

func (t textContinuer) ContinueText(ctx context.Context, req task.TextRequest) (task.TextResult, error) {
	const id = task.TextContinuation
	if err := t.h.lane.enter(ctx, id); err != nil {
		return task.TextResult{}, err
	}
	defer t.h.lane.leave()
	res, err := t.h.native.ContinueText(t.h.textIn(req))
	if err != nil {
		return task.TextResult{}, callError(id, err)
	}
	return textOut(res), nil
}

type textStreamer struct{ h *handle }

func (t textStreamer) StreamText(ctx context.Context, req task.TextRequest, emit func(task.TextDelta) error) (task.TextResult, error) {
	const id = task.StreamingTextContinuation
	if err := t.h.lane.enter(ctx, id); err != nil {
		return task.TextResult{}, err
	}
	defer t.h.lane.leave()
	s, start, err := t.h.native.StartText(t.h.textIn(req))
	if err != nil {
		return task.TextResult{}, callError(id, err)
	}
	var (
		text   strings.Builder
		tokens []int32
		final  cabi.TextResult
	)
	stopped, err := follow(ctx, s, func(ev cabi.TextEvent) cabi.EventKind { return ev.Kind }, func(ev cabi.TextEvent) error {
		text.WriteString(ev.Text)
		tokens = append(tokens, ev.TokenIDs...)
		return emit(task.TextDelta{Text: ev.Text, TokenIDs: ev.TokenIDs})
	}, func(ev cabi.TextEvent) {
		final = ev.Final
		final.Span = cabi.Span{Start: start, Wall: time.Since(start)}
	})
	if stopped != nil {
		return task.TextResult{}, stopped
	}
	if err == nil {
		err = sameText(text.String(), tokens, final)
	}
	if err != nil {
		return task.TextResult{}, callError(id, err)
	}
	return textOut(final), nil
}

// sameText wants the deltas to add up to the final result. A runtime whose deltas hold no token ids at all reports them
// with the final result alone, which the ABI allows.
func sameText(text string, tokens []int32, final cabi.TextResult) error {
	if text != final.Text {
		return mismatch("delta mismatch: the deltas hold %d bytes of text and the final result %d; they differ at byte %d", len(text), len(final.Text), common(text, final.Text))
	}
	if len(tokens) > 0 && !slices.Equal(tokens, final.TokenIDs) {
		return mismatch("delta mismatch: the deltas hold %d token ids and the final result %d, or others", len(tokens), len(final.TokenIDs))
	}
	return nil
}

func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func (h *handle) textIn(req task.TextRequest) cabi.TextRequest {
	return cabi.TextRequest{Text: req.Text, Tokens: req.TokenIDs != nil, TokenIDs: req.TokenIDs, Settings: h.callSettings(req.Settings)}
}

func textOut(r cabi.TextResult) task.TextResult {
	return task.TextResult{Text: r.Text, TokenIDs: r.TokenIDs, Timing: timing(r.Span, r.SetupMS, r.PrefillMS, r.DecodeMS)}
}
