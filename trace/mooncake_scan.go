package trace

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"time"
	"unicode/utf8"
)

// The members of a row, as bits.
const (
	memTimestamp = 1 << iota
	memInput
	memOutput
	memHashIDs
	memText
	memMessages
	memPayload
	memSession
	memTools
	memExtra
	memDelay
)

// span is a part of a line.
type span struct{ from, to int }

func (s span) of(line []byte) []byte { return line[s.from:s.to] }

// mooncakeScan holds what one line says. It keeps no reference to the line.
type mooncakeScan struct {
	unit int // power of ten from the timestamp's unit to nanoseconds

	has           uint16 // members that are there and not null
	offset        time.Duration
	input, output int
	ids           []uint32
	literal       span
	kind          LiteralKind
	session       span
	tools, extra  span
}

// row scans one line and returns what is wrong with it, or "".
func (m *mooncakeScan) row(line []byte) string {
	m.has, m.offset, m.input, m.output, m.kind = 0, 0, 0, 0, LiteralNone
	m.ids = m.ids[:0]
	s := jsonScan{b: line}
	s.space()
	if !s.byte('{') {
		return s.want("a JSON object")
	}
	seen := uint16(0)
	s.space()
	for !s.byte('}') {
		if s.more {
			if !s.byte(',') {
				return s.want("',' or '}'")
			}
			s.space()
		}
		s.more = true
		member := s.usualMember()
		if member == 0 {
			key, msg := s.key()
			if msg != "" {
				return msg
			}
			member = memberOf(key)
		}
		if seen&member != 0 {
			return memberName(member) + " is there twice"
		}
		seen |= member
		if msg := m.value(&s, member); msg != "" {
			return msg
		}
		s.space()
	}
	s.space()
	if s.i < len(line) {
		return s.want("nothing after the row, one object a line")
	}
	if s.high && !utf8.Valid(line) {
		return "the line is not valid UTF-8"
	}
	return m.check()
}

// memberNames are the names of the members, by bit.
var memberNames = [...]string{
	"timestamp", "input_length", "output_length", "hash_ids", "text_input", "messages", "payload", "session_id", "tools", "extra", "delay",
}

func memberOf(key []byte) uint16 {
	for i, name := range memberNames {
		if string(key) == name {
			return 1 << i
		}
	}
	return 0
}

func memberName(member uint16) string { return memberNames[bits.TrailingZeros16(member)] }

// usualMember passes over one of the four members of the published files, written as there, up to its value. It
// returns 0, and nothing is passed over, for anything else.
func (s *jsonScan) usualMember() uint16 {
	rest := s.b[s.i:]
	if len(rest) < 17 {
		return 0
	}
	switch rest[1] {
	case 't':
		if string(rest[:13]) == `"timestamp": ` {
			s.i += 13
			return memTimestamp
		}
	case 'i':
		if string(rest[:16]) == `"input_length": ` {
			s.i += 16
			return memInput
		}
	case 'o':
		if string(rest[:17]) == `"output_length": ` {
			s.i += 17
			return memOutput
		}
	case 'h':
		if string(rest[:12]) == `"hash_ids": ` {
			s.i += 12
			return memHashIDs
		}
	}
	return 0
}

// value scans the value of a member.
func (m *mooncakeScan) value(s *jsonScan, member uint16) (msg string) {
	switch member {
	case memTimestamp:
		m.has |= memTimestamp
		m.offset, msg = s.timestamp(m.unit)
		return msg
	case memInput:
		m.has |= memInput
		m.input, msg = s.count("input_length")
		return msg
	case memHashIDs:
		if s.null() {
			return ""
		}
		m.has |= memHashIDs
		m.ids, msg = s.ids(m.ids)
		return msg
	}
	if s.null() {
		return ""
	}
	m.has |= member
	switch member {
	case memOutput:
		m.output, msg = s.count("output_length")
		return msg
	case memText:
		return m.take(s, LiteralText, '"', "text_input", "a string", &m.literal)
	case memMessages:
		return m.take(s, LiteralMessages, '[', "messages", "an array", &m.literal)
	case memPayload:
		return m.take(s, LiteralPayload, '{', "payload", "an object", &m.literal)
	case memSession:
		return m.take(s, m.kind, '"', "session_id", "a string", &m.session)
	case memTools:
		return m.take(s, m.kind, '[', "tools", "an array", &m.tools)
	case memExtra:
		return m.take(s, m.kind, '{', "extra", "an object", &m.extra)
	case memDelay:
		return "delay asks for a closed loop; want a timestamp for every row and no delay"
	}
	return s.skip(0)
}

