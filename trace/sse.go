package trace

import (
	"bytes"
	"errors"
	"io"
)

// MaxSSEEvent is the longest event, in bytes, that an [SSEScanner] takes: 16 MiB.
const MaxSSEEvent = 16 << 20

// ErrEventTooLong is returned by [SSEScanner.Err] when an event passed [MaxSSEEvent].
var ErrEventTooLong = errors.New("event of the stream is longer than 16 MiB")

// SSEEvent is one event of a stream. Its slices are valid until the next Scan.
type SSEEvent struct {
	Name    string // the event field, "" when absent
	Data    []byte // data lines joined by '\n'
	Comment []byte // the last comment line inside the event's block, without ':' and one space
}

// SSEScanner reads server-sent events (the text/event-stream format of the HTML standard): lines end in CR, LF or
// CRLF wherever the stream is cut, one space after the colon is dropped, comments are no events, and an event ends at
// a blank line. An event is given out as soon as its blank line is there, without waiting for more bytes. Other
// fields (id, retry, unknown ones) are passed over. It is not safe for concurrent use.
type SSEScanner struct {
	r          io.Reader
	buf        []byte
	start, end int
	searched   int // no line end between start and here
	skipLF     bool
	begun      bool // the first line has been seen
	open       bool // a block has begun
	err        error
	event      SSEEvent
	data       []byte
	comment    []byte
	hasData    bool
	incomplete bool
}

// NewSSEScanner returns a scanner of r.
func NewSSEScanner(r io.Reader) *SSEScanner { return &SSEScanner{r: r} }

// Scan advances to the next event that has data or a name, and reports whether there is one.
func (s *SSEScanner) Scan() bool {
	s.reset()
	for {
		line, ok := s.line()
		if !ok {
			// What stands before the end of the stream without a blank line is no event (HTML standard).
			s.incomplete = s.err == nil && (s.open || s.start < s.end)
			return false
		}
		if len(line) > 0 {
			s.open = true
			s.field(line)
			if len(s.data) > MaxSSEEvent {
				s.err = ErrEventTooLong
				return false
			}
			continue
		}
		if s.hasData || s.event.Name != "" {
			s.event.Data, s.event.Comment = s.data, s.comment
			s.open = false
			return true
		}
		s.reset()
	}
}

// Event returns the current event.
func (s *SSEScanner) Event() SSEEvent { return s.event }

// Err returns the error that ended the stream, nil at its end.
func (s *SSEScanner) Err() error { return s.err }

// Incomplete reports, after Scan returned false without an error, that the stream ended inside an event.
func (s *SSEScanner) Incomplete() bool { return s.incomplete }

func (s *SSEScanner) reset() {
	s.event = SSEEvent{}
	s.data, s.comment = s.data[:0], s.comment[:0]
	s.hasData, s.open = false, false
}

func (s *SSEScanner) field(line []byte) {
	name, value, _ := bytes.Cut(line, []byte{':'})
	value = bytes.TrimPrefix(value, []byte{' '})
	switch string(name) {
	case "":
		if line[0] == ':' {
			s.comment = append(s.comment[:0], value...)
		}
	case "event":
		s.event.Name = string(value)
	case "data":
		if s.hasData {
			s.data = append(s.data, '\n')
		}
		s.data = append(s.data, value...)
		s.hasData = true
	}
}

// line returns the next line without its end; it is valid until the next call.
func (s *SSEScanner) line() ([]byte, bool) {
	for {
		if s.skipLF && s.start < s.end {
			if s.buf[s.start] == '\n' {
				s.start++
			}
			s.skipLF = false
		}
		s.searched = max(s.searched, s.start)
		if i := bytes.IndexAny(s.buf[s.searched:s.end], "\r\n"); i >= 0 {
			at := s.searched + i
			line := s.buf[s.start:at]
			s.skipLF = s.buf[at] == '\r'
			s.start, s.searched = at+1, at+1
			if !s.begun {
				s.begun = true
				line = bytes.TrimPrefix(line, []byte(utf8BOM))
			}
			return line, true
		}
		s.searched = s.end
		if s.end-s.start > MaxSSEEvent {
			s.err = ErrEventTooLong
		}
		if s.err != nil || !s.fill() {
			return nil, false
		}
	}
}

// fill reads more; it returns false at the end of the stream.
func (s *SSEScanner) fill() bool {
	if s.start > 0 {
		s.end = copy(s.buf, s.buf[s.start:s.end])
		s.searched -= s.start
		s.start = 0
	}
	if s.end == len(s.buf) {
		grown := make([]byte, max(4096, 2*len(s.buf)))
		copy(grown, s.buf[:s.end])
		s.buf = grown
	}
	for {
		n, err := s.r.Read(s.buf[s.end:])
		s.end += n
		if n > 0 {
			return true
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				s.err = err
			}
			return false
		}
	}
}
