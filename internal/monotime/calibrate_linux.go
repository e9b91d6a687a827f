package monotime

import (
	"syscall"
	"time"
	"unsafe"
)

// clockMonotonic is CLOCK_MONOTONIC of linux/time.h.
const clockMonotonic = 1

// calibrate pairs a kernel reading with a Go time. A reading between two Go times is off by at most half their
// distance, so the closest of a few tries is kept.
func calibrate() (Instant, time.Time, bool) {
	var best time.Duration = 1 << 62
	var mono Instant
	at := time.Now()
	for range 8 {
		var ts syscall.Timespec
		before := time.Now()
		_, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&ts)), 0)
		after := time.Now()
		if errno != 0 {
			return 0, time.Now(), false
		}
		if width := after.Sub(before); width < best {
			best, mono, at = width, Instant(ts.Nano()), before.Add(width/2)
		}
	}
	return mono, at, true
}
