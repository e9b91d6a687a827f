package ranking_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/trtmc-go/trtmc/ranking"
)

func indices(rankings []ranking.Ranking) []int {
	out := make([]int, len(rankings))
	for i, r := range rankings {
		out[i] = r.Index
	}
	return out
}

func TestRankDescendsAndBreaksTiesByIndex(t *testing.T) {
	negativeZero := float32(math.Copysign(0, -1))
	tests := []struct {
		scores []float32
		want   []int
	}{
		{nil, []int{}},
		{[]float32{5}, []int{0}},
		{[]float32{1, 2, 3}, []int{2, 1, 0}},
		{[]float32{2, 2, 2, 2}, []int{0, 1, 2, 3}},
		{[]float32{1, 3, 1, 3}, []int{1, 3, 0, 2}},
		{[]float32{-1, -2, 0}, []int{2, 0, 1}},
		{[]float32{negativeZero, 0, negativeZero}, []int{0, 1, 2}},
		{[]float32{math.SmallestNonzeroFloat32, 0, -math.SmallestNonzeroFloat32}, []int{0, 1, 2}},
		{[]float32{-math.MaxFloat32, math.MaxFloat32}, []int{1, 0}},
	}
	for _, tt := range tests {
		got, err := ranking.Rank(tt.scores, len(tt.scores))
		require.NoError(t, err)
		require.Equal(t, tt.want, indices(got), "scores %v", tt.scores)
	}
}

func TestRankRefusesWrongCountsAndScoresThatAreNotFinite(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	tests := []struct {
		scores []float32
		n      int
		want   string
	}{
		{nil, 1, "got 0 for 1 passages"},
		{[]float32{1}, 2, "got 1 for 2 passages"},
		{[]float32{1, 2}, 1, "got 2 for 1 passages"},
		{[]float32{1, nan}, 2, "score of passage 1 is not finite: NaN"},
		{[]float32{inf, 1}, 2, "score of passage 0 is not finite: +Inf"},
		{[]float32{1, 1, -inf}, 3, "score of passage 2 is not finite: -Inf"},
	}
	for _, tt := range tests {
		_, err := ranking.Rank(tt.scores, tt.n)
		require.ErrorIs(t, err, ranking.ErrScores)
		require.ErrorContains(t, err, tt.want)
	}
}

func TestRankKeepsEveryScoreWithItsPassage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scores := rapid.SliceOfN(rapid.OneOf(rapid.Float32(), rapid.SampledFrom([]float32{0, 1, -1})), 0, 60).Draw(t, "scores")
		got, err := ranking.Rank(scores, len(scores))
		require.NoError(t, err)
		all := indices(got)
		slices.Sort(all)
		for i, r := range got {
			require.Equal(t, i, all[i], "indices are a permutation")
			require.Equal(t, math.Float32bits(scores[r.Index]), math.Float32bits(r.Logit))
			if i > 0 {
				before := got[i-1]
				require.True(t, before.Logit > r.Logit || before.Logit == r.Logit && before.Index < r.Index)
			}
		}
	})
}

func TestPermutingPassagesPermutesRankings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scores := rapid.SliceOfNDistinct(rapid.Float32(), 1, 40, func(f float32) float32 { return f + 0 }).Draw(t, "scores")
		perm := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)).Perm(len(scores))
		moved := make([]float32, len(scores))
		for to, from := range perm {
			moved[to] = scores[from]
		}
		plain, err := ranking.Rank(scores, len(scores))
		require.NoError(t, err)
		permuted, err := ranking.Rank(moved, len(moved))
		require.NoError(t, err)
		for i := range permuted {
			permuted[i].Index = perm[permuted[i].Index]
		}
		require.Equal(t, plain, permuted)
	})
}

func TestApplyRefusesRankingsOfOtherPassages(t *testing.T) {
	passages := []string{"a", "b"}
	for _, bad := range [][]ranking.Ranking{{{Index: 2}}, {{Index: -1}}, {{Index: 0}, {Index: 0}}} {
		_, err := ranking.Apply(bad, passages)
		require.ErrorIs(t, err, ranking.ErrIndex, "%v", bad)
	}
	got, err := ranking.Apply([]ranking.Ranking{{Index: 1}}, passages)
	require.NoError(t, err)
	require.Equal(t, []string{"b"}, got, "an answer that was cut selects fewer passages")
}
