package aiperf

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Row is one line of profile_export.jsonl: what the client says of one request it finished with. A request still in
// flight when the client stopped has no row.
type Row struct {
	Pos
	Meta
	Metrics []Metric  // scalar metrics in file order; empty for a request that failed
	Error   *RowError // nil when the client calls the request a success
}

// Metric is one scalar of a row in the unit the export names. Metrics that are lists are left out.
type Metric struct {
	Tag   string
	Unit  string
	Value float64
}

// RowError is why the client calls a request failed.
type RowError struct {
	Code    int64  `json:"code,omitempty"` // 0 when absent: not every failure has one
	Type    string `json:"type"`           // reason phrase of the status line, or a Python exception's name
	Message string `json:"message"`
	Cause   string `json:"cause,omitempty"`
}

// Class says how the client's row is to be read.
type Class string

// The classes. Every row has exactly one.
const (
	Success    Class = "success"    // the client saw an end it liked; whether the answer was whole is another question
	HTTPError  Class = "http_error" // the server answered other than 2xx; the row's duration is 0 or that of a submit
	Failed     Class = "failed"     // any other error: the row's end is the last event before it
	Cancelled  Class = "cancelled"  // given up by the client on purpose; its instants are shifted
	Skipped    Class = "skipped"    // never sent: too long for a context limit given to the client
	Unmeasured Class = "unmeasured" // no error and no metrics: not a success
)

// classify applies to rows of both exports. measured tells whether the row has metrics.
func classify(m *Meta, e *RowError, measured bool) Class {
	switch {
	case m.WasCancelled:
		return Cancelled
	case m.ContextOverflow:
		return Skipped
	case e == nil && measured:
		return Success
	case e == nil:
		return Unmeasured
	case e.Code == 499 && e.Type == "RequestCancellationError":
		return Cancelled
	}
	d, ok := m.Duration()
	if e.Code >= 300 && (e.Type == http.StatusText(int(e.Code)) || ok && d == 0) {
		return HTTPError
	}
	return Failed
}

// Class returns how the row is to be read.
func (r *Row) Class() Class { return classify(&r.Meta, r.Error, len(r.Metrics) > 0) }

// Refused reports whether the server turned the request away: status 429 or 503.
func (r *Row) Refused() bool { return refused(r.Class(), r.Error) }

func refused(class Class, e *RowError) bool {
	return class == HTTPError && (e.Code == http.StatusTooManyRequests || e.Code == http.StatusServiceUnavailable)
}

// Metric returns the value of a scalar metric and whether the row has it.
func (r *Row) Metric(tag string) (float64, bool) {
	for _, m := range r.Metrics {
		if m.Tag == tag {
			return m.Value, true
		}
	}
	return 0, false
}

// Latency returns request_latency, measured by the client on a monotonic clock from the start of the request to its
// last content. It is false for anything but a success, and for a value that is not a duration.
func (r *Row) Latency() (time.Duration, bool) {
	if r.Class() != Success {
		return 0, false
	}
	for _, m := range r.Metrics {
		if m.Tag == "request_latency" && m.Unit == "ms" && m.Value >= 0 && m.Value < 1e12 {
			return time.Duration(m.Value * float64(time.Millisecond)), true
		}
	}
	return 0, false
}

// Video reports whether the row shows by itself that it belongs to a video job.
func (r *Row) Video() bool {
	if r.Error != nil && (r.Error.Type == "VideoGenerationError" || r.Error.Type == "VideoDownloadError") {
		return true
	}
	_, ok := r.Metric("video_inference_time")
	return ok
}

// Shifted reports whether the row's start is the wall time of the request's end, and its end lies that much later
// still: so it is for video jobs and for requests the client cancelled. Place such a request by CreditIssuedNS and by
// the server's arrival. Differences of the two remain right for successes.
func (r *Row) Shifted() bool { return r.Class() == Cancelled || r.Video() }

// RowReader reads profile_export.jsonl line by line. It is not safe for concurrent use.
type RowReader struct {
	lines *lineReader
	name  string
	meta  metaDecoder
	entry Entry
}

