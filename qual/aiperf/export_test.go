package aiperf

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write testdata/*/findings.want")

var samples = []string{"ranking", "ranking-all-failed", "text-fixed-schedule", "text-lost-at-grace-end",
	"text-mooncake-synthesised", "text-payload-completions", "text-with-429s-and-errors", "video", "video-failed"}

// sampleFacts returns the exit code and offered set of a captured run.
func sampleFacts(t *testing.T, name string) Facts {
	t.Helper()
	var run struct {
		Exit int `json:"exit_code"`
	}
	data, err := os.ReadFile(filepath.Join("testdata", name, "run.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &run))
	spec := map[string]Spec{
		"ranking":             {Workload: Ranking, Requests: 4, Warmup: 2},
		"ranking-all-failed":  {Workload: Ranking, Requests: 4, Warmup: 1},
		"video":               {Workload: Video, Requests: 3, Warmup: 1},
		"video-failed":        {Workload: Video, Requests: 6},
		"text-fixed-schedule": {Workload: TextTrace, Warmup: 2}, "text-with-429s-and-errors": {Workload: TextTrace, Warmup: 4},
		"text-lost-at-grace-end": {Workload: TextTrace}, "text-mooncake-synthesised": {Workload: TextTrace}, "text-payload-completions": {Workload: TextTrace},
	}[name]
	var ids []string
	eachLine(t, filepath.Join("testdata", name, "input.jsonl"), func(line []byte) {
		var row struct {
			ID string `json:"session_id"`
		}
		require.NoError(t, json.Unmarshal(line, &row))
		ids = append(ids, row.ID)
	})
	return Facts{ExitCode: &run.Exit, Offered: spec.Offered(ids), Warmup: spec.Warmup}
}

func eachLine(t *testing.T, path string, visit func([]byte)) {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		visit(lines.Bytes())
	}
	require.NoError(t, lines.Err())
}

func TestFindingsOfCapturedRuns(t *testing.T) {
	for _, name := range samples {
		t.Run(name, func(t *testing.T) {
			e, err := Open(filepath.Join("testdata", name))
			require.NoError(t, err)
			var b strings.Builder
			fmt.Fprintf(&b, "endpoint %s\nmissing %v\nmeasured %+v\nwarmup %+v\nraw %+v in %v\n", e.Endpoint(), e.Missing, e.Rows.Measured, e.Rows.Warmup, e.Raw.Measured, e.RawFiles)
			if zero, _, err := e.ScheduleZero(); err == nil {
				fmt.Fprintf(&b, "zero %d from %s\n", zero.UnixNS, zero.Source)
			}
			for _, f := range e.Findings(sampleFacts(t, name)) {
				fmt.Fprintf(&b, "\n%s blocks=%v\n  %s\n", f.Code, f.Blocks, f.Text)
				for _, id := range f.IDs {
					fmt.Fprintf(&b, "  %s\n", id)
				}
			}
			golden := filepath.Join("testdata", name, "findings.want")
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(b.String()), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), b.String())
		})
	}
}

// arrival is one request as the captured server saw it.
type arrival struct {
	ArrivalNS int64               `json:"arrival_ns"`
	Method    string              `json:"method"`
	Headers   map[string][]string `json:"headers"`
	Status    int                 `json:"status"`
	Fault     string              `json:"fault"`
}

// posts returns the captured POST requests by X-Request-ID.
func posts(t *testing.T, sample string) map[string]arrival {
	t.Helper()
	out := map[string]arrival{}
	eachLine(t, filepath.Join("testdata", sample, "requests.jsonl"), func(line []byte) {
		var a arrival
		require.NoError(t, json.Unmarshal(line, &a))
		if a.Method == "POST" {
			out[a.Headers["X-Request-Id"][0]] = a
		}
	})
	return out
}

func TestEveryRowJoinsOneRequestAtTheServer(t *testing.T) {
	for _, name := range samples {
		t.Run(name, func(t *testing.T) {
			server := posts(t, name)
			e, err := Open(filepath.Join("testdata", name))
			require.NoError(t, err)
			for id := range e.Rows.ids {
				require.Contains(t, server, id)
			}
			want := len(server)
			if name == "text-lost-at-grace-end" {
				want -= 2 // the server saw them, no export knows them
			}
			require.Len(t, e.Rows.ids, want)
		})
	}
}

func TestScheduleZeroGivesLatenessAtTheServer(t *testing.T) {
	e, err := Open("testdata/text-fixed-schedule")
	require.NoError(t, err)
	zero, against, err := e.ScheduleZero()
	require.NoError(t, err)
	require.Empty(t, against)
	require.Equal(t, Zero{UnixNS: 1796085799292310910, Source: ManifestFile}, zero)
	offsets := map[string]time.Duration{}
	eachLine(t, "testdata/text-fixed-schedule/input.jsonl", func(line []byte) {
		var row struct {
			ID string  `json:"session_id"`
			MS float64 `json:"timestamp"`
		}
		require.NoError(t, json.Unmarshal(line, &row))
		offsets[row.ID] = time.Duration(row.MS * float64(time.Millisecond))
	})
	first := offsets["row-000"]
	server := posts(t, "text-fixed-schedule")
	require.NoError(t, e.EachRow(func(entry Entry) error {
		row := entry.(*Row)
		if row.Phase == Measured {
			late := server[row.RequestID].ArrivalNS - zero.At(offsets[row.ConversationID]-first)
			require.InDelta(t, 5e6, late, 6e6, "%s: from 1 ms early to 11 ms late", row.ConversationID)
		}
		return nil
	}))
}

func TestScheduleZeroFallsBackToTheSummary(t *testing.T) {
	e, err := Open("testdata/text-payload-completions")
	require.NoError(t, err)
	zero, _, err := e.ScheduleZero()
	require.NoError(t, err)
	require.Equal(t, SummaryFile, zero.Source)
	require.Equal(t, time.Microsecond, zero.Resolution)
}

func TestScheduleZeroIsUnknownWhenNoSourceIsThere(t *testing.T) {
	e, err := Open("testdata/ranking-all-failed")
	require.NoError(t, err)
	_, _, err = e.ScheduleZero()
	require.ErrorIs(t, err, ErrNoZero)
}

// The line is what the client logged for a run of two requests.
const logged = `2026-12-01 02:44:48.808 - records_manager - INFO - Received CREDIT_PHASE_COMPLETE message, Phase complete: PhaseRecordsStats(phase=CreditPhase.PROFILING, phase_kind='profiling', start_ns=1796093088753235320, baseline_start_ns=1796093088753196118, total_expected_requests=2, final_requests_sent=None, final_requests_completed=1, final_requests_cancelled=1, grace_period_timeout_triggered=True)`

func TestLogGivesZeroAndDroppedRequests(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "logs"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, LogFile), []byte("start\n"+logged), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, RowsFile), []byte(rowLine("a", Measured, 10, "")+"\n"), 0o644))
	e, err := Open(dir)
	require.NoError(t, err)
	zero, _, err := e.ScheduleZero()
	require.NoError(t, err)
	require.Equal(t, Zero{UnixNS: 1796093088753235320, Source: LogFile}, zero)
	require.Contains(t, codes(e.Findings(Facts{})), "dropped-in-flight")
}

func TestContradictingZerosBlock(t *testing.T) {
	e, err := Open("testdata/text-fixed-schedule")
	require.NoError(t, err)
	e.Summary.Start = e.Summary.Start.Add(3 * time.Millisecond)
	require.Contains(t, codes(e.Findings(Facts{})), "zero-contradicted")
}

// codes returns the codes of the blocking findings.
func codes(list []Finding) []string {
	var out []string
	for _, f := range list {
		if f.Blocks {
			out = append(out, f.Code)
		}
	}
	return out
}
