package qual

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/trtmc-go/trtmc/ranking"
)

func TestAnAnswerMustBeTheDirectScores(t *testing.T) {
	direct := []float32{0.1, 2, 2, -3}
	good := `{"rankings":[{"index":1,"logit":2},{"index":2,"logit":2},{"index":0,"logit":0.1},{"index":3,"logit":-3}]}`
	require.Empty(t, sameAsDirect([]byte(good), direct))
	require.Empty(t, sameAsDirect([]byte(`{"rankings":[{"index":1,"logit":2.0e0},{"index":2,"logit":2},{"index":0,"logit":0.10000000149011612},{"index":3,"logit":-3}],"usage":{}}`), direct),
		"other decimals of the same float32 and further members are no difference")
	for want, answer := range map[string]string{
		"not rankings":              `[1]`,
		"0 rankings":                `{}`,
		"3 rankings":                `{"rankings":[{"index":1,"logit":2},{"index":2,"logit":2},{"index":0,"logit":0.1}]}`,
		"lacks index or logit":      `{"rankings":[{"index":1,"logit":2},{"index":2},{"index":0,"logit":0.1},{"index":3,"logit":-3}]}`,
		"names passage 4 of 4":      `{"rankings":[{"index":1,"logit":2},{"index":2,"logit":2},{"index":0,"logit":0.1},{"index":4,"logit":-3}]}`,
		"names passage -1 of 4":     `{"rankings":[{"index":-1,"logit":2},{"index":2,"logit":2},{"index":0,"logit":0.1},{"index":3,"logit":-3}]}`,
		"names passage 1 again":     `{"rankings":[{"index":1,"logit":2},{"index":1,"logit":2},{"index":0,"logit":0.1},{"index":3,"logit":-3}]}`,
		"of equal score":            `{"rankings":[{"index":2,"logit":2},{"index":1,"logit":2},{"index":0,"logit":0.1},{"index":3,"logit":-3}]}`,
		"higher score":              `{"rankings":[{"index":0,"logit":0.1},{"index":1,"logit":2},{"index":2,"logit":2},{"index":3,"logit":-3}]}`,
		"0.1 from the direct":       `{"rankings":[{"index":1,"logit":2},{"index":2,"logit":2},{"index":0,"logit":0.10000001},{"index":3,"logit":-3}]}`,
		"-3 from the direct":        `{"rankings":[{"index":1,"logit":2},{"index":2,"logit":2},{"index":0,"logit":0.1},{"index":3,"logit":-3.0000002}]}`,
		"is no float32":             `{"rankings":[{"index":1,"logit":1e60},{"index":2,"logit":2},{"index":0,"logit":0.1},{"index":3,"logit":-3}]}`,
		"swapped scores, passage 0": `{"rankings":[{"index":0,"logit":2},{"index":2,"logit":2},{"index":1,"logit":0.1},{"index":3,"logit":-3}]}`,
	} {
		got := sameAsDirect([]byte(answer), direct)
		if want == "swapped scores, passage 0" {
			want = "passage 0 has score 2 over HTTP and 0.1 from the direct Task call"
		}
		require.Contains(t, got, want, answer)
	}
	require.Contains(t, sameAsDirect([]byte(`{"rankings":[{"index":0,"logit":0}]}`), []float32{float32(math.Copysign(0, -1))}), "passage 0", "0 and -0 differ in their bits")
}

// What the adapter sends for any finite scores is the same as the scores, and no longer so once one of them moved by
// the least possible.
func TestEveryAnswerOfTheAdapterEqualsItsScores(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		few := []float32{0, float32(math.Copysign(0, -1)), 1, -5, 7.038531e-26, math.MaxFloat32, math.SmallestNonzeroFloat32}
		score := rapid.OneOf(rapid.SampledFrom(few), rapid.Float32().Filter(func(f float32) bool { return !math.IsNaN(float64(f)) && !math.IsInf(float64(f), 0) }))
		scores := rapid.SliceOfN(score, 1, 20).Draw(t, "scores")
		rankings, err := ranking.Rank(scores, len(scores))
		require.NoError(t, err)
		answer, err := ranking.AppendResponse(nil, rankings)
		require.NoError(t, err)
		require.Empty(t, sameAsDirect(answer, scores))

		moved := slices.Clone(scores)
		i := rapid.IntRange(0, len(scores)-1).Draw(t, "moved")
		moved[i] = math.Nextafter32(moved[i], 0)
		if moved[i] != scores[i] {
			require.Contains(t, sameAsDirect(answer, moved), fmt.Sprintf("passage %d has score", i))
		}
	})
}

func TestPermutedScoresMustMoveWithTheirPassages(t *testing.T) {
	good := func() *DirectScores {
		return &DirectScores{Scores: []float32{1, 2, 3}, Permuted: &PermutedScores{Order: []int{2, 0, 1}, Scores: []float32{3, 1, 2}}}
	}
	require.Empty(t, samePermuted(good()))
	for want, change := range map[string]func(*DirectScores){
		"was not scored":             func(d *DirectScores) { d.Permuted = nil },
		"broke":                      func(d *DirectScores) { d.Permuted.Error = "broke" },
		"2 scores for a permutation": func(d *DirectScores) { d.Permuted.Scores = d.Permuted.Scores[:2] },
		"is no permutation":          func(d *DirectScores) { d.Permuted.Order[1] = 2 },
		"moves nothing":              func(d *DirectScores) { d.Permuted.Order, d.Permuted.Scores = []int{0, 1, 2}, d.Scores },
		"passage 2 has score 3 in its place and 3.0000002 in place 0": func(d *DirectScores) { d.Permuted.Scores[0] = 3.0000002 },
	} {
		d := good()
		change(d)
		require.Contains(t, samePermuted(d), want)
	}
}

func TestPermutationsMoveSomethingAndDependOnTheIDAlone(t *testing.T) {
	for n := 2; n < 40; n++ {
		for i := range 20 {
			id := fmt.Sprintf("rank-%03d", i)
			p := permutation(id, n)
			require.Equal(t, p, permutation(id, n))
			require.False(t, slices.IsSorted(p), "%d passages: %v", n, p)
			slices.Sort(p)
			for j, v := range p {
				require.Equal(t, j, v)
			}
		}
	}
}
