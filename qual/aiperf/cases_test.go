package aiperf

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// rowLine returns a row that lasted ms milliseconds; fault is its error member, "" for a success.
func rowLine(id string, phase Phase, ms int64, fault string) string {
	const start = 1_796_000_000_000_000_000
	metrics := fmt.Sprintf(`{"request_latency":{"value":%d,"unit":"ms"}}`, ms)
	if fault != "" {
		metrics, fault = "{}", `,"error":`+fault
	}
	return fmt.Sprintf(`{"metadata":{"x_request_id":%q,"conversation_id":"c-%s","benchmark_phase":%q,"credit_issued_ns":%d,"request_start_ns":%d,"request_end_ns":%d,"was_cancelled":false},"metrics":%s%s}`,
		id, id, phase, start-1000, start, start+ms*1_000_000, metrics, fault)
}

// openRows writes rows as the only export and opens it.
func openRows(t *testing.T, text string) *Export {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, RowsFile), []byte(text), 0o644))
	e, err := Open(dir)
	require.NoError(t, err)
	return e
}

// The summary has 74 metric blocks and says 3 requests; the rows win when it says something else.
func TestCase_F01(t *testing.T) {
	summary := func(count int) string {
		var b strings.Builder
		fmt.Fprintf(&b, `{"aiperf_version":"0.13.0","is_complete":true,"request_count":{"unit":"requests","avg":%d.0}`, count)
		for i := range 73 {
			fmt.Fprintf(&b, `,"metric_%d":{"unit":"ms","avg":1.5,"count":3}`, i)
		}
		return b.String() + "}"
	}
	rows := rowLine("a", Measured, 5, "") + "\n" + rowLine("b", Measured, 6, "") + "\n" + rowLine("c", Measured, 7, "") + "\n"
	for count, want := range map[int]bool{3: false, 74: true} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, RowsFile), []byte(rows), 0o644))
		require.NoError(t, os.WriteFile(filepath.Join(dir, SummaryFile), []byte(summary(count)), 0o644))
		e, err := Open(dir)
		require.NoError(t, err)
		require.Len(t, e.Summary.Metrics, 74)
		require.Equal(t, 3, e.Rows.Measured.Success)
		require.Equal(t, want, strings.Contains(fmt.Sprint(e.Findings(Facts{})), "says 74 successes (request_count), the rows show 3"))
	}
}

// 90 successes, 10 failures, 900 lines that are no requests: 10 of 100 failed, whatever the exit code.
func TestCase_F02(t *testing.T) {
	var b strings.Builder
	offered := map[string]int{}
	for i := range 100 {
		fault, ms := "", int64(8)
		if i >= 90 {
			fault, ms = `{"code":500}`, 0
		}
		id := fmt.Sprintf("r%02d", i)
		offered["c-"+id] = 1
		b.WriteString(rowLine(id, Measured, ms, fault) + "\n")
		b.WriteString(strings.Repeat(`{"summary":{"total":100}}`+"\n", 9))
	}
	e := openRows(t, b.String())
	require.Equal(t, Counts{Rows: 100, Success: 90, HTTPError: 10}, e.Rows.Measured)
	require.Equal(t, 900, e.Rows.Unknown)
	zero := 0
	got := codes(e.Findings(Facts{ExitCode: &zero, Offered: offered}))
	require.Contains(t, got, "unsuccessful")
	require.Contains(t, got, "rows-unknown")
	require.NotContains(t, got, "rows-lost")

	for name, rows := range map[string]string{"empty file": "", "all cancelled": strings.ReplaceAll(rowLine("a", Measured, 5, ""), `"was_cancelled":false`, `"was_cancelled":true`)} {
		require.NotEmpty(t, codes(openRows(t, rows).Findings(Facts{ExitCode: &zero})), name)
	}
	none, err := Open(t.TempDir())
	require.NoError(t, err)
	require.Equal(t, []string{"not-run"}, codes(none.Findings(Facts{ExitCode: &zero})))
}

// A file that stops in its third row: two rows, one truncated line with file and line; blank lines are not losses.
func TestCase_F04(t *testing.T) {
	e := openRows(t, "{\"metadata\":{\"x_request_id\":\"a\"}}\n{\"metadata\":{\"x_request_id\":\"b\"}}\n{\"metadata\":{\"x_requ")
	require.Equal(t, 2, e.Rows.Rows())
	require.Len(t, e.Rows.Bad, 1)
	require.True(t, e.Rows.Bad[0].Truncated)
	require.Equal(t, Pos{RowsFile, 3}, e.Rows.Bad[0].Pos)
	require.Contains(t, codes(e.Findings(Facts{})), "line-truncated")
	require.Contains(t, codes(e.Findings(Facts{Offered: map[string]int{"c": 1}})), "rows-lost")

	require.Empty(t, openRows(t, "\n"+rowLine("a", Measured, 1, "")+"\n \n\n").Rows.Bad)
}

