package monotime_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/internal/monotime"
)

func TestTwoClocksAgree(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("instants of two clocks compare on Linux only")
	}
	a, b := monotime.New(), monotime.New()
	require.True(t, a.Shared())
	now := time.Now()
	// Both are calibrated against one kernel clock; a scheduling gap inside the best of eight tries is the only error.
	require.InDelta(t, int64(a.At(now)), int64(b.At(now)), float64(10*time.Millisecond))
}

func TestConversions(t *testing.T) {
	c := monotime.New()
	now := time.Now()
	i := c.At(now)
	require.True(t, c.Time(i).Equal(now))
	require.Equal(t, 3*time.Second, c.At(now.Add(3*time.Second)).Sub(i))
	// The wall clock is slewed against the monotonic one, and a Go time reads the two one after the other.
	require.InDelta(t, now.UnixNano(), c.WallBase()+int64(i), float64(50*time.Millisecond))
	require.GreaterOrEqual(t, c.Now(), i)
}

func ExampleClock() {
	c := monotime.New()
	start := c.Now()
	fmt.Println(start.Add(time.Second).Sub(start))
	// Output: 1s
}
