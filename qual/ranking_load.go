package qual

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// Loop says what makes a client send the next request.
type Loop string

// The loops.
const (
	ClosedLoop Loop = "closed" // an earlier request has ended
	OpenLoop   Loop = "open"   // its instant has come, whatever the server does
)

// Spacing is how the requests of an open loop follow each other.
type Spacing string

// The spacings.
const (
	ConstantSpacing Spacing = "constant" // equal gaps
	PoissonSpacing  Spacing = "poisson"  // exponential gaps, independent of each other
)

// Load says when the requests of a workload without recorded times are sent. The zero value is a closed loop of one
// request at a time.
type Load struct {
	Loop        Loop    `json:"loop"`                  // "" means ClosedLoop
	Concurrency int     `json:"concurrency,omitempty"` // closed: requests under way; 0 means 1
	Rate        float64 `json:"rate,omitempty"`        // open: requests per second, above 0
	Spacing     Spacing `json:"spacing,omitempty"`     // open: "" means ConstantSpacing
	Seed        uint64  `json:"seed,omitempty"`        // open with PoissonSpacing
}

// withDefaults checks the load and fills in what is left out.
func (l Load) withDefaults() (Load, error) {
	switch l.Loop {
	case "", ClosedLoop:
		if l.Concurrency < 0 {
			return l, fmt.Errorf("concurrency %d: want 1 or more", l.Concurrency)
		}
		return Load{Loop: ClosedLoop, Concurrency: max(l.Concurrency, 1)}, nil
	case OpenLoop:
	default:
		return l, fmt.Errorf("loop %q: want closed or open", l.Loop)
	}
	if math.IsNaN(l.Rate) || l.Rate <= 0 || l.Rate > 1e6 {
		return l, fmt.Errorf("rate %g: want requests per second above 0, at most 1000000", l.Rate)
	}
	switch l.Spacing {
	case "", ConstantSpacing:
		return Load{Loop: OpenLoop, Rate: l.Rate, Spacing: ConstantSpacing}, nil
	case PoissonSpacing:
		return Load{Loop: OpenLoop, Rate: l.Rate, Spacing: PoissonSpacing, Seed: l.Seed}, nil
	}
	return l, fmt.Errorf("spacing %q: want constant or poisson", l.Spacing)
}

// offsets returns the offsets of n requests in whole microseconds, the first at 0. Those of a closed loop are all 0.
func (l Load) offsets(n int) []time.Duration {
	out := make([]time.Duration, n)
	if l.Loop != OpenLoop {
		return out
	}
	random := rand.New(rand.NewPCG(l.Seed, 0))
	at := 0.0 // seconds
	for i := range out {
		if l.Spacing == ConstantSpacing {
			at = float64(i) / l.Rate
		} else if i > 0 {
			at += random.ExpFloat64() / l.Rate
		}
		out[i] = time.Duration(math.Round(at*1e6)) * time.Microsecond
	}
	return out
}

// Words describes the load for people.
func (l Load) Words() string {
	switch {
	case l.Loop != OpenLoop:
		return fmt.Sprintf("closed loop, %d at a time", max(l.Concurrency, 1))
	case l.Spacing == PoissonSpacing:
		return fmt.Sprintf("open loop, %g requests/s, exponential gaps, seed %d", l.Rate, l.Seed)
	}
	return fmt.Sprintf("open loop, %g requests/s, equal gaps", l.Rate)
}
