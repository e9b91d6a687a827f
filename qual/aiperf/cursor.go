package aiperf

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

// errCut says that a JSON text stops before its end.
var errCut = errors.New("unexpected end of the line")

// maxDepth bounds nesting, as encoding/json does.
const maxDepth = 10000

// cursor reads one JSON text from left to right and checks it on the way. It exists because an export of a million
// rows is read whole, while only a few fields of a row are wanted.
type cursor struct {
	b     []byte
	i     int
	depth int
}

func (c *cursor) bad(want string) error {
	if c.i >= len(c.b) {
		return errCut
	}
	return fmt.Errorf("want %s at byte %d, found %q", want, c.i+1, c.b[c.i])
}

func (c *cursor) space() {
	for c.i < len(c.b) {
		switch c.b[c.i] {
		case ' ', '\t', '\r', '\n':
			c.i++
		default:
			return
		}
	}
}

// peek returns the first byte of the next value, 0 at the end.
func (c *cursor) peek() byte {
	c.space()
	if c.i < len(c.b) {
		return c.b[c.i]
	}
	return 0
}

// end checks that nothing follows.
func (c *cursor) end() error {
	if c.space(); c.i < len(c.b) {
		return c.bad("the end of the line")
	}
	return nil
}

// object calls visit for each member, which must consume the member's value.
func (c *cursor) object(visit func(key []byte) error) error {
	return c.list('{', '}', func() error {
		if c.peek() != '"' {
			return c.bad("a name")
		}
		key, err := c.text()
		if err != nil {
			return err
		}
		if c.peek() != ':' {
			return c.bad("':'")
		}
		c.i++
		return visit(key)
	})
}

// array calls visit for each element, which must consume it.
func (c *cursor) array(visit func() error) error { return c.list('[', ']', visit) }

func (c *cursor) list(open, end byte, item func() error) error {
	if c.peek() != open {
		return c.bad(string(open))
	}
	if c.depth++; c.depth > maxDepth {
		return fmt.Errorf("nested deeper than %d", maxDepth)
	}
	c.i++
	if c.peek() == end {
		c.i, c.depth = c.i+1, c.depth-1
		return nil
	}
	for {
		if err := item(); err != nil {
			return err
		}
		switch c.peek() {
		case ',':
			c.i++
		case end:
			c.i, c.depth = c.i+1, c.depth-1
			return nil
		default:
			return c.bad("',' or '" + string(end) + "'")
		}
	}
}

// skip consumes and checks one value of any kind.
func (c *cursor) skip() error {
	switch c.peek() {
	case '{':
		return c.object(func([]byte) error { return c.skip() })
	case '[':
		return c.array(c.skip)
	case '"':
		_, err := c.quoted()
		return err
	case 't':
		return c.word("true")
	case 'f':
		return c.word("false")
	case 'n':
		return c.word("null")
	}
	_, err := c.number()
	return err
}

// raw consumes one value and returns its text, which lies in the line.
func (c *cursor) raw() ([]byte, error) {
	c.space()
	start := c.i
	err := c.skip()
	return c.b[start:min(c.i, len(c.b))], err
}

// null consumes a null when there is one.
func (c *cursor) null() bool { return c.peek() == 'n' && c.word("null") == nil }

func (c *cursor) word(w string) error {
	for k := range len(w) {
		if c.i >= len(c.b) || c.b[c.i] != w[k] {
			return c.bad(w)
		}
		c.i++
	}
	return nil
}

func (c *cursor) bool() (bool, error) {
	if c.peek() == 't' {
		return true, c.word("true")
	}
	return false, c.word("false")
}

// quoted consumes a string and returns it with its quotes.
func (c *cursor) quoted() ([]byte, error) {
	if c.peek() != '"' {
		return nil, c.bad("a string")
	}
	start := c.i
	for c.i++; c.i < len(c.b); c.i++ {
		switch ch := c.b[c.i]; {
		case ch == '"':
			c.i++
			return c.b[start:c.i], nil
		case ch == '\\':
			if err := c.escape(); err != nil {
				return nil, err
			}
		case ch < 0x20:
			return nil, c.bad("a control character written as an escape")
		}
	}
	return nil, errCut
}

// escape checks the escape that begins at the cursor and leaves the cursor on its last byte.
func (c *cursor) escape() error {
	if c.i++; c.i >= len(c.b) {
		return errCut
	}
	switch c.b[c.i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return nil
	case 'u':
		for range 4 {
			if c.i++; c.i >= len(c.b) {
				return errCut
			}
			if _, ok := hexValue(c.b[c.i]); !ok {
				return c.bad("a hexadecimal digit")
			}
		}
		return nil
	}
	return c.bad("an escape")
}

func hexValue(ch byte) (byte, bool) {
	switch {
	case '0' <= ch && ch <= '9':
		return ch - '0', true
	case 'a' <= ch|0x20 && ch|0x20 <= 'f':
		return ch | 0x20 - 'a' + 10, true
	}
	return 0, false
}

// text consumes a string and returns its contents, in the line itself where no escape stands in it.
func (c *cursor) text() ([]byte, error) {
	q, err := c.quoted()
	if err != nil {
		return nil, err
	}
	inner := q[1 : len(q)-1]
	for _, ch := range inner {
		if ch == '\\' || ch >= utf8.RuneSelf {
			var s string
			if err := json.Unmarshal(q, &s); err != nil {
				return nil, err
			}
			return []byte(s), nil
		}
	}
	return inner, nil
}

// number consumes a number and returns its text.
func (c *cursor) number() ([]byte, error) {
	c.space()
	start := c.i
	if c.i < len(c.b) && c.b[c.i] == '-' {
		c.i++
	}
	if c.i < len(c.b) && c.b[c.i] == '0' {
		c.i++
	} else if !c.digits() {
		return nil, c.bad("a value")
	}
	if c.i < len(c.b) && c.b[c.i] == '.' {
		if c.i++; !c.digits() {
			return nil, c.bad("a digit")
		}
	}
	if c.i < len(c.b) && c.b[c.i]|0x20 == 'e' {
		if c.i++; c.i < len(c.b) && (c.b[c.i] == '+' || c.b[c.i] == '-') {
			c.i++
		}
		if !c.digits() {
			return nil, c.bad("a digit")
		}
	}
	return c.b[start:c.i], nil
}

func (c *cursor) digits() bool {
	start := c.i
	for c.i < len(c.b) && '0' <= c.b[c.i] && c.b[c.i] <= '9' {
		c.i++
	}
	return c.i > start
}

// float consumes a number.
func (c *cursor) float() (float64, error) {
	n, err := c.number()
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(string(n), 64)
}

// int consumes a whole number, which later versions may write as a floating-point number.
func (c *cursor) int() (int64, error) {
	n, err := c.number()
	if err != nil {
		return 0, err
	}
	if v, err := strconv.ParseInt(string(n), 10, 64); err == nil {
		return v, nil
	}
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) >= 1<<63 {
		return 0, fmt.Errorf("want a whole number, found %s", n)
	}
	return int64(f), nil
}
