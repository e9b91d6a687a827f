package qual_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/qual"
	"github.com/trtmc-go/trtmc/serving/record"
	"github.com/trtmc-go/trtmc/trace"
)

const (
	records  = qual.RecordsFile
	client   = "workloads/w/" + qual.ClientFile
	workload = "workloads/w/" + qual.WorkloadFile
	manifest = "workloads/w/" + qual.ManifestFile
)

// makeRun writes a finished run of 12 requests, one of them refused, and 2 warm-up requests. The evidence is sealed.
func makeRun(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	folder := filepath.Join(dir, "workloads", "w")
	require.NoError(t, os.MkdirAll(folder, 0o755))
	var rows strings.Builder
	for i := range 12 {
		fmt.Fprintf(&rows, `{"timestamp": %d, "input_length": 8, "output_length": 4, "hash_ids": [%d]}`+"\n", 100*i, i)
	}
	src, err := trace.NewSource(strings.NewReader(rows.String()), "small.jsonl")
	require.NoError(t, err)
	m, err := trace.Prepare(folder, src, trace.PrepareOptions{Workload: "w", Model: "m", Plan: trace.Plan{Speed: 2}, Warmup: 2, Streaming: true})
	require.NoError(t, err)
	writePairs(t, dir, folder)
	run := &qual.Run{
		Schema: qual.RunSchema, Command: []string{"qualify"}, Clock: "CLOCK_MONOTONIC", MaxLatenessMS: 250,
		StartedAt: time.Unix(1, 0).UTC(), EndedAt: time.Unix(2, 0).UTC(),
		Workloads: []qual.RunWorkload{{Name: "w", Model: "m", Path: m.Request.Path, Streaming: true, SourceSHA256: m.Source.SHA256}},
		Exit:      qual.ExitFacts{Drained: true},
	}
	run.Sealed, err = qual.Seal(dir)
	require.NoError(t, err)
	require.NoError(t, qual.WriteRun(dir, run))
	return dir
}

func writePairs(t *testing.T, dir, folder string) {
	t.Helper()
	var rows bytes.Buffer
	w := trace.NewRowWriter(&rows)
	sink, err := record.OpenWriter(filepath.Join(dir, records))
	require.NoError(t, err)
	for _, phase := range []trace.Phase{trace.PhaseWarmup, trace.PhaseMeasured} {
		file := map[trace.Phase]string{trace.PhaseWarmup: trace.WarmupFile, trace.PhaseMeasured: trace.WorkloadFile}[phase]
		items, err := trace.ReadWorkload(filepath.Join(folder, file))
		require.NoError(t, err)
		for i, item := range items {
			row, rec := rowAt(item.RequestID, item.Offset, 40*time.Millisecond), recordAt(item.RequestID, item.Offset, 40*time.Millisecond)
			row.Phase = phase
			if phase == trace.PhaseMeasured && i == 5 {
				refuse(&row, &rec)
			}
			require.NoError(t, w.Append(row))
			require.NoError(t, sink.Append(rec))
		}
	}
	require.NoError(t, sink.Close())
	require.NoError(t, os.WriteFile(filepath.Join(folder, qual.ClientFile), rows.Bytes(), 0o644))
}

func edit(t *testing.T, dir, rel string, change func(lines []string) []string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(rel))
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := change(strings.SplitAfter(strings.TrimSuffix(string(data), "\n"), "\n"))
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "")), 0o644))
}

// replaceIn changes text in the line that holds id.
func replaceIn(id, old, new string) func([]string) []string {
	return func(lines []string) []string {
		for i := range lines {
			if strings.Contains(lines[i], `"`+id+`"`) {
				lines[i] = strings.Replace(lines[i], old, new, 1)
			}
		}
		return lines
	}
}

func failedChecks(r *qual.Report) map[string]qual.Check {
	out := map[string]qual.Check{}
	for _, c := range r.Checks {
		if !c.Held {
			out[c.Name] = c
		}
	}
	return out
}

