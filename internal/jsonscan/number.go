package jsonscan

import (
	"encoding/binary"
	"math"
	"strconv"
)

func (s *Scanner) float() float64 {
	from := s.i
	text := s.number()
	if s.err != nil {
		return 0
	}
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		s.i = from
		s.want("a number in range")
	}
	return v
}

func (s *Scanner) int() int64 {
	b, i, negative := s.b, s.i, false
	if i < len(b) && b[i] == '-' {
		negative = true
		i++
	}
	first, v := i, uint64(0)
	for i+8 <= len(b) && i-first < 16 {
		part, ok := eightDigits(binary.LittleEndian.Uint64(b[i:]))
		if !ok {
			break
		}
		v = v*1e8 + part
		i += 8
	}
	for ; i < len(b) && b[i]-'0' <= 9; i++ {
		if i-first >= 19 { // 19 digits always fit into 64 bits
			s.want("a whole number in range")
			return 0
		}
		v = v*10 + uint64(b[i]-'0')
	}
	switch {
	case i == first, b[first] == '0' && i-first > 1, i < len(b) && (b[i] == '.' || b[i]|0x20 == 'e'):
		s.want("a whole number")
		return 0
	case v <= math.MaxInt64 && !negative:
		s.i = i
		return int64(v)
	case v <= math.MaxInt64+1 && negative:
		s.i = i
		return -int64(v)
	}
	s.want("a whole number in range")
	return 0
}

// eightDigits returns the number that eight digits stand for, the first in the lowest byte, or false when one is none.
func eightDigits(w uint64) (uint64, bool) {
	const zeros = 0x3030303030303030
	if (w&0xf0f0f0f0f0f0f0f0)|((w+0x0606060606060606)&0xf0f0f0f0f0f0f0f0)>>4 != zeros|zeros>>4 {
		return 0, false
	}
	w -= zeros
	w = w*10 + w>>8 // pairs, in every other byte
	return ((w&0x000000ff000000ff)*(100+1000000<<32) + (w>>16&0x000000ff000000ff)*(1+10000<<32)) >> 32, true
}

// number passes over a number and returns it.
func (s *Scanner) number() []byte {
	from := s.i
	ok := true
	s.one('-')
	switch whole := s.digits(); {
	case whole == 0, whole > 1 && s.b[s.i-whole] == '0':
		ok = false
	}
	if ok && s.one('.') {
		ok = s.digits() > 0
	}
	if ok && (s.one('e') || s.one('E')) {
		if !s.one('+') {
			s.one('-')
		}
		ok = s.digits() > 0
	}
	if !ok {
		s.i = from
		s.want("a value")
		return nil
	}
	return s.b[from:s.i]
}

func (s *Scanner) one(c byte) bool {
	if s.i < len(s.b) && s.b[s.i] == c {
		s.i++
		return true
	}
	return false
}

func (s *Scanner) digits() int {
	from := s.i
	for s.i < len(s.b) && s.b[s.i]-'0' <= 9 {
		s.i++
	}
	return s.i - from
}
