package ranking

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// scanner reads the JSON (RFC 8259) that the documented shape needs. It has no recursion: a value nested deeper than
// the shape is a value of the wrong type. b and s hold the same bytes: b is scanned, and texts are cut out of s, the
// one copy, so that nothing refers to the caller's buffer afterwards.
type scanner struct {
	b []byte
	s string
	i int // position of the next byte
}

func (c *scanner) syntax(format string, args ...any) error {
	return &DecodeError{Msg: fmt.Sprintf("invalid JSON at byte %d: ", c.i) + fmt.Sprintf(format, args...), Code: CodeInvalid}
}

// peek skips white space and returns the next byte, 0 at the end.
func (c *scanner) peek() byte {
	for c.i < len(c.b) {
		switch b := c.b[c.i]; b {
		case ' ', '\t', '\n', '\r':
			c.i++
		default:
			return b
		}
	}
	return 0
}

// expect consumes the byte want after white space.
func (c *scanner) expect(want byte, where string) error {
	if c.peek() != want || c.i == len(c.b) {
		return c.syntax("want '%c' %s, got %s", want, where, c.next())
	}
	c.i++
	return nil
}

// next names the next byte for a message.
func (c *scanner) next() string {
	if c.i >= len(c.b) {
		return "the end of the body"
	}
	return strconv.QuoteRune(rune(c.b[c.i]))
}

// wrongType says that the value at the position has another type than want.
func (c *scanner) wrongType(want string) error {
	var got string
	switch b := c.peek(); {
	case b == '{':
		got = "an object"
	case b == '[':
		got = "an array"
	case b == '"':
		got = "a string"
	case b == 'n':
		got = "null"
	case b == 't' || b == 'f':
		got = "a boolean"
	case b == '-' || b >= '0' && b <= '9':
		got = "a number"
	default:
		return c.syntax("want %s, got %s", want, c.next())
	}
	return &DecodeError{Msg: "want " + want + ", got " + got, Code: CodeInvalid}
}

// object reads an object and calls field for each key, in order, with the position before the key's value.
func (c *scanner) object(field func(key string) error) error {
	if c.peek() != '{' {
		return c.wrongType("an object")
	}
	c.i++
	if c.peek() == '}' {
		c.i++
		return nil
	}
	for {
		if c.peek() != '"' {
			return c.syntax("want a quoted name, got %s", c.next())
		}
		key, err := c.text()
		if err != nil {
			return err
		}
		if err := c.expect(':', "after a name"); err != nil {
			return err
		}
		if err := field(key); err != nil {
			return err
		}
		if c.peek() == ',' {
			c.i++
			continue
		}
		return c.expect('}', "or ',' in an object")
	}
}

// array reads an array and calls item for each value with the position before it.
func (c *scanner) array(item func(i int) error) error {
	if c.peek() != '[' {
		return c.wrongType("an array")
	}
	c.i++
	if c.peek() == ']' {
		c.i++
		return nil
	}
	for i := 0; ; i++ {
		if err := item(i); err != nil {
			return err
		}
		if c.peek() == ',' {
			c.i++
			continue
		}
		return c.expect(']', "or ',' in an array")
	}
}

// text reads a string. Without escapes it is a part of s; with escapes it is a new string.
func (c *scanner) text() (string, error) {
	if c.peek() != '"' {
		return "", c.wrongType("a string")
	}
	start := c.i + 1
	n := bytes.IndexByte(c.b[start:], '"')
	if n < 0 {
		return "", c.syntax("a string has no end")
	}
	raw := c.b[start : start+n]
	if bytes.IndexByte(raw, '\\') >= 0 {
		return c.escaped(start)
	}
	control, ascii := survey(raw)
	if control {
		return "", c.controlIn(start)
	}
	if !ascii && !utf8.Valid(raw) {
		return "", c.syntax("a string is not valid UTF-8")
	}
	c.i = start + n + 1
	return c.s[start : start+n], nil
}

