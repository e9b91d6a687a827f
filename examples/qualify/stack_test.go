package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/qual"
)

// withSMI puts a script called nvidia-smi first in the path.
func withSMI(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	if script != "" {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "nvidia-smi"), []byte("#!/bin/sh\n"+script), 0o755))
	}
	t.Setenv("PATH", dir)
}

func TestGPUsAreWhatTheToolLists(t *testing.T) {
	withSMI(t, `[ "$1" = "--query-gpu=name,driver_version,memory.total,compute_cap" ] || exit 9
echo "NVIDIA H100 80GB HBM3, 570.86.10, 81559, 9.0"
echo "NVIDIA GB10, 580.95.05, [N/A], 12.1"`)
	s := stackFacts(context.Background())
	require.Empty(t, s.GPUQuery)
	require.Equal(t, []qual.GPU{
		{Name: "NVIDIA H100 80GB HBM3", Driver: "570.86.10", MemoryMiB: 81559, ComputeCapability: "9.0"},
		{Name: "NVIDIA GB10", Driver: "580.95.05", ComputeCapability: "12.1"},
	}, s.GPUs)
}

func TestMissingGPUsComeWithTheReason(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"no tool":     {"", "not installed"},
		"broken":      {"echo NVIDIA-SMI has failed; exit 9", "exit status 9"},
		"other words": {"echo No devices were found", "unexpected answer"},
		"no device":   {"exit 0", "lists no device"},
	} {
		t.Run(name, func(t *testing.T) {
			withSMI(t, c.script)
			s := stackFacts(context.Background())
			require.Empty(t, s.GPUs)
			require.Contains(t, s.GPUQuery, c.want)
		})
	}
}

func TestAToolThatHangsIsGivenUp(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	withSMI(t, "while :; do :; done")
	_, err := queryGPUs(ctx)
	require.ErrorIs(t, err, context.Canceled)
}

func TestLoadedLibrariesComeFromTheMap(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "with space")
	require.NoError(t, os.Mkdir(dir, 0o755))
	cudart := filepath.Join(dir, "libcudart.so.12")
	require.NoError(t, os.WriteFile(cudart, []byte("abc"), 0o644))
	line := "7f0000000000-7f0000001000 r-xp 00000000 08:01 1234                       "
	files := mappedFiles(line + cudart + "\n" + line + cudart + "\n" + line + "/gone/libnvinfer.so.10 (deleted)\n" +
		line + "/usr/lib/libm.so.6\n" + line + "[heap]\n" + line + "\n")
	require.ElementsMatch(t, []string{"/gone/libnvinfer.so.10", "/usr/lib/libm.so.6", cudart}, files)
	require.Equal(t, []qual.Library{
		{File: "libcudart.so.12", SHA256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}, {File: "libnvinfer.so.10"},
	}, nativeLibraries(files))
}
