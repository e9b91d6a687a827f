//go:build !linux || !(amd64 || arm64)

package trace

import "github.com/trtmc-go/trtmc/internal/monotime"

// newPacer returns the pacer of this system: the timers of the Go runtime.
func newPacer(clock monotime.Clock, _ bool) pacer { return timerPacer{clock} }
