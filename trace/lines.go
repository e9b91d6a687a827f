package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// MaxLine is the longest line, in bytes, that readers take unless told otherwise: 64 MiB. A longer line is a
// [*SyntaxError] and the reading goes on after it.
const MaxLine = 64 << 20

// utf8BOM is the byte order mark that some editors put before the first line.
const utf8BOM = "\xef\xbb\xbf"

// lineReader splits an input at '\n'. Lines borrow its buffer until the next call.
type lineReader struct {
	src    io.Reader
	name   string
	limit  int
	buf    []byte
	start  int // of what is not yet handed out
	end    int // of what has been read
	line   int // number of the line handed out last
	blanks int
	eof    bool
	torn   bool // the line handed out last has no line end
	err    error
}

func newLineReader(r io.Reader, name string, limit int) *lineReader {
	return &lineReader{src: r, name: name, limit: limit}
}

func (l *lineReader) bad(msg string) *SyntaxError {
	return &SyntaxError{Pos: Pos{l.name, l.line}, Msg: msg, Torn: l.torn}
}

// next returns the next line that is not blank, without its line end; or a line that is too long as a SyntaxError; or
// nil, nil at the end.
func (l *lineReader) next() ([]byte, *SyntaxError) {
	for {
		line, bad := l.raw()
		if bad != nil || line == nil {
			return nil, bad
		}
		if l.line == 1 {
			line = bytes.TrimPrefix(line, []byte(utf8BOM))
		}
		if len(line) > 0 && line[0] > ' ' || len(bytes.TrimLeft(line, " \t\r")) > 0 {
			return line, nil
		}
		l.blanks++
	}
}

// raw returns the next line; a nil line is the end of the input.
func (l *lineReader) raw() ([]byte, *SyntaxError) {
	searched := l.start
	for {
		if i := bytes.IndexByte(l.buf[searched:l.end], '\n'); i >= 0 {
			line := l.buf[l.start : searched+i]
			l.start = searched + i + 1
			l.line++
			l.torn = false
			if len(line) > l.limit {
				return nil, l.tooLong()
			}
			return line, nil
		}
		if l.end-l.start > l.limit {
			return nil, l.skipLong()
		}
		if l.eof {
			return l.last(), nil
		}
		searched = l.fill()
	}
}

// last returns what follows the last line end.
func (l *lineReader) last() []byte {
	if l.start == l.end || l.err != nil {
		return nil
	}
	line := l.buf[l.start:l.end]
	l.start = l.end
	l.line++
	l.torn = true
	return line
}

// fill reads more and returns the index of the first new byte.
func (l *lineReader) fill() int {
	const block = 256 << 10
	if l.start > 0 && len(l.buf)-l.end < block/2 {
		l.end = copy(l.buf, l.buf[l.start:l.end])
		l.start = 0
	}
	if len(l.buf)-l.end < block/2 {
		grown := make([]byte, max(block, 2*len(l.buf)))
		l.end = copy(grown, l.buf[l.start:l.end])
		l.start, l.buf = 0, grown
	}
	fresh := l.end
	n, err := l.src.Read(l.buf[l.end:])
	l.end += n
	if err != nil {
		l.eof = true
		if !errors.Is(err, io.EOF) {
			l.err = fmt.Errorf("read %s: %w", l.name, err)
		}
	}
	return fresh
}

// skipLong drops the rest of a line that has passed the limit.
func (l *lineReader) skipLong() *SyntaxError {
	l.line++
	l.torn = false
	for {
		if i := bytes.IndexByte(l.buf[l.start:l.end], '\n'); i >= 0 {
			l.start += i + 1
			return l.tooLong()
		}
		l.start = l.end
		if l.eof {
			l.torn = true
			return l.tooLong()
		}
		l.start = l.fill()
	}
}

func (l *lineReader) tooLong() *SyntaxError {
	return l.bad(fmt.Sprintf("line is longer than the limit of %d bytes", l.limit))
}
