package ranking_test

import (
	"encoding/json"
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/trtmc-go/trtmc/ranking"
)

func TestAppendResponseWritesWhatEncodingJSONWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rankings := []ranking.Ranking{}
		for i, f := range rapid.SliceOf(anyFinite()).Draw(t, "logits") {
			rankings = append(rankings, ranking.Ranking{Index: i * 7, Logit: f})
		}
		got, err := ranking.AppendResponse([]byte("before"), rankings)
		require.NoError(t, err)
		var back ranking.Response
		require.Equal(t, "before", string(got[:6]))
		require.NoError(t, json.Unmarshal(got[6:], &back))
		require.Equal(t, len(rankings), len(back.Rankings))
		for i := range rankings {
			require.Equal(t, math.Float32bits(rankings[i].Logit), math.Float32bits(back.Rankings[i].Logit))
			require.Equal(t, rankings[i].Index, back.Rankings[i].Index)
		}
	})
}

// TestLogitsSurviveReadersWithDoubles stands for clients in Python and JavaScript, which read a float64 and may
// narrow it afterwards. Rounding twice must not move the value.
func TestLogitsSurviveReadersWithDoubles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := anyFinite().Draw(t, "logit")
		b, err := ranking.AppendResponse(nil, []ranking.Ranking{{Logit: want}})
		require.NoError(t, err)
		var doc struct {
			Rankings []struct{ Logit json.Number }
		}
		require.NoError(t, json.Unmarshal(b, &doc))
		wide, err := strconv.ParseFloat(doc.Rankings[0].Logit.String(), 64)
		require.NoError(t, err)
		require.Equal(t, math.Float32bits(want), math.Float32bits(float32(wide)))
	})
}

// anyFinite draws from all bit patterns, so that subnormals and the ends of the range are as likely as the middle.
func anyFinite() *rapid.Generator[float32] {
	famous := rapid.SampledFrom([]uint32{0x15ae43fd, 0x95ae43fd}) // see roundsTwice
	return rapid.Map(rapid.OneOf(rapid.Uint32(), famous), math.Float32frombits).Filter(func(f float32) bool {
		return !math.IsNaN(float64(f)) && !math.IsInf(float64(f), 0)
	})
}

func TestTheLogitThatRoundsTwiceKeepsItsFloat64Digits(t *testing.T) {
	b, err := ranking.AppendResponse(nil, []ranking.Ranking{{Logit: math.Float32frombits(0x15ae43fd)}})
	require.NoError(t, err)
	require.Equal(t, `{"rankings":[{"index":0,"logit":7.038530691851209e-26}]}`, string(b))
}

func TestAppendResponseRefusesWhatJSONCannotHold(t *testing.T) {
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		dst := []byte("kept")
		got, err := ranking.AppendResponse(dst, []ranking.Ranking{{Logit: 1}, {Index: 1, Logit: float32(f)}})
		require.ErrorIs(t, err, ranking.ErrScores)
		require.Equal(t, "kept", string(got))
	}
}
