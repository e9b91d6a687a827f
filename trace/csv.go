package trace

import (
	"bytes"
	"fmt"
	"strings"
)

// table reads lines of comma-separated values below a header line. Fields may be quoted (RFC 4180), but a line break
// inside quotes is not taken: no trace has one, and a forgotten quote would swallow the rest of the file.
type table struct {
	lines  *lineReader
	wanted []string // columns that must be there
	at     map[string]int
	width  int
	fields [][]byte
}

// next returns the next row's line, nil at the end, or what is wrong. Without a usable header nothing can be read, so
// a bad header is the last thing it returns.
func (t *table) next() ([]byte, *SyntaxError) {
	if t.at == nil {
		line, bad := t.lines.next()
		if bad == nil && line != nil {
			bad = t.header(line)
		}
		if bad != nil || line == nil {
			t.lines.eof, t.lines.start = true, t.lines.end
			return nil, bad
		}
	}
	line, bad := t.lines.next()
	if bad != nil || line == nil {
		return nil, bad
	}
	if !t.split(line) {
		return nil, t.lines.bad("a quote is not closed or stands inside a field")
	}
	if len(t.fields) != t.width {
		return nil, t.lines.bad(fmt.Sprintf("%d columns; the header has %d", len(t.fields), t.width))
	}
	return line, nil
}

func (t *table) header(line []byte) *SyntaxError {
	if !t.split(line) {
		return t.lines.bad("header: a quote is not closed or stands inside a field")
	}
	t.at, t.width = map[string]int{}, len(t.fields)
	for i, f := range t.fields {
		name := strings.TrimSpace(string(f))
		if _, double := t.at[name]; double {
			return t.lines.bad(fmt.Sprintf("header: column %q is there twice", name))
		}
		t.at[name] = i
	}
	for _, name := range t.wanted {
		if _, ok := t.at[name]; !ok {
			return t.lines.bad(fmt.Sprintf("header: column %q is missing; want %s", name, strings.Join(t.wanted, ", ")))
		}
	}
	return nil
}

// field returns a field of the current row, nil when its column is not there.
func (t *table) field(name string) []byte {
	i, ok := t.at[name]
	if !ok {
		return nil
	}
	return bytes.TrimSpace(t.fields[i])
}

// split cuts a line into t.fields and reports whether its quotes are right.
func (t *table) split(line []byte) bool {
	line = bytes.TrimSuffix(line, []byte{'\r'})
	t.fields = t.fields[:0]
	for {
		var field []byte
		if len(line) > 0 && line[0] == '"' {
			var ok bool
			if field, line, ok = quotedField(line[1:]); !ok {
				return false
			}
		} else {
			n := bytes.IndexByte(line, ',')
			if n < 0 {
				n = len(line)
			}
			field, line = line[:n], line[n:]
			if bytes.IndexByte(field, '"') >= 0 {
				return false
			}
		}
		t.fields = append(t.fields, field)
		if len(line) == 0 {
			return true
		}
		line = line[1:] // the comma
	}
}

// quotedField takes what follows an opening quote: the field, and the rest from the next comma on.
func quotedField(b []byte) (field, rest []byte, ok bool) {
	for i := 0; i < len(b); i++ {
		if b[i] != '"' {
			field = append(field, b[i])
			continue
		}
		if i+1 < len(b) && b[i+1] == '"' {
			field = append(field, '"')
			i++
			continue
		}
		rest = b[i+1:]
		return field, rest, len(rest) == 0 || rest[0] == ','
	}
	return nil, nil, false
}

// tokens reads a whole number of at least low.
func (t *table) tokens(column string, low int) (int, *SyntaxError) {
	s := jsonScan{b: t.field(column)}
	v, msg := s.count(column)
	if msg == "" && s.i < len(s.b) {
		msg = column + ": " + s.want("a whole number")
	}
	if msg == "" && v < low {
		msg = fmt.Sprintf("%s is %d; want %d or more", column, v, low)
	}
	if msg != "" {
		return 0, t.lines.bad(msg)
	}
	return v, nil
}

// tableReader is what the readers of tables share.
type tableReader struct {
	t      table
	record Record
	parse  func() (*Request, *SyntaxError)
}

// Scan advances to the next line that is not blank, the header aside, and reports whether there is one.
func (r *tableReader) Scan() bool {
	r.record = nil
	line, bad := r.t.next()
	if bad == nil && line == nil {
		return false
	}
	var req *Request
	if bad == nil {
		req, bad = r.parse()
	}
	if bad != nil {
		r.record = bad
		return true
	}
	req.Pos = Pos{r.t.lines.name, r.t.lines.line}
	r.record = req
	return true
}

// Record returns the current row: a *Request, or a *SyntaxError that says what is wrong with it. It is the caller's.
func (r *tableReader) Record() Record { return r.record }

// Err returns the I/O error that ended the reading, or nil.
func (r *tableReader) Err() error { return r.t.lines.err }
