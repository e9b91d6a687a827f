package qual_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/qual"
	"github.com/trtmc-go/trtmc/trace"
)

// The tests of this file are public bug reports; the comment of each names the report.

// https://github.com/vllm-project/vllm/issues/13082: requests lost with no error.
func TestCase_F07(t *testing.T) {
	var l qual.Ledger
	offer(t, &l, trace.PhaseMeasured, "a", "b", "c", "d", "e")
	for i, id := range []string{"a", "b", "c", "d"} {
		addPair(&l, id, time.Duration(i)*time.Second, time.Second)
	}
	row, rec := rowAt("e", 4*time.Second, time.Second), recordAt("x", 4*time.Second, time.Second)
	l.AddRow(&row)
	l.AddRecord(&rec)
	a, err := l.Close()
	require.ErrorIs(t, err, qual.ErrUnaccounted)
	require.Equal(t, qual.Counts{Offered: 5, Completed: 4, Failed: 1}, a.Workloads[0].Measured)
	require.Equal(t, []string{"e"}, kinds(a)[qual.KindNoRecord])
	require.Equal(t, []string{"x"}, kinds(a)[qual.KindUnknownRec])

	// 1536 sent, 36 neither answered nor failed: they show as 36, not as 1500 of 1500.
	var lost qual.Ledger
	for i := range 1536 {
		id, offset := fmt.Sprintf("r%04d", i), time.Duration(i)*time.Millisecond
		require.NoError(t, lost.Offer("w", trace.PhaseMeasured, id, offset))
		if i < 1500 {
			addPair(&lost, id, offset, time.Second)
		}
	}
	a, err = lost.Close()
	require.ErrorIs(t, err, qual.ErrUnaccounted)
	require.Equal(t, qual.Counts{Offered: 1536, Completed: 1500, Failed: 36}, a.Workloads[0].Measured)
	require.Equal(t, []qual.Cause{{Outcome: "failed", Cause: qual.CauseNeither, Count: 36}}, a.Workloads[0].Causes)
}

// https://github.com/ai-dynamo/aiperf/issues/688: percentiles over successes hide failures.
func TestCase_F08(t *testing.T) {
	var l qual.Ledger
	for i := range 100 {
		id, offset := fmt.Sprintf("r%02d", i), time.Duration(i)*time.Second
		require.NoError(t, l.Offer("w", trace.PhaseMeasured, id, offset))
		row, rec := rowAt(id, offset, 100*time.Millisecond), recordAt(id, offset, 100*time.Millisecond)
		if i >= 90 {
			row.Result, row.Status = trace.ResultHTTPError, 500
			rec.Outcome, rec.Reason, rec.Stage, rec.Status = "failed", "task_error", "running", 500
		}
		l.AddRow(&row)
		l.AddRecord(&rec)
	}
	a, err := l.Close()
	require.NoError(t, err)
	w := a.Workloads[0]
	require.Equal(t, qual.Counts{Offered: 100, Completed: 90, Failed: 10}, w.Measured)
	require.Equal(t, 90, w.Client.Latency.Samples)
	require.InDelta(t, 100, float64(w.Client.Latency.P90), 0.001)
	require.InDelta(t, 100, float64(w.Client.Latency.Min), 0.001, "failures never enter as 0 ms")
	require.False(t, w.Client.Latency.P99.Known(), "90 samples carry no p99")
	require.Equal(t, 100, w.Client.Latency.OfAll.Samples)
	require.InDelta(t, 100, float64(w.Client.Latency.OfAll.P50), 0.001)
	require.Equal(t, "not reached", w.Client.Latency.OfAll.P99.String())
}

// https://github.com/gpustack/gpustack/issues/1677: a client library retried in secret.
func TestCase_F10(t *testing.T) {
	var l qual.Ledger
	offer(t, &l, trace.PhaseMeasured, "r1", "r2")
	row, first := rowAt("r1", 0, 3*time.Second), recordAt("r1", 0, 100*time.Millisecond)
	refuse(&trace.Row{}, &first)
	second := recordAt("r1", time.Second, time.Second)
	l.AddRecord(&second)
	l.AddRecord(&first) // the order of the file does not matter
	l.AddRow(&row)
	addPair(&l, "r2", time.Second, time.Second)
	a, err := l.Close()
	require.ErrorIs(t, err, qual.ErrUnaccounted)
	require.Equal(t, 2, a.Workloads[0].Measured.Offered)
	require.Equal(t, qual.Attempts{Records: 3, Rejected: 1, Retried: 1}, a.Workloads[0].Attempts)
	require.Equal(t, []string{"r1"}, kinds(a)[qual.KindRetried])
}

