package qual_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/trtmc-go/trtmc/qual"
	"github.com/trtmc-go/trtmc/serving/record"
	"github.com/trtmc-go/trtmc/trace"
)

// start is the schedule's zero in the tests, on CLOCK_MONOTONIC.
const start = int64(1_000 * time.Second)

// rowAt is the row of a request that was sent on time and took a while.
func rowAt(id string, offset, latency time.Duration) trace.Row {
	sent := start + int64(offset)
	return trace.Row{
		Schema: 1, RequestID: id, Phase: trace.PhaseMeasured, Workload: "w", Clock: "CLOCK_MONOTONIC",
		OfferedOffsetNS: int64(offset), ScheduledNS: sent, SentNS: sent, FirstByteNS: sent + int64(latency)/2,
		LastByteNS: sent + int64(latency), Status: 200, Result: trace.ResultOK,
	}
}

// recordAt is the record that fits rowAt.
func recordAt(id string, offset, latency time.Duration) record.Record {
	at := start + int64(offset)
	end := at + int64(latency)*9/10
	return record.Record{
		Schema: 1, RequestID: id, RequestIDSource: "client", Route: "/v1/completions", Outcome: record.Completed,
		Lane: laneOf(id), Stage: record.StageDone, Status: 200, Clock: "CLOCK_MONOTONIC", ArrivedNS: at + 1000, EnqueuedNS: at + 2000, AdmittedNS: at + 3000,
		TaskCallStartNS: at + 4000, TaskCallEndNS: end - 5000, FirstByteNS: end - 4000, LastByteNS: end,
		QueueNS: 1000, TaskCallNS: end - 5000 - (at + 4000), HandlingNS: end - (at + 1000),
	}
}

// laneOf gives every id a lane of its own, so that Task calls may overlap.
func laneOf(id string) int {
	lane := 0
	for _, c := range []byte(id) {
		lane = 257*lane + int(c)
	}
	return lane
}

func refuse(row *trace.Row, rec *record.Record) {
	row.Status, row.Result = 429, trace.ResultHTTPError
	rec.Status, rec.Outcome, rec.Reason, rec.Stage = 429, record.Rejected, record.ReasonQueueFull, record.StageQueued
	rec.AdmittedNS, rec.TaskCallStartNS, rec.TaskCallEndNS, rec.TaskCallNS = 0, 0, 0, 0
}

func offer(t *testing.T, l *qual.Ledger, phase trace.Phase, ids ...string) {
	t.Helper()
	for i, id := range ids {
		require.NoError(t, l.Offer("w", phase, id, time.Duration(i)*time.Second))
	}
}

func addPair(l *qual.Ledger, id string, offset, latency time.Duration) {
	row, rec := rowAt(id, offset, latency), recordAt(id, offset, latency)
	l.AddRow(&row)
	l.AddRecord(&rec)
}

func kinds(a *qual.Account) map[qual.Kind][]string {
	out := map[qual.Kind][]string{}
	for _, f := range a.Findings {
		out[f.Kind] = append(out[f.Kind], f.RequestID)
	}
	return out
}

func TestLedgerAccountsForACleanRun(t *testing.T) {
	var l qual.Ledger
	offer(t, &l, trace.PhaseMeasured, "a", "b", "c")
	for i, id := range []string{"a", "b", "c"} {
		addPair(&l, id, time.Duration(i)*time.Second, 100*time.Millisecond)
	}
	a, err := l.Close()
	require.NoError(t, err)
	require.Empty(t, a.Findings)
	require.Equal(t, qual.Counts{Offered: 3, Completed: 3}, a.Workloads[0].Measured)
	require.Equal(t, qual.Attempts{Records: 3}, a.Workloads[0].Attempts)
	require.InDelta(t, 1, float64(a.Workloads[0].Rates.Arrived.PerSecond), 1e-9)
	require.InDelta(t, 0.001, float64(a.Workloads[0].Lateness.Arrival.Max), 1e-9)
}

func TestLedgerListsEveryHole(t *testing.T) {
	var l qual.Ledger
	offer(t, &l, trace.PhaseMeasured, "a", "b", "c", "d", "a")
	addPair(&l, "a", 0, time.Second)
	row := rowAt("a", 0, time.Second)
	l.AddRow(&row)
	rec := recordAt("b", time.Second, time.Second)
	l.AddRecord(&rec)
	row = rowAt("c", 2*time.Second, time.Second)
	l.AddRow(&row)
	row = rowAt("stranger-row", 0, time.Second)
	l.AddRow(&row)
	rec = recordAt("stranger-record", 0, time.Second)
	l.AddRecord(&rec)
	a, err := l.Close()
	require.ErrorIs(t, err, qual.ErrUnaccounted)
	var holes *qual.AccountingError
	require.ErrorAs(t, err, &holes)
	require.Equal(t, []string{"a", "b", "c", "d", "stranger-record", "stranger-row"}, holes.IDs)
	require.Equal(t, map[qual.Kind][]string{
		qual.KindDoubleOffer: {"a"}, qual.KindDoubleRow: {"a"}, qual.KindNoRow: {"b", "d"}, qual.KindNoRecord: {"c"},
		qual.KindUnknownRow: {"stranger-row"}, qual.KindUnknownRec: {"stranger-record"},
		qual.KindFailed: {"b", "c", "d"}, qual.KindDisagree: {"c"},
	}, kinds(a))
	require.Equal(t, qual.Counts{Offered: 4, Completed: 1, Failed: 3}, a.Workloads[0].Measured)
}

