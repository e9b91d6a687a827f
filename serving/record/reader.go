package record

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// MaxLine is the longest line that a Reader takes, in bytes. A longer one is a SyntaxError and reading goes on.
const MaxLine = 1 << 20

// Reader reads records line by line. Lines end at '\n' and nowhere else; blank lines are passed over. It is not safe
// for concurrent use.
//
// Fields that it does not know are passed over, because a later version may add fields without changing the meaning
// of the others; a version that changes meanings raises [Schema], and a higher schema is refused, as is an outcome
// that does not exist: a count must not take either for something else. Names match exactly, and a known name that
// stands twice in one object makes a line bad, since nobody can say which of the two counts.
type Reader struct {
	// Reuse lets every record take the place of the one before, so that reading costs hardly any memory. The record and its
	// texts are then valid until the next Scan only: copy what is to be kept. Set it before the first Scan.
	Reuse bool

	src  *bufio.Reader
	name string
	line int
	buf  []byte
	rec  *Record
	bad  *SyntaxError
	err  error

	decoder decoder
}

// NewReader returns a reader of r; name stands for it in positions.
func NewReader(r io.Reader, name string) *Reader {
	return &Reader{src: bufio.NewReaderSize(r, 64<<10), name: name}
}

// Scan advances to the next line that is not blank and reports whether there is one.
func (r *Reader) Scan() bool {
	r.rec, r.bad = nil, nil
	for r.err == nil {
		line, long, torn, ok := r.next()
		switch {
		case !ok:
			return false
		case long:
			r.bad = r.syntax(torn, fmt.Sprintf("line is longer than %d bytes", MaxLine))
			return true
		case len(bytes.TrimSpace(line)) == 0:
			continue
		}
		r.rec, r.bad = r.parse(line, torn)
		return true
	}
	return false
}

// Entry returns the record of the current line, or what is wrong with the line: exactly one is not nil. Both are the
// caller's, unless Reuse is set.
func (r *Reader) Entry() (*Record, *SyntaxError) { return r.rec, r.bad }

// Err returns the I/O error that ended the reading, or nil at the end of the input.
func (r *Reader) Err() error { return r.err }

func (r *Reader) syntax(torn bool, msg string) *SyntaxError {
	return &SyntaxError{File: r.name, Line: r.line, Msg: msg, Torn: torn}
}

// next returns the next line without its end; the line is valid until the next call.
func (r *Reader) next() (line []byte, long, torn, ok bool) {
	r.buf = r.buf[:0]
	for {
		part, err := r.src.ReadSlice('\n')
		if err == nil && len(r.buf) == 0 && !long {
			r.line++
			return part[:len(part)-1], false, false, true
		}
		if long = long || len(r.buf)+len(part) > MaxLine+1; !long {
			r.buf = append(r.buf, part...)
		}
		switch {
		case err == nil:
			r.line++
			return bytes.TrimSuffix(r.buf, []byte{'\n'}), long, false, true
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case !errors.Is(err, io.EOF):
			r.err = fmt.Errorf("read %s: %w", r.name, err)
			return nil, false, false, false
		case len(r.buf) == 0 && !long:
			return nil, false, false, false
		}
		r.line++
		return r.buf, long, true, true
	}
}

func (r *Reader) parse(line []byte, torn bool) (*Record, *SyntaxError) {
	rec, msg := r.decoder.decode(line, r.Reuse)
	switch {
	case msg != "":
		return nil, r.syntax(torn, msg)
	case r.Reuse:
		return rec, nil
	}
	return rec.clone(), nil
}
