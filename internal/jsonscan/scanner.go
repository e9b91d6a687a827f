package jsonscan

import "fmt"

// maxDepth bounds nesting, as encoding/json does.
const maxDepth = 10000

// Scanner walks over one line of valid UTF-8 at a time. The first error stays until the next Reset. The zero value is ready for Reset. It is not safe for concurrent use.
type Scanner struct {
	// Borrow lets texts be parts of the line instead of copies. They change when the line's memory is used again.
	Borrow bool

	b      []byte
	i      int
	depth  int
	err    error
	words  map[string]string // texts that came before
	lately [512]string       // some of them, each in the place of its hash
}

// Reset starts a new line. The scanner reads it until the next Reset.
func (s *Scanner) Reset(line []byte) { s.b, s.i, s.depth, s.err = line, 0, 0, nil }

// Err returns what is wrong with the line as far as it was read, or nil.
func (s *Scanner) Err() error { return s.err }

// AtEnd reports whether only white space is left.
func (s *Scanner) AtEnd() bool {
	s.space()
	return s.i >= len(s.b)
}

func (s *Scanner) fail(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf(format, args...)
	}
}

// want says what should stand here and what does.
func (s *Scanner) want(what string) {
	rest := s.b[min(s.i, len(s.b)):]
	if len(rest) == 0 {
		s.fail("the line ends at column %d; want %s", s.i+1, what)
		return
	}
	const show = 20
	s.fail("found %q at column %d; want %s", rest[:min(len(rest), show)], s.i+1, what)
}

func (s *Scanner) space() {
	for s.i < len(s.b) && s.b[s.i] <= ' ' {
		switch s.b[s.i] {
		case ' ', '\t', '\r', '\n':
			s.i++
		default:
			return
		}
	}
}

// peek returns the next byte that is not white space, 0 at the end.
func (s *Scanner) peek() byte {
	if s.i < len(s.b) && s.b[s.i] > ' ' {
		return s.b[s.i]
	}
	s.space()
	if s.i < len(s.b) {
		return s.b[s.i]
	}
	return 0
}

// enter passes over an opening bracket. It reports whether something stands before the closing one, which it passes
// over otherwise.
func (s *Scanner) enter(end byte) bool {
	s.i++
	if s.depth++; s.depth > maxDepth {
		s.fail("values are nested deeper than %d", maxDepth)
		return false
	}
	if s.peek() == end {
		s.i++
		s.depth--
		return false
	}
	return true
}

// more passes over a comma, or over the closing bracket, and reports whether it was the comma.
func (s *Scanner) more(end byte) bool {
	if s.err != nil {
		return false
	}
	switch s.peek() {
	case ',':
		if s.i++; s.i < len(s.b) && s.b[s.i] <= ' ' {
			s.space()
		}
		return true
	case end:
		s.i++
		s.depth--
		return false
	}
	s.want("',' or '" + string(end) + "'")
	return false
}
