package qual_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/qual"
	"github.com/trtmc-go/trtmc/qual/aiperf"
	"github.com/trtmc-go/trtmc/serving/record"
	"github.com/trtmc-go/trtmc/trace"
)

// sample is one captured AIPerf run, see qual/aiperf/testdata.
type sample struct {
	name    string
	inputs  []map[string]any // input.jsonl
	bodies  map[string]json.RawMessage
	seen    []seenRequest // what the server logged
	base    int64         // wall time of the client's monotonic clock
	warmup  int
	exports string
}

type seenRequest struct {
	ArrivalNS   int64               `json:"arrival_ns"`
	FirstByteNS int64               `json:"first_byte_ns"`
	EndNS       int64               `json:"end_ns"`
	Method      string              `json:"method"`
	Path        string              `json:"path"`
	Headers     map[string][]string `json:"headers"`
	Body        string              `json:"body"`
	Status      int                 `json:"status"`
	Fault       string              `json:"fault"`
}

func readSample(t *testing.T, name string) *sample {
	t.Helper()
	s := &sample{name: name, bodies: map[string]json.RawMessage{}, exports: filepath.Join("aiperf", "testdata", name)}
	eachJSON(t, filepath.Join(s.exports, "input.jsonl"), func(line []byte) {
		var row map[string]any
		require.NoError(t, json.Unmarshal(line, &row))
		s.inputs = append(s.inputs, row)
	})
	e, err := aiperf.Open(s.exports)
	require.NoError(t, err)
	s.warmup = e.Rows.Warmup.Rows
	require.NoError(t, e.EachRaw(func(entry aiperf.Entry) error {
		r := entry.(*aiperf.RawRow)
		s.bodies[r.ConversationID], s.base = r.Payload, r.RequestStartNS-r.StartPerfNS
		return nil
	}))
	eachJSON(t, filepath.Join(s.exports, "requests.jsonl"), func(line []byte) {
		var r seenRequest
		require.NoError(t, json.Unmarshal(line, &r))
		if r.Method != "POST" {
			return
		}
		s.seen = append(s.seen, r)
		if id, ok := strings.CutPrefix(r.Headers["X-Correlation-Id"][0], "fixed-schedule-"); ok {
			s.bodies[id] = json.RawMessage(r.Body)
		}
	})
	return s
}

func eachJSON(t *testing.T, path string, take func(line []byte)) {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		if len(bytes.TrimSpace(lines.Bytes())) > 0 {
			take(lines.Bytes())
		}
	}
	require.NoError(t, lines.Err())
}

// sampleRun writes an output folder in which our own client sent the sample's requests, all of which completed, and
// AIPerf sent them as the sample has it. The server's records are made of what the captured server logged.
func sampleRun(t *testing.T, s *sample) string {
	t.Helper()
	dir := t.TempDir()
	folder := filepath.Join(dir, "workloads", "w")
	require.NoError(t, os.CopyFS(filepath.Join(folder, qual.AIPerfDir, qual.AIPerfArtifacts), os.DirFS(s.exports)))
	m := s.prepare(t, folder)
	s.write(t, dir, folder)
	s.evidence(t, folder)
	w := qual.RunWorkload{Name: "w", Model: m.Request.Model, Path: m.Request.Path, Streaming: true, SourceSHA256: m.Source.SHA256}
	twin := w
	twin.Name, twin.Of, twin.Client = "w-aiperf", "w", qual.AIPerfClient
	run := &qual.Run{
		Schema: qual.RunSchema, Command: []string{"qualify"}, Clock: "CLOCK_MONOTONIC", MaxLatenessMS: 250,
		StartedAt: time.Unix(1, 0).UTC(), EndedAt: time.Unix(2, 0).UTC(), Workloads: []qual.RunWorkload{w, twin}, Exit: qual.ExitFacts{Drained: true},
	}
	require.NoError(t, qual.WriteRun(dir, run))
	reseal(t, dir)
	return dir
}

// reseal makes the digests of run.json those of the files, as somebody who changes both would.
func reseal(t *testing.T, dir string) {
	t.Helper()
	run, err := qual.ReadRun(dir)
	require.NoError(t, err)
	run.Sealed, err = qual.Seal(dir)
	require.NoError(t, err)
	require.NoError(t, qual.WriteRun(dir, run))
}

