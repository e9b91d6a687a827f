package qual_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/qual"
	"github.com/trtmc-go/trtmc/qual/aiperf"
	"github.com/trtmc-go/trtmc/serving/record"
)

const artifacts = "workloads/w/aiperf/artifacts/"

func judgeSample(t *testing.T, name string) *qual.Report {
	t.Helper()
	r, err := qual.Judge(sampleRun(t, readSample(t, name)))
	require.NoError(t, err)
	return r
}

func codes(r *qual.Report) map[string]aiperf.Finding {
	out := map[string]aiperf.Finding{}
	for _, f := range r.Workloads["w-aiperf"].AIPerf.Findings {
		out[f.Code] = f
	}
	return out
}

func TestEveryAIPerfRequestJoinsFromItsRowToItsTaskCall(t *testing.T) {
	for name, warmup := range map[string]int{"text-fixed-schedule": 2, "text-payload-completions": 0} {
		r := judgeSample(t, name)
		require.Empty(t, failedChecks(r), name)
		own, twin := r.Workloads["w"], r.Workloads["w-aiperf"]
		require.Equal(t, own.Measured, twin.Measured)
		require.Equal(t, qual.Counts{Offered: warmup, Completed: warmup}, twin.Warmup)
		require.True(t, twin.AIPerf.Joined)
		require.Equal(t, twin.Measured.Offered, twin.Server.TaskCall.Samples)
		require.Equal(t, twin.Measured.Offered, twin.Client.FirstContent.Samples)
		require.Empty(t, r.Findings)
	}
}

func TestLatenessOfAIPerfIsThatOfItsScheduleZero(t *testing.T) {
	r := judgeSample(t, "text-fixed-schedule")
	f := r.Workloads["w-aiperf"].AIPerf.Fidelity
	require.NotNil(t, f)
	require.Equal(t, aiperf.ManifestFile, f.ZeroSource)
	for _, d := range []qual.Distribution{f.Credit, f.Start, f.Arrival, f.OwnSend, f.OwnArrival} {
		require.Equal(t, 6, d.Samples)
	}
	require.InDelta(t, 0, float64(f.Credit.P50), 2)
	require.Less(t, float64(f.Credit.P50), float64(f.Start.P50))
	require.Less(t, float64(f.Start.P50), float64(f.Arrival.P50))
	require.Less(t, float64(f.Arrival.Max), 30.0)
	require.Equal(t, f.Start.Samples, r.Workloads["w-aiperf"].Lateness.Send.Samples)
	require.InDelta(t, float64(f.Start.P50), float64(r.Workloads["w-aiperf"].Lateness.Send.P50), 0.05)
}

func TestFailuresThatAIPerfHidesAreClassified(t *testing.T) {
	r := judgeSample(t, "text-with-429s-and-errors")
	w := r.Workloads["w-aiperf"]
	// 16 measured requests: 3 completed, 4 refused, 2 with 500, 2 cut, 1 clean early end, 3 error events, 1 closed.
	require.Equal(t, qual.Counts{Offered: 16, Completed: 3, Rejected: 4, Failed: 9}, w.Measured)
	require.Equal(t, qual.Counts{Offered: 4, Completed: 3, Rejected: 1}, w.Warmup)
	require.Equal(t, []qual.Cause{
		{Outcome: record.Rejected, Cause: "queue_full", Count: 4}, {Outcome: record.Failed, Cause: "task_error", Count: 8},
		{Outcome: record.Failed, Cause: "client_gone", Count: 1},
	}, w.Causes)
	found := codes(r)
	require.Contains(t, found["exit-code-hides"].Text, "exit code 0, but 13 of 16 offered requests did not complete")
	require.Contains(t, found["success-hides"].Text, "4 successes, 3 requests completed")
	require.Equal(t, 1, found["silent-end"].Count)
	require.NotZero(t, found["zero-duration"].Count)
	require.Equal(t, 4, w.Server.Refusal.Samples, "the latency of refusals is the server's")
	require.Contains(t, failedChecks(r), "no request failed")
	require.NotContains(t, failedChecks(r), "every request joins to its Task call")
}

func TestRequestsInFlightWhenAIPerfStopsAreOutcomes(t *testing.T) {
	r := judgeSample(t, "text-lost-at-grace-end")
	w := r.Workloads["w-aiperf"]
	require.Equal(t, qual.Counts{Offered: 6, Completed: 4, Failed: 2}, w.Measured)
	c := failedChecks(r)["every request joins to its Task call"]
	require.ElementsMatch(t, []string{"row-002", "row-005", "8b47a5f3-f7e2-49cd-9a0a-df0c378fb1e9", "9c2562f2-a97a-4294-96cf-253270c46799"}, c.IDs)
	require.Equal(t, []string{"row-002", "row-005"}, codes(r)["rows-lost"].IDs)
	require.Equal(t, qual.Counts{Offered: 6, Completed: 6}, r.Workloads["w"].Measured, "the other client's account is untouched")
}

