package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native/reference"
	"github.com/trtmc-go/trtmc/qual"
	"github.com/trtmc-go/trtmc/trace"
	"github.com/trtmc-go/trtmc/video"
)

func needEncoder(t *testing.T) {
	t.Helper()
	if !video.HasEncoder {
		t.Skip(video.ErrNoEncoder)
	}
}

// shortVideo makes small clips that need little time.
func shortVideo(t *testing.T) []string {
	t.Helper()
	needEncoder(t)
	path := filepath.Join(t.TempDir(), "prompts.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(`{"session_id":"s-0","text":"a red ball","extra":{"size":"64x48","num_frames":5,"fps":8,"seed":1}}
{"session_id":"s-1","text":"a blue kite","extra":{"size":"96x64","num_frames":7,"fps":12,"seed":2}}
`), 0o644))
	return []string{"-workloads", qual.VideoWorkload, "-video-prompts", path, "-video-poll", "10ms"}
}

func TestClipsAreEqualToDirectTaskCallsAndSound(t *testing.T) {
	for name, extra := range map[string][]string{
		"one at a time": {"-video-concurrency", "1"},
		"more lanes":    {"-video-lanes", "2", "-video-concurrency", "3", "-video-count", "7"},
		"no warm-up":    {"-video-warmup", "0"},
	} {
		t.Run(name, func(t *testing.T) {
			temp := t.TempDir()
			t.Setenv("TMPDIR", temp)
			dir, code, stdout, stderr := qualifyWith(t, append(shortVideo(t), extra...)...)
			require.Equal(t, exitHeld, code, "%s%s", stdout, stderr)
			w := judged(t, dir).Workloads[qual.VideoWorkload]
			require.Equal(t, w.Measured.Offered, w.Video.Identity.Measured.Equal)
			require.Equal(t, w.Warmup.Offered, w.Video.Identity.Warmup.Equal)
			require.Equal(t, w.Measured.Offered+w.Warmup.Offered, w.Video.Artifacts.Equal)
			require.Contains(t, stdout, "frames equal to direct Task calls "+w.Video.Identity.Measured.String())
			left, err := os.ReadDir(temp)
			require.NoError(t, err)
			require.Empty(t, left, "the server's own copies are gone")
		})
	}
}

func TestFaultyVideosFailTheirRequestsAndOnlyThem(t *testing.T) {
	for fault, failed := range map[string]int{"video-error": 2, "no-frames": 6, "nan-frame": 6} {
		t.Run(fault, func(t *testing.T) {
			dir, code, stdout, stderr := qualifyWith(t, append(shortVideo(t), "-fault", fault, "-video-concurrency", "1")...)
			require.Equal(t, exitFailed, code, "%s%s", stdout, stderr)
			w := judged(t, dir).Workloads[qual.VideoWorkload]
			require.Equal(t, failed, w.Measured.Failed)
			require.Equal(t, 6-failed, w.Measured.Completed)
		})
	}
}

// TestUnfinishedJobsAreFailedNotLost gives jobs less time than their Task calls take.
func TestUnfinishedJobsAreFailedNotLost(t *testing.T) {
	args := shortVideo(t)
	params := reference.VideoParams(64, 48, 5, 8, 4)
	params.Timing = reference.Timing{StepMS: 100}
	dir, code, stdout, stderr := qualifyWith(t, append(args, "-model", "slow="+writeBundle(t, params), "-video-timeout", "50ms", "-video-count", "3", "-video-warmup", "0")...)
	require.Equal(t, exitFailed, code, "%s%s", stdout, stderr)
	r := judged(t, dir)
	w := r.Workloads[qual.VideoWorkload]
	require.Equal(t, qual.Counts{Offered: 3, Failed: 3}, w.Measured)
	for _, c := range w.Causes {
		require.Contains(t, []string{"client: timeout", "no server record"}, c.Cause)
	}
	f, err := os.Open(filepath.Join(dir, qual.WorkloadDir, qual.VideoWorkload, qual.ClientFile))
	require.NoError(t, err)
	defer f.Close()
	n := 0
	for rows := trace.NewRowReader(f, qual.ClientFile); rows.Scan(); n++ {
		row, _ := rows.Row()
		require.Equal(t, trace.CodeUnfinished, row.ErrorCode)
		require.Contains(t, row.Error, "timeout")
	}
	require.Equal(t, 3, n)
}
