package aiperf

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// realSpec returns a Spec for the executable named by TRTMC_AIPERF, whose tokenizer table lies in TIKTOKEN_CACHE_DIR
// or beside its environment, as .ci/aiperf leaves it.
func realSpec(t *testing.T, s *stubServer) Spec {
	exe := os.Getenv("TRTMC_AIPERF")
	if exe == "" {
		t.Skip("TRTMC_AIPERF is unset: .ci/aiperf installs the client and prints what to set it to")
	}
	cache := os.Getenv("TIKTOKEN_CACHE_DIR")
	if cache == "" {
		cache = filepath.Join(filepath.Dir(filepath.Dir(filepath.Dir(exe))), "tiktoken")
	}
	return Spec{Executable: exe, BaseURL: s.URL, Model: "demo", TiktokenCache: cache, Deadline: 3 * time.Minute,
		ArtifactDir: filepath.Join(t.TempDir(), "artifacts"), InputFile: filepath.Join(t.TempDir(), "input.jsonl")}
}

// runReal runs the client and returns its result and exports.
func runReal(t *testing.T, spec Spec, rows []string) (Result, *Export) {
	t.Helper()
	require.NoError(t, os.WriteFile(spec.InputFile, []byte(strings.Join(rows, "\n")+"\n"), 0o644))
	res, err := Run(t.Context(), spec)
	require.NoError(t, err)
	require.Equal(t, Exited, res.End, "%v", res.LastLines)
	require.False(t, res.LeftBehind)
	e, err := Open(spec.ArtifactDir)
	require.NoError(t, err)
	if dir := os.Getenv("TRTMC_AIPERF_KEEP"); dir != "" {
		require.NoError(t, os.CopyFS(filepath.Join(dir, t.Name()), os.DirFS(spec.ArtifactDir)))
	}
	return res, e
}

func TestRealInstallationIsThePublishedWheel(t *testing.T) {
	spec := realSpec(t, newStub(t))
	in, err := Find(spec.Executable)
	require.NoError(t, err)
	require.NoError(t, in.Verify(t.Context()))
	require.True(t, in.Verified)
	require.Equal(t, ContentSHA256, in.ContentSHA256)
}

func TestRealTextTraceStreamsAtItsTimestamps(t *testing.T) {
	stub := newStub(t)
	spec := realSpec(t, stub)
	spec.Workload, spec.Chat, spec.Streaming, spec.Warmup = TextTrace, true, true, 2
	var rows []string
	words := []string{"hello", "refuse", "cut", "crash", "hello", "hello"}
	for i, word := range words {
		rows = append(rows, fmt.Sprintf(`{"timestamp":%d.5,"session_id":"row-%d","payload":{"model":"demo","messages":[{"role":"user","content":%q}],"stream":true}}`, 80*i, i, word))
	}
	res, e := runReal(t, spec, rows)
	require.Equal(t, 0, res.ExitCode, "exit 0 although requests failed: %v", res.LastLines)
	require.Equal(t, Counts{Rows: 6, Success: 4, HTTPError: 2, Refused: 1}, e.Rows.Measured)
	require.Equal(t, Counts{Rows: 2, Success: 1, HTTPError: 1, Refused: 1}, e.Rows.Warmup)
	require.Len(t, e.SilentEnd, 1)
	require.Len(t, e.Rows.ZeroDuration, 3)
	require.Empty(t, e.Missing)
	requireSeen(t, stub, e, 8)
}

// requireSeen checks that the rows' request ids are exactly those the server saw.
func requireSeen(t *testing.T, stub *stubServer, e *Export, want int) {
	t.Helper()
	n := 0
	require.NoError(t, e.EachRow(func(entry Entry) error {
		row, ok := entry.(*Row)
		require.True(t, ok, "%v", entry)
		require.Contains(t, stub.posts, row.RequestID)
		n++
		return nil
	}))
	require.Equal(t, want, n)
	require.Len(t, stub.posts, want)
}

func TestRealTextTraceWithoutStreaming(t *testing.T) {
	stub := newStub(t)
	spec := realSpec(t, stub)
	spec.Workload = TextTrace
	rows := []string{
		`{"timestamp":0,"session_id":"a","payload":{"model":"demo","prompt":"one","stream":false}}`,
		`{"timestamp":50,"session_id":"b","payload":{"model":"demo","prompt":"two","stream":false}}`,
	}
	res, e := runReal(t, spec, rows)
	require.Equal(t, 0, res.ExitCode, "%v", res.LastLines)
	require.Equal(t, Counts{Rows: 2, Success: 2}, e.Rows.Measured)
	require.Empty(t, e.SilentEnd)
	requireSeen(t, stub, e, 2)
}

func TestRealRankingTakesWarmupFromTheTop(t *testing.T) {
	stub := newStub(t)
	spec := realSpec(t, stub)
	spec.Workload, spec.Requests, spec.Warmup = Ranking, 3, 2
	var prepared []string
	for i := range 5 {
		prepared = append(prepared, fmt.Sprintf(`{"timestamp":0,"session_id":"rank-%d","payload":{"model":"demo","query":{"text":"q"},"passages":[{"text":"a"},{"text":"b"}],"truncate":"END"}}`, i))
	}
	var rows bytes.Buffer
	ids, err := WriteSingleTurn(&rows, strings.NewReader(strings.Join(prepared, "\n")), "prepared", Ranking, false)
	require.NoError(t, err)
	res, e := runReal(t, spec, strings.Split(strings.TrimSpace(rows.String()), "\n"))
	require.Equal(t, 0, res.ExitCode, "%v", res.LastLines)
	require.Equal(t, map[string]int{"rank-2": 1, "rank-3": 1, "rank-4": 1}, spec.Offered(ids))
	require.Equal(t, spec.Offered(ids), e.Rows.conversations)
	require.Equal(t, 2, e.Rows.Warmup.Success)
	requireSeen(t, stub, e, 5)
}

func TestRealVideoDownloadsAndIsShifted(t *testing.T) {
	stub := newStub(t)
	spec := realSpec(t, stub)
	spec.Workload, spec.Requests, spec.PollInterval = Video, 3, 20*time.Millisecond
	rows := []string{
		`{"session_id":"v0","text":"a ball","extra":{"seed":1}}`,
		`{"session_id":"v1","text":"please break","extra":{"seed":2}}`,
		`{"session_id":"v2","text":"a boat","extra":{"seed":3}}`,
	}
	res, e := runReal(t, spec, rows)
	require.Equal(t, 0, res.ExitCode, "%v", res.LastLines)
	require.Equal(t, Counts{Rows: 3, Success: 2, Failed: 1}, e.Rows.Measured)
	require.Len(t, e.Rows.Shifted, 3)
	require.Len(t, e.Rows.EarlyEnd, 1)
	require.Len(t, stub.gone, 2)
	require.Contains(t, res.Environment, "AIPERF_HTTP_VIDEO_POLL_INTERVAL=0.02")
	requireSeen(t, stub, e, 3)
}

func TestRealRunStoppedByItsDeadlineLeavesNoProcess(t *testing.T) {
	spec := realSpec(t, newStub(t))
	spec.Workload, spec.Deadline, spec.Grace = TextTrace, time.Second, 20*time.Second
	require.NoError(t, os.WriteFile(spec.InputFile, []byte(`{"timestamp":0,"session_id":"a","payload":{"model":"demo","prompt":"x","stream":false}}`+"\n"), 0o644))
	res, err := Run(context.Background(), spec)
	require.NoError(t, err)
	require.Equal(t, DeadlineHit, res.End)
	require.NotZero(t, res.ExitCode)
}
