package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native/reference"
)

func try(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(context.Background(), args, &out, &errs)
	return code, out.String(), errs.String()
}

// buildLibrary runs the command that the README of the module gives.
func buildLibrary(t *testing.T) string {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	require.NoError(t, err)
	line := regexp.MustCompile(`(?m)^\$ (cc .*) -o libtrtmc_c\.so\.1 (.*)$`).FindStringSubmatch(string(readme))
	require.NotNil(t, line, "README.md documents the command")
	lib := filepath.Join(t.TempDir(), "libtrtmc_c.so.1")
	cmd := exec.Command("sh", "-c", line[1]+" -o "+lib+" "+line[2])
	cmd.Dir = filepath.Join("..", "..")
	said, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", said)
	return lib
}

func TestOutputIsEqualEitherWay(t *testing.T) {
	code, linked, stderr := try(t, "-notimings")
	require.Zero(t, code, stderr)
	code, shared, stderr := try(t, "-notimings", "-runtime", buildLibrary(t))
	require.Zero(t, code, stderr)
	opened := regexp.MustCompile(`(?m)^opened .*\n`)
	require.Equal(t, opened.ReplaceAllString(linked, ""), opened.ReplaceAllString(shared, ""))
	require.Contains(t, linked, "opened   linked in\n")
	for _, id := range reference.AllParams().Tasks {
		require.Regexp(t, "(?m)^"+id+" 1\\.0$", linked, "listed")
		require.Regexp(t, "(?m)^"+id+" +[^1 ]|^"+id+" +\\d+ ", linked, "called")
	}
	require.Regexp(t, `max_new_tokens +int +64 `, linked)
	require.Regexp(t, `interpolation +floats +computed `, linked)
	require.NotContains(t, linked, "timings")
	require.NotContains(t, linked, "failed")
}

func TestTimingsStandInLinesOfTheirOwn(t *testing.T) {
	code, out, stderr := try(t)
	require.Zero(t, code, stderr)
	require.Equal(t, len(reference.AllParams().Tasks), strings.Count(out, "\n  timings: call "))
}

func TestBundleOfTheCallerIsShown(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rank.bundle")
	require.NoError(t, reference.WriteBundle(path, reference.RankingParams()))
	code, out, stderr := try(t, "-bundle", path)
	require.Zero(t, code, stderr)
	require.Contains(t, out, "bundle   "+path)
	require.Contains(t, out, "section reference.json:")
	require.NotContains(t, out, "text_to_video")
}

func TestFailingTaskMakesTheExitCodeOne(t *testing.T) {
	p := reference.RankingParams()
	p.Fault = &reference.Fault{Kind: reference.FaultError, Message: "no memory of that"}
	path := filepath.Join(t.TempDir(), "bad.bundle")
	require.NoError(t, reference.WriteBundle(path, p))
	code, out, stderr := try(t, "-bundle", path)
	require.Equal(t, 1, code)
	require.Contains(t, out, "no memory of that")
	require.Equal(t, "native: these tasks failed: text_query_documents_to_relevance, text_pair_to_relevance\n", stderr)
}

func TestMistakesAreOneLine(t *testing.T) {
	dir := t.TempDir()
	rows := []struct {
		args []string
		code int
		want string
	}{
		{[]string{"-bundle", filepath.Join(dir, "none")}, 1, "no such file"},
		{[]string{"-runtime", filepath.Join(dir, "none.so")}, 1, "none.so"},
		{[]string{"stray"}, 2, `unexpected argument "stray"`},
		{[]string{"-nosuch"}, 2, "flag provided but not defined: -nosuch"},
	}
	for _, row := range rows {
		code, _, stderr := try(t, row.args...)
		require.Equal(t, row.code, code, row.args)
		require.Contains(t, stderr, row.want)
		require.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
	}
	code, _, stderr := try(t, "-h")
	require.Zero(t, code)
	require.Contains(t, stderr, "-notimings")
}
