package ranking

import (
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestEightBytesAtATimeIsOneByteAtATime compares the word functions with loops over bytes, on texts in which every
// interesting byte and its neighbours are frequent at every place of a word.
func TestEightBytesAtATimeIsOneByteAtATime(t *testing.T) {
	interesting := rapid.SampledFrom([]byte("\x00\x01\x1f\x20\x21\"#[\\]\x7f\x80\xa0\xa2\xbf\xc3\xdc\xe2\xf0\xff"))
	piece := rapid.OneOf(
		rapid.Map(interesting, func(b byte) string { return string([]byte{b}) }),
		rapid.SampledFrom([]string{"a", "é", "日", "😀", "\xed\xa0\x80", "plain text"}),
	)
	rapid.Check(t, func(t *rapid.T) {
		var s string
		for _, p := range rapid.SliceOfN(piece, 0, 24).Draw(t, "pieces") {
			s += p
		}
		wantPlain, wantControl, wantASCII := len(s), false, true
		for i := len(s) - 1; i >= 0; i-- {
			if s[i] == '"' || s[i] == '\\' || s[i] < 0x20 {
				wantPlain = i
			}
			wantControl = wantControl || s[i] < 0x20
			wantASCII = wantASCII && s[i] < utf8.RuneSelf
		}
		control, ascii := survey(s)
		require.Equal(t, wantControl, control, "%q", s)
		require.Equal(t, wantASCII, ascii, "%q", s)
		require.Equal(t, wantPlain, plain(s), "%q", s)
		require.Equal(t, utf8.ValidString(s), validUTF8(s), "%q", s)
	})
}
