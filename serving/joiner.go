package serving

import (
	"strings"
	"unicode/utf8"
)

// joiner joins the pieces of a text whose borders may fall inside a character, and gives out whole characters only.
type joiner struct {
	all  strings.Builder
	sent int // bytes of all that were given out
}

// add takes the next piece and returns what can be sent now.
func (j *joiner) add(s string) string {
	j.all.WriteString(s)
	text := j.all.String()
	end := len(text) - incomplete(text[j.sent:])
	out := text[j.sent:end]
	j.sent = end
	return out
}

// rest returns what was held back: bytes that never became a character.
func (j *joiner) rest() string { return j.all.String()[j.sent:] }

// sum returns everything that was added.
func (j *joiner) sum() string { return j.all.String() }

// incomplete returns how many bytes at the end of s begin a character that is not whole yet.
func incomplete(s string) int {
	for n := 1; n < utf8.UTFMax && n <= len(s); n++ {
		if b := s[len(s)-n]; utf8.RuneStart(b) {
			if b >= utf8.RuneSelf && !utf8.FullRuneInString(s[len(s)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}
