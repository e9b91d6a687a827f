package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/qual"
	"github.com/trtmc-go/trtmc/qual/inventory"
)

func TestAIPerfThatIsNotThePublishedOneEndsTheRunWithTheCommandThatInstallsIt(t *testing.T) {
	empty := t.TempDir()
	t.Setenv("PATH", empty)
	t.Setenv("TRTMC_CACHE", empty)
	other := filepath.Join(empty, "aiperf-like")
	require.NoError(t, os.WriteFile(other, []byte("#!/bin/sh\nexit 0\n"), 0o755))
	for _, path := range []string{"auto", filepath.Join(empty, "none"), other} {
		code, _, stderr := start(t, "-aiperf", path, "-out", filepath.Join(t.TempDir(), "q"))
		require.Equal(t, exitFailed, code)
		require.Contains(t, stderr, "install the published release with: .ci/aiperf")
		require.Regexp(t, `\A[^\n]+\n\z`, stderr, "one line")
	}
}

func TestRunWithoutAIPerfNamesTheCommandThatAddsIt(t *testing.T) {
	_, code, stdout, _ := qualifyWith(t, append(burst, "-workloads", "ranking", "-ranking-count", "4")...)
	require.Equal(t, exitHeld, code)
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	require.Equal(t, aiperfHint, lines[len(lines)-1])
}

// realAIPerf makes a run with the executable of TRTMC_AIPERF.
func realAIPerf(t *testing.T, args ...string) (*qual.Report, int) {
	t.Helper()
	exe := os.Getenv("TRTMC_AIPERF")
	if exe == "" {
		t.Skip("TRTMC_AIPERF is unset: .ci/aiperf installs the client and prints what to set it to")
	}
	dir := filepath.Join(t.TempDir(), "out")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	var stdout, stderr bytes.Buffer
	code := run(ctx, append([]string{"qualify", "-aiperf", exe, "-out", dir, "-max-lateness", "1m"}, args...), &stdout, &stderr)
	require.Empty(t, stderr.String())
	require.Contains(t, stdout.String(), "AIPerf")
	return judged(t, dir), code
}

func TestRealAIPerfJoinsEveryWorkload(t *testing.T) {
	r, code := realAIPerf(t, "-scale", "4", "-video-count", "4")
	require.Equal(t, exitHeld, code, "%v", r.Verdict.Failed)
	require.Equal(t, inventory.Implemented, r.Status.Status)
	for name, least := range map[string]int{textTrace: 100, qual.RankingWorkload: 50, qual.VideoWorkload: 4} {
		own, twin := r.Workloads[name], r.Workloads[name+"-aiperf"]
		require.GreaterOrEqual(t, twin.Measured.Offered, least)
		require.Equal(t, twin.Measured.Offered, twin.Measured.Completed)
		require.Equal(t, own.Measured, twin.Measured)
		require.Equal(t, own.Warmup, twin.Warmup)
		require.True(t, twin.AIPerf.Verified)
		require.True(t, twin.AIPerf.Joined)
	}
	require.Equal(t, r.Workloads["ranking"].Ranking.Identity, r.Workloads["ranking-aiperf"].Ranking.Identity)
	f := r.Workloads["text-trace-aiperf"].AIPerf.Fidelity
	require.Equal(t, r.Workloads["text-trace-aiperf"].Measured.Offered, f.Arrival.Samples)
	require.Equal(t, f.Arrival.Samples, f.OwnArrival.Samples)
	for _, row := range r.Results {
		require.True(t, row.Evidence.Joined && row.Evidence.Identity && row.Evidence.AIPerfVerified, row.Workload)
		require.Contains(t, strings.Join(row.Missing, "\n"), "the reference runtime proves the path and qualifies nothing")
	}
}

func TestRealAIPerfHidesNothingFromTheAccount(t *testing.T) {
	for name, c := range map[string]struct {
		args     []string
		workload string
		held     bool
		check    func(t *testing.T, c qual.Counts)
	}{
		"429s": {[]string{"-workloads", "text-trace", "-scale", "8", "-lanes", "1", "-queue", "2"}, textTrace, true, func(t *testing.T, c qual.Counts) {
			require.NotZero(t, c.Rejected)
			require.Zero(t, c.Failed)
		}},
		"500s": {[]string{"-workloads", "text-trace", "-scale", "8", "-fault", "fail-every"}, textTrace, false, func(t *testing.T, c qual.Counts) {
			require.NotZero(t, c.Failed)
			require.NotZero(t, c.Completed)
		}},
		"mid-stream": {[]string{"-workloads", "text-trace", "-scale", "8", "-fault", "mid-stream"}, textTrace, false, func(t *testing.T, c qual.Counts) {
			require.NotZero(t, c.Failed)
		}},
		"failed video job": {[]string{"-workloads", "video", "-video-count", "4", "-fault", "video-error"}, qual.VideoWorkload, false, func(t *testing.T, c qual.Counts) {
			require.NotZero(t, c.Failed)
			require.NotZero(t, c.Completed)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r, code := realAIPerf(t, c.args...)
			require.Equal(t, c.held, code == exitHeld, "%v", r.Verdict.Failed)
			twin := r.Workloads[c.workload+"-aiperf"]
			require.Equal(t, twin.Measured.Offered, twin.Measured.Completed+twin.Measured.Rejected+twin.Measured.Failed)
			c.check(t, twin.Measured)
			require.True(t, twin.AIPerf.Joined, "%v", r.Verdict.Failed)
			found := false
			for _, f := range twin.AIPerf.Findings {
				found = found || f.Code == "exit-code-hides" && twin.AIPerf.ExitCode == 0 || f.Code == "all-failed" && twin.AIPerf.ExitCode == 1
			}
			require.True(t, found, "%v", twin.AIPerf.Findings)
		})
	}
}