// NewRowReader reads rows from r; name stands in positions. The caller closes r.
func NewRowReader(r io.Reader, name string) *RowReader {
	return &RowReader{lines: newLineReader(r), name: name}
}

// Scan advances to the next line that is not blank and reports whether there is one.
func (r *RowReader) Scan() bool {
	t, ok := r.lines.next()
	if !ok {
		return false
	}
	pos := Pos{File: r.name, Line: r.lines.line}
	r.entry = entryOf(pos, t, func(b []byte) (Entry, error) { return r.row(pos, b) })
	return true
}

// Entry returns the line: *Row, *Unknown or *SyntaxError. It stays valid after the next Scan.
func (r *RowReader) Entry() Entry { return r.entry }

// Err returns the error that ended reading before the end of the input, if any.
func (r *RowReader) Err() error {
	if err := r.lines.failure(); err != nil {
		return fmt.Errorf("read %s: %w", r.name, err)
	}
	return nil
}

// entryOf turns a line into an entry and tells a truncated last line from a corrupt one.
func entryOf(pos Pos, t textLine, parse func([]byte) (Entry, error)) Entry {
	if t.tooLong {
		return &SyntaxError{Pos: pos, Msg: fmt.Sprintf("longer than %d bytes", MaxLine)}
	}
	e, err := parse(t.b)
	if err != nil {
		return &SyntaxError{Pos: pos, Msg: err.Error(), Truncated: t.open && errors.Is(err, errCut)}
	}
	return e
}

func (r *RowReader) row(pos Pos, line []byte) (Entry, error) {
	c := &cursor{b: line}
	row := &Row{Pos: pos}
	request, keys := false, []string(nil)
	err := c.object(func(key []byte) error {
		switch string(key) {
		case "metadata":
			if row.Missing != nil || row.Phase != "" {
				return errors.New("metadata stands twice")
			}
			request = true
			return r.meta.decode(c, &row.Meta)
		case "metrics":
			request = true
			return r.metrics(c, row)
		case "error":
			request = true
			return rowError(c, &row.Error)
		}
		if len(keys) < 10 {
			keys = append(keys, string(key))
		}
		return c.skip()
	})
	if err == nil {
		err = c.end()
	}
	if err != nil {
		return nil, err
	}
	if !request {
		return &Unknown{Pos: pos, Keys: keys}, nil
	}
	if row.Missing == nil {
		row.Missing = missingFields(&row.Meta)
	}
	return row, nil
}

func (r *RowReader) metrics(c *cursor, row *Row) error {
	if c.null() {
		return nil
	}
	row.Metrics = make([]Metric, 0, 24)
	return c.object(func(tag []byte) error {
		m := Metric{Tag: r.meta.keep(tag)}
		scalar := false
		err := c.object(func(key []byte) (err error) {
			switch ch := c.peek(); {
			case string(key) == "value" && (ch == '-' || '0' <= ch && ch <= '9'):
				scalar = true
				m.Value, err = c.float()
			case string(key) == "unit" && ch == '"':
				var unit []byte
				unit, err = c.text()
				m.Unit = r.meta.keep(unit)
			default:
				err = c.skip()
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("metrics.%s: %w", tag, err)
		}
		if scalar {
			row.Metrics = append(row.Metrics, m)
		}
		return nil
	})
}

func rowError(c *cursor, to **RowError) error {
	if c.null() {
		return nil
	}
	e := &RowError{}
	err := c.object(func(key []byte) (err error) {
		if c.null() {
			return nil
		}
		var b []byte
		switch string(key) {
		case "code":
			e.Code, err = c.int()
			return err
		case "type":
			b, err = c.text()
			e.Type = string(b)
		case "message":
			b, err = c.text()
			e.Message = string(b)
		case "cause":
			b, err = c.text()
			e.Cause = string(b)
		default:
			err = c.skip()
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("error: %w", err)
	}
	*to = e
	return nil
}
