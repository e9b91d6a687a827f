package ranking

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Rank turns the scores of n passages, in passage order, into rankings: score descending, equal scores by index. The
// scores pass unchanged. An error wraps [ErrScores] when their number is not n or one of them is not finite.
func Rank(scores []float32, n int) ([]Ranking, error) {
	if len(scores) != n {
		return nil, fmt.Errorf("%w: got %d for %d passages", ErrScores, len(scores), n)
	}
	out := make([]Ranking, n)
	for i, s := range scores {
		if !finite(s) {
			return nil, fmt.Errorf("%w: score of passage %d is not finite: %v", ErrScores, i, s)
		}
		out[i] = Ranking{Index: i, Logit: s}
	}
	slices.SortFunc(out, func(a, b Ranking) int {
		// -0 and 0 are equal here, as IEEE 754 has it, so the index decides between them.
		if a.Logit != b.Logit {
			return cmp.Compare(b.Logit, a.Logit)
		}
		return cmp.Compare(a.Index, b.Index)
	})
	return out, nil
}

func finite(s float32) bool {
	f := float64(s)
	return !math.IsNaN(f) && !math.IsInf(f, 0)
}

// Apply returns what the rankings of an answer select from passages, in rank order; with top_k that is fewer than
// there are passages. It works by index, never by position. An error wraps [ErrIndex] when an index is out of range
// or doubled, so that an answer of a foreign server cannot be applied to the wrong passages.
func Apply[T any](rankings []Ranking, passages []T) ([]T, error) {
	out := make([]T, 0, len(rankings))
	seen := make([]bool, len(passages))
	for i, r := range rankings {
		switch {
		case r.Index < 0 || r.Index >= len(passages):
			return nil, fmt.Errorf("%w: rankings[%d] names passage %d of %d", ErrIndex, i, r.Index, len(passages))
		case seen[r.Index]:
			return nil, fmt.Errorf("%w: rankings[%d] names passage %d again", ErrIndex, i, r.Index)
		}
		seen[r.Index] = true
		out = append(out, passages[r.Index])
	}
	return out, nil
}
