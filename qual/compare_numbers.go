package qual

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/trtmc-go/trtmc/trace"
)

// The fewest samples on each side of a comparison.
const (
	fewestForShare  = 20
	fewestForMedian = 20
	fewestForTail   = 100 // p90: at least 10 values above it
)

// leastTime is the time in milliseconds under which a ratio says more of the scheduler than of the server.
const leastTime = 0.01

// The bootstrap: resamples, the seed, and how many values it takes at most. More values are thinned at equal steps of
// rank, which keeps the shape and makes the interval wider, never narrower.
const (
	resamples    = 2000
	resampleSeed = 1
	resampleMost = 20000
)

// compareTimes compares one percentile; the values must be sorted.
func compareTimes(name string, a, b []float64, p float64) TimeComparison {
	out := TimeComparison{Name: name, SamplesA: len(a), SamplesB: len(b), A: percentile(a, p), B: percentile(b, p), Ratio: tooFew(), Low: tooFew(), High: tooFew()}
	fewest := fewestForMedian
	if p > 0.5 {
		fewest = fewestForTail
	}
	switch {
	case len(a) < fewest || len(b) < fewest:
		out.Finding = fmt.Sprintf("%s: want %d in both", TooFewSamples, fewest)
	case slices.Equal(a, b):
		out.Ratio, out.Low, out.High, out.Finding = 1, 1, 1, NoDifference
	case out.A < leastTime || out.B < leastTime:
		out.Finding = fmt.Sprintf("under %g ms: too small for a ratio", leastTime)
	default:
		out.Ratio = out.B / out.A
		low, high := ratioInterval(thin(a), thin(b), p)
		out.Low, out.High = Figure(low), Figure(high)
		out.Finding = ratioWords(low, high)
	}
	return out
}

func ratioWords(low, high float64) string {
	switch {
	case low > 1:
		return fmt.Sprintf("B is slower by %.1f to %.1f %%", 100*(low-1), 100*(high-1))
	case high < 1:
		return fmt.Sprintf("B is faster by %.1f to %.1f %%", 100*(1-high), 100*(1-low))
	}
	return NoDifference
}

// ratioInterval returns the 2.5th and 97.5th percentile of the ratio over resamples. Equal values give equal results.
func ratioInterval(a, b []float64, p float64) (low, high float64) {
	random := rand.New(rand.NewPCG(resampleSeed, 0))
	ratios := make([]float64, 0, resamples)
	countA, countB := make([]int, len(a)), make([]int, len(b))
	for range resamples {
		under, over := resampled(random, a, countA, p), resampled(random, b, countB, p)
		if under > 0 {
			ratios = append(ratios, over/under)
		}
	}
	if len(ratios) == 0 {
		return 0, math.Inf(1)
	}
	slices.Sort(ratios)
	return trace.Quantile(ratios, 0.025), trace.Quantile(ratios, 0.975)
}

// resampled draws as many values as there are, with replacement, and returns the pth of them by rank.
func resampled(random *rand.Rand, sorted []float64, counts []int, p float64) float64 {
	clear(counts)
	for range sorted {
		counts[random.IntN(len(sorted))]++
	}
	rank := int(math.Ceil(p * float64(len(sorted))))
	for i, n := range counts {
		if rank -= n; rank <= 0 {
			return sorted[i]
		}
	}
	return sorted[len(sorted)-1]
}

func thin(sorted []float64) []float64 {
	if len(sorted) <= resampleMost {
		return sorted
	}
	out := make([]float64, resampleMost)
	for i := range out {
		out[i] = sorted[i*(len(sorted)-1)/(resampleMost-1)]
	}
	return out
}

// find says whether the shares differ: the 95 % interval of Agresti and Caffo (The American Statistician 54, 2000),
// which adds one success and one failure to each side.
func (s ShareComparison) find() string {
	switch {
	case s.A == s.B && s.OfferedA == s.OfferedB:
		return NoDifference
	case s.OfferedA < fewestForShare || s.OfferedB < fewestForShare:
		return fmt.Sprintf("%s: want %d in both", TooFewSamples, fewestForShare)
	}
	nA, nB := float64(s.OfferedA+2), float64(s.OfferedB+2)
	pA, pB := float64(s.A+1)/nA, float64(s.B+1)/nB
	margin := 1.959964 * math.Sqrt(pA*(1-pA)/nA+pB*(1-pB)/nB)
	low, high := 100*(pB-pA-margin), 100*(pB-pA+margin)
	if low <= 0 && high >= 0 {
		return NoDifference
	}
	return fmt.Sprintf("B has %+.1f to %+.1f points", low, high)
}
