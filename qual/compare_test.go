package qual

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// draws are n seeded values around 100, scaled and sorted.
func draws(seed uint64, n int, scale float64) []float64 {
	random := rand.New(rand.NewPCG(seed, 7))
	out := make([]float64, n)
	for i := range out {
		out[i] = scale * (90 + 20*random.Float64())
	}
	slices.Sort(out)
	return out
}

func TestTimesAreComparedOnlyWithEnoughSamples(t *testing.T) {
	few := compareTimes("x", draws(1, 19, 1), draws(2, 500, 1), 0.5)
	require.Contains(t, few.Finding, TooFewSamples)
	require.False(t, few.Ratio.Known())
	require.NotContains(t, compareTimes("x", draws(1, 20, 1), draws(2, 20, 1), 0.5).Finding, TooFewSamples)
	require.Contains(t, compareTimes("x", draws(1, 99, 1), draws(2, 99, 1), 0.9).Finding, TooFewSamples)
	require.NotContains(t, compareTimes("x", draws(1, 100, 1), draws(2, 100, 1), 0.9).Finding, TooFewSamples)
}

func TestARealDifferenceIsFoundAndItsIntervalHoldsIt(t *testing.T) {
	slower := compareTimes("x", draws(1, 300, 1), draws(2, 300, 1.5), 0.5)
	require.Contains(t, slower.Finding, "slower")
	require.Less(t, float64(slower.Low), 1.5)
	require.Greater(t, float64(slower.High), 1.5)
	require.Contains(t, compareTimes("x", draws(1, 300, 1), draws(2, 300, 0.5), 0.9).Finding, "faster")
	require.Equal(t, slower, compareTimes("x", draws(1, 300, 1), draws(2, 300, 1.5), 0.5), "the bootstrap is seeded")
}

func TestSamplesOfOneSourceSeldomDiffer(t *testing.T) {
	found := 0
	for seed := range uint64(40) {
		if compareTimes("x", draws(2*seed, 60, 1), draws(2*seed+1, 60, 1), 0.5).Finding != NoDifference {
			found++
		}
	}
	require.LessOrEqual(t, found, 6, "a 95 %% interval is wrong in one of twenty")
}

func TestEqualValuesAreNoDifference(t *testing.T) {
	same := compareTimes("x", draws(1, 50, 1), draws(1, 50, 1), 0.5)
	require.Equal(t, NoDifference, same.Finding)
	require.Equal(t, Figure(1), same.Ratio)
}

func TestTimesNearZeroHaveNoRatio(t *testing.T) {
	c := compareTimes("x", draws(1, 50, 1e-6), draws(2, 50, 1), 0.5)
	require.Contains(t, c.Finding, "too small")
	require.False(t, c.Ratio.Known())
}

func TestManyValuesAreThinnedWithoutLosingTheirShape(t *testing.T) {
	all := draws(1, 3*resampleMost, 1)
	some := thin(all)
	require.Len(t, some, resampleMost)
	require.True(t, slices.IsSorted(some))
	require.Equal(t, all[0], some[0])
	require.Equal(t, all[len(all)-1], some[len(some)-1])
	require.InDelta(t, float64(percentile(all, 0.5)), float64(percentile(some, 0.5)), 0.01)
}

func TestSharesAreComparedByTheirInterval(t *testing.T) {
	for name, c := range map[string]struct {
		s    ShareComparison
		want string
	}{
		"same":            {ShareComparison{A: 50, OfferedA: 50, B: 50, OfferedB: 50}, NoDifference},
		"same but few":    {ShareComparison{A: 5, OfferedA: 5, B: 5, OfferedB: 5}, NoDifference},
		"few":             {ShareComparison{A: 5, OfferedA: 5, B: 1, OfferedB: 5}, TooFewSamples},
		"within chance":   {ShareComparison{A: 50, OfferedA: 50, B: 49, OfferedB: 50}, NoDifference},
		"far apart":       {ShareComparison{A: 50, OfferedA: 50, B: 20, OfferedB: 50}, "B has -"},
		"far apart, more": {ShareComparison{A: 0, OfferedA: 50, B: 20, OfferedB: 50}, "B has +"},
	} {
		t.Run(name, func(t *testing.T) { require.Contains(t, c.s.find(), c.want) })
	}
}