// take notes where a value stands, which must begin with the byte.
func (m *mooncakeScan) take(s *jsonScan, kind LiteralKind, first byte, name, want string, at *span) string {
	if s.i >= len(s.b) || s.b[s.i] != first {
		return name + ": " + s.want(want)
	}
	from := s.i
	if msg := s.skip(0); msg != "" {
		return name + ": " + msg
	}
	*at = span{from, s.i}
	m.kind = kind
	return ""
}

// check looks at the members together.
func (m *mooncakeScan) check() string {
	const prompts = memInput | memText | memMessages | memPayload
	switch n := bits.OnesCount16(m.has & prompts); {
	case m.has&memTimestamp == 0:
		return "timestamp is missing; want the time of the request as a number"
	case n == 0:
		return "the prompt is missing; want input_length, text_input, messages or payload"
	case n > 1:
		return "more than one prompt; want exactly one of input_length, text_input, messages and payload"
	case m.has&memInput != 0 && m.input == 0:
		return "input_length is 0; want 1 or more"
	case m.has&memHashIDs != 0 && m.has&memInput == 0 && len(m.ids) > 0:
		return "hash_ids without input_length; want both or none"
	}
	return ""
}

// fill copies what the line says into a request, reusing its memory.
func (m *mooncakeScan) fill(req *Request, line []byte) {
	req.Offset, req.InputTokens, req.OutputTokens = m.offset, m.input, m.output
	req.Failed = m.has&memOutput != 0 && m.output == 0
	req.Kind = m.kind
	req.Literal, req.Tools, req.Extra = req.Literal[:0], req.Tools[:0], req.Extra[:0]
	req.SessionID = ""
	if m.has&^(memTimestamp|memInput|memOutput|memHashIDs) == 0 {
		return
	}
	if m.kind != LiteralNone {
		req.Literal = append(req.Literal, m.literal.of(line)...)
	}
	if m.has&memTools != 0 {
		req.Tools = append(req.Tools, m.tools.of(line)...)
	}
	if m.has&memExtra != 0 {
		req.Extra = append(req.Extra, m.extra.of(line)...)
	}
	if m.has&memSession != 0 {
		req.SessionID = unquote(m.session.of(line))
	}
}

// count scans a whole number of 0 or more.
func (s *jsonScan) count(name string) (int, string) {
	at := s.i
	v := 0
	for s.i < len(s.b) {
		d := s.b[s.i] - '0'
		if d > 9 {
			break
		}
		if s.i-at >= 9 {
			return 0, name + " is out of range; want at most 999999999"
		}
		v = v*10 + int(d)
		s.i++
	}
	switch {
	case s.i == at || s.i < len(s.b) && (s.b[s.i] == '.' || s.b[s.i]|0x20 == 'e'):
		s.i = at
		return 0, name + ": " + s.want("a whole number of 0 or more")
	case s.b[at] == '0' && s.i > at+1:
		s.i = at
		return 0, name + ": " + s.want("a number without leading zeros")
	}
	return v, ""
}

// The published files write ids apart by ", ", here as the two bytes of a little-endian word.
const idSeparator = ',' | ' '<<8

