package trace

import (
	"fmt"
	"io"
	"iter"
	"slices"
)

// Unit is the unit of a trace's timestamps. It is stated, never guessed from the numbers.
type Unit string

// The units.
const (
	Milliseconds Unit = "ms"
	Seconds      Unit = "s"
)

// exponent is the power of ten that turns the unit into nanoseconds.
func (u Unit) exponent() (int, error) {
	switch u {
	case Milliseconds, "":
		return 6, nil
	case Seconds:
		return 9, nil
	}
	return 0, fmt.Errorf("time unit %q: want %q or %q", u, Milliseconds, Seconds)
}

// DefaultBlockSize is the number of tokens that one id of the Mooncake traces stands for.
const DefaultBlockSize = 512

// MooncakeOptions describe a Mooncake file. The zero value is the published form.
type MooncakeOptions struct {
	Unit      Unit // "" means Milliseconds
	BlockSize int  // tokens a block; 0 means DefaultBlockSize
	MaxLine   int  // bytes; 0 means MaxLine
	// Reuse makes every *Request valid only until the next Scan, and the reading free of allocations.
	Reuse bool
}

// MooncakeReader reads the JSON Lines form of the Mooncake traces (kvcache-ai/Mooncake, FAST25 release) and of
// AIPerf's mooncake_trace: one object a line with timestamp, exactly one of input_length, text_input, messages and
// payload, and optionally output_length, hash_ids, session_id, tools and extra, in any order.
//
// Unknown members are passed over if they are valid JSON. Refused, each with its line: doubled members, a missing or
// negative or non-finite timestamp, lengths that are no whole numbers, block ids that do not fill input_length at
// the block size, the member delay (a closed loop, which cannot be replayed at recorded times), a second value on the
// line, invalid UTF-8. It is not safe for concurrent use.
type MooncakeReader struct {
	lines  *lineReader
	opts   MooncakeOptions
	scan   mooncakeScan
	reused Request
	arena  []uint32
	record Record
}

// NewMooncakeReader returns a reader of r; name is used in positions. Wrong options are reported by Err.
func NewMooncakeReader(r io.Reader, name string, opts MooncakeOptions) *MooncakeReader {
	if opts.BlockSize == 0 {
		opts.BlockSize = DefaultBlockSize
	}
	m := &MooncakeReader{lines: newLineReader(r, name, positive(opts.MaxLine, MaxLine)), opts: opts}
	var err error
	if m.scan.unit, err = opts.Unit.exponent(); err == nil && opts.BlockSize < 0 {
		err = fmt.Errorf("block size %d: want 1 or more", opts.BlockSize)
	}
	if err != nil {
		m.lines.err, m.lines.eof = fmt.Errorf("read %s: %w", name, err), true
	}
	return m
}

// Scan advances to the next line that is not blank and reports whether there is one.
func (m *MooncakeReader) Scan() bool {
	if m.lines.err != nil {
		return false
	}
	line, bad := m.lines.next()
	switch {
	case bad != nil:
		m.record = bad
	case line == nil:
		m.record = nil
		return false
	default:
		m.record = m.parse(line)
	}
	return true
}

// Record returns the current line: a *Request, or a *SyntaxError that says what is wrong with it. The request is the
// caller's unless Reuse is set; a SyntaxError always is.
func (m *MooncakeReader) Record() Record { return m.record }

// Err returns the I/O error that ended the reading, or nil.
func (m *MooncakeReader) Err() error { return m.lines.err }

// Blanks returns how many blank lines were passed over. Requests, syntax errors and blanks add up to the lines read.
func (m *MooncakeReader) Blanks() int { return m.lines.blanks }

// All returns the records that are left. After the loop, Err tells whether the reading was cut short.
func (m *MooncakeReader) All() iter.Seq[Record] {
	return func(yield func(Record) bool) {
		for m.Scan() && yield(m.Record()) {
		}
	}
}

func (m *MooncakeReader) parse(line []byte) Record {
	if msg := m.scan.row(line); msg != "" {
		return m.lines.bad(msg)
	}
	if msg := m.checkBlocks(); msg != "" {
		return m.lines.bad(msg)
	}
	req := &m.reused
	if !m.opts.Reuse {
		req = new(Request)
	}
	m.scan.fill(req, line)
	req.Pos = Pos{m.lines.name, m.lines.line}
	if m.opts.Reuse {
		req.BlockIDs = m.scan.ids
	} else {
		req.BlockIDs = m.keepIDs(m.scan.ids)
	}
	return req
}

// checkBlocks wants full blocks but the last, which must hold at least one token.
func (m *MooncakeReader) checkBlocks() string {
	n, size, input := len(m.scan.ids), m.opts.BlockSize, m.scan.input
	if n == 0 || (input > (n-1)*size && input <= n*size) {
		return ""
	}
	return fmt.Sprintf("input_length %d does not fit %d hash_ids at block size %d; %d blocks hold %d to %d tokens",
		input, n, size, n, (n-1)*size+1, n*size)
}

// keepIDs copies ids into memory of their own, many rows to one allocation.
func (m *MooncakeReader) keepIDs(ids []uint32) []uint32 {
	if len(ids) == 0 {
		return nil
	}
	if cap(m.arena)-len(m.arena) < len(ids) {
		m.arena = make([]uint32, 0, max(16<<10, len(ids)))
	}
	at := len(m.arena)
	m.arena = append(m.arena, ids...)
	return slices.Clip(m.arena[at:])
}
