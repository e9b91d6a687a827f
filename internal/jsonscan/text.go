package jsonscan

import (
	"encoding/binary"
	"encoding/json"
	"math/bits"
	"unsafe"
)

// text scans a string and returns its contents, which lie in the line where no escape stands in it. It is false for
// null and an error.
func (s *Scanner) text() ([]byte, bool) {
	if s.null() {
		return nil, false
	}
	from := s.i
	escaped := s.quoted()
	if s.err != nil {
		return nil, false
	}
	if !escaped {
		return s.b[from+1 : s.i-1], true
	}
	var text string
	if err := json.Unmarshal(s.b[from:s.i], &text); err != nil {
		s.fail("%v", err)
		return nil, false
	}
	return []byte(text), true
}

// member scans a member's name and the colon.
func (s *Scanner) member() []byte {
	name, ok := s.text()
	switch {
	case !ok:
		s.want("a name in quotes") // null; another error stays
	case s.peek() != ':':
		s.want("':'")
	default:
		s.i++
	}
	return name
}

// maxWords bounds the texts that are kept, and maxWord their length.
const maxWords, maxWord = 1024, 64

// known returns the text, from among those that came before if it did. A text that comes often costs one comparison,
// unless another one has the same place in the short list.
func (s *Scanner) known(text []byte) string {
	n := len(text)
	if n == 0 || n > maxWord {
		return string(text)
	}
	place := &s.lately[uint(n*67+int(text[0])*31+int(text[n/2])*7+int(text[n-1])*3)%uint(len(s.lately))]
	if *place == string(text) {
		return *place
	}
	word, ok := s.words[string(text)]
	if !ok {
		if s.words == nil || len(s.words) == maxWords {
			s.words = make(map[string]string)
		}
		word = string(text)
		s.words[word] = word
	}
	*place = word
	return word
}

// other returns a text that is not worth keeping.
func (s *Scanner) other(text []byte) string {
	if s.Borrow {
		return unsafe.String(unsafe.SliceData(text), len(text))
	}
	return string(text)
}

// quoted passes over a string and reports whether it holds escapes.
func (s *Scanner) quoted() (escaped bool) {
	if s.i >= len(s.b) || s.b[s.i] != '"' {
		s.want("a string")
		return false
	}
	for i := s.i + 1; ; {
		i += plain(s.b[i:])
		if i >= len(s.b) {
			s.i = len(s.b)
			s.want("the end of a string")
			return escaped
		}
		switch s.b[i] {
		case '"':
			s.i = i + 1
			return escaped
		case '\\':
			escaped = true
			n := escapeLen(s.b[i:])
			if n == 0 {
				s.i = i
				s.want("a valid escape")
				return escaped
			}
			i += n
		default:
			s.i = i
			s.want("a control character written as an escape")
			return escaped
		}
	}
}

// plain returns how many bytes stand before the first quote, backslash or control character, eight at a step.
func plain(b []byte) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		quote, slash := w^(ones*'"'), w^(ones*'\\')
		// Below 0x20, and zero bytes of the two others. A borrow may mark bytes above the first hit, never below it.
		hit := ((w - ones*0x20) &^ w) | ((quote - ones) &^ quote) | ((slash - ones) &^ slash)
		if hit &= tops; hit != 0 {
			return i + bits.TrailingZeros64(hit)/8
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c == '"' || c == '\\' || c < ' ' {
			return i
		}
	}
	return i
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