// https://github.com/ai-dynamo/aiperf/issues/1435: warm-up leaks into the measured set.
func TestCase_F11(t *testing.T) {
	var l qual.Ledger
	offer(t, &l, trace.PhaseWarmup, "warm")
	offer(t, &l, trace.PhaseMeasured, "a", "b", "c", "d", "e")
	// The warm-up request runs in the middle of the measured ones: identity decides, not time.
	row, rec := rowAt("warm", 2500*time.Millisecond, time.Hour), recordAt("warm", 2500*time.Millisecond, time.Hour)
	row.Phase = trace.PhaseWarmup
	l.AddRow(&row)
	l.AddRecord(&rec)
	for i, id := range []string{"a", "b", "c", "d", "e"} {
		addPair(&l, id, time.Duration(i)*time.Second, time.Second)
	}
	a, err := l.Close()
	require.NoError(t, err)
	w := a.Workloads[0]
	require.Equal(t, qual.Counts{Offered: 5, Completed: 5}, w.Measured)
	require.Equal(t, qual.Counts{Offered: 1, Completed: 1}, w.Warmup)
	require.Equal(t, 5, w.Client.Latency.Samples)
	require.Equal(t, 5, w.Server.TaskCall.Samples)
	require.InDelta(t, 1000, float64(w.Client.Latency.Max), 0.001)
}

// https://github.com/sgl-project/sglang/issues/6177: a clock steps back and a latency becomes negative.
func TestCase_F12(t *testing.T) {
	var l qual.Ledger
	offer(t, &l, trace.PhaseMeasured, "back", "long", "good")
	row, rec := rowAt("back", 0, 95*time.Millisecond), recordAt("back", 0, 95*time.Millisecond)
	row.LastByteNS = row.SentNS - int64(100*time.Millisecond)
	l.AddRow(&row)
	l.AddRecord(&rec)
	row, rec = rowAt("long", time.Second, 95*time.Millisecond), recordAt("long", time.Second, 200*time.Millisecond)
	l.AddRow(&row)
	l.AddRecord(&rec)
	addPair(&l, "good", 2*time.Second, 95*time.Millisecond)
	a, err := l.Close()
	require.NoError(t, err)
	require.Equal(t, map[qual.Kind][]string{qual.KindTiming: {"back"}, qual.KindAfterTheFact: {"long"}}, kinds(a))
	w := a.Workloads[0]
	require.Equal(t, 2, w.BadTiming)
	require.Equal(t, 3, w.Measured.Completed)
	require.Equal(t, 1, w.Client.Latency.Samples)
	require.InDelta(t, 95, float64(w.Client.Latency.Min), 0.001)
}

// https://github.com/ai-dynamo/dynamo/pull/12230: offered load counted at completion.
func TestCase_F17(t *testing.T) {
	var l qual.Ledger
	for i := range 10 {
		id, offset := fmt.Sprintf("r%d", i), time.Duration(i)*50*time.Millisecond
		require.NoError(t, l.Offer("w", trace.PhaseMeasured, id, offset))
		latency := 300 * time.Millisecond
		if i >= 2 {
			latency = 8 * time.Second
		}
		addPair(&l, id, offset, latency)
	}
	a, err := l.Close()
	require.NoError(t, err)
	s := a.Workloads[0].OverTime
	require.Equal(t, 1, s.WindowSeconds)
	require.Equal(t, 10, s.Scheduled[0])
	require.Equal(t, 10, s.Arrived[0])
	require.Equal(t, 2, s.Completed[0])
	require.Equal(t, 8, s.Completed[8])
	require.Equal(t, 10, sum(s.Scheduled))
	require.Equal(t, 10, sum(s.Completed))
	require.InDelta(t, 20, float64(a.Workloads[0].Rates.Scheduled.PerSecond), 1e-6)
	require.Less(t, float64(a.Workloads[0].Rates.Completed.PerSecond), 2.0)
}