func (s *sample) prepare(t *testing.T, folder string) *trace.Manifest {
	t.Helper()
	var out bytes.Buffer
	for _, row := range s.inputs {
		id := row["session_id"].(string)
		require.Contains(t, s.bodies, id)
		fmt.Fprintf(&out, `{"timestamp":%v,"session_id":%q,"payload":%s}`+"\n", row["timestamp"], id, s.bodies[id])
	}
	m := &trace.Manifest{Schema: trace.ManifestSchema, Workload: "w", Requests: len(s.inputs), Files: map[string]trace.ManifestPart{}}
	m.Request.Model, m.Request.Path, m.Request.Streaming, m.Request.Endpoint = "demo-model", s.seen[0].Path, true, trace.EndpointChat
	m.Schedule.Speed = 1
	for name, data := range map[string][]byte{qual.WorkloadFile: out.Bytes(), qual.WarmupFile: nil} {
		sum := sha256.Sum256(data)
		m.Files[name] = trace.ManifestPart{SHA256: hex.EncodeToString(sum[:]), Lines: bytes.Count(data, []byte("\n")), Bytes: int64(len(data))}
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), data, 0o644))
	}
	data, err := json.Marshal(m)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, qual.ManifestFile), data, 0o644))
	return m
}

// write writes the rows of our own client and the records of both.
func (s *sample) write(t *testing.T, dir, folder string) {
	t.Helper()
	var rows bytes.Buffer
	w := trace.NewRowWriter(&rows)
	sink, err := record.OpenWriter(filepath.Join(dir, records))
	require.NoError(t, err)
	items, err := trace.ReadWorkload(filepath.Join(folder, qual.WorkloadFile))
	require.NoError(t, err)
	for _, item := range items {
		row, rec := rowAt(item.RequestID, item.Offset, 40*time.Millisecond), recordAt(item.RequestID, item.Offset, 40*time.Millisecond)
		row.WallBaseUnixNS, rec.WallBaseUnixNS = s.base, s.base
		require.NoError(t, w.Append(row))
		require.NoError(t, sink.Append(rec))
	}
	for i, seen := range s.seen {
		require.NoError(t, sink.Append(s.record(i, seen)))
	}
	require.NoError(t, sink.Close())
	require.NoError(t, os.WriteFile(filepath.Join(folder, qual.ClientFile), rows.Bytes(), 0o644))
}

// record is what our server would have recorded of a request that the captured one logged.
func (s *sample) record(lane int, seen seenRequest) record.Record {
	arrived, end := seen.ArrivalNS-s.base, seen.EndNS-s.base
	rec := record.Record{
		Schema: 1, RequestID: seen.Headers["X-Request-Id"][0], RequestIDSource: "client", Route: seen.Path, Lane: 1000 + lane, Streaming: true, Outcome: record.Completed, Stage: record.StageDone,
		Status: seen.Status, Clock: "CLOCK_MONOTONIC", WallBaseUnixNS: s.base, ArrivedNS: arrived, EnqueuedNS: arrived + 10, AdmittedNS: arrived + 20,
		TaskCallStartNS: arrived + 30, TaskCallEndNS: end - 10, LastByteNS: end, QueueNS: 10, TaskCallNS: end - 10 - arrived - 30, HandlingNS: end - arrived,
	}
	fail := func(status int, reason record.Reason) {
		rec.Outcome, rec.Reason, rec.Stage, rec.Status = record.Failed, reason, record.StageRunning, status
	}
	switch seen.Fault {
	case "429":
		rec.Outcome, rec.Reason, rec.Stage, rec.Lane = record.Rejected, record.ReasonQueueFull, record.StageQueued, -1
		rec.AdmittedNS, rec.TaskCallStartNS, rec.TaskCallEndNS, rec.QueueNS, rec.TaskCallNS = 0, 0, 0, 0, 0
	case "500":
		fail(500, record.ReasonTaskError)
	case "sse_error", "sse_cut", "sse_eof":
		fail(200, record.ReasonTaskError)
	case "close", "hang":
		fail(499, record.ReasonClientGone)
	}
	return rec
}

// evidence writes aiperf.json as the harness does.
func (s *sample) evidence(t *testing.T, folder string) {
	t.Helper()
	input, err := os.ReadFile(filepath.Join(folder, qual.WorkloadFile))
	require.NoError(t, err)
	sum := sha256.Sum256(input)
	files, err := aiperf.DigestFiles(filepath.Join(folder, qual.AIPerfDir, qual.AIPerfArtifacts))
	require.NoError(t, err)
	first, last := s.seen[0].ArrivalNS, s.seen[0].EndNS
	for _, seen := range s.seen {
		first, last = min(first, seen.ArrivalNS), max(last, seen.EndNS)
	}
	require.NoError(t, qual.WriteAIPerfRun(folder, &qual.AIPerfRun{
		Schema: qual.AIPerfSchema, Clock: "CLOCK_MONOTONIC", WallBaseUnixNS: s.base, FixedSchedule: true, Warmup: s.warmup,
		Installation: &aiperf.Installation{Version: aiperf.Version, Verified: true, ContentSHA256: aiperf.ContentSHA256},
		Result: aiperf.Result{Schema: 1, Workload: aiperf.TextTrace, End: aiperf.Exited, InputSHA256: hex.EncodeToString(sum[:]), Files: files,
			Started: time.Unix(0, first-int64(time.Second)), WallNS: last - first + int64(2*time.Second)},
	}))
}
