package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/qual"
)

func TestAPublishedRunNamesNoPathAndStillJudges(t *testing.T) {
	t.Setenv("USER", "quentin")
	dir, code, stdout, stderr := qualifyWith(t, append(burst, "-stream=false")...)
	require.Equal(t, exitHeld, code, "%s%s", stdout, stderr)
	copied := filepath.Join(t.TempDir(), "copy")
	code, stdout, stderr = start(t, "-judge", dir, "-publish", copied, "-redact", "quentin-box")
	require.Equal(t, exitHeld, code, "%s%s", stdout, stderr)
	require.Contains(t, stdout, "nothing found")
	require.Contains(t, stdout, "left out: bundles/reference-text.bundle")
	require.NoError(t, filepath.WalkDir(copied, func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		if d.Type().IsRegular() {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NotContains(t, string(data), filepath.Dir(dir), path)
		}
		return nil
	}))
	code, stdout, _ = start(t, "-judge", copied)
	require.Equal(t, exitHeld, code, stdout)
	require.NotNil(t, judged(t, copied).Run.Redacted)

	code, _, stderr = start(t, "-judge", dir, "-publish", copied)
	require.Equal(t, exitFailed, code)
	require.Contains(t, stderr, "not empty")
}

func TestComparingAFolderWithItself(t *testing.T) {
	dir, code, _, _ := qualifyWith(t, burst...)
	require.Equal(t, exitHeld, code)
	code, stdout, stderr := start(t, "-compare", dir, dir)
	require.Equal(t, exitHeld, code, stderr)
	require.Contains(t, stdout, "**"+qual.NoDifference+"**")
	for _, args := range [][]string{
		{"-compare", dir}, {"-compare", dir, dir, dir}, {"-compare", dir, "-publish", "x", dir}, {"-redact", "x"},
	} {
		code, _, stderr = start(t, args...)
		require.Equal(t, exitUsage, code, "%q", args)
		require.Equal(t, 1, strings.Count(stderr, "\n"))
	}
	code, _, stderr = start(t, "-compare", dir, t.TempDir())
	require.Equal(t, exitFailed, code)
	require.Contains(t, stderr, "second folder")
}
