package reference_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/trtmc-go/trtmc/native/reference"
)

// library builds the shared library by the command of the package comment, with more flags, and returns its path.
func library(t *testing.T, flags ...string) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the ABI's shared library is specified for Linux")
	}
	doc, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	command := regexp.MustCompile(`(?m)^//\tcc (.* -o) (libtrtmc_c\.so\.1) (native/reference/\*\.c) (.*)$`).FindStringSubmatch(string(doc))
	require.Len(t, command, 5, "doc.go has no build command")
	path := filepath.Join(t.TempDir(), command[2])
	args := append(strings.Fields(command[1]), path)
	args = append(append(args, sources(t, filepath.Base(command[3]))...), strings.Fields(command[4])...)
	compile(t, append(args, flags...)...)
	return path
}

func TestSharedLibraryExportsOneSymbol(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("nm", "-D", "--defined-only", library(t)).Output()
	require.NoError(t, err)
	var symbols []string
	for line := range strings.Lines(string(out)) {
		symbols = append(symbols, strings.Fields(line)[2])
	}
	require.Equal(t, []string{"trtmc_get_api"}, symbols)
}

// TestTableFaultsAreWhatTheyAreCalled compiles each fault and looks at the tables as a caller without trust would.
func TestTableFaultsAreWhatTheyAreCalled(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "text.bundle")
	require.NoError(t, reference.WriteBundle(path, reference.TextParams()))
	probe := filepath.Join(t.TempDir(), "probe")
	compile(t, "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-o", probe, "testdata/probe/probe.c", "-ldl")
	const sane = "core 1.0 +0\ntask 1.0 +0\nstream 1.0 +0\nrun there\n"
	for flag, want := range map[string]string{
		"-O1":                                sane,
		"-DTRTMC_FAULT_MAJOR=2":              strings.Replace(sane, "core 1.0", "core 2.0", 1),
		"-DTRTMC_FAULT_MINOR=1":              strings.Replace(sane, "core 1.0", "core 1.1", 1),
		"-DTRTMC_FAULT_SHORT=8":              strings.Replace(sane, "core 1.0 +0", "core 1.0 -8", 1),
		"-DTRTMC_FAULT_LONG=8":               strings.ReplaceAll(sane, "+0", "+8"),
		"-DTRTMC_FAULT_TASK_MAJOR=2":         strings.Replace(sane, "task 1.0", "task 2.0", 1),
		"-DTRTMC_FAULT_TASK_SHORT=8":         strings.Replace(sane, "task 1.0 +0", "task 1.0 -8", 1),
		"-DTRTMC_FAULT_STREAM_SHORT=8":       strings.Replace(sane, "stream 1.0 +0", "stream 1.0 -8", 1),
		"-DTRTMC_FAULT_NULL_RUN":             strings.Replace(sane, "run there", "run missing", 1),
		"-DTRTMC_FAULT_NULL_SLOT=model_load": "core 1.0 +0\nno model_load\n",
		"-DTRTMC_FAULT_NO_API":               "status 0, no table\n",
		"-DTRTMC_FAULT_NO_SYMBOL":            "no symbol\n",
	} {
		require.Equal(t, want, run(t, probe, library(t, flag, "-O0"), path), flag)
	}
}