// survey reports whether raw holds a control character, which JSON forbids in strings, and whether it is all ASCII.
// It tests eight bytes at a time: v-0x20.. borrows into the top bit of a byte that was below 0x20.
func survey(raw []byte) (control, ascii bool) {
	const tops = 0x8080808080808080
	const spaces = 0x2020202020202020
	var low, all uint64
	for ; len(raw) >= 16; raw = raw[16:] {
		v, w := binary.LittleEndian.Uint64(raw), binary.LittleEndian.Uint64(raw[8:])
		low |= (v-spaces)&^v | (w-spaces)&^w
		all |= v | w
	}
	for _, b := range raw {
		v := uint64(b) | spaces&^0xff // the other seven bytes are harmless
		low |= (v - spaces) &^ v
		all |= v
	}
	return low&tops != 0, all&tops == 0
}

func (c *scanner) controlIn(start int) error {
	for c.i = start; c.b[c.i] >= 0x20; {
		c.i++
	}
	return c.syntax("control character 0x%02x in a string, it must be escaped", c.b[c.i])
}

// escaped reads the string whose text begins at start and holds at least one backslash.
func (c *scanner) escaped(start int) (string, error) {
	out := make([]byte, 0, 64)
	for i := start; ; {
		run := i
		for i < len(c.b) && c.b[i] != '"' && c.b[i] != '\\' && c.b[i] >= 0x20 {
			i++
		}
		if !utf8.Valid(c.b[run:i]) {
			return "", c.syntax("a string is not valid UTF-8")
		}
		out = append(out, c.b[run:i]...)
		switch {
		case i == len(c.b):
			return "", c.syntax("a string has no end")
		case c.b[i] == '"':
			c.i = i + 1
			return string(out), nil
		case c.b[i] < 0x20:
			return "", c.controlIn(i)
		}
		c.i = i
		r, n := unescape(c.b[i:])
		if n == 0 {
			return "", c.syntax(`an escape is none of \" \\ \/ \b \f \n \r \t \uXXXX, or is half of a surrogate pair`)
		}
		out = utf8.AppendRune(out, r)
		i += n
	}
}

// unescape reads the escape at the start of b and returns its rune and length; length 0 says that it is not valid.
func unescape(b []byte) (rune, int) {
	if len(b) < 2 {
		return 0, 0
	}
	if k := bytes.IndexByte([]byte(`"\/bfnrt`), b[1]); k >= 0 {
		return rune("\"\\/\b\f\n\r\t"[k]), 2
	}
	r := hex4(b)
	if !utf16.IsSurrogate(r) {
		if r < 0 {
			return 0, 0
		}
		return r, 6
	}
	if pair := utf16.DecodeRune(r, hex4(b[6:])); pair != utf8.RuneError {
		return pair, 12
	}
	return 0, 0
}

// hex4 reads \uXXXX at the start of b; -1 says that it is not there.
func hex4(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	var r rune
	for _, d := range b[2:6] {
		switch {
		case d >= '0' && d <= '9':
			d -= '0'
		case d >= 'a' && d <= 'f':
			d -= 'a' - 10
		case d >= 'A' && d <= 'F':
			d -= 'A' - 10
		default:
			return -1
		}
		r = r<<4 | rune(d)
	}
	return r
}

// whole reads a JSON number that is written as a whole number from 1 to 1,000,000,000.
func (c *scanner) whole() (int, error) {
	b := c.peek()
	if b != '-' && (b < '0' || b > '9') {
		return 0, c.wrongType("a whole number")
	}
	start := c.i
	for c.i < len(c.b) && bytes.IndexByte([]byte("+-.0123456789eE"), c.b[c.i]) >= 0 {
		c.i++
	}
	n, err := strconv.Atoi(c.s[start:c.i])
	if err != nil || n < 1 || n > 1_000_000_000 || c.b[start] == '0' {
		return 0, &DecodeError{Msg: "want a whole number of at least 1, got " + clip(c.s[start:c.i]), Code: CodeInvalid}
	}
	return n, nil
}

// clip shortens text of a client for a message.
func clip(s string) string {
	const most = 64
	if len(s) <= most {
		return s
	}
	n := most
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "..."
}