func TestCleanRunHoldsAndCountsApart(t *testing.T) {
	r, err := qual.Judge(makeRun(t))
	require.NoError(t, err)
	require.Empty(t, failedChecks(r))
	require.NoError(t, r.Held())
	require.Empty(t, r.Findings)
	w := r.Workloads["w"]
	require.Equal(t, qual.Counts{Offered: 12, Completed: 11, Rejected: 1}, w.Measured)
	require.Equal(t, qual.Counts{Offered: 2, Completed: 2}, w.Warmup)
	require.Equal(t, []qual.Cause{{Outcome: record.Rejected, Cause: "queue_full", Count: 1}}, w.Causes)
	require.InDelta(t, 2*float64(w.Rates.Offered.PerSecond), float64(w.Rates.Scheduled.PerSecond), 1e-9)

	// Counts stand where every later reader looks for them.
	data, err := r.JSON()
	require.NoError(t, err)
	var shape struct {
		Workloads map[string]struct {
			Measured, Warmup map[string]int
		}
	}
	require.NoError(t, json.Unmarshal(data, &shape))
	require.Equal(t, map[string]int{"offered": 12, "completed": 11, "rejected": 1, "failed": 0}, shape.Workloads["w"].Measured)
	require.Equal(t, 2, shape.Workloads["w"].Warmup["offered"])
}

func TestJudgingAgainGivesTheSameBytes(t *testing.T) {
	dir := makeRun(t)
	read := func(dir string) (out [2]string) {
		r, err := qual.Judge(dir)
		require.NoError(t, err)
		require.NoError(t, r.Write(dir))
		for i, name := range []string{qual.ReportJSON, qual.ReportMD} {
			data, err := os.ReadFile(filepath.Join(dir, name))
			require.NoError(t, err)
			out[i] = string(data)
		}
		return out
	}
	first := read(dir)
	require.Equal(t, first, read(dir))
	moved := filepath.Join(t.TempDir(), "elsewhere")
	require.NoError(t, os.CopyFS(moved, os.DirFS(dir)))
	require.Equal(t, first, read(moved))
	require.NotContains(t, first[0], dir)
}

func TestReferenceRunIsMarkedInTheFirstLines(t *testing.T) {
	dir := makeRun(t)
	edit(t, dir, qual.RunFile, func(lines []string) []string {
		return []string{strings.Replace(strings.Join(lines, ""), `"reference": false`, `"reference": true`, 1)}
	})
	r, err := qual.Judge(dir)
	require.NoError(t, err)
	head := strings.Join(strings.Split(string(r.Markdown()), "\n")[:4], "\n")
	require.Contains(t, head, qual.ReferenceNotice)
	require.Contains(t, failedChecks(r), "reference mark", "the records of this run do not carry the mark")
	require.NotContains(t, string(r.Markdown()), "Status: family-validated")
}

