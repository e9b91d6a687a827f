package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/trtmc-go/trtmc/native/reference"
	"github.com/trtmc-go/trtmc/qual"
)

func TestMain(m *testing.M) {
	if bundle, records, ok := strings.Cut(os.Getenv(childServer), "\n"); ok {
		fmt.Fprintln(os.Stderr, serveForever(bundle, records))
		os.Exit(exitFailed)
	}
	goleak.VerifyTestMain(m)
}

// burst is a part of the embedded trace that holds seven requests of one instant.
var burst = []string{"-workloads", textTrace, "-window", "300ms", "-lanes", "4", "-max-lateness", "1m"}

// qualifyWith runs the program into a fresh folder and returns the folder.
func qualifyWith(t *testing.T, args ...string) (dir string, code int, stdout, stderr string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "out")
	code, stdout, stderr = start(t, append([]string{"-out", dir}, args...)...)
	return dir, code, stdout, stderr
}

func start(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var out, errs bytes.Buffer
	code = run(ctx, append([]string{"qualify"}, args...), &out, &errs)
	return code, out.String(), errs.String()
}

func judged(t *testing.T, dir string) *qual.Report {
	t.Helper()
	r, err := qual.Judge(dir)
	require.NoError(t, err)
	return r
}

func TestDefaultWorkloadHoldsEveryCheck(t *testing.T) {
	for name, extra := range map[string][]string{
		"completions streamed": {"-endpoint", "completions"},
		"chat streamed":        {"-endpoint", "chat"},
		"plain":                {"-stream=false"},
		"pilot context":        {"-context", "256"},
		"no warm-up":           {"-warmup", "0"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, code, stdout, stderr := qualifyWith(t, append(burst, extra...)...)
			require.Equal(t, exitHeld, code, "%s%s", stdout, stderr)
			require.Empty(t, stderr)
			require.Contains(t, stdout, qual.ReferenceNotice)
			require.Contains(t, stdout, filepath.Join(dir, qual.ReportMD))
			r := judged(t, dir)
			require.Equal(t, 7, r.Workloads[textTrace].Measured.Completed)
			require.Equal(t, r.Workloads[textTrace].Warmup.Offered, r.Workloads[textTrace].Warmup.Completed)
			require.True(t, r.Reference)
			require.Equal(t, "linked in", r.Run.Runtime.Library)
		})
	}
}

