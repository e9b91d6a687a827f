package serving

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// errDelivery is wrapped by the error of a write to a client that is gone or takes nothing.
var errDelivery = errors.New("answer not delivered")

// delivery is the way to the client: it sets a deadline for each write and notes what has been handed to the
// connection, and when. With a nil observation it notes nothing.
type delivery struct {
	http.ResponseWriter
	srv    *Server
	o      *observation
	ctl    *http.ResponseController
	status int   // sent, 0 before
	err    error // the first of writing
}

func newDelivery(w http.ResponseWriter, s *Server, o *observation) *delivery {
	return &delivery{ResponseWriter: w, srv: s, o: o, ctl: http.NewResponseController(w)}
}

// Unwrap lets an http.ResponseController reach the connection.
func (d *delivery) Unwrap() http.ResponseWriter { return d.ResponseWriter }

// WriteHeader notes the status.
func (d *delivery) WriteHeader(status int) {
	if d.status == 0 && status >= 200 {
		d.status = status
		d.deadline(d.srv.cfg.Limits.WriteTime)
		if d.o != nil {
			d.o.noteStatus(status)
		}
	}
	d.ResponseWriter.WriteHeader(status)
}

// Write notes the bytes.
func (d *delivery) Write(b []byte) (int, error) {
	if d.status == 0 {
		d.WriteHeader(http.StatusOK)
	}
	before := d.srv.cfg.Clock.Now()
	n, err := d.ResponseWriter.Write(b)
	if d.o != nil && n > 0 {
		d.o.noteSent(before, d.srv.cfg.Clock.Now(), n)
	}
	return n, d.failed(err)
}

// flush hands everything to the connection.
func (d *delivery) flush() error {
	err := d.ctl.Flush()
	if errors.Is(err, http.ErrNotSupported) {
		err = nil
	}
	if d.o != nil && err == nil {
		d.o.noteFlushed(d.srv.cfg.Clock.Now())
	}
	return d.failed(err)
}

// piece sends one piece of a stream.
func (d *delivery) piece(b []byte) error {
	d.deadline(d.srv.cfg.Limits.WriteTime)
	if _, err := d.Write(b); err != nil {
		return err
	}
	return d.flush()
}

// json sends a whole answer.
func (d *delivery) json(status int, body []byte) error {
	h := d.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	d.WriteHeader(status)
	if _, err := d.Write(body); err != nil {
		return err
	}
	return d.flush()
}

// refuse sends a fault, unless an answer has begun. A client that does not take its refusal changes nothing of it.
func (d *delivery) refuse(f *fault) {
	if d.status != 0 || f.status == statusClientGone {
		return
	}
	if f.retry > 0 {
		d.Header().Set("Retry-After", retryAfter(f.retry))
	}
	_ = d.json(f.status, f.body())
}

// done flushes what a foreign handler wrote and takes the deadline off the connection, which may serve on.
func (d *delivery) done() {
	if d.status != 0 && d.err == nil {
		_ = d.flush()
	}
	d.deadline(0)
}

func (d *delivery) deadline(in time.Duration) {
	var at time.Time
	if in > 0 {
		at = time.Now().Add(in)
	}
	_ = d.ctl.SetWriteDeadline(at) // not every writer has one
}

func (d *delivery) failed(err error) error {
	if err == nil {
		return nil
	}
	err = fmt.Errorf("%w: %w", errDelivery, err)
	if d.err == nil {
		d.err = err
	}
	return err
}
