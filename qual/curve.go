package qual

import "math"

// curvePoints is the most points that a curve has: enough for a plot, little beside the evidence.
const curvePoints = 101

// curve returns the shape of a distribution: the values at equal steps of rank from the smallest to the largest, all
// of them when there are at most curvePoints. The values must be sorted.
func curve(sorted []float64) []Figure {
	n := min(len(sorted), curvePoints)
	if n < 2 {
		return nil
	}
	out := make([]Figure, n)
	for i := range out {
		// Rounding keeps the largest value last and every point a value that was measured.
		out[i] = Figure(sorted[int(math.Round(float64(i)*float64(len(sorted)-1)/float64(n-1)))])
	}
	return out
}

// share is the part of the samples, in percent, that is at most the ith point of a curve of n points.
func share(i, n int) float64 { return 100 * float64(i+1) / float64(n) }