// A line that is broken in the middle of the file is corruption, not an unfinished tail; its neighbours are kept.
func TestCase_F05(t *testing.T) {
	e := openRows(t, rowLine("a", Measured, 1, "")+"\n{\"metadata\":{\"x_request_id\": \n"+rowLine("c", Measured, 1, "")+"\n")
	require.Equal(t, 2, e.Rows.Rows())
	require.Len(t, e.Rows.Bad, 1)
	require.False(t, e.Rows.Bad[0].Truncated)
	require.Equal(t, 2, e.Rows.Bad[0].Line)
	require.Contains(t, codes(e.Findings(Facts{})), "line-corrupt")
}

// Percentiles are of the 90 successes, and say so; failures never enter as 0 ms.
func TestCase_F08(t *testing.T) {
	var b strings.Builder
	for i := range 100 {
		if i < 90 {
			b.WriteString(rowLine(fmt.Sprint(i), Measured, 100, "") + "\n")
		} else {
			b.WriteString(rowLine(fmt.Sprint(i), Measured, 0, `{"code":429,"type":"Too Many Requests","message":"full"}`) + "\n")
		}
	}
	e := openRows(t, b.String())
	l := e.Rows.Latencies()
	require.Len(t, l, 90)
	require.Equal(t, 100*time.Millisecond, l[0])
	require.Equal(t, 10, e.Rows.Measured.Refused)
	require.Len(t, e.Rows.ZeroDuration, 10)
}

// One warm-up and five measured rows are told apart by phase alone: sequence numbers and times overlap.
func TestCase_F11(t *testing.T) {
	rows := rowLine("w", Warmup, 5, "")
	for i := range 5 {
		rows += "\n" + rowLine(fmt.Sprint(i), Measured, 5, "")
	}
	e := openRows(t, rows)
	require.Equal(t, 5, e.Rows.Measured.Success)
	require.Equal(t, 1, e.Rows.Warmup.Success)
	require.Len(t, e.Rows.Latencies(), 5)
}

// A row that ends before it starts is invalid in its instants; its latency comes from the monotonic metric.
func TestCase_F12(t *testing.T) {
	e := openRows(t, `{"metadata":{"x_request_id":"a","conversation_id":"c","benchmark_phase":"profiling","credit_issued_ns":1700000000400000000,"request_start_ns":1700000000500000000,"request_end_ns":1700000000400000000},"metrics":{"request_latency":{"value":95,"unit":"ms"}}}`+"\n")
	require.Equal(t, []string{"a"}, e.Rows.Backwards)
	require.Equal(t, []time.Duration{95 * time.Millisecond}, e.Rows.Latencies())
	require.Contains(t, codes(e.Findings(Facts{})), "time-backwards")
	require.NoError(t, e.EachRow(func(entry Entry) error {
		_, ok := entry.(*Row).Duration()
		require.False(t, ok)
		return nil
	}))
}

// A client that refuses its options has not run: that is not "0 of N succeeded".
func TestCase_F16(t *testing.T) {
	e, err := Open(t.TempDir())
	require.NoError(t, err)
	one := 1
	list := e.Findings(Facts{ExitCode: &one, LastLines: []string{"--warmup-request-count: 0 is not positive"}, Offered: map[string]int{"a": 1}})
	require.Len(t, list, 1)
	require.Equal(t, "not-run", list[0].Code)
	require.Contains(t, list[0].Text, "exit code 1")
	require.Contains(t, list[0].Text, "0 is not positive")
}

// A null id is a row of its own that joins nothing; cancelled and warm-up rows are their own classes.
func TestCase_F19(t *testing.T) {
	const withoutID = `{"metadata":{"x_request_id":null,"benchmark_phase":"profiling","was_cancelled":false,"request_start_ns":1,"request_end_ns":2}}`
	e := openRows(t, withoutID+"\n"+
		`{"metadata":{"x_request_id":"a","benchmark_phase":"profiling","was_cancelled":true,"cancellation_time_ns":5,"request_start_ns":1,"request_end_ns":6}}`+"\n"+
		`{"metadata":{"x_request_id":"b","benchmark_phase":"warmup","was_cancelled":false,"request_start_ns":1,"request_end_ns":3}}`+"\n"+withoutID+"\n")
	require.Equal(t, []Pos{{RowsFile, 1}, {RowsFile, 4}}, e.Rows.NoID)
	require.Empty(t, e.Rows.Duplicate)
	require.Equal(t, Counts{Rows: 3, Cancelled: 1, Unmeasured: 2}, e.Rows.Measured)
	require.Equal(t, 1, e.Rows.Warmup.Rows)
	require.Empty(t, e.Rows.Latencies())
	require.Contains(t, codes(e.Findings(Facts{})), "request-id-missing")
}
