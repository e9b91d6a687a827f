package trace_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/trtmc-go/trtmc/trace"
)

func at(d time.Duration) *time.Duration { return &d }

func planned(s trace.Schedule) (times []time.Duration, rows []int) {
	for i := range s.Len() {
		times, rows = append(times, s.At(i)), append(rows, s.Row(i))
	}
	return times, rows
}

func TestCase_A08(t *testing.T) {
	ms := time.Millisecond
	recorded := []time.Duration{1700000000000 * ms, 1700000000500 * ms, 1700000001500 * ms}
	s, err := trace.NewSchedule(recorded, trace.Plan{Speed: 2})
	require.NoError(t, err)
	times, rows := planned(s)
	require.Equal(t, []time.Duration{0, 250 * ms, 750 * ms}, times)
	require.Equal(t, recorded[2], recorded[rows[2]], "the original timestamp stays visible")
	s, err = trace.NewSchedule(recorded, trace.Plan{Speed: 1})
	require.NoError(t, err)
	times, _ = planned(s)
	require.Equal(t, []time.Duration{0, 500 * ms, 1500 * ms}, times)
	for _, speed := range []float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1)} {
		_, err = trace.NewSchedule(recorded, trace.Plan{Speed: speed})
		require.ErrorContains(t, err, "speed", "%v", speed)
	}
}

func TestScheduleWindowIncludesBothEnds(t *testing.T) {
	recorded := []time.Duration{30, 10, 20, 40, 20}
	s, err := trace.NewSchedule(recorded, trace.Plan{Speed: 1, Window: trace.Window{Start: at(15), End: at(30)}})
	require.NoError(t, err)
	times, rows := planned(s)
	require.Equal(t, []time.Duration{5, 5, 15}, times, "zero is the start of the window")
	require.Equal(t, []int{2, 4, 0}, rows, "equal times keep the file's order")
	require.Equal(t, time.Duration(15), s.Zero())
	s, err = trace.NewSchedule(recorded, trace.Plan{Speed: 1, Window: trace.Window{End: at(20)}})
	require.NoError(t, err)
	times, _ = planned(s)
	require.Equal(t, []time.Duration{0, 10, 10}, times, "zero is the smallest kept timestamp")
	require.Equal(t, time.Duration(10), s.Span())
}

func TestScheduleRefusesWhatItCannotPlan(t *testing.T) {
	recorded := []time.Duration{0, time.Hour}
	for want, plan := range map[string]trace.Plan{
		"no rows to send":         {Speed: 1, Window: trace.Window{Start: at(2 * time.Hour)}},
		"want the end not before": {Speed: 1, Window: trace.Window{Start: at(2), End: at(1)}},
		"shard 2 of 2":            {Speed: 1, Shard: 2, Shards: 2},
		"shard 0 of 1":            {Speed: 1, Shards: -1},
		"shard -1 of 1":           {Speed: 1, Shard: -1},
		"more than 292 years":     {Speed: 1e-9},
		"finite number above 0":   {},
	} {
		_, err := trace.NewSchedule(recorded, plan)
		require.ErrorContains(t, err, want)
	}
	_, err := trace.NewSchedule(nil, trace.Plan{Speed: 1})
	require.ErrorIs(t, err, trace.ErrNoRows)
}

func drawOffsets(t *rapid.T) []time.Duration {
	raw := rapid.SliceOfN(rapid.Int64Range(0, 1<<50), 1, 50).Draw(t, "recorded")
	out := make([]time.Duration, len(raw))
	for i, v := range raw {
		out[i] = time.Duration(v)
	}
	return out
}

func TestSchedulePropertiesHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		recorded := drawOffsets(t)
		speed := rapid.Float64Range(1e-3, 1e6).Draw(t, "speed")
		whole, err := trace.NewSchedule(recorded, trace.Plan{Speed: speed})
		require.NoError(t, err)
		times, rows := planned(whole)
		require.True(t, slices.IsSorted(times), "monotone")
		require.Zero(t, times[0])
		require.Len(t, rows, len(recorded))

		same, err := trace.NewSchedule(recorded, trace.Plan{Speed: 1})
		require.NoError(t, err)
		for i := range same.Len() {
			require.Equal(t, recorded[same.Row(i)]-slices.Min(recorded), same.At(i), "speed 1 is the identity")
		}

		shards := rapid.IntRange(1, 7).Draw(t, "shards")
		together := map[int]time.Duration{}
		for k := range shards {
			part, err := trace.NewSchedule(recorded, trace.Plan{Speed: speed, Shard: k, Shards: shards})
			require.NoError(t, err)
			for i := range part.Len() {
				require.NotContains(t, together, part.Row(i), "shards do not overlap")
				together[part.Row(i)] = part.At(i)
			}
		}
		require.Len(t, together, len(recorded), "shards cover everything")
		for i := range whole.Len() {
			require.Equal(t, whole.At(i), together[whole.Row(i)], "shards share one zero")
		}
	})
}

func FuzzScheduleScale(f *testing.F) {
	f.Add(int64(0), int64(1), int64(3), 2.0)
	f.Add(int64(1)<<62, int64(1)<<62+1, int64(5), 0.1)
	f.Add(int64(7), int64(1)<<53, int64(1)<<53+1, 1e-3)
	f.Fuzz(func(t *testing.T, a, b, c int64, speed float64) {
		recorded := []time.Duration{time.Duration(a & math.MaxInt64), time.Duration(b & math.MaxInt64), time.Duration(c & math.MaxInt64)}
		s, err := trace.NewSchedule(recorded, trace.Plan{Speed: speed})
		if err != nil {
			return
		}
		times, rows := planned(s)
		require.True(t, slices.IsSorted(times))
		for i := range times {
			exact := float64(recorded[rows[i]]-s.Zero()) / speed
			require.InDelta(t, exact, float64(times[i]), 1+exact*1e-15)
			require.GreaterOrEqual(t, times[i], time.Duration(0))
		}
	})
}
