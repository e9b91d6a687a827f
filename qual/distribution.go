package qual

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/trtmc-go/trtmc/trace"
)

// Figure is a number that may not exist. In JSON it is a number rounded to 6 decimals, null when the samples are too
// few to tell, or "not reached".
type Figure float64

// tooFew and notReached are the figures that are no numbers.
func tooFew() Figure     { return Figure(math.NaN()) }
func notReached() Figure { return Figure(math.Inf(1)) }

// Known reports whether the figure is a number.
func (f Figure) Known() bool { return !math.IsNaN(float64(f)) && !math.IsInf(float64(f), 0) }

// String returns the number with three decimals, or words.
func (f Figure) String() string {
	switch {
	case math.IsNaN(float64(f)):
		return "too few"
	case math.IsInf(float64(f), 0):
		return "not reached"
	}
	return strconv.FormatFloat(float64(f), 'f', 3, 64)
}

// MarshalJSON writes the form described at Figure.
func (f Figure) MarshalJSON() ([]byte, error) {
	switch {
	case math.IsNaN(float64(f)):
		return []byte("null"), nil
	case math.IsInf(float64(f), 0):
		return []byte(`"not reached"`), nil
	}
	return strconv.AppendFloat(nil, math.Round(float64(f)*1e6)/1e6, 'f', -1, 64), nil
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (f *Figure) UnmarshalJSON(data []byte) error {
	switch string(data) {
	case "null":
		*f = tooFew()
		return nil
	case `"not reached"`:
		*f = notReached()
		return nil
	}
	var v float64
	if err := json.Unmarshal(data, &v); err != nil {
		return errors.New(`want a number, null or "not reached"`)
	}
	*f = Figure(v)
	return nil
}

// Distribution describes samples of one quantity. A percentile p needs at least 1/(1-p) samples, so that it is not
// just another word for the maximum: p50 2, p90 10, p99 100.
type Distribution struct {
	Samples int    `json:"samples"`
	Min     Figure `json:"min"`
	Mean    Figure `json:"mean"`
	P50     Figure `json:"p50"`
	P90     Figure `json:"p90"`
	P99     Figure `json:"p99"`
	Max     Figure `json:"max"`
	// OfAll is there where the samples are successes only: the same percentiles over all offered requests, those
	// that never got there counted as slower than any.
	OfAll *OfAll `json:"of_all,omitempty"`
	// Curve is the shape: values at equal steps of rank from the smallest to the largest, at most 101; absent below 2
	// samples.
	Curve []Figure `json:"curve,omitempty"`
}

// OfAll are percentiles over all offered requests of which some never reached the end.
type OfAll struct {
	Samples    int    `json:"samples"`
	NotReached int    `json:"not_reached"`
	P50        Figure `json:"p50"`
	P90        Figure `json:"p90"`
	P99        Figure `json:"p99"`
}

// distribution describes values, which it sorts.
func distribution(values []float64) Distribution {
	slices.Sort(values)
	d := Distribution{Samples: len(values), Min: tooFew(), Mean: tooFew(), Max: tooFew()}
	if len(values) > 0 {
		sum := 0.0
		for _, v := range values {
			sum += v
		}
		d.Min, d.Mean, d.Max = Figure(values[0]), Figure(sum/float64(len(values))), Figure(values[len(values)-1])
	}
	d.P50, d.P90, d.P99 = percentile(values, 0.50), percentile(values, 0.90), percentile(values, 0.99)
	d.Curve = curve(values)
	return d
}

// ofAll adds percentiles in which unreached further requests are slower than any value; values must be sorted.
func (d *Distribution) ofAll(values []float64, unreached int) {
	if unreached == 0 {
		return
	}
	for range unreached {
		values = append(values, math.Inf(1))
	}
	d.OfAll = &OfAll{
		Samples: len(values), NotReached: unreached,
		P50: percentile(values, 0.50), P90: percentile(values, 0.90), P99: percentile(values, 0.99),
	}
}

func percentile(sorted []float64, p float64) Figure {
	if len(sorted) < trace.QuantileSamples(p) {
		return tooFew()
	}
	v := trace.Quantile(sorted, p)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return notReached() // interpolating towards infinity
	}
	return Figure(v)
}

// doubt says which percentiles of a quantity its samples do not support, or "".
func (d Distribution) doubt(what string) string {
	switch {
	case d.Samples == 0:
		return ""
	case d.Samples < trace.QuantileSamples(0.90):
		return fmt.Sprintf("%s: p90 and p99 need %d and %d samples, there are %d", what, trace.QuantileSamples(0.90), trace.QuantileSamples(0.99), d.Samples)
	case d.Samples < trace.QuantileSamples(0.99):
		return fmt.Sprintf("%s: p99 needs %d samples, there are %d", what, trace.QuantileSamples(0.99), d.Samples)
	}
	return ""
}
