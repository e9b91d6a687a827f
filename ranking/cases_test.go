package ranking_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/ranking"
)

// The cases are public bug reports, named by their place in the collection that the project keeps of them.

func answer(t *testing.T, b *bench, body string) ranking.Response {
	t.Helper()
	w := post(b, ranking.RouteRanking, body)
	require.Equal(t, 200, w.Code, w.Body.String())
	var r ranking.Response
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &r))
	return r
}

const threePassages = `{"model":"m","query":{"text":"q"},"passages":[{"text":"a"},{"text":"b"},{"text":"c"}]}`

func TestCase_B01_ScoresBelongToIndicesNotPositions(t *testing.T) {
	got := answer(t, newBench(ranking.Options{}, 0.1, 0.9, 0.5), threePassages)
	require.Equal(t, []ranking.Ranking{{Index: 1, Logit: 0.9}, {Index: 2, Logit: 0.5}, {Index: 0, Logit: 0.1}}, got.Rankings)
	back := make([]float32, 3)
	for _, r := range got.Rankings {
		back[r.Index] = r.Logit
	}
	require.Equal(t, []float32{0.1, 0.9, 0.5}, back)
}

func TestCase_B02_PassagesAreReorderedWithTheirScores(t *testing.T) {
	got := answer(t, newBench(ranking.Options{}, -3, 2.5, 0), threePassages)
	require.Equal(t, 1, got.Rankings[0].Index)
	ordered, err := ranking.Apply(got.Rankings, []string{"a", "b", "c"})
	require.NoError(t, err)
	require.Equal(t, []string{"b", "c", "a"}, ordered)
}

func TestCase_B03_AnswerIsSortedByScore(t *testing.T) {
	got := answer(t, newBench(ranking.Options{}, 0.11916422843933105, 0.029489612206816673, 0.03191265091300011), threePassages)
	require.Equal(t, []int{0, 2, 1}, indices(got.Rankings))
}

func TestCase_B04_TopKAndTopNAreRefusedByName(t *testing.T) {
	for _, name := range []string{"top_k", "top_n"} {
		b := newBench(ranking.Options{Model: "m"}, 1)
		w := post(b, ranking.RouteRanking, `{"model":"m","query":{"text":"q"},"passages":[{"text":"a"}],"`+name+`":1}`)
		e := refusal(t, w, 400, ranking.CodeUnsupported)
		require.Contains(t, e.Message, name)
		require.Equal(t, name, *e.Error.Param)
		b.rejected(t, ranking.CodeUnsupported)
	}
}

func TestCase_B05_PassagesThatAreNotTextAreNeverScored(t *testing.T) {
	for _, passage := range []string{
		`{"image":"data:image/png;base64,AAAA"}`, `"plain string"`, `{"text":5}`, `{"text":"b","image":"x"}`, `null`, `["b"]`,
		`{"text":null}`, `{"text":{"text":"b"}}`, `{"type":"text","text":"b"}`, `{}`, `{"text":""}`,
	} {
		b := newBench(ranking.Options{}, 1, 1)
		w := post(b, ranking.RouteRanking, `{"model":"m","query":{"text":"q"},"passages":[{"text":"a"},`+passage+`]}`)
		require.Equal(t, 400, w.Code, passage)
		require.Contains(t, w.Body.String(), "passages[1]", passage)
		require.Len(t, b.seen, 1)
		b.rejected(t, b.seen[0].Code)
	}
}

func TestCase_B07_NotFiniteScoreIsAServerFailureWithABody(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		b := newBench(ranking.Options{}, 1, float32(bad), 2)
		e := refusal(t, post(b, ranking.RouteRanking, threePassages), 502, ranking.CodeTaskResult)
		require.Equal(t, "server_error", e.Error.Type)
		require.Contains(t, e.Message, "passage 1")
		require.Len(t, b.seen, 1)
		require.Equal(t, ranking.CodeTaskResult, b.seen[0].Code)
		require.ErrorIs(t, b.seen[0].Err, ranking.ErrScores)
	}
}

func TestCase_B09_OversizeInputIsOneRejectionNotAServerFailure(t *testing.T) {
	body := `{"query":{"text":"q"},"passages":[{"text":"a"},{"text":"` + strings.Repeat("long ", 40) + `"}]}`
	for name, opts := range map[string]ranking.Options{
		"bytes": {Limits: ranking.Limits{PassageBytes: 100}},
		"words": {MaxPassageWords: 30},
	} {
		b := newBench(opts, 1, 1)
		e := refusal(t, post(b, ranking.RouteRanking, body), 400, ranking.CodeTooLong)
		require.Equal(t, "passages[1].text", *e.Error.Param, name)
		b.rejected(t, ranking.CodeTooLong)
	}
	b := newBench(ranking.Options{Limits: ranking.Limits{BodyBytes: 100}}, 1, 1)
	refusal(t, post(b, ranking.RouteRanking, body), 413, ranking.CodeTooLarge)
	b.rejected(t, ranking.CodeTooLarge)
}

