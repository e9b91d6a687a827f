package aiperf

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// RawRow is one line of profile_export_raw.jsonl or of raw_records/*.jsonl: the request as sent and what came back.
type RawRow struct {
	Pos
	Meta
	StartPerfNS int64 // CLOCK_MONOTONIC of the client's host on Linux: comparable with a server on the same host
	Status      int64 // HTTP status, 0 when absent (no answer, cancelled, or a video job that failed)
	Responses   []Response
	Payload     json.RawMessage // the request body as an object; for video the typed values, not the form fields
	Error       *RowError
}

// Response is one event of a stream (Packets) or one whole body (Text).
type Response struct {
	PerfNS      int64    `json:"perf_ns"`
	Text        string   `json:"text"`
	ContentType string   `json:"content_type"`
	Packets     []Packet `json:"packets"`
}

// Packet is one field of a server-sent event.
type Packet struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Class returns how the row is to be read. A raw row has no metrics, so it is never Unmeasured.
func (r *RawRow) Class() Class { return classify(&r.Meta, r.Error, true) }

// Streamed reports whether the answer came as server-sent events.
func (r *RawRow) Streamed() bool {
	for i := range r.Responses {
		if len(r.Responses[i].Packets) > 0 {
			return true
		}
	}
	return false
}

// SinceStart returns the time from the start of the request to its last stored event, on the client's monotonic
// clock. It is right where the wall instants are shifted, and false when nothing was stored.
func (r *RawRow) SinceStart() (time.Duration, bool) {
	if len(r.Responses) == 0 || r.StartPerfNS <= 0 {
		return 0, false
	}
	d := r.Responses[len(r.Responses)-1].PerfNS - r.StartPerfNS
	return time.Duration(d), d >= 0
}

// Ending is what the stored answer shows of its own end.
type Ending struct {
	Done   bool   // the stream's last event was [DONE]
	Usage  bool   // token usage was reported
	Finish string // the last finish_reason, "" when none was given
	Error  string // an error object inside an answer that the client counts as a success
}

// Whole reports whether something in the answer says that it is complete.
func (e Ending) Whole() bool { return e.Error == "" && (e.Done || e.Usage || e.Finish != "") }

// Ending looks through the stored answer of a text route. The client itself looks for none of this: a stream that
// stops early without an HTTP error is a success to it.
func (r *RawRow) Ending() Ending {
	var e Ending
	for i := range r.Responses {
		resp := &r.Responses[i]
		e.look(resp.Text)
		for _, p := range resp.Packets {
			if p.Name == "data" {
				e.look(p.Value)
			}
		}
	}
	return e
}

func (e *Ending) look(text string) {
	if text == "[DONE]" {
		e.Done = true
		return
	}
	e.Done = false
	var chunk struct {
		Choices []struct {
			Finish *string `json:"finish_reason"`
		} `json:"choices"`
		Usage json.RawMessage `json:"usage"`
		Error json.RawMessage `json:"error"`
	}
	if text == "" || json.Unmarshal([]byte(text), &chunk) != nil {
		return
	}
	if len(chunk.Usage) > 2 && string(chunk.Usage) != "null" {
		e.Usage = true
	}
	if len(chunk.Error) > 0 && string(chunk.Error) != "null" {
		e.Error = string(chunk.Error)
	}
	if len(chunk.Choices) > 0 && chunk.Choices[0].Finish != nil {
		e.Finish = *chunk.Choices[0].Finish
	}
}

// RawReader reads raw rows line by line. It is not safe for concurrent use.
type RawReader struct {
	lines *lineReader
	name  string
	meta  metaDecoder
	entry Entry
}

// NewRawReader reads raw rows from r; name stands in positions. The caller closes r.
func NewRawReader(r io.Reader, name string) *RawReader {
	return &RawReader{lines: newLineReader(r), name: name}
}

// Scan advances to the next line that is not blank and reports whether there is one.
func (r *RawReader) Scan() bool {
	t, ok := r.lines.next()
	if !ok {
		return false
	}
	pos := Pos{File: r.name, Line: r.lines.line}
	r.entry = entryOf(pos, t, func(b []byte) (Entry, error) { return r.row(pos, b) })
	return true
}

// Entry returns the line: *RawRow, *Unknown or *SyntaxError. It stays valid after the next Scan.
func (r *RawReader) Entry() Entry { return r.entry }

// Err returns the error that ended reading before the end of the input, if any.
func (r *RawReader) Err() error {
	if err := r.lines.failure(); err != nil {
		return fmt.Errorf("read %s: %w", r.name, err)
	}
	return nil
}

func (r *RawReader) row(pos Pos, line []byte) (Entry, error) {
	c := &cursor{b: line}
	row := &RawRow{Pos: pos}
	request, keys := false, []string(nil)
	err := c.object(func(key []byte) error {
		if string(key) == "metadata" {
			if request {
				return errors.New("metadata stands twice")
			}
			request = true
			return r.meta.decode(c, &row.Meta)
		}
		if len(keys) < 10 {
			keys = append(keys, string(key))
		}
		return rawField(c, string(key), row)
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
	return row, nil
}

func rawField(c *cursor, key string, row *RawRow) error {
	if c.null() {
		return nil
	}
	var err error
	switch key {
	case "start_perf_ns":
		row.StartPerfNS, err = c.int()
	case "status":
		row.Status, err = c.int()
	case "error":
		return rowError(c, &row.Error)
	case "payload":
		var b []byte
		b, err = c.raw()
		row.Payload = append(json.RawMessage(nil), b...)
	case "responses":
		var b []byte
		if b, err = c.raw(); err == nil {
			err = json.Unmarshal(b, &row.Responses)
		}
	default:
		err = c.skip()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}
