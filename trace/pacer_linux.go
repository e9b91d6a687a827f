//go:build linux && (amd64 || arm64)

package trace

import (
	"context"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"github.com/trtmc-go/trtmc/internal/monotime"
)

// Constants of linux/time.h, linux/prctl.h and sys/resource.h.
const (
	clockMonotonic   = 1
	timerAbstime     = 1
	prSetTimerslack  = 29
	prGetTimerslack  = 30
	exactTimerslack  = 1                     // nanoseconds; the default of 50 microseconds would be the lateness
	kernelSleep      = 3 * time.Millisecond  // of a wait are slept in the kernel; before that cancellation wakes at once
	spin             = 80 * time.Microsecond // of a wait are spun, since waking takes about as long
	runtimeTimerLate = time.Millisecond      // how late the runtime's timers usually are
	prioProcess      = 0                     // of setpriority; a thread id on Linux, 0 for the calling thread
	niceBase         = 20                    // getpriority returns niceBase - nice
	urgent           = -20                   // nice
)

// threadPacer owns an operating system thread and sleeps to absolute instants of CLOCK_MONOTONIC.
type threadPacer struct {
	clock monotime.Clock
	slack uintptr // to restore
	tuned bool
	nice  int // to restore
	first bool
}

// newPacer returns the most exact pacer for the clock. It must be closed by the goroutine that made it.
func newPacer(clock monotime.Clock, portable bool) pacer {
	if portable || !clock.Shared() {
		return timerPacer{clock}
	}
	runtime.LockOSThread()
	p := &threadPacer{clock: clock}
	slack, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, prGetTimerslack, 0, 0)
	if errno == 0 {
		_, _, errno = syscall.RawSyscall(syscall.SYS_PRCTL, prSetTimerslack, exactTimerslack, 0)
		p.slack, p.tuned = slack, errno == 0
	}
	p.hurry()
	return p
}

// hurry puts the thread before others where the process may do that. Otherwise a server on the same processor that the
// first request of a burst wakes keeps the others waiting for up to a millisecond. The thread does nothing but send.
func (p *threadPacer) hurry() {
	was, _, errno := syscall.RawSyscall(syscall.SYS_GETPRIORITY, prioProcess, 0, 0)
	if errno != 0 {
		return
	}
	p.nice = niceBase - int(was)
	p.first = p.renice(urgent)
}

func (p *threadPacer) renice(nice int) bool {
	_, _, errno := syscall.RawSyscall(syscall.SYS_SETPRIORITY, prioProcess, 0, uintptr(nice))
	return errno == 0
}

func (p *threadPacer) close() {
	if p.tuned {
		// Slack 0 would mean the default of the thread's parent, which is what it was unless somebody had set it.
		syscall.RawSyscall(syscall.SYS_PRCTL, prSetTimerslack, p.slack, 0)
	}
	if p.first {
		p.renice(p.nice)
	}
	runtime.UnlockOSThread()
}

func (p *threadPacer) wait(ctx context.Context, until monotime.Instant) {
	if left := until.Sub(p.clock.Now()); left > kernelSleep+runtimeTimerLate {
		if !rest(ctx, left-kernelSleep) {
			return
		}
	}
	wake := until.Add(-spin)
	for p.clock.Now() < wake && ctx.Err() == nil {
		ts := syscall.NsecToTimespec(int64(wake))
		// An interrupted sleep (EINTR) is resumed by the loop.
		_, _, errno := syscall.Syscall6(syscall.SYS_CLOCK_NANOSLEEP, clockMonotonic, timerAbstime, uintptr(unsafe.Pointer(&ts)), 0, 0, 0)
		if errno != 0 && errno != syscall.EINTR {
			timerPacer{p.clock}.wait(ctx, until)
			return
		}
	}
	for p.clock.Now() < until && ctx.Err() == nil {
	}
}
