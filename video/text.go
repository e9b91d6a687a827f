package video

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

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

// printable makes native text safe to show: one line, no control characters, bounded.
func printable(s string) string {
	const most = 400
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "..."
	}
	return s
}
