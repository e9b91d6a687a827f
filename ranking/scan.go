package ranking

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// scanner reads the JSON (RFC 8259) that the documented shape needs. It has no recursion: a value nested deeper than
// the shape is a value of the wrong type. Texts are cut out of s, which as a string cannot change under them.
type scanner struct {
	s string
	i int // position of the next byte

	out []byte // where a string with escapes is put together, used again for the next one
}

func (c *scanner) syntax(format string, args ...any) error {
	return &DecodeError{Msg: fmt.Sprintf("invalid JSON at byte %d: ", c.i) + fmt.Sprintf(format, args...), Code: CodeInvalid}
}

// peek skips white space and returns the next byte, 0 at the end.
func (c *scanner) peek() byte {
	for c.i < len(c.s) {
		switch b := c.s[c.i]; b {
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
	if c.peek() != want || c.i == len(c.s) {
		return c.syntax("want '%c' %s, got %s", want, where, c.next())
	}
	c.i++
	return nil
}

// next names the next byte for a message.
func (c *scanner) next() string {
	if c.i >= len(c.s) {
		return "the end of the body"
	}
	return strconv.QuoteRune(rune(c.s[c.i]))
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
		key, err := c.key()
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

// key reads a name. Names are short and plain as a rule, and then cheaper to read byte by byte than by text.
func (c *scanner) key() (string, error) {
	start := c.i + 1
	for i := start; i < len(c.s); i++ {
		switch b := c.s[i]; {
		case b == '"':
			c.i = i + 1
			return c.s[start:i], nil
		case b == '\\' || b < 0x20 || b >= utf8.RuneSelf:
			return c.text()
		}
	}
	return c.text()
}

// text reads a string. Without escapes it is a part of s; with escapes it is a string of its own.
func (c *scanner) text() (text string, err error) {
	if c.peek() != '"' {
		return "", c.wrongType("a string")
	}
	c.i++
	start := c.i
	n := strings.IndexByte(c.s[start:], '"')
	if n < 0 {
		return "", c.syntax("a string has no end")
	}
	text = c.s[start : start+n]
	ascii := false // until it was seen to be
	if strings.IndexByte(text, '\\') >= 0 {
		if text, err = c.escaped(); err != nil {
			return "", err
		}
	} else {
		var control bool
		if control, ascii = survey(text); control {
			n = plain(text)
		}
		c.i += n
	}
	switch {
	case c.i == len(c.s):
		return "", c.syntax("a string has no end")
	case c.s[c.i] != '"':
		return "", c.syntax("control character 0x%02x in a string, it must be escaped", c.s[c.i])
	case !ascii && !validUTF8(c.s[start:c.i]):
		return "", c.syntax("a string is not valid UTF-8")
	}
	c.i++
	return text, nil
}

// escaped reads a string that holds escapes, up to the first byte that is no part of it.
func (c *scanner) escaped() (string, error) {
	c.out = c.out[:0]
	for {
		n := plain(c.s[c.i:])
		c.out = append(c.out, c.s[c.i:c.i+n]...)
		c.i += n
		if c.i == len(c.s) || c.s[c.i] != '\\' {
			return string(c.out), nil
		}
		if n = c.escape(c.i); n == 0 {
			return "", c.syntax(`an escape is none of \" \\ \/ \b \f \n \r \t \uXXXX, or is half of a surrogate pair`)
		}
		c.i += n
	}
}

// escape appends what the escape at i stands for and returns the escape's length, 0 when it is not valid.
func (c *scanner) escape(i int) int {
	if i+1 == len(c.s) {
		return 0
	}
	switch e := c.s[i+1]; e {
	case '"', '\\', '/':
		c.out = append(c.out, e)
	case 'b':
		c.out = append(c.out, '\b')
	case 'f':
		c.out = append(c.out, '\f')
	case 'n':
		c.out = append(c.out, '\n')
	case 'r':
		c.out = append(c.out, '\r')
	case 't':
		c.out = append(c.out, '\t')
	default:
		return c.unicodeEscape(i)
	}
	return 2
}

func (c *scanner) unicodeEscape(i int) int {
	r := hex4(c.s[i:])
	switch {
	case r < 0:
		return 0
	case !utf16.IsSurrogate(r):
		c.out = utf8.AppendRune(c.out, r)
		return 6
	}
	if r = utf16.DecodeRune(r, hex4(c.s[i+6:])); r == utf8.RuneError {
		return 0
	}
	c.out = utf8.AppendRune(c.out, r)
	return 12
}

// hex4 reads \uXXXX at the start of s; -1 says that it is not there.
func hex4(s string) rune {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return -1
	}
	var r rune
	for i := 2; i < 6; i++ {
		d := s[i]
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
	for c.i < len(c.s) && strings.IndexByte("+-.0123456789eE", c.s[c.i]) >= 0 {
		c.i++
	}
	n, err := strconv.Atoi(c.s[start:c.i])
	if err != nil || n < 1 || n > 1_000_000_000 || c.s[start] == '0' {
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
