package trace_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/trtmc-go/trtmc/internal/monotime"
	"github.com/trtmc-go/trtmc/trace"
)

func TestQuantileInterpolatesLinearly(t *testing.T) {
	// numpy.quantile([1, 2, 4, 8], ...) gives these.
	sorted := []float64{1, 2, 4, 8}
	for q, want := range map[float64]float64{0: 1, 0.25: 1.75, 0.5: 3, 0.9: 6.8, 0.99: 7.88, 1: 8} {
		require.InDelta(t, want, trace.Quantile(sorted, q), 1e-12, "q %v", q)
	}
	require.True(t, math.IsNaN(trace.Quantile(nil, 0.5)))
	require.InDelta(t, 5.0, trace.Quantile([]float64{5}, 0.99), 0)
	require.Equal(t, []int{2, 10, 100}, []int{trace.QuantileSamples(0.5), trace.QuantileSamples(0.9), trace.QuantileSamples(0.99)})
}

func TestQuantileIsBoundedAndMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(rapid.Float64Range(-1e9, 1e9), 1, 40).Draw(t, "values")
		slices.Sort(v)
		a, b := rapid.Float64Range(0, 1).Draw(t, "a"), rapid.Float64Range(0, 1).Draw(t, "b")
		low, high := trace.Quantile(v, min(a, b)), trace.Quantile(v, max(a, b))
		require.LessOrEqual(t, v[0], low)
		require.LessOrEqual(t, low, high+1e-6)
		require.LessOrEqual(t, high, v[len(v)-1])
	})
}

// onTime returns n observations 10 ms apart, each late by the same.
func onTime(n int, late time.Duration) []trace.Observation {
	seen := make([]trace.Observation, n)
	for i := range seen {
		off := time.Duration(i) * 10 * time.Millisecond
		due := monotime.Instant(1e9).Add(off)
		seen[i] = trace.Observation{Offset: off, Scheduled: due, Sent: due.Add(late), Arrived: due.Add(2 * late), Ended: due.Add(15 * time.Millisecond)}
	}
	return seen
}

func TestMeasureFaithfulReplay(t *testing.T) {
	f := trace.Measure(onTime(200, 100*time.Microsecond), trace.ClockFacts{Shared: true})
	require.Empty(t, f.Doubts)
	require.Equal(t, 200, f.Offered.Count)
	require.InDelta(t, 100, f.Offered.PerSecond, 1e-9)
	require.InDelta(t, 100, f.Arrived.PerSecond, 1e-9)
	require.InDelta(t, 0.1, f.SendLateness.P99MS, 1e-9)
	require.InDelta(t, 0.2, f.ArrivalLateness.MaxMS, 1e-9)
	require.Equal(t, 200, f.ArrivalLateness.Samples)
	require.Zero(t, f.SendSwaps+f.ArrivalSwaps)
	require.Equal(t, 2, f.MaxInFlight)
	require.NoError(t, f.Within(time.Millisecond))
	require.ErrorContains(t, f.Within(50*time.Microsecond), "p99 arrival lateness is 0.200 ms")
}

