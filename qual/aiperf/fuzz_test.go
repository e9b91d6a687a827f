package aiperf

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzRowReader: every line that is not blank is exactly one entry, in order; a line that encoding/json refuses is an
// error; and what is read of a line does not depend on its neighbours.
func FuzzRowReader(f *testing.F) {
	for _, sample := range samples {
		text, err := os.ReadFile(filepath.Join("testdata", sample, RowsFile))
		require.NoError(f, err)
		for line := range strings.Lines(string(text)) {
			f.Add(line)
		}
	}
	f.Add("{\"metadata\":{\"x_request_id\":\"a\"}}\n\n{\"metadata\":{\"x_requ")
	f.Add(`{"metadata":{"x_request_id":"\ud800"},"metrics":{"a":{"value":1e400}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		var lines []int
		all := strings.Split(text, "\n")
		for i, line := range all {
			if strings.TrimSpace(line) != "" {
				lines = append(lines, i)
			}
		}
		r := NewRowReader(strings.NewReader(text), "f")
		for _, at := range lines {
			require.True(t, r.Scan())
			entry := r.Entry()
			require.Equal(t, at+1, entry.Position().Line)
			bad, isBad := entry.(*SyntaxError)
			if !json.Valid([]byte(all[at])) {
				require.True(t, isBad, "%q", all[at])
			}
			require.False(t, isBad && bad.Truncated && at != len(all)-1, "only the last line can be truncated")
			alone := NewRowReader(strings.NewReader(all[at]), "f")
			require.True(t, alone.Scan())
			require.IsType(t, entry, alone.Entry())
			if row, ok := entry.(*Row); ok {
				require.Equal(t, row.Meta, alone.Entry().(*Row).Meta)
			}
		}
		require.False(t, r.Scan())
		require.NoError(t, r.Err())
	})
}

// FuzzCursor: a text is skipped without error exactly when encoding/json calls it valid.
func FuzzCursor(f *testing.F) {
	for _, s := range []string{`{"a":[1,-0.5e+3,"\u00e9\n",null,true,false,{}]}`, `[`, `01`, `"\x"`, `{"a":1,}`, `{"a" 1}`, `-`, `1.`, `1e`, "\"\t\"", `nul`, ` [] `, `{}{}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := &cursor{b: []byte(text)}
		err := c.skip()
		if err == nil {
			err = c.end()
		}
		require.Equal(t, json.Valid([]byte(text)), err == nil, "%q: %v", text, err)
	})
}
