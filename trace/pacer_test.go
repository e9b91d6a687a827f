package trace

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/internal/monotime"
)

func TestPacersAreNeverEarly(t *testing.T) {
	clock := monotime.New()
	for _, portable := range []bool{false, true} {
		p := newPacer(clock, portable)
		for _, d := range []time.Duration{-time.Second, 0, 50 * time.Microsecond, 300 * time.Microsecond, 2 * time.Millisecond, 12 * time.Millisecond} {
			until := clock.Now().Add(d)
			p.wait(t.Context(), until)
			require.GreaterOrEqual(t, clock.Now(), until, "portable %t, %v", portable, d)
		}
		p.close()
	}
}

func TestCancellationWakesThePacer(t *testing.T) {
	clock := monotime.New()
	for _, portable := range []bool{false, true} {
		p := newPacer(clock, portable)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Millisecond, cancel)
		p.wait(ctx, clock.Now().Add(time.Hour)) // hangs if it is not woken
		p.close()
	}
}

func TestPacerCanBeUsedAgain(t *testing.T) {
	clock := monotime.New()
	for range 3 {
		p := newPacer(clock, false)
		p.wait(t.Context(), clock.Now().Add(time.Millisecond))
		p.close()
	}
}

func TestTimerPacerIsExactInVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := monotime.New()
		until := clock.Now().Add(time.Hour)
		timerPacer{clock}.wait(t.Context(), until)
		require.Equal(t, until, clock.Now())
	})
}