// TestSharedLibraryIsTheSamePath builds the reference runtime as a shared library and opens it as the vendor's would be.
func TestSharedLibraryIsTheSamePath(t *testing.T) {
	library := filepath.Join(t.TempDir(), "libtrtmc_c.so.1")
	sources, err := filepath.Glob("../../native/reference/*.c")
	require.NoError(t, err)
	args := append([]string{"-O1", "-fPIC", "-shared", "-DTRTMC_SHARED", "-fvisibility=hidden", "-o", library}, sources...)
	out, err := exec.Command("cc", append(args, "-lm", "-lpthread")...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	sizes := map[string]int64{}
	for name, extra := range map[string][]string{"linked in": nil, "libtrtmc_c.so.1": {"-runtime", library}} {
		dir, code, stdout, stderr := qualifyWith(t, append(burst, extra...)...)
		require.Equal(t, exitHeld, code, "%s%s", stdout, stderr)
		r := judged(t, dir)
		require.Equal(t, name, r.Run.Runtime.Library)
		require.Equal(t, name != "linked in", r.Run.Runtime.SHA256 != "")
		require.Equal(t, name != "linked in", slices.Contains(r.Run.Stack.Libraries, qual.Library{File: name, SHA256: r.Run.Runtime.SHA256}), "the stack lists what is loaded")
		require.True(t, r.Reference)
		sizes[name] = r.Workloads[textTrace].Tokens.Completion
	}
	require.Equal(t, sizes["linked in"], sizes["libtrtmc_c.so.1"])
}

func TestJudgingAFinishedFolderAgainGivesTheSameBytes(t *testing.T) {
	dir, code, _, _ := qualifyWith(t, burst...)
	require.Equal(t, exitHeld, code)
	before, err := os.ReadFile(filepath.Join(dir, qual.ReportJSON))
	require.NoError(t, err)
	code, _, _ = start(t, "-judge", dir)
	require.Equal(t, exitHeld, code)
	after, err := os.ReadFile(filepath.Join(dir, qual.ReportJSON))
	require.NoError(t, err)
	require.Equal(t, string(before), string(after))

	require.NoError(t, os.Truncate(filepath.Join(dir, qual.RecordsFile), 100))
	code, stdout, _ := start(t, "-judge", dir)
	require.Equal(t, exitFailed, code)
	require.Contains(t, stdout, "FAILED")
}

func TestOverloadRefusesAndAccountsForEveryRequest(t *testing.T) {
	dir, code, stdout, stderr := qualifyWith(t, append(burst, "-lanes", "1", "-queue", "1", "-fault", "slow")...)
	require.Equal(t, exitHeld, code, "%s%s", stdout, stderr)
	w := judged(t, dir).Workloads[textTrace]
	require.Positive(t, w.Measured.Rejected)
	require.Positive(t, w.Measured.Completed)
	require.Equal(t, 7, w.Measured.Completed+w.Measured.Rejected)
	require.Contains(t, w.Statuses, qual.StatusCount{Status: 429, Count: w.Measured.Rejected})
}

func TestFaultyBundlesEndByThemselvesWithEveryRequestClassified(t *testing.T) {
	for _, fault := range []string{"error", "mid-stream", "out-of-memory", "busy", "delta-mismatch", "hang"} {
		t.Run(fault, func(t *testing.T) {
			dir, code, stdout, stderr := qualifyWith(t, append(burst, "-fault", fault, "-timeout", "500ms", "-lanes", "8")...)
			require.Equal(t, exitFailed, code, "%s%s", stdout, stderr)
			require.Empty(t, stderr)
			r := judged(t, dir)
			w := r.Workloads[textTrace]
			// The one answer of a single token is whole before a fault in the middle of a stream can show.
			require.GreaterOrEqual(t, w.Measured.Failed, 6)
			require.Equal(t, 7, w.Measured.Failed+w.Measured.Completed)
			require.Equal(t, []string{"no request failed"}, r.Verdict.Failed)
			require.NotEmpty(t, w.Causes)
		})
	}
}

func TestAnInterruptedRunIsJudgedAsSuch(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	dir := filepath.Join(t.TempDir(), "out")
	args := []string{"qualify", "-out", dir, "-workloads", textTrace, "-window", "1m", "-lanes", "4"}
	out := cancelOn{cancel: cancel, word: "server http"}
	code := run(ctx, args, &out, &out)
	require.Equal(t, exitFailed, code, out.String())
	r := judged(t, dir)
	require.True(t, r.Run.Exit.Interrupted)
	require.Contains(t, r.Verdict.Failed, "the run ended cleanly")
	n := r.Workloads[textTrace].Measured
	require.Equal(t, n.Offered, n.Completed+n.Rejected+n.Failed)
	require.Positive(t, n.Failed)
}

// cancelOn cancels once a word has been written.
type cancelOn struct {
	bytes.Buffer
	cancel func()
	word   string
}

func (c *cancelOn) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(c.word)) {
		c.cancel()
	}
	return c.Buffer.Write(p)
}

