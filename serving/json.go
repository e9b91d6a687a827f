package serving

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth bounds the nesting of a request body.
const maxDepth = 64

// value is one JSON value (RFC 8259) with its place in the text.
type value struct {
	kind    byte   // '{', '[', '"', '0' for a number, 't' or 'f', 'n'
	raw     []byte // as it stands in the body
	str     string // of a string
	items   []value
	members []member // in the order of the text
}

type member struct {
	key string
	value
}

// word names the value's type for a message.
func (v value) word() string {
	return map[byte]string{'{': "an object", '[': "an array", '"': "a string", '0': "a number", 't': "a boolean", 'f': "a boolean", 'n': "null"}[v.kind]
}

// parseJSON reads a whole body strictly: valid UTF-8, no lone surrogates, no doubled keys at any depth, nothing after
// the value, nesting up to maxDepth. What encoding/json forgives here, a server would have to guess about.
func parseJSON(body []byte) (value, error) {
	if !utf8.Valid(body) {
		return value{}, invalid("", "invalid JSON: the body is not valid UTF-8")
	}
	p := &parser{b: body}
	v, err := p.value(0)
	if err != nil {
		return value{}, err
	}
	if p.peek(); p.i != len(p.b) {
		return value{}, p.syntax("more data after the value: %s", p.next())
	}
	return v, nil
}

type parser struct {
	b    []byte
	i    int
	path []string // to the value being read
}

func (p *parser) syntax(format string, args ...any) error {
	return invalid("", "invalid JSON at byte %d: %s", p.i, fmt.Sprintf(format, args...))
}

// peek skips white space and returns the next byte, 0 at the end.
func (p *parser) peek() byte {
	for ; p.i < len(p.b); p.i++ {
		switch c := p.b[p.i]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

// next names what stands at the position.
func (p *parser) next() string {
	if p.i >= len(p.b) {
		return "the end of the body"
	}
	r, _ := utf8.DecodeRune(p.b[p.i:])
	return strconv.QuoteRune(r)
}

func (p *parser) value(depth int) (value, error) {
	c := p.peek()
	start := p.i
	var v value
	var err error
	switch {
	case depth == maxDepth && (c == '{' || c == '['):
		return v, p.syntax("nested deeper than %d", maxDepth)
	case c == '{':
		v.members, err = p.object(depth)
	case c == '[':
		v.items, err = p.array(depth)
	case c == '"':
		v.str, err = p.text()
	case c == '-' || c >= '0' && c <= '9':
		c, err = '0', p.number()
	case c == 't':
		err = p.literal("true")
	case c == 'f':
		err = p.literal("false")
	case c == 'n':
		err = p.literal("null")
	default:
		err = p.syntax("want a value, got %s", p.next())
	}
	v.kind, v.raw = c, p.b[start:p.i]
	return v, err
}

func (p *parser) literal(word string) error {
	if !bytes.HasPrefix(p.b[p.i:], []byte(word)) {
		return p.syntax("want a value, got %s", p.next())
	}
	p.i += len(word)
	return nil
}

func (p *parser) object(depth int) ([]member, error) {
	p.i++
	var out []member
	if p.peek() == '}' {
		p.i++
		return out, nil
	}
	seen := map[string]bool{}
	for {
		if p.peek() != '"' {
			return nil, p.syntax("want a quoted name, got %s", p.next())
		}
		key, err := p.text()
		if err != nil {
			return nil, err
		}
		p.path = append(p.path, key)
		if seen[key] {
			return nil, invalid(join(p.path), "duplicate field %q", clip(key))
		}
		seen[key] = true
		if p.peek() != ':' {
			return nil, p.syntax("want ':' after a name, got %s", p.next())
		}
		p.i++
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		p.path = p.path[:len(p.path)-1]
		out = append(out, member{key, v})
		if p.peek() == ',' {
			p.i++
			continue
		}
		return out, p.close('}', "an object")
	}
}

func (p *parser) array(depth int) ([]value, error) {
	p.i++
	var out []value
	if p.peek() == ']' {
		p.i++
		return out, nil
	}
	for {
		p.path = append(p.path, "["+strconv.Itoa(len(out))+"]")
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		p.path = p.path[:len(p.path)-1]
		out = append(out, v)
		if p.peek() == ',' {
			p.i++
			continue
		}
		return out, p.close(']', "an array")
	}
}

func (p *parser) close(c byte, what string) error {
	if p.peek() != c || p.i == len(p.b) {
		return p.syntax("want ',' or '%c' in %s, got %s", c, what, p.next())
	}
	p.i++
	return nil
}

// join writes a path as messages[0].content.
func join(path []string) string {
	var b strings.Builder
	for i, s := range path {
		if i > 0 && !strings.HasPrefix(s, "[") {
			b.WriteByte('.')
		}
		b.WriteString(clip(s))
	}
	return b.String()
}

// number passes over a number in the grammar of JSON.
func (p *parser) number() error {
	digits := func() bool {
		from := p.i
		for p.i < len(p.b) && p.b[p.i] >= '0' && p.b[p.i] <= '9' {
			p.i++
		}
		return p.i > from
	}
	at := func(set string) bool { return p.i < len(p.b) && strings.IndexByte(set, p.b[p.i]) >= 0 }
	if at("-") {
		p.i++
	}
	zero := at("0")
	from := p.i
	if !digits() || zero && p.i > from+1 {
		return p.syntax("a number has no digits or a leading zero")
	}
	if at(".") {
		p.i++
		if !digits() {
			return p.syntax("a number has no digits after its point")
		}
	}
	if at("eE") {
		p.i++
		if at("+-") {
			p.i++
		}
		if !digits() {
			return p.syntax("a number has no digits in its exponent")
		}
	}
	return nil
}

// text reads a string.
func (p *parser) text() (string, error) {
	start := p.i + 1
	n := bytes.IndexByte(p.b[start:], '"')
	if n < 0 {
		return "", p.syntax("a string has no end")
	}
	// The usual string has neither escapes nor control characters and is copied as a whole.
	if plain(p.b[start : start+n]) {
		p.i = start + n + 1
		return string(p.b[start : start+n]), nil
	}
	out := make([]byte, 0, n)
	for i := start; i < len(p.b); {
		switch c := p.b[i]; {
		case c == '"':
			p.i = i + 1
			return string(out), nil
		case c < 0x20:
			p.i = i
			return "", p.syntax("control character 0x%02x in a string, it must be escaped", c)
		case c == '\\':
			r, n := unescape(p.b[i:])
			if n == 0 {
				p.i = i
				return "", p.syntax(`an escape is none of \" \\ \/ \b \f \n \r \t \uXXXX, or is half of a surrogate pair`)
			}
			out = utf8.AppendRune(out, r)
			i += n
		default:
			out = append(out, c)
			i++
		}
	}
	return "", p.syntax("a string has no end")
}

func plain(b []byte) bool {
	for _, c := range b {
		if c < 0x20 || c == '\\' {
			return false
		}
	}
	return true
}

// unescape reads the escape at the start of b and returns its rune and length; length 0 says that it is not valid.
func unescape(b []byte) (rune, int) {
	if len(b) < 2 {
		return 0, 0
	}
	if k := strings.IndexByte(`"\/bfnrt`, b[1]); k >= 0 {
		return rune("\"\\/\b\f\n\r\t"[k]), 2
	}
	r := hex4(b)
	switch {
	case r < 0:
		return 0, 0
	case !utf16.IsSurrogate(r):
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
	n, err := strconv.ParseUint(string(b[2:6]), 16, 32)
	if err != nil {
		return -1
	}
	return rune(n)
}
