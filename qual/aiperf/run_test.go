//go:build unix

package aiperf

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// scripted returns a Spec whose executable is a shell script. It stands in the place of the client to end in ways that
// the client cannot be made to on demand; real_test.go runs the client itself.
func scripted(t *testing.T, script string) Spec {
	t.Helper()
	dir := t.TempDir()
	exe, input := filepath.Join(dir, "client"), filepath.Join(dir, "in.jsonl")
	require.NoError(t, os.WriteFile(exe, []byte("#!/bin/sh\n"+script), 0o755))
	require.NoError(t, os.WriteFile(input, []byte("{}\n"), 0o644))
	s := textSpec()
	s.Executable, s.InputFile, s.ArtifactDir, s.TiktokenCache = exe, input, filepath.Join(dir, "artifacts"), dir
	return s
}

func TestResultHoldsCommandOutputAndDigests(t *testing.T) {
	s := scripted(t, `echo out; echo one >&2; echo two >&2
while [ "$1" != --artifact-dir ]; do shift; done
mkdir -p "$2/logs"; printf abc >"$2/logs/aiperf.log"; echo "$TZ $HF_HOME" >"$2/env"; exit 3`)
	t.Setenv("HF_HOME", "/somewhere")
	s.APIKey = "secret-token"
	r, err := Run(t.Context(), s)
	require.NoError(t, err)
	require.Equal(t, Exited, r.End)
	require.Equal(t, 3, r.ExitCode)
	require.Empty(t, r.Signal)
	require.Equal(t, []string{"one", "two"}, r.LastLines)
	require.Positive(t, r.WallNS)
	require.Contains(t, r.Removed, "HF_HOME")
	require.NotContains(t, strings.Join(r.Command, " "), "secret-token")
	require.Equal(t, []File{
		{Name: "env", Bytes: 5, SHA256: sha256Hex([]byte("UTC \n"))},
		{Name: "logs/aiperf.log", Bytes: 3, SHA256: sha256Hex([]byte("abc"))},
	}, r.Files)
	require.Equal(t, sha256Hex([]byte("{}\n")), r.InputSHA256)
	out, err := os.ReadFile(r.Stdout)
	require.NoError(t, err)
	require.Equal(t, "out\n", string(out))
}

func TestAFolderWithFilesOfAnotherRunIsRefused(t *testing.T) {
	s := scripted(t, "exit 0")
	require.NoError(t, os.MkdirAll(s.ArtifactDir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(s.ArtifactDir, RowsFile), nil, 0o644))
	_, err := Run(t.Context(), s)
	require.ErrorIs(t, err, ErrSpec)
}

func TestAnExecutableThatIsNotThereIsAnError(t *testing.T) {
	s := scripted(t, "")
	s.Executable += "-none"
	_, err := Run(t.Context(), s)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// stubborn ignores SIGTERM, as does the process it starts, and writes both numbers down.
const stubborn = `trap '' TERM
while [ "$1" != --artifact-dir ]; do shift; done
sh -c 'while :; do sleep 1; done' & echo "$$ $!" >"$2/pids.new"; mv "$2/pids.new" "$2/pids"
while :; do sleep 1; done`

// pids waits for the numbers that a script wrote.
func pids(t *testing.T, s Spec) []int {
	t.Helper()
	var text []byte
	require.Eventually(t, func() (ok bool) {
		var err error
		text, err = os.ReadFile(filepath.Join(s.ArtifactDir, "pids"))
		return err == nil
	}, 30*time.Second, 5*time.Millisecond)
	var out []int
	for _, word := range strings.Fields(string(text)) {
		n, err := strconv.Atoi(word)
		require.NoError(t, err)
		out = append(out, n)
	}
	return out
}

// requireGone waits until a process has ended; one that its new parent has not collected yet has ended too.
func requireGone(t *testing.T, pid int) {
	t.Helper()
	require.Eventually(t, func() bool {
		if syscall.Kill(pid, 0) != nil {
			return true
		}
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		return err == nil && strings.Contains(string(stat), ") Z ")
	}, 30*time.Second, 5*time.Millisecond)
}

func TestTheWholeGroupIsKilledAfterTheGracePeriod(t *testing.T) {
	s := scripted(t, stubborn)
	s.Grace = 50 * time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	type outcome struct {
		r   Result
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		r, err := Run(ctx, s)
		done <- outcome{r, err}
	}()
	both := pids(t, s)
	cancel()
	got := <-done
	require.NoError(t, got.err)
	require.Equal(t, Stopped, got.r.End)
	require.Equal(t, -1, got.r.ExitCode)
	require.Equal(t, "killed", got.r.Signal)
	for _, pid := range both {
		requireGone(t, pid)
	}
}

func TestDeadlineEndsTheRun(t *testing.T) {
	s := scripted(t, "exec sleep 3600")
	s.Deadline = 20 * time.Millisecond
	r, err := Run(t.Context(), s)
	require.NoError(t, err)
	require.Equal(t, DeadlineHit, r.End)
	require.Equal(t, "terminated", r.Signal)
}

func TestAProcessLeftBehindIsReportedAndKilled(t *testing.T) {
	s := scripted(t, `while [ "$1" != --artifact-dir ]; do shift; done
sleep 3600 & echo "$!" >"$2/pids"`)
	r, err := Run(t.Context(), s)
	require.NoError(t, err)
	require.Equal(t, Exited, r.End)
	require.True(t, r.LeftBehind)
	requireGone(t, pids(t, s)[0])
}

func TestAContextThatHasEndedStartsNothing(t *testing.T) {
	s := scripted(t, `while [ "$1" != --artifact-dir ]; do shift; done; touch "$2/ran"`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Run(ctx, s)
	require.ErrorIs(t, err, context.Canceled)
	require.NoFileExists(t, filepath.Join(s.ArtifactDir, "ran"))
}