func TestLedgerTellsWarmUpByIdentity(t *testing.T) {
	var l qual.Ledger
	offer(t, &l, trace.PhaseWarmup, "warm")
	offer(t, &l, trace.PhaseMeasured, "a")
	row, rec := rowAt("warm", 0, time.Second), recordAt("warm", 0, time.Second)
	l.AddRow(&row) // says that it is measured
	l.AddRecord(&rec)
	addPair(&l, "a", 0, 2*time.Second)
	a, err := l.Close()
	require.NoError(t, err)
	require.Equal(t, map[qual.Kind][]string{qual.KindWrongPhase: {"warm"}}, kinds(a))
	require.Equal(t, 1, a.Workloads[0].Warmup.Completed)
	require.Equal(t, 1, a.Workloads[0].Client.Latency.Samples)
}

func TestLedgerFindsRowsOfAnotherSchedule(t *testing.T) {
	var l qual.Ledger
	offer(t, &l, trace.PhaseMeasured, "a", "b", "c")
	for i, id := range []string{"a", "c", "b"} { // b and c swapped
		addPair(&l, id, time.Duration(i)*time.Second, 100*time.Millisecond)
	}
	a, _ := l.Close()
	require.ElementsMatch(t, []string{"b", "b", "c", "c"}, kinds(a)[qual.KindWrongPlace])
}

func TestLedgerFindsTwoCallsOnOneLane(t *testing.T) {
	var l qual.Ledger
	offer(t, &l, trace.PhaseMeasured, "a", "b", "c")
	for i, id := range []string{"a", "b", "c"} {
		offset := time.Duration(i) * time.Second
		row, rec := rowAt(id, offset, 900*time.Millisecond), recordAt(id, offset, 900*time.Millisecond)
		rec.Lane = 0
		if id == "c" { // began while b was in its call
			rec.TaskCallStartNS -= int64(300 * time.Millisecond)
			rec.AdmittedNS, rec.EnqueuedNS, rec.QueueNS = 0, 0, 0
			rec.ArrivedNS -= int64(400 * time.Millisecond)
			rec.TaskCallNS = rec.TaskCallEndNS - rec.TaskCallStartNS
		}
		l.AddRow(&row)
		l.AddRecord(&rec)
	}
	a, _ := l.Close()
	require.Equal(t, []string{"c"}, kinds(a)[qual.KindLaneShared])
}

func TestLedgerRefusesAnOtherReferenceMark(t *testing.T) {
	l := qual.Ledger{Reference: true}
	offer(t, &l, trace.PhaseMeasured, "a")
	addPair(&l, "a", 0, time.Second)
	a, _ := l.Close()
	require.Equal(t, map[qual.Kind][]string{qual.KindRefMark: {"a"}}, kinds(a))
}

// TestEveryInterleavingAddsUp: whatever is dropped or doubled, in whatever order, the outcomes add up to the offered
// set and no hole goes unnamed.
func TestEveryInterleavingAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l qual.Ledger
		n := rapid.IntRange(1, 40).Draw(t, "offered")
		var todo []func()
		holes := map[string]bool{}
		for i := range n {
			id := fmt.Sprintf("r%d", i)
			offset := time.Duration(i) * time.Millisecond
			require.NoError(t, l.Offer("w", trace.PhaseMeasured, id, offset))
			row, rec := rowAt(id, offset, time.Second), recordAt(id, offset, time.Second)
			if rapid.Bool().Draw(t, "refused") {
				refuse(&row, &rec)
			}
			rows, records := rapid.IntRange(0, 2).Draw(t, "rows"), rapid.IntRange(0, 2).Draw(t, "records")
			for range rows {
				todo = append(todo, func() { l.AddRow(&row) })
			}
			for range records {
				todo = append(todo, func() { l.AddRecord(&rec) })
			}
			if rows != 1 || records != 1 {
				holes[id] = true
			}
		}
		for _, f := range rapid.Permutation(todo).Draw(t, "order") {
			f()
		}
		a, err := l.Close()
		c := a.Workloads[0].Measured
		require.Equal(t, n, c.Offered)
		require.Equal(t, n, c.Completed+c.Rejected+c.Failed)
		var named *qual.AccountingError
		if len(holes) == 0 {
			require.NoError(t, err)
			return
		}
		require.ErrorAs(t, err, &named)
		require.Len(t, named.IDs, len(holes))
		for _, id := range named.IDs {
			require.True(t, holes[id], id)
		}
		s := a.Workloads[0].OverTime
		require.Equal(t, n, sum(s.Scheduled))
		require.Equal(t, c.Completed, sum(s.Completed))
		require.Equal(t, c.Rejected, sum(s.Rejected))
	})
}

func sum(list []int) int {
	total := 0
	for _, n := range list {
		total += n
	}
	return total
}
