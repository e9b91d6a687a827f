package trace

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// jsonScan walks over one line of JSON (RFC 8259).
type jsonScan struct {
	b    []byte
	i    int
	more bool // a member has been seen
	high bool // a byte beyond ASCII has been seen in a string
}

// maxDepth bounds the nesting of values that are passed over.
const maxDepth = 1000

func (s *jsonScan) space() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\t', '\r', '\n':
			s.i++
		default:
			return
		}
	}
}

// byte passes over c if it is next.
func (s *jsonScan) byte(c byte) bool {
	if s.i < len(s.b) && s.b[s.i] == c {
		s.i++
		return true
	}
	return false
}

// null passes over null if it is next.
func (s *jsonScan) null() bool {
	if s.i+4 <= len(s.b) && string(s.b[s.i:s.i+4]) == "null" {
		s.i += 4
		return true
	}
	return false
}

// want says what should stand here and what does.
func (s *jsonScan) want(what string) string {
	rest := s.b[min(s.i, len(s.b)):]
	const show = 20
	switch {
	case len(rest) == 0:
		return fmt.Sprintf("the line ends at column %d; want %s", s.i+1, what)
	case len(rest) >= 3 && string(rest[:3]) == utf8BOM:
		return fmt.Sprintf("byte order mark at column %d; want %s", s.i+1, what)
	}
	return fmt.Sprintf("found %q at column %d; want %s", rest[:min(len(rest), show)], s.i+1, what)
}

// key scans a member's name and the colon, up to its value.
func (s *jsonScan) key() ([]byte, string) {
	if s.i >= len(s.b) || s.b[s.i] != '"' {
		return nil, s.want("a member name in quotes")
	}
	from := s.i
	escaped, ok := s.string()
	if !ok {
		return nil, s.want("a valid string")
	}
	key := s.b[from+1 : s.i-1]
	if escaped {
		key = []byte(unquote(s.b[from:s.i]))
	}
	s.space()
	if !s.byte(':') {
		return nil, s.want("':'")
	}
	s.space()
	return key, ""
}

// string passes over a string and reports whether it holds escapes. Not ok leaves i at what is wrong.
func (s *jsonScan) string() (escaped, ok bool) {
	for i := s.i + 1; i < len(s.b); i++ {
		switch c := s.b[i]; {
		case c == '"':
			s.i = i + 1
			return escaped, true
		case c == '\\':
			escaped = true
			n := escapeLen(s.b[i:])
			if n == 0 {
				s.i = i
				return escaped, false
			}
			i += n - 1
		case c < ' ':
			s.i = i
			return escaped, false
		case c >= 0x80:
			s.high = true
		}
	}
	s.i = len(s.b)
	return escaped, false
}

// escapeLen returns the length of the escape at the start of b, 0 when it is none.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		for k := 2; k < 6; k++ {
			if k >= len(b) || !isHex(b[k]) {
				return 0
			}
		}
		return 6
	}
	return 0
}

func isHex(c byte) bool { return c-'0' <= 9 || c|0x20 >= 'a' && c|0x20 <= 'f' }

// unquote returns the text of a valid JSON string.
func unquote(quoted []byte) string {
	var text string
	if json.Unmarshal(quoted, &text) != nil {
		return ""
	}
	return text
}

// skip passes over any value.
func (s *jsonScan) skip(depth int) string {
	if depth > maxDepth {
		return fmt.Sprintf("values are nested deeper than %d", maxDepth)
	}
	if s.i >= len(s.b) {
		return s.want("a value")
	}
	switch s.b[s.i] {
	case '"':
		if _, ok := s.string(); !ok {
			return s.want("a valid string")
		}
		return ""
	case '{':
		return s.skipAll('}', depth, true)
	case '[':
		return s.skipAll(']', depth, false)
	}
	for _, word := range [...]string{"null", "true", "false"} {
		if len(s.b)-s.i >= len(word) && string(s.b[s.i:s.i+len(word)]) == word {
			s.i += len(word)
			return ""
		}
	}
	at := s.i
	if s.number() == nil {
		s.i = at
		return s.want("a value")
	}
	return ""
}

// skipAll passes over an object or array.
func (s *jsonScan) skipAll(end byte, depth int, object bool) string {
	s.i++
	s.space()
	if s.byte(end) {
		return ""
	}
	for {
		if object {
			if _, msg := s.key(); msg != "" {
				return msg
			}
		}
		if msg := s.skip(depth + 1); msg != "" {
			return msg
		}
		s.space()
		if s.byte(end) {
			return ""
		}
		if !s.byte(',') {
			return s.want(fmt.Sprintf("',' or '%c'", end))
		}
		s.space()
	}
}

// number passes over a number and returns it, nil when there is none.
func (s *jsonScan) number() []byte {
	from := s.i
	s.byte('-')
	switch whole := s.digits(); {
	case whole == 0, whole > 1 && s.b[s.i-whole] == '0':
		return nil
	}
	if s.byte('.') && s.digits() == 0 {
		return nil
	}
	if s.byte('e') || s.byte('E') {
		if !s.byte('+') {
			s.byte('-')
		}
		if s.digits() == 0 {
			return nil
		}
	}
	return s.b[from:s.i]
}

func (s *jsonScan) digits() int {
	from := s.i
	for s.i < len(s.b) && s.b[s.i]-'0' <= 9 {
		s.i++
	}
	return s.i - from
}

// decimal returns number times ten to the power of exp, rounded to the nearest whole number, halves up. It is exact
// where a float would not be. It returns false for what is negative or does not fit.
func decimal(number []byte, exp int) (int64, bool) {
	digits := make([]byte, 0, 40)
	negative := false
	fraction := false
scan:
	for i, c := range number {
		switch {
		case c == '-':
			negative = true
		case c == '.':
			fraction = true
		case c|0x20 == 'e':
			e, err := strconv.Atoi(string(number[i+1:]))
			if err != nil {
				e = math.MaxInt32
				if number[i+1] == '-' {
					e = -e
				}
			}
			exp += min(max(e, -math.MaxInt32), math.MaxInt32)
			break scan
		default:
			digits = append(digits, c)
			if fraction {
				exp--
			}
		}
	}
	for len(digits) > 0 && digits[0] == '0' {
		digits = digits[1:]
	}
	if len(digits) == 0 {
		return 0, true
	}
	whole := len(digits) + exp // digits before the point
	if negative || whole > 19 {
		return 0, false
	}
	v, up := uint64(0), whole >= 0 && whole < len(digits) && digits[whole] >= '5'
	for i := range max(whole, 0) {
		v *= 10
		if i < len(digits) {
			v += uint64(digits[i] - '0')
		}
	}
	if up {
		v++
	}
	return int64(v), v <= math.MaxInt64
}