func TestCase_B11_WrongShapesNameTheField(t *testing.T) {
	for body, field := range map[string]string{
		`{"model":"m","query":"q","passages":[{"text":"a"}]}`:  "query",
		`{"model":"m","query":{},"passages":[{"text":"a"}]}`:   "query.text",
		`{"model":"m","passages":[{"text":"a"}]}`:              "query",
		`{"model":"m","query":{"text":"q"}}`:                   "passages",
		`{"model":"m","query":null,"passages":[{"text":"a"}]}`: "query",
	} {
		b := newBench(ranking.Options{}, 1)
		e := refusal(t, post(b, ranking.RouteRanking, body), 400, ranking.CodeInvalid)
		require.Equal(t, field, *e.Error.Param)
		require.Contains(t, e.Message, field+": ")
		b.rejected(t, ranking.CodeInvalid)
	}
}

func TestCase_B12_NoPassagesIsRefused(t *testing.T) {
	b := newBench(ranking.Options{})
	e := refusal(t, post(b, ranking.RouteRanking, `{"model":"m","query":{"text":"q"},"passages":[]}`), 400, ranking.CodeInvalid)
	require.Equal(t, "passages", *e.Error.Param)
	b.rejected(t, ranking.CodeInvalid)
}

func TestCase_B14_LogitsAreNeitherSquashedNorShortened(t *testing.T) {
	want := []float32{0.7646484375, -1.1044921875, -12.390625}
	got := answer(t, newBench(ranking.Options{}, want...), threePassages)
	for i, r := range got.Rankings {
		require.Equal(t, i, r.Index)
		require.Equal(t, math.Float32bits(want[i]), math.Float32bits(r.Logit))
	}
}

func TestCase_B16_AnswerHoldsRankingsIndexAndLogitOnly(t *testing.T) {
	w := post(newBench(ranking.Options{}, 1, 2, 3), ranking.RouteRanking, threePassages)
	var doc map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &doc))
	require.Len(t, doc, 1)
	var entries []map[string]json.Number
	require.NoError(t, json.Unmarshal(doc["rankings"], &entries))
	require.Len(t, entries, 3)
	for _, e := range entries {
		require.Len(t, e, 2)
		_, err := e["index"].Int64()
		require.NoError(t, err)
		_, err = e["logit"].Float64()
		require.NoError(t, err)
	}
}

func TestCase_D07_NamesAreNotFolded(t *testing.T) {
	for body, field := range map[string]string{
		`{"Model":"m","query":{"text":"q"},"passages":[{"text":"a"}]}`:           "Model",
		`{"model":"m","query":{"text":"q"},"pa\u017f\u017fages":[{"text":"a"}]}`: "paſſages",
		`{"model":"m","query":{"Text":"q"},"passages":[{"text":"a"}]}`:           "Text",
		`{"model":"m","query":{"text":"q"},"passages":[{"TEXT":"a"}]}`:           "TEXT",
	} {
		b := newBench(ranking.Options{}, 1)
		e := refusal(t, post(b, ranking.RouteRanking, body), 400, ranking.CodeUnsupported)
		require.Contains(t, e.Message, `unknown field "`+field+`"`)
		b.rejected(t, ranking.CodeUnsupported)
	}
}

func TestCase_D08_DoubledNamesAndTrailingDataAreRefused(t *testing.T) {
	for body, part := range map[string]string{
		`{"model":"a","model":"b","query":{"text":"q"},"passages":[{"text":"a"}]}`:          `duplicate field "model"`,
		`{"model":"a","query":{"text":"q","text":"r"},"passages":[{"text":"a"}]}`:           `query.text: duplicate field "text"`,
		`{"model":"a","query":{"text":"q"},"passages":[{"text":"a","te\u0078t":"b"}]}`:      `passages[0].text: duplicate field "text"`,
		`{"model":"a","query":{"text":"q"},"passages":[{"text":"a"}]} x`:                    "more data after the object",
		`{"model":"a","query":{"text":"q"},"passages":[{"text":"a"}]}{"model":"a"}`:         "more data after the object",
		`{"query":{"text":"q"},"passages":[{"text":"a"}],"passages":[{"text":"injected"}]}`: `duplicate field "passages"`,
	} {
		b := newBench(ranking.Options{}, 1)
		e := refusal(t, post(b, ranking.RouteRanking, body), 400, ranking.CodeInvalid)
		require.Contains(t, e.Message, part)
		b.rejected(t, ranking.CodeInvalid)
	}
}
