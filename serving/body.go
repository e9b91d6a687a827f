package serving

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/trtmc-go/trtmc/serving/record"
)

// maxWindow bounds the memory that a compressed body may ask for.
const maxWindow = 8 << 20

// incoming is a request's body on its way in: expanded, bounded, counted, and under a deadline until its end.
type incoming struct {
	src     io.Reader // expanded
	closers []func()
	o       *observation
	ctl     *http.ResponseController
	limit   int64
	left    int64 // of limit, plus one to notice that it is passed
	ended   bool
}

// errBodyTooLarge is the error of reading beyond the limit.
var errBodyTooLarge = errors.New("body too large")

// open starts reading the body of a work request. The caller must close what it returns.
func (s *Server) open(d *delivery, r *http.Request) (*incoming, error) {
	limit := s.cfg.Limits.BodyBytes
	coding := strings.ToLower(strings.TrimSpace(strings.Join(r.Header.Values("Content-Encoding"), ",")))
	plain := coding == "" || coding == "identity"
	if plain && r.ContentLength > limit {
		return nil, tooLarge("", "the body is longer than the limit of %d bytes", limit)
	}
	in := &incoming{o: d.o, ctl: d.ctl, limit: limit, left: limit + 1}
	in.src = wire{r.Body, d.o}
	switch coding {
	case "", "identity":
	case "gzip", "x-gzip":
		z, err := gzip.NewReader(in.src)
		if err != nil {
			return nil, in.fault(fmt.Errorf("read gzip body: %w", err))
		}
		in.src = z
	case "zstd":
		z, err := zstd.NewReader(in.src, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderMaxMemory(uint64(limit)+maxWindow))
		if err != nil {
			return nil, in.fault(fmt.Errorf("read zstd body: %w", err))
		}
		in.src, in.closers = z, append(in.closers, z.Close)
	default:
		return nil, &fault{status: http.StatusUnsupportedMediaType, reason: record.ReasonEncoding, param: "Content-Encoding", msg: "Content-Encoding: want gzip, zstd or none"}
	}
	return in, nil
}

// Read reads expanded bytes and fails with errBodyTooLarge beyond the limit.
func (in *incoming) Read(b []byte) (int, error) {
	if in.left <= 0 {
		return 0, errBodyTooLarge
	}
	n, err := in.src.Read(b[:min(int64(len(b)), in.left)])
	in.left -= int64(n)
	in.o.noteHeld(int64(n))
	if in.left <= 0 && err == nil {
		err = errBodyTooLarge
	}
	if err == io.EOF {
		in.end()
	}
	if err != nil && err != io.EOF && err != errBodyTooLarge && !errors.Is(err, errWire) {
		err = expandError{err}
	}
	return n, err
}

// expandError hides what an expander says, so that a compressed text that ends early is not taken for a client that
// went away.
type expandError struct{ cause error }

func (e expandError) Error() string { return "expand body: " + e.cause.Error() }

// Close frees what reading took.
func (in *incoming) Close() error {
	for _, c := range in.closers {
		c()
	}
	return nil
}

// guardBody gives a request's body its time. The deadline also holds for what is left of the body of a refused
// request, which net/http reads before it answers.
func (s *Server) guardBody(d *delivery, r *http.Request) {
	if r.Body != nil && r.Body != http.NoBody && r.ContentLength != 0 {
		_ = d.ctl.SetReadDeadline(time.Now().Add(s.cfg.Limits.BodyTime)) // not every connection has one
	}
}

// end takes the deadline off the connection once the body has ended: from here on net/http watches it for the
// client's going away, which a deadline would look like.
func (in *incoming) end() {
	if !in.ended {
		in.ended = true
		_ = in.ctl.SetReadDeadline(time.Time{})
	}
}

func (in *incoming) fault(err error) *fault {
	var expand expandError
	if errors.As(err, &expand) {
		err = expand.cause
	}
	switch {
	case errors.Is(err, errBodyTooLarge), errors.Is(err, zstd.ErrDecoderSizeExceeded), errors.Is(err, zstd.ErrWindowSizeExceeded):
		return tooLarge("", "the body is longer than the limit of %d bytes", in.limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &fault{status: http.StatusRequestTimeout, reason: record.ReasonDeadline, msg: "the body did not arrive in time", cause: err}
	case errors.Is(err, errWire):
		return clientGone(err)
	}
	f := invalid("", "the compressed body cannot be expanded")
	f.cause = err
	return f
}

func tooLarge(param, format string, args ...any) *fault {
	f := invalid(param, format, args...)
	f.status, f.reason = http.StatusRequestEntityTooLarge, record.ReasonTooLarge
	return f
}

// errWire marks an error of the connection, as against one of the compression.
var errWire = errors.New("body ended early")

// wire counts the bytes as sent.
type wire struct {
	src io.Reader
	o   *observation
}

func (w wire) Read(b []byte) (int, error) {
	n, err := w.src.Read(b)
	w.o.note(func(r *record.Record) { r.BytesIn += int64(n) })
	if err != nil && err != io.EOF {
		err = fmt.Errorf("%w: %w", errWire, err)
	}
	return n, err
}

// readBody reads the whole body of a work request.
func (s *Server) readBody(d *delivery, r *http.Request) ([]byte, error) {
	in, err := s.open(d, r)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	const trusted = 256 << 10 // an announced size saves growing, up to a bound: it may be announced and not sent
	var b bytes.Buffer
	if n := min(r.ContentLength, trusted); n > 0 {
		b.Grow(int(n) + bytes.MinRead)
	}
	if _, err := b.ReadFrom(in); err != nil {
		return nil, in.fault(err)
	}
	return b.Bytes(), nil
}
