package video

import (
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"
	"time"
)

// The encoder takes 1 to 60 frames a second; it would silently bend other rates into that range.
const (
	minRate = 1
	maxRate = 60
)

// Rate is a number of frames per second as an exact fraction, such as 24/1 or 24000/1001. The zero Rate is unknown.
type Rate struct {
	Num int `json:"num"`
	Den int `json:"den"`
}

// ParseRate reads a decimal number such as 16 or 23.976 as the exact fraction that it is. The error wraps ErrRate when
// the text is no such number or the rate is outside 1 to 60.
func ParseRate(s string) (Rate, error) {
	whole, frac, dotted := strings.Cut(s, ".")
	if !digits(whole) || dotted && !digits(frac) || len(whole) > 3 || len(frac) > 6 {
		return Rate{}, fmt.Errorf("%w: want a decimal number such as 24 or 23.976 with at most 6 decimals, got %q", ErrRate, clip(s))
	}
	num, err := strconv.Atoi(whole + frac)
	if err != nil {
		return Rate{}, fmt.Errorf("%w: %q: %w", ErrRate, clip(s), err)
	}
	den := 1
	for range frac {
		den *= 10
	}
	r := Rate{num, den}.reduced()
	return r, r.check()
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// Known reports whether r is a rate at all.
func (r Rate) Known() bool { return r.Num > 0 && r.Den > 0 }

// Float returns the rate as a number, 0 when it is unknown.
func (r Rate) Float() float64 {
	if !r.Known() {
		return 0
	}
	return float64(r.Num) / float64(r.Den)
}

// String returns the rate as num/den, the form that ffprobe uses.
func (r Rate) String() string { return strconv.Itoa(r.Num) + "/" + strconv.Itoa(r.Den) }

// Duration returns how long n frames last, rounded to the nanosecond; 0 when the rate is unknown.
func (r Rate) Duration(n int) time.Duration {
	if !r.Known() {
		return 0
	}
	// Whole seconds first, so that long clips do not overflow.
	units := int64(n) * int64(r.Den)
	whole, rest := units/int64(r.Num), units%int64(r.Num)
	return time.Duration(whole)*time.Second + time.Duration(math.Round(float64(rest)*1e9/float64(r.Num)))
}

func (r Rate) reduced() Rate {
	a, b := r.Num, r.Den
	for b != 0 {
		a, b = b, a%b
	}
	if a == 0 {
		return r
	}
	return Rate{r.Num / a, r.Den / a}
}

func (r Rate) check() error {
	// The denominators of a parsed decimal and of the NTSC rates stay far below the limit, which keeps every product
	// of this package inside 64 bits.
	if !r.Known() || r.Den > 1_000_000 || r.Num < minRate*r.Den || r.Num > maxRate*r.Den {
		return fmt.Errorf("%w: want %d to %d frames per second, got %s", ErrRate, minRate, maxRate, r)
	}
	return nil
}

// ticks returns the timescale of a track and the length of one frame in it.
func (r Rate) ticks() (timescale, delta int) {
	r = r.reduced()
	if r.Den == 1 {
		return r.Num * 1000, 1000
	}
	return r.Num, r.Den
}

// UnmarshalJSON reads the form that a Rate marshals to and reduces it.
func (r *Rate) UnmarshalJSON(b []byte) error {
	type plain Rate
	var p plain
	if err := json.Unmarshal(b, &p); err != nil {
		return err
	}
	*r = Rate(p).reduced()
	return nil
}

// exact is how far a timestamp may be from an even grid: native timestamps are float64 seconds, and families that
// compute them in float32 are off by less than this for clips of minutes.
const exact = 5 * time.Microsecond

// coarse is how far timestamps may be from the rate that the request or the model declares, for models that round
// their timestamps to milliseconds.
const coarse = time.Millisecond

// RateOf returns the rate of a clip. Timestamps decide when there are at least two: evenly spaced ones give the rate
// by themselves, and must agree with declared to within a millisecond when that is known. Without them declared is
// the rate. The error wraps ErrRate when neither says anything, when they disagree, when timestamps are uneven, or
// when the rate is outside 1 to 60: no rate is ever made up.
func RateOf(timestamps []time.Duration, declared Rate) (Rate, error) {
	if len(timestamps) < 2 {
		if !declared.Known() {
			return Rate{}, fmt.Errorf("%w: the clip has no timestamps and neither the request nor the model declares fps", ErrRate)
		}
		return declared, declared.check()
	}
	if declared.Known() {
		if i := uneven(timestamps, declared, coarse); i > 0 {
			return Rate{}, fmt.Errorf("%w: frame %d is at %v, which is not %s frames per second as declared",
				ErrRate, i, timestamps[i], declared)
		}
		return declared, declared.check()
	}
	span := timestamps[len(timestamps)-1] - timestamps[0]
	if span <= 0 {
		return Rate{}, fmt.Errorf("%w: all timestamps are %v", ErrRate, timestamps[0])
	}
	mean := span.Seconds() / float64(len(timestamps)-1)
	for r := range candidates(mean) {
		if uneven(timestamps, r, exact) < 0 {
			return r.reduced(), r.check()
		}
	}
	return Rate{}, fmt.Errorf("%w: the timestamps of the clip are not evenly spaced", ErrRate)
}

// candidates yields the fractions near one frame every mean seconds, those that people use first: whole numbers, then
// thousandths over 1001 as in 24000/1001, then by denominator.
func candidates(mean float64) iter.Seq[Rate] {
	near := func(num, den int) Rate {
		return Rate{num * int(math.Round(min(float64(den)/mean/float64(num), maxRate*1001))), den}
	}
	return func(yield func(Rate) bool) {
		if !yield(near(1, 1)) || !yield(near(1000, 1001)) {
			return
		}
		for den := 2; den <= 1001; den++ {
			if !yield(near(1, den)) {
				return
			}
		}
	}
}

// uneven returns the first frame that is off the grid of r by more than tolerance, -1 when there is none.
func uneven(timestamps []time.Duration, r Rate, tolerance time.Duration) int {
	if !r.Known() {
		return 0
	}
	for i, t := range timestamps {
		if d := t - timestamps[0] - r.Duration(i); d > tolerance || d < -tolerance {
			return i
		}
	}
	return -1
}