func TestChangedAIPerfEvidenceFailsWithTheID(t *testing.T) {
	rows := artifacts + aiperf.RowsFile
	profiling := func(id string) func(string) bool {
		return func(line string) bool {
			return strings.Contains(line, `"conversation_id":"`+id+`"`) && strings.Contains(line, `"benchmark_phase":"profiling"`)
		}
	}
	drop := func(match func(string) bool) func([]string) []string {
		return func(lines []string) []string {
			var out []string
			for _, l := range lines {
				if !match(strings.ReplaceAll(l, `": `, `":`)) {
					out = append(out, l)
				}
			}
			return out
		}
	}
	for name, c := range map[string]struct {
		file   string
		change func([]string) []string
		check  string
		id     string
	}{
		"drop a row":        {rows, drop(profiling("row-003")), "one client row for every offered request", "row-003"},
		"relabel a warm-up": {rows, relabelWarmup, "one client row for every offered request", "warmup/row-001"},
		"truncate":          {rows, func(l []string) []string { l[len(l)-1] = l[len(l)-1][:100]; return l }, "AIPerf's exports are whole and agree with themselves", ""},
		"double a row":      {rows, func(l []string) []string { return append(l, l[len(l)-1]) }, "one client row for every offered request", "row-005"},
		"change a body":     {artifacts + aiperf.RawFile, replaceIn("row-004", `"max_completion_tokens"`, `"max_tokens"`), "AIPerf sent the prepared bodies", "row-004"},
		"lose a summary":    {artifacts + aiperf.SummaryFile, func([]string) []string { return nil }, "AIPerf's exports are whole and agree with themselves", ""},
		"drop a record":     {records, drop(func(l string) bool { return strings.Contains(l, `"lane":1004`) }), "one server record for every sent request", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := sampleRun(t, readSample(t, "text-fixed-schedule"))
			edit(t, dir, c.file, c.change)
			r, err := qual.Judge(dir)
			require.NoError(t, err)
			require.Contains(t, failedChecks(r), "evidence is what the run left")
			// And so does whoever changes the digests too.
			reseal(t, dir)
			r, err = qual.Judge(dir)
			require.NoError(t, err)
			require.NotContains(t, failedChecks(r), "evidence is what the run left")
			got, ok := failedChecks(r)[c.check]
			require.True(t, ok, "%v", r.Verdict.Failed)
			if c.id != "" {
				require.Contains(t, got.IDs, c.id)
			}
			require.False(t, r.Verdict.Held)
		})
	}
}

// relabelWarmup calls the warm-up request of row-001 measured.
func relabelWarmup(lines []string) []string {
	for i, l := range lines {
		if strings.Contains(l, `"row-001"`) && strings.Contains(l, `"warmup"`) {
			lines[i] = strings.ReplaceAll(l, `"warmup"`, `"profiling"`)
		}
	}
	return lines
}

func TestAIPerfThatIsNotThePublishedOneFailsItsCheck(t *testing.T) {
	dir := sampleRun(t, readSample(t, "text-payload-completions"))
	path := filepath.Join(dir, "workloads", "w")
	run, err := qual.ReadAIPerfRun(path)
	require.NoError(t, err)
	run.Installation.ContentSHA256 = strings.Repeat("0", 64)
	require.NoError(t, qual.WriteAIPerfRun(path, run))
	reseal(t, dir)
	r, err := qual.Judge(dir)
	require.NoError(t, err)
	require.Contains(t, failedChecks(r), "the client is the published AIPerf 0.13.0")
}

func TestMissingAIPerfEvidenceIsAFailedCheckAndNoSmallerSample(t *testing.T) {
	dir := sampleRun(t, readSample(t, "text-payload-completions"))
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "workloads", "w", qual.AIPerfDir)))
	require.NoError(t, os.Remove(filepath.Join(dir, "workloads", "w", qual.AIPerfFile)))
	reseal(t, dir)
	r, err := qual.Judge(dir)
	require.NoError(t, err)
	require.Equal(t, qual.Counts{Offered: 4, Failed: 4}, r.Workloads["w-aiperf"].Measured)
	require.Contains(t, failedChecks(r), "AIPerf ended by itself and left all its files")
}

func TestJudgingAIPerfAgainGivesTheSameBytes(t *testing.T) {
	dir := sampleRun(t, readSample(t, "text-with-429s-and-errors"))
	var want []byte
	for range 3 {
		r, err := qual.Judge(dir)
		require.NoError(t, err)
		got, err := r.JSON()
		require.NoError(t, err)
		require.NotContains(t, string(got), dir)
		if want == nil {
			want = got
		}
		require.True(t, json.Valid(got))
		require.Equal(t, string(want), string(got))
	}
}