func TestMeasureDoubts(t *testing.T) {
	for want, change := range map[string]func(seen []trace.Observation, facts *trace.ClockFacts) []trace.Observation{
		"p99 needs 100 samples, there are 40": func(seen []trace.Observation, _ *trace.ClockFacts) []trace.Observation { return seen[:40] },
		"clocks of client and server are not shared": func(seen []trace.Observation, f *trace.ClockFacts) []trace.Observation {
			f.Shared = false
			return seen
		},
		"1 sent requests have no arrival": func(seen []trace.Observation, _ *trace.ClockFacts) []trace.Observation {
			seen[3].Arrived = 0
			return seen
		},
		"1 of 200 offered requests were not sent": func(seen []trace.Observation, _ *trace.ClockFacts) []trace.Observation {
			seen[3] = trace.Observation{Offset: seen[3].Offset}
			return seen
		},
		"before it was scheduled": func(seen []trace.Observation, _ *trace.ClockFacts) []trace.Observation {
			seen[3].Arrived = seen[3].Scheduled.Add(-time.Millisecond)
			return seen
		},
		"wall clock moved by -2s": func(seen []trace.Observation, f *trace.ClockFacts) []trace.Observation {
			f.WallStep = -2 * time.Second
			return seen
		},
		"client was saturated": func(seen []trace.Observation, _ *trace.ClockFacts) []trace.Observation {
			for i := range seen {
				seen[i].Sent = seen[i].Scheduled.Add(time.Duration(i) * 100 * time.Microsecond)
				seen[i].Arrived = seen[i].Sent
			}
			return seen
		},
		"off the scheduled rate": func(seen []trace.Observation, _ *trace.ClockFacts) []trace.Observation {
			for i := range seen {
				seen[i].Sent = seen[i].Scheduled.Add(time.Duration(i) * time.Millisecond)
			}
			return seen
		},
	} {
		facts := trace.ClockFacts{Shared: true}
		seen := change(onTime(200, 0), &facts)
		require.Contains(t, fmt.Sprint(trace.Measure(seen, facts).Doubts), want)
	}
}

func TestSwapsCountOvertakenRequests(t *testing.T) {
	ms := time.Millisecond
	seen := onTime(6, 0)
	seen[1].Sent = seen[3].Sent.Add(ms)    // after two later ones
	seen[4].Offset = seen[5].Offset        // same offset: any order is right
	seen[4].Sent = seen[5].Sent.Add(ms)    //
	seen[0].Arrived = seen[5].Arrived + 99 // after all others
	f := trace.Measure(seen, trace.ClockFacts{Shared: true})
	require.Equal(t, 1, f.SendSwaps)
	require.Equal(t, 1, f.ArrivalSwaps)
}

func TestMeasureDoesNotDependOnOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seen := rapid.SliceOf(rapid.Custom(func(t *rapid.T) trace.Observation {
			small := rapid.Int64Range(0, 20)
			return trace.Observation{
				Offset: time.Duration(small.Draw(t, "offset")), Scheduled: monotime.Instant(small.Draw(t, "scheduled")),
				Sent: monotime.Instant(small.Draw(t, "sent")), Arrived: monotime.Instant(small.Draw(t, "arrived")), Ended: monotime.Instant(small.Draw(t, "ended")),
			}
		})).Draw(t, "seen")
		mixed := rapid.Permutation(seen).Draw(t, "mixed")
		require.Equal(t, trace.Measure(seen, trace.ClockFacts{Shared: true}), trace.Measure(mixed, trace.ClockFacts{Shared: true}))
	})
}

func TestCompareJoinsByRequestID(t *testing.T) {
	offered := items(0, 20*time.Millisecond, 40*time.Millisecond)
	base := int64(1e9)
	row := func(i int, late int64) trace.Row {
		due := base + int64(offered[i].Offset)
		return trace.Row{RequestID: offered[i].RequestID, ScheduledNS: due, SentNS: due + late, EndedNS: due + late + 5}
	}
	rows := []trace.Row{row(2, 300), row(0, 100), {RequestID: "stranger", ScheduledNS: 1, SentNS: 2}}
	f := trace.Compare(offered, rows, map[string]monotime.Instant{"row-1": monotime.Instant(base + 200)}, trace.ClockFacts{Shared: true})
	require.Equal(t, []int{3, 2, 2, 1}, []int{f.Offered.Count, f.Scheduled.Count, f.Sent.Count, f.Arrived.Count})
	require.InDelta(t, 0.0003, f.SendLateness.MaxMS, 1e-12)
	require.InDelta(t, 0.0002, f.ArrivalLateness.MaxMS, 1e-12)
	require.Error(t, trace.Measure(nil, trace.ClockFacts{}).Within(time.Hour))
}
