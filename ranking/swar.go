package ranking

import (
	"math/bits"
	"unicode/utf8"
)

// These functions look at eight bytes at a time: in (x-n)&^x, the top bit of a byte is set when the byte was less than n.
// A byte that was may borrow from the ones after it, so only the first that is found is sure.
const (
	ones    = 0x0101010101010101
	tops    = 0x80 * ones
	spaces  = 0x20 * ones
	quotes  = '"' * ones
	slashes = '\\' * ones
)

// survey reports whether s holds a control character and whether it is all ASCII.
func survey(s string) (control, ascii bool) {
	var low, all uint64
	for ; len(s) > 16; s = s[16:] {
		v, w := load(s), load(s[8:])
		low |= (v-spaces)&^v | (w-spaces)&^w
		all |= v | w
	}
	if len(s) >= 8 {
		v, w := load(s), load(s[len(s)-8:]) // all that is left, some bytes of it twice
		low |= (v-spaces)&^v | (w-spaces)&^w
		all |= v | w
		s = ""
	}
	for i := range len(s) {
		v := uint64(s[i]) | spaces&^0xff // the other seven bytes are no control characters
		low |= (v - spaces) &^ v
		all |= v
	}
	return low&tops != 0, all&tops == 0
}

// plain returns the number of bytes before the first quote, backslash or control character; len(s) when there is none.
func plain(s string) int {
	n := 0
	for ; n+8 <= len(s); n += 8 {
		v := load(s[n:])
		q, b := v^quotes, v^slashes
		if found := ((v-spaces)&^v | (q-ones)&^q | (b-ones)&^b) & tops; found != 0 {
			return n + bits.TrailingZeros64(found)/8
		}
	}
	for n < len(s) && s[n] != '"' && s[n] != '\\' && s[n] >= 0x20 {
		n++
	}
	return n
}

// validUTF8 is utf8.ValidString for text in which ASCII prevails: it skips ASCII between other runes as fast as before
// the first of them.
func validUTF8(s string) bool {
	for len(s) >= 8 {
		high := load(s) & tops
		if high == 0 {
			s = s[8:]
			continue
		}
		s = s[bits.TrailingZeros64(high)/8:]
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 {
			return false
		}
		s = s[n:]
	}
	return utf8.ValidString(s)
}

// load returns the first eight bytes of s; the compiler makes one load of it.
func load(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}
