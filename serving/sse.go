package serving

import (
	"context"
	"errors"
	"net/http"
)

// The ways to stream, as a header tells them.
const (
	headerStreaming   = "X-Trtmc-Streaming"
	streamIncremental = "incremental" // pieces leave as the model makes them
	streamBuffered    = "buffered"    // the model has no streaming Task: one piece after the run
)

// sse is one stream of server-sent events. The header is sent with the first event, so that what fails before it is
// an ordinary error answer. Lines end in LF; each event ends in one blank line and is flushed by itself.
type sse struct {
	d    *delivery
	f    form
	mode string
	sent bool // a piece has been
	buf  []byte
}

// piece sends one piece of content.
func (e *sse) piece(p piece) error {
	if err := e.event(e.f.chunk(p, !e.sent)); err != nil {
		return err
	}
	e.sent = true
	e.d.o.noteContent()
	return nil
}

// end ends the stream: with the reason and [DONE] when err is nil, else with what faultOf makes of it. It returns what
// keeps the request from completing.
func (e *sse) end(ctx context.Context, usage bool, end *ending, err error) error {
	if err != nil {
		return e.fail(ctx, err)
	}
	if e.mode == streamBuffered {
		for _, p := range end.pieces {
			if p.text == "" && p.reasoning == "" && p.tool == nil {
				continue
			}
			if err := e.piece(p); err != nil {
				return err
			}
		}
	}
	if err := e.event(e.f.last(end.finish, !e.sent)); err != nil {
		return err
	}
	if u := usageOf(end); usage && u != nil {
		if err := e.event(e.f.usage(u)); err != nil {
			return err
		}
	}
	return e.event([]byte("[DONE]"))
}

// fail reports a failure: before the first event as an ordinary answer, afterwards as an event. The comment is
// constant for one cause; without one, a client that counts failures by text would count each apart.
func (e *sse) fail(ctx context.Context, err error) error {
	if errors.Is(err, errDelivery) {
		return clientGone(err)
	}
	f := faultOf(ctx, err)
	if e.d.status == 0 || f.status == statusClientGone {
		return f
	}
	e.buf = append(append(append(e.buf[:0], ": "...), f.Code()...), "\nevent: error\ndata: "...)
	e.buf = append(append(e.buf, f.body()...), "\n\n"...)
	_ = e.d.piece(e.buf) // the failure is what is recorded, whether or not the client hears of it
	return f
}

func (e *sse) event(data []byte) error {
	if e.d.status == 0 {
		h := e.d.Header()
		h.Set("Content-Type", "text/event-stream; charset=utf-8")
		h.Set("Cache-Control", "no-cache")
		h.Set("X-Accel-Buffering", "no") // of proxies
		h.Set(headerStreaming, e.mode)
		e.d.WriteHeader(http.StatusOK)
	}
	e.buf = append(append(append(e.buf[:0], "data: "...), data...), "\n\n"...)
	return e.d.piece(e.buf)
}
