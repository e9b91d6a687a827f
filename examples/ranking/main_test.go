package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// start runs the program and returns its base URL and a function that stops it and returns the exit code.
func start(t *testing.T, args ...string) (base string, stop func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	out, in := io.Pipe()
	code := make(chan int, 1)
	var stderr bytes.Buffer
	go func() {
		code <- run(ctx, append([]string{"-addr", "127.0.0.1:0"}, args...), in, &stderr)
		in.Close()
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err, "the program said nothing; stderr: %s", &stderr)
	base = regexp.MustCompile(`http://[^/\s]+`).FindString(line)
	require.NotEmpty(t, base, line)
	return base, func() int {
		cancel()
		return <-code
	}
}

// TestREADMEShowsTheRealAnswer sends the body of the README's curl command and wants the answer printed below it.
func TestREADMEShowsTheRealAnswer(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	found := regexp.MustCompile(`(?s)curl -s http://127\.0\.0\.1:8000(\S+) -d '(.*?)'\n(\{.*?\})\n`).FindAllStringSubmatch(string(readme), -1)
	require.Len(t, found, 3)
	base, stop := start(t)
	for _, m := range found {
		resp, err := http.Post(base+m[1], "application/json", strings.NewReader(m[2]))
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		require.NoError(t, err)
		require.Equal(t, m[3], string(body), "body %s", m[2])
	}
	require.Equal(t, 0, stop())
}

func TestFaultsOfTheModelAreServerFailuresWithAReason(t *testing.T) {
	tests := []struct {
		fault  string
		status int
		code   string
	}{
		{"nan_score", 502, "task_result_invalid"},
		{"short_scores", 502, "task_result_invalid"},
		{"busy", 503, "task_busy"},
		{"out_of_memory", 503, "task_out_of_resources"},
		{"error", 500, "task_error"},
	}
	for _, tt := range tests {
		base, stop := start(t, "-fault", tt.fault)
		resp, err := http.Post(base+"/v1/ranking", "application/json", strings.NewReader(`{"query":{"text":"q"},"passages":[{"text":"a"},{"text":"b"}]}`))
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		require.NoError(t, err)
		require.Equal(t, tt.status, resp.StatusCode, "%s: %s", tt.fault, body)
		require.Contains(t, string(body), `"code":"`+tt.code+`"`)
		require.Equal(t, 0, stop())
	}
}

func TestUsageAndFailuresHaveTheirExitCodes(t *testing.T) {
	tests := []struct {
		args   []string
		code   int
		stderr string
	}{
		{[]string{"-h"}, 0, "-bundle"},
		{[]string{"-nonsense"}, 2, "nonsense"},
		{[]string{"stray"}, 2, `unexpected argument "stray"`},
		{[]string{"-addr", "127.0.0.1:0", "-bundle", "testdata/missing.bundle"}, 1, "missing.bundle"},
		{[]string{"-addr", "127.0.0.1:0", "-runtime", "relative.so"}, 1, "absolute path"},
		{[]string{"-addr", "nowhere"}, 1, "nowhere"},
		{[]string{"-addr", "127.0.0.1:0", "-fault", "nonsense"}, 1, "nonsense"},
	}
	for _, tt := range tests {
		var stdout, stderr bytes.Buffer
		require.Equal(t, tt.code, run(t.Context(), tt.args, &stdout, &stderr), "%v: %s", tt.args, &stderr)
		require.Contains(t, stderr.String(), tt.stderr)
		require.Empty(t, stdout.String())
	}
}

func TestProgramStopsCleanlyOnTerminate(t *testing.T) {
	bin := t.TempDir() + "/ranking"
	build := exec.Command("go", "build", "-o", bin, ".")
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	cmd := exec.Command(bin, "-addr", "127.0.0.1:0")
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, line, "serving trtmc/reference-ranker of trtmc-reference/")
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	require.NoError(t, cmd.Wait(), "exit code 0")
}