// TestEveryMutationIsFound changes one thing of the evidence each time. The judge must fail, with the id where there
// is one; and since a forger would seal again, with the seal renewed too.
func TestEveryMutationIsFound(t *testing.T) {
	const id, other, warm = "small-000003", "small-000004", "warmup-small-000001"
	drop := func(lines []string) []string {
		var out []string
		for _, l := range lines {
			if !strings.Contains(l, `"`+id+`"`) {
				out = append(out, l)
			}
		}
		return out
	}
	double := func(lines []string) []string {
		for _, l := range lines {
			if strings.Contains(l, `"`+id+`"`) {
				return append(lines, "\n", l)
			}
		}
		return lines
	}
	swap := func(lines []string) []string {
		for i := range lines {
			lines[i] = strings.NewReplacer(`"`+id+`"`, `"`+other+`"`, `"`+other+`"`, `"`+id+`"`).Replace(lines[i])
		}
		return lines
	}
	truncate := func(lines []string) []string {
		last := len(lines) - 1
		lines[last] = lines[last][:len(lines[last])/2]
		return lines
	}
	for _, c := range []struct {
		name, file string
		change     func([]string) []string
		check, id  string
	}{
		{"client row dropped", client, drop, "one client row for every offered request", id},
		{"record dropped", records, drop, "one server record for every sent request", id},
		{"offered request dropped", workload, drop, "nothing that nobody offered", id},
		{"client row doubled", client, double, "one client row for every offered request", id},
		{"record doubled", records, double, "no retries", id},
		{"offered request doubled", workload, double, "one client row for every offered request", id},
		{"client rows swapped", client, swap, "sent on the workload's schedule", id},
		{"warm-up called measured", client, replaceIn(warm, `"warmup"`, `"measured"`), "warm-up apart", warm},
		{"measured called warm-up", client, replaceIn(id, `"measured"`, `"warmup"`), "warm-up apart", id},
		{"client row renamed", client, replaceIn(id, id, "small-999999"), "nothing that nobody offered", "small-999999"},
		{"record renamed", records, replaceIn(id, id, "small-999999"), "nothing that nobody offered", "small-999999"},
		{"client file truncated", client, truncate, "every line is readable", ""},
		{"record file truncated", records, truncate, "every line is readable", ""},
		{"line damaged", records, replaceIn(id, `"schema":1`, `"schema":`), "every line is readable", ""},
		{"outcome forged", records, replaceIn(id, `"completed"`, `"rejected"`), "records are valid", id},
		{"result forged", client, replaceIn(id, `"result":"ok"`, `"result":"timeout"`), "both sides agree", id},
		{"refusal forged into success", client, replaceIn("small-000006", `"http_error"`, `"ok"`), "both sides agree", "small-000006"},
		{"instant moved", client, replaceIn(id, `"last_byte_ns":1000`, `"last_byte_ns":999`), "instants are in order", id},
		{"schedule moved", client, replaceIn(id, `"offered_offset_ns":1`, `"offered_offset_ns":2`), "sent on the workload's schedule", id},
		{"reference mark forged", records, replaceIn(id, `"reference":false`, `"reference":true`), "reference mark", id},
		{"offset changed", workload, replaceIn(id, `"timestamp":1`, `"timestamp":2`), "the workload is the prepared one", ""},
		{"digest changed", manifest, func(l []string) []string {
			return []string{strings.Replace(strings.Join(l, ""), `"sha256": "`, `"sha256": "0`, 1)}
		}, "the workload is the prepared one", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := makeRun(t)
			edit(t, dir, c.file, c.change)
			r, err := qual.Judge(dir)
			require.NoError(t, err)
			require.Contains(t, failedChecks(r), "evidence is what the run left")

			run, err := qual.ReadRun(dir)
			require.NoError(t, err)
			run.Sealed, err = qual.Seal(dir)
			require.NoError(t, err)
			require.NoError(t, qual.WriteRun(dir, run))
			r, err = qual.Judge(dir)
			require.NoError(t, err)
			require.Error(t, r.Held())
			require.Contains(t, failedChecks(r), c.check)
			if c.id != "" {
				require.Contains(t, failedChecks(r)[c.check].IDs, c.id)
				require.Contains(t, string(r.Markdown()), c.id)
			}
			n := r.Workloads["w"].Measured
			require.Equal(t, n.Offered, n.Completed+n.Rejected+n.Failed)
		})
	}
}

func TestMissingEvidenceIsAFailedCheckNotASmallerSample(t *testing.T) {
	for _, file := range []string{records, client, workload, manifest} {
		t.Run(file, func(t *testing.T) {
			dir := makeRun(t)
			require.NoError(t, os.Remove(filepath.Join(dir, filepath.FromSlash(file))))
			r, err := qual.Judge(dir)
			require.NoError(t, err)
			require.Error(t, r.Held())
			require.Contains(t, string(r.Markdown()), file+" ")
			require.NotContains(t, string(r.Markdown()), dir)
		})
	}
}

func TestAFolderWithoutARunIsRefused(t *testing.T) {
	dir := t.TempDir()
	_, err := qual.Judge(dir)
	require.ErrorIs(t, err, qual.ErrNoRun)
	require.NoError(t, os.WriteFile(filepath.Join(dir, qual.RunFile), []byte(`{"schema":9}`), 0o644))
	_, err = qual.Judge(dir)
	require.ErrorIs(t, err, qual.ErrNoRun)
	require.ErrorContains(t, err, "schema 9")
	require.NoError(t, os.WriteFile(filepath.Join(dir, qual.RunFile), []byte(`{"schema":1,"surprise":true}`), 0o644))
	_, err = qual.Judge(dir)
	require.ErrorContains(t, err, "surprise")
}

func TestUncleanEndFailsTheRun(t *testing.T) {
	for name, change := range map[string]func(*qual.ExitFacts){
		"interrupted":    func(e *qual.ExitFacts) { e.Interrupted = true },
		"server error":   func(e *qual.ExitFacts) { e.ServerError = "boom" },
		"client error":   func(e *qual.ExitFacts) { e.ClientError = "boom" },
		"not drained":    func(e *qual.ExitFacts) { e.Drained = false },
		"records unkept": func(e *qual.ExitFacts) { e.RecordErrors = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			dir := makeRun(t)
			run, err := qual.ReadRun(dir)
			require.NoError(t, err)
			change(&run.Exit)
			require.NoError(t, qual.WriteRun(dir, run))
			r, err := qual.Judge(dir)
			require.NoError(t, err)
			require.Contains(t, failedChecks(r), "the run ended cleanly")
		})
	}
}
