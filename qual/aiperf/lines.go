package aiperf

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// MaxLine is the length in bytes beyond which a line is an error and is skipped. Raw rows repeat the request body and
// every streamed event, so they are long; nothing known comes near this.
const MaxLine = 64 << 20

// lineReader splits on '\n' alone: U+2028, U+0085 and other separators stand inside JSON strings of real exports.
type lineReader struct {
	r    *bufio.Reader
	buf  []byte
	line int
	err  error
}

func newLineReader(r io.Reader) *lineReader { return &lineReader{r: bufio.NewReaderSize(r, 256<<10)} }

// textLine is one line without its '\n'; the bytes are valid until the next call.
type textLine struct {
	b       []byte
	open    bool // the file ended before a '\n'
	tooLong bool // longer than MaxLine; b is nil
}

// next returns the next line that is not blank and whether there is one.
func (l *lineReader) next() (textLine, bool) {
	for l.err == nil {
		t, any := l.read()
		if !any {
			break
		}
		l.line++
		if t.tooLong || len(bytes.TrimSpace(t.b)) > 0 {
			return t, true
		}
	}
	return textLine{}, false
}

func (l *lineReader) read() (textLine, bool) {
	l.buf = l.buf[:0]
	size := 0
	for {
		part, err := l.r.ReadSlice('\n')
		size += len(part)
		if err == nil && len(l.buf) == 0 { // the whole line lies in the buffer: no copy
			return textLine{b: part[:len(part)-1]}, true
		}
		if size <= MaxLine {
			l.buf = append(l.buf, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil {
			l.err = err
			if size == 0 || !errors.Is(err, io.EOF) {
				return textLine{}, false
			}
		}
		t := textLine{open: err != nil}
		if t.tooLong = size > MaxLine; !t.tooLong {
			t.b = bytes.TrimSuffix(l.buf, []byte("\n"))
		}
		return t, true
	}
}

// failure returns the error that ended reading, nil at the end of the file.
func (l *lineReader) failure() error {
	if errors.Is(l.err, io.EOF) {
		return nil
	}
	return l.err
}
