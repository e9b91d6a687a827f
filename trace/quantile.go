package trace

import (
	"math"
	"slices"
	"time"
)

// Quantile returns the q-quantile, q from 0 to 1, of at least one sorted value, interpolating linearly between the two
// nearest (type 7 of Hyndman and Fan, what numpy and AIPerf do). It is NaN without values.
func Quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 || math.IsNaN(q) {
		return math.NaN()
	}
	at := min(max(q, 0), 1) * float64(len(sorted)-1)
	low := int(at)
	if low+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[low] + (at-float64(low))*(sorted[low+1]-sorted[low])
}

// QuantileSamples is how many samples the q-quantile needs, so that it is not just another word for the maximum:
// 1/(1-q), such as 100 for 0.99.
func QuantileSamples(q float64) int { return int(math.Ceil(1/(1-q) - 1e-9)) }

// Distribution describes samples of one duration, in milliseconds. Without samples all numbers are 0. The quantiles are
// those of [Quantile] whatever the sample size; Samples and [QuantileSamples] tell what they are worth.
type Distribution struct {
	Samples int     `json:"samples"`
	MinMS   float64 `json:"min_ms"`
	MeanMS  float64 `json:"mean_ms"`
	P50MS   float64 `json:"p50_ms"`
	P90MS   float64 `json:"p90_ms"`
	P99MS   float64 `json:"p99_ms"`
	MaxMS   float64 `json:"max_ms"`
}

// Distribute describes samples, which it does not keep.
func Distribute(samples []time.Duration) Distribution {
	if len(samples) == 0 {
		return Distribution{}
	}
	ms := make([]float64, len(samples))
	for i, d := range samples {
		ms[i] = float64(d) / float64(time.Millisecond)
	}
	slices.Sort(ms)
	sum := 0.0
	for _, v := range ms {
		sum += v
	}
	return Distribution{
		Samples: len(ms), MinMS: ms[0], MeanMS: sum / float64(len(ms)), MaxMS: ms[len(ms)-1],
		P50MS: Quantile(ms, 0.50), P90MS: Quantile(ms, 0.90), P99MS: Quantile(ms, 0.99),
	}
}