// ids scans an array of block ids.
func (s *jsonScan) ids(ids []uint32) ([]uint32, string) {
	if !s.byte('[') {
		return ids, "hash_ids: " + s.want("an array of whole numbers")
	}
	s.space()
	if s.byte(']') {
		return ids, ""
	}
	for {
		ids = s.fastIDs(ids)
		v, n := slowID(s.b[s.i:])
		if n == 0 {
			return ids, "hash_ids: " + s.want("a whole number of 0 to 4294967295")
		}
		ids = append(ids, v)
		s.i += n
		s.space()
		if s.byte(']') {
			return ids, ""
		}
		if !s.byte(',') {
			return ids, "hash_ids: " + s.want("',' or ']'")
		}
		s.space()
	}
}

// fastIDs scans ids of one to six digits with the usual separator behind them, eight bytes at once, and stops before
// the first that is anything else.
func (s *jsonScan) fastIDs(ids []uint32) []uint32 {
	b, i := s.b, s.i
	usual, step := 0, 0
	for i+8 <= len(b) {
		w := binary.LittleEndian.Uint64(b[i : i+8 : len(b)])
		// A byte that is no digit sets the high bit of its lane, and the lowest such lane ends the number.
		x := w ^ 0x3030303030303030
		width := bits.TrailingZeros64(((x+0x7676767676767676)|x)&0x8080808080808080) &^ 7 // in bits
		// Without an end in these bytes, or with one too late to see the separator, the separator is not found.
		if uint16(w>>(width&63)) != idSeparator || width == 0 || x&0xff == 0 && width > 8 {
			break
		}
		// Digits to the top, zeros before them; then pairs, fours and all eight are joined.
		x <<= (64 - width) & 63
		x = (x & 0x0f0f0f0f0f0f0f0f) * (10<<8 + 1) >> 8
		x = (x & 0x00ff00ff00ff00ff) * (100<<16 + 1) >> 16
		x = (x & 0x0000ffff0000ffff) * (10000<<32 + 1) >> 32
		ids = append(ids, uint32(x))
		// Neighbours mostly have as many digits. Going on by the last step lets the processor begin with the next
		// number before it knows where this one ended.
		if width != usual {
			usual, step = width, width>>3+2
		}
		i += step
	}
	s.i = i
	return ids
}

// slowID returns the number at the start of b and how many digits it has, 0 when there is none that fits.
func slowID(b []byte) (uint32, int) {
	var v uint64
	n := 0
	for n < len(b) && b[n]-'0' <= 9 {
		v = v*10 + uint64(b[n]-'0')
		n++
		if v > math.MaxUint32 {
			return 0, 0
		}
	}
	if n > 1 && b[0] == '0' || n > 0 && n < len(b) && (b[n] == '.' || b[n]|0x20 == 'e') {
		return 0, 0
	}
	return uint32(v), n
}

// timestamp scans a number and returns it in nanoseconds; exp is the power of ten of its unit.
func (s *jsonScan) timestamp(exp int) (time.Duration, string) {
	at := s.i
	v := int64(0)
	for s.i < len(s.b) && s.b[s.i]-'0' <= 9 && s.i-at < 9 {
		v = v*10 + int64(s.b[s.i]-'0')
		s.i++
	}
	// Up to nine digits and nothing of a number behind them: no unit overflows.
	plain := s.i > at && (s.b[at] != '0' || s.i == at+1)
	if plain && s.i < len(s.b) && (s.b[s.i] == ',' || s.b[s.i] == '}') {
		if exp == 6 {
			return time.Duration(v * 1e6), ""
		}
		return time.Duration(v * 1e9), ""
	}
	s.i = at
	number := s.number()
	if number == nil {
		s.i = at
		return 0, "timestamp: " + s.want("a finite number of 0 or more")
	}
	ns, ok := decimal(number, exp)
	if !ok {
		return 0, fmt.Sprintf("timestamp %s is out of range; want 0 to %d s", number, math.MaxInt64/int64(time.Second))
	}
	return time.Duration(ns), ""
}
