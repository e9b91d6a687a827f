// Package monotime reads instants that two processes on one host can compare.
//
// On Linux an [Instant] is nanoseconds of CLOCK_MONOTONIC, the clock the Go runtime itself uses, so instants written
// by a server and by a client on the same host are on one axis. Elsewhere the zero is the moment New was called, and
// only instants of one process compare; [Clock.Shared] tells which it is.
package monotime

import "time"

// Instant is a point in monotonic time, in nanoseconds; differences are durations.
type Instant int64

// Sub returns i-j.
func (i Instant) Sub(j Instant) time.Duration { return time.Duration(i - j) }

// Add returns i+d.
func (i Instant) Add(d time.Duration) Instant { return i + Instant(d) }

// Clock converts between the monotonic axis and Go times. Make one with New and pass it on; it is immutable and safe
// for concurrent use.
type Clock struct {
	origin time.Time // carries a monotonic reading
	mono   Instant   // the Instant of origin
	shared bool
}

// New calibrates a clock.
func New() Clock {
	mono, at, shared := calibrate()
	return Clock{origin: at, mono: mono, shared: shared}
}

// Shared reports whether instants compare across processes of the host.
func (c Clock) Shared() bool { return c.shared }

// Name is the word written beside instants: "CLOCK_MONOTONIC", or "process" when they do not compare across processes.
func (c Clock) Name() string {
	if c.shared {
		return "CLOCK_MONOTONIC"
	}
	return "process"
}

// Now returns the current instant.
func (c Clock) Now() Instant { return c.mono.Add(time.Since(c.origin)) }

// At returns the instant of a time that carries a monotonic reading, such as one from time.Now.
func (c Clock) At(t time.Time) Instant { return c.mono.Add(t.Sub(c.origin)) }

// Time returns the time of an instant.
func (c Clock) Time(i Instant) time.Time { return c.origin.Add(i.Sub(c.mono)) }

// WallBase returns the wall time, in Unix nanoseconds, of monotonic instant 0 as of the calibration:
// wall = WallBase + instant, for as long as nobody steps the wall clock.
func (c Clock) WallBase() int64 { return c.origin.UnixNano() - int64(c.mono) }
