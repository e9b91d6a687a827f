package serving

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/trtmc-go/trtmc/native/task"
	"github.com/trtmc-go/trtmc/serving/record"
)

// piece is one part of an answer on its way: exactly one of the members holds something.
type piece struct {
	text      string
	reasoning string
	tool      *toolPiece
}

// ending is a finished generation: its parts as pieces, and what is known of it.
type ending struct {
	pieces     []piece
	finish     string // empty: unknown
	prompt     *int64 // tokens; nil: unknown
	completion *int64
	total      *int64
	source     record.TokenSource
	timing     task.Timing
}

// generator makes the Task call of a text route on a lane. A streaming Task calls emit for each piece and stops when
// it fails; the others do not call it.
type generator func(ctx context.Context, lane task.Model, emit func(piece) error) (*ending, error)

// streams reports whether a Task's generator emits.
func streams(id task.ID) bool {
	return id == task.StreamingTextContinuation || id == task.StreamingTextConversation
}

// generate runs a bound request and answers it, whole or as a stream.
func (s *Server) generate(d *delivery, r *http.Request, t *textRequest, p *plan, f form, gen generator) error {
	ctx := r.Context()
	d.o.note(func(rec *record.Record) { rec.Text.MaxTokens, rec.Text.ForcedLength = p.max, p.forced })
	var out *sse
	emit := func(piece) error { return nil }
	if t.stream {
		out = &sse{d: d, f: f, mode: streamBuffered}
		if streams(p.decl.ID) {
			out.mode, emit = streamIncremental, out.piece
		}
	}
	var end *ending
	err := s.run(ctx, d.o, p.m, p.decl.ID, p.set, func(lane task.Model) (timing task.Timing, err error) {
		if end, err = gen(ctx, lane, emit); end != nil {
			timing = end.timing
		}
		return timing, err
	})
	if err == nil {
		err = gone(ctx)
	}
	if end != nil && err == nil {
		d.o.noteEnding(end)
	}
	switch {
	case out != nil:
		return out.end(ctx, t.includeUsage, end, err)
	case err != nil:
		return err
	}
	return d.json(http.StatusOK, f.whole(end))
}

// gone returns why nobody waits for the answer any more. A server that stops still delivers what it has.
func gone(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil && !errors.Is(err, errStopped) {
		return err
	}
	return nil
}

func (o *observation) noteEnding(e *ending) {
	ms := func(ns int64) float64 { return float64(ns) / 1e6 }
	o.note(func(r *record.Record) {
		t := r.Text
		t.CompletionTokens, t.TokenSource, t.FinishReason = e.completion, e.source, e.finish
		if e.prompt != nil {
			t.PromptTokens = e.prompt
		}
		t.SetupMS, t.PrefillMS, t.DecodeMS = ms(int64(e.timing.Setup)), ms(int64(e.timing.Prefill)), ms(int64(e.timing.Decode))
	})
}

// continueText serves a prompt through text_continuation or its stream.
func (s *Server) continueText(d *delivery, r *http.Request, t *textRequest, p *plan, prompt, param string) error {
	tokens, least := p.count(prompt), int64(min(1, len(prompt))) // any text is at least one token
	if tokens != nil {
		least = *tokens
	}
	if err := p.fits(t, least, param); err != nil {
		return err
	}
	if p.templated() {
		tokens = nil // of the prompt in its template
	}
	d.o.note(func(rec *record.Record) { rec.Text.PromptTokens = tokens })
	req := task.TextRequest{Text: prompt, Settings: p.set}
	gen := func(ctx context.Context, lane task.Model, emit func(piece) error) (*ending, error) {
		res, err := continuation(ctx, lane, p.decl.ID, req, emit)
		if err != nil {
			return nil, err
		}
		return continued(res, p.max, tokens), nil
	}
	return s.generate(d, r, t, p, s.form(d, t), gen)
}

func continuation(ctx context.Context, lane task.Model, id task.ID, req task.TextRequest, emit func(piece) error) (task.TextResult, error) {
	if id == task.TextContinuation {
		c, err := task.TextContinuerOf(lane)
		if err != nil {
			return task.TextResult{}, err
		}
		return c.ContinueText(ctx, req)
	}
	c, err := task.TextStreamerOf(lane)
	if err != nil {
		return task.TextResult{}, err
	}
	var joined joiner
	res, err := c.StreamText(ctx, req, func(delta task.TextDelta) error {
		if text := joined.add(delta.Text); text != "" {
			return emit(piece{text: text})
		}
		return nil
	})
	if err != nil {
		return res, err
	}
	if joined.sum() != res.Text {
		return res, badResult(fmt.Errorf("the streamed pieces make %d bytes that are not the final text of %d", len(joined.sum()), len(res.Text)))
	}
	if rest := joined.rest(); rest != "" {
		err = emit(piece{text: rest})
	}
	return res, err
}

func badResult(cause error) *fault {
	return &fault{status: http.StatusBadGateway, reason: record.ReasonBadResult, msg: "the model gave an invalid result", cause: cause}
}

// continued says what a finished continuation tells: the Task reports token ids at most, neither why it ended nor how
// long the prompt was. It ended at its limit when it has as many tokens as it might have, and before by itself.
func continued(res task.TextResult, max, prompt *int64) *ending {
	e := &ending{pieces: []piece{{text: res.Text}}, prompt: prompt, source: record.TokensUnknown, timing: res.Timing}
	if len(res.TokenIDs) == 0 {
		return e
	}
	n := int64(len(res.TokenIDs))
	e.completion, e.source = &n, record.TokensFromTaskIDs
	switch {
	case max == nil:
	case n == *max:
		e.finish = "length"
	case n < *max:
		e.finish = "stop"
	}
	if prompt != nil {
		sum := n + *prompt
		e.total = &sum
	}
	return e
}
