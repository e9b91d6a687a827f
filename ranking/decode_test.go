package ranking_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/ranking"
)

func TestDecodeSuite(t *testing.T) {
	reasons := suiteReasons(t)
	files, err := filepath.Glob("testdata/decode/*.json")
	require.NoError(t, err)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			body, err := os.ReadFile(file)
			require.NoError(t, err)
			got, err := ranking.Decode(body, ranking.Limits{})
			want, ok := oracle(body)
			if strings.HasPrefix(name, "y_") {
				require.NoError(t, err)
				require.True(t, ok, "encoding/json with the same strictness refuses it")
				require.Equal(t, want, texts(got))
				return
			}
			require.False(t, ok, "encoding/json with the same strictness accepts it")
			var refused *ranking.DecodeError
			require.ErrorAs(t, err, &refused)
			reason, known := reasons[strings.TrimPrefix(name, "n_")]
			require.True(t, known, "decode.want has no line for it")
			require.Equal(t, reason[0], refused.Path)
			require.Contains(t, refused.Msg, reason[1])
		})
	}
	require.Greater(t, len(files), len(reasons), "every reason has a file")
}

func suiteReasons(t *testing.T) map[string][2]string {
	t.Helper()
	b, err := os.ReadFile("testdata/decode.want")
	require.NoError(t, err)
	reasons := map[string][2]string{}
	for line := range strings.Lines(string(b)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if !strings.HasPrefix(line, "#") {
			require.Len(t, f, 3, "line %q", line)
			require.FileExists(t, "testdata/decode/n_"+f[0]+".json")
			reasons[f[0]] = [2]string{f[1], f[2]}
		}
	}
	return reasons
}

// texts returns r without its reference to the body it was decoded from.
func texts(r *ranking.Request) ranking.Request {
	return ranking.Request{Model: r.Model, Query: r.Query, Passages: r.Passages, Truncate: r.Truncate, TopK: r.TopK}
}

func body(query string, passages ...string) []byte {
	b, err := json.Marshal(ranking.Request{Query: query, Passages: passages})
	if err != nil {
		panic(err)
	}
	return b
}

func TestLimitsRefuseOneAboveAndTakeTheLimitItself(t *testing.T) {
	limits := ranking.Limits{BodyBytes: 200, Passages: 3, QueryBytes: 5, PassageBytes: 6, PassagesBytes: 14}
	padded := append(body("q", "a"), bytes.Repeat([]byte(" "), 200)...)
	tests := []struct {
		name, path, code string
		body             []byte
	}{
		{"body at limit", "", "", padded[:200]},
		{"body above", "", ranking.CodeTooLarge, padded[:201]},
		{"passages at limit", "", "", body("q", "a", "b", "c")},
		{"passages above", "passages", ranking.CodeInvalid, body("q", "a", "b", "c", "d")},
		{"query at limit", "", "", body("12345", "a")},
		{"query above", "query.text", ranking.CodeTooLong, body("123456", "a")},
		{"query bytes not runes", "query.text", ranking.CodeTooLong, body("éééé", "a")},
		{"passage at limit", "", "", body("q", "123456")},
		{"passage above", "passages[1].text", ranking.CodeTooLong, body("q", "a", "1234567")},
		{"all passages at limit", "", "", body("q", "123456", "123456", "12")},
		{"all passages above", "passages", ranking.CodeTooLong, body("q", "123456", "123456", "123")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ranking.Decode(tt.body, limits)
			if tt.code == "" {
				require.NoError(t, err)
				return
			}
			var refused *ranking.DecodeError
			require.ErrorAs(t, err, &refused)
			require.Equal(t, tt.path, refused.Path)
			require.Equal(t, tt.code, refused.Code)
		})
	}
}

func TestDefaultLimitIs512Passages(t *testing.T) {
	many := make([]string, 513)
	for i := range many {
		many[i] = fmt.Sprint("passage ", i)
	}
	req, err := ranking.Decode(body("q", many[:512]...), ranking.Limits{})
	require.NoError(t, err)
	require.Equal(t, many[:512], req.Passages)
	_, err = ranking.Decode(body("q", many...), ranking.Limits{})
	require.ErrorContains(t, err, "passages: want at most 512 passages")
}

func TestTopKIsReadByTheRerankingRouteOnly(t *testing.T) {
	with := func(topK string) []byte {
		return []byte(`{"query":{"text":"q"},"passages":[{"text":"a"}],"top_k":` + topK + `}`)
	}
	req, err := ranking.DecodeReranking(with("2"), ranking.Limits{})
	require.NoError(t, err)
	require.Equal(t, 2, req.TopK)
	for _, bad := range []string{"0", "-1", "1.0", "1e1", "01", "1000000001", "99999999999999999999", `"1"`, "null", "true", "[1]", "1,\"top_k\":1", "", "1.", "-"} {
		_, err := ranking.DecodeReranking(with(bad), ranking.Limits{})
		require.ErrorContains(t, err, "top_k: ", "top_k %s", bad)
	}
	_, err = ranking.Decode(with("2"), ranking.Limits{})
	require.ErrorContains(t, err, "top_k: not supported by this route")
}

func TestRequestSurvivesTheWire(t *testing.T) {
	want := ranking.Request{
		Model: "org/model", Query: "a <b> & \"c\" \\ \u2028 \x01 é 日本 😀", Truncate: ranking.TruncateEnd, TopK: 3,
		Passages: []string{"tab\there", "line\nbreak", strings.Repeat("é", 40), "{\"text\":\"x\"}"},
	}
	b, err := json.Marshal(want)
	require.NoError(t, err)
	got, err := ranking.DecodeReranking(b, ranking.Limits{})
	require.NoError(t, err)
	require.Equal(t, want, texts(got))
}

func TestLongNamesAreClippedInMessages(t *testing.T) {
	_, err := ranking.Decode([]byte(`{"`+strings.Repeat("é", 5000)+`":1}`), ranking.Limits{})
	require.Error(t, err)
	require.Less(t, len(err.Error()), 400)
}