func TestBadInputIsOneLine(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
		return path
	}
	good := filepath.Join(dir, "good.bundle")
	require.NoError(t, reference.WriteBundle(good, reference.TextParams()))
	row := `{"timestamp": 0, "input_length": 5, "output_length": 2, "hash_ids": [1]}` + "\n"
	foreign := filepath.Join(dir, "foreign")
	require.NoError(t, os.Mkdir(foreign, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(foreign, "precious"), nil, 0o644))
	for _, c := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"unknown flag", []string{"-speed", "2"}, exitUsage, "-speed"},
		{"stray argument", []string{"out"}, exitUsage, `"out"`},
		{"scale of 0", []string{"-scale", "0"}, exitUsage, "-scale 0: want"},
		{"negative scale", []string{"-scale", "-1"}, exitUsage, "-scale -1: want"},
		{"scale not a number", []string{"-scale", "NaN"}, exitUsage, "-scale NaN: want"},
		{"negative window", []string{"-window", "-1s"}, exitUsage, "-window -1s: want"},
		{"bad duration", []string{"-window", "soon"}, exitUsage, "window"},
		{"unknown fit", []string{"-fit", "squeeze"}, exitUsage, "none, drop, clamp, scale"},
		{"unknown endpoint", []string{"-endpoint", "x"}, exitUsage, "completions, chat"},
		{"unknown workload", []string{"-workloads", "dance"}, exitUsage, textTrace},
		{"unknown fault", []string{"-fault", "bored"}, exitUsage, "hang"},
		{"no lanes", []string{"-lanes", "0"}, exitUsage, "-lanes 0: want"},
		{"model without bundle", []string{"-model", "m"}, exitUsage, "NAME=BUNDLE"},
		{"relative runtime", []string{"-runtime", "libtrtmc_c.so.1"}, exitUsage, "absolute"},
		{"url without records", []string{"-url", "http://127.0.0.1:1"}, exitUsage, "-records"},
		{"missing bundle", []string{"-model", "m=" + filepath.Join(dir, "none.bundle")}, exitFailed, "none.bundle"},
		{"corrupt bundle", []string{"-model", "m=" + file("bad.bundle", "not a bundle")}, exitFailed, "bad.bundle"},
		{"missing library", []string{"-runtime", filepath.Join(dir, "none.so")}, exitFailed, "none.so"},
		{"file that is no library", []string{"-runtime", file("text.so", "text")}, exitFailed, "text.so"},
		{"library without the symbol", []string{"-runtime", emptyLibrary(t)}, exitFailed, "trtmc_get_api"},
		{"missing trace", []string{"-trace", filepath.Join(dir, "none.jsonl")}, exitFailed, "none.jsonl"},
		{"empty trace", []string{"-trace", file("empty.jsonl", ""), "-start", "0"}, exitFailed, "empty"},
		{"bad line", []string{"-trace", file("bad.jsonl", row+"{\"timestamp\": }\n"), "-start", "0"}, exitFailed, "bad.jsonl:2: "},
		{"window without rows", []string{"-trace", file("one.jsonl", row), "-start", "1h"}, exitFailed, "no rows"},
		{"unknown context", []string{"-model", "m=" + good, "-context", "1"}, exitFailed, "context of 1 tokens"},
		{"foreign folder", []string{"-out", foreign}, exitFailed, "not of an earlier run"},
		{"folder that cannot be made", []string{"-out", filepath.Join(good, "out")}, exitFailed, "output folder"},
		{"judge of nothing", []string{"-judge", foreign}, exitFailed, "run.json"},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := append([]string{"-out", filepath.Join(t.TempDir(), "out"), "-workloads", textTrace}, c.args...)
			code, stdout, stderr := start(t, args...)
			require.Equal(t, c.code, code, "%s%s", stdout, stderr)
			require.Contains(t, stderr, c.want)
			require.True(t, strings.HasPrefix(stderr, "qualify: "), stderr)
			require.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
			require.NotContains(t, stderr+stdout, "goroutine")
		})
	}
	require.FileExists(t, filepath.Join(foreign, "precious"))
}

// emptyLibrary builds a shared library without the symbol of the ABI; the C compiler is the one cgo needs anyway.
func emptyLibrary(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "libempty.so")
	src := filepath.Join(t.TempDir(), "empty.c")
	require.NoError(t, os.WriteFile(src, []byte("int nothing;\n"), 0o644))
	out, err := exec.Command("cc", "-shared", "-fPIC", "-o", path, src).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return path
}

func TestAnEarlierRunIsReplacedOnlyOnRequest(t *testing.T) {
	dir, code, _, _ := qualifyWith(t, burst...)
	require.Equal(t, exitHeld, code)
	again := append([]string{"-out", dir}, burst...)
	code, _, stderr := start(t, again...)
	require.Equal(t, exitFailed, code)
	require.Contains(t, stderr, "-force")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("mine"), 0o644))
	code, stdout, stderr := start(t, append(again, "-force")...)
	require.Equal(t, exitHeld, code, "%s%s", stdout, stderr)
	require.FileExists(t, filepath.Join(dir, "notes.txt"), "files that no run writes stay")
}

func TestHelpListsEveryFlagAndIsNoError(t *testing.T) {
	code, stdout, stderr := start(t, "-help")
	require.Equal(t, exitHeld, code)
	require.Empty(t, stderr)
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	for line := range strings.Lines(stdout) {
		if name, ok := strings.CutPrefix(line, "  -"); ok {
			name, _, _ = strings.Cut(strings.TrimSpace(name), " ")
			name, _, _ = strings.Cut(name, "\t")
			require.Contains(t, string(readme), "`-"+name, "README.md does not explain -%s", name)
		}
	}
}
