package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native/bundle"
	"github.com/trtmc-go/trtmc/native/reference"
	"github.com/trtmc-go/trtmc/serving/record"
)

// childArgs makes this test binary behave as the program, with the arguments that it holds as JSON.
const childArgs = "SERVE_TEST_ARGS"

func TestMain(m *testing.M) {
	if text := os.Getenv(childArgs); text != "" {
		if err := json.Unmarshal([]byte(text), &os.Args); err != nil {
			panic(err)
		}
		main()
	}
	os.Exit(m.Run())
}

func needRuntime(t *testing.T) {
	t.Helper()
	if _, ok := reference.Entry(); !ok {
		t.Skip("the reference runtime needs cgo")
	}
}

// program is the running program.
type program struct {
	t      *testing.T
	cmd    *exec.Cmd
	url    string
	stdout *bufio.Reader
	stderr *bytes.Buffer
}

func start(t *testing.T, args ...string) *program {
	t.Helper()
	needRuntime(t)
	text, err := json.Marshal(append([]string{"serve", "-addr", "127.0.0.1:0"}, args...))
	require.NoError(t, err)
	p := &program{t: t, cmd: exec.Command(os.Args[0]), stderr: &bytes.Buffer{}}
	p.cmd.Env = append(os.Environ(), childArgs+"="+string(text))
	p.cmd.Stderr = p.stderr
	out, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	p.stdout = bufio.NewReader(out)
	line, err := p.stdout.ReadString('\n')
	require.NoError(t, err, p.stderr)
	p.url = regexp.MustCompile(`http://[^ ]+`).FindString(line)
	require.NotEmpty(t, p.url, line)
	return p
}

// post sends a body and returns status and answer.
func (p *program) post(path, body string, headers ...string) (int, string) {
	p.t.Helper()
	req, err := http.NewRequest("POST", p.url+path, strings.NewReader(body))
	require.NoError(p.t, err)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(p.t, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	require.NoError(p.t, err)
	return res.StatusCode, string(b)
}

func records(t *testing.T, path string) (recs []*record.Record, bad []*record.SyntaxError) {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	r := record.NewReader(f, path)
	for r.Scan() {
		if rec, b := r.Entry(); b != nil {
			bad = append(bad, b)
		} else {
			require.NoError(t, rec.Validate())
			recs = append(recs, rec)
		}
	}
	require.NoError(t, r.Err())
	return recs, bad
}

func TestNewcomerCanAskEveryRouteAndStopWithASignal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "records.jsonl")
	p := start(t, "-records", path, "-lanes", "2")
	status, body := p.post("/v1/completions", `{"model":"reference","prompt":"When in the course of","max_tokens":8,"seed":1}`, "X-Request-ID", "one")
	require.Equal(t, 200, status, body)
	require.Contains(t, body, `"completion_tokens":8`)
	_, again := p.post("/v1/completions", `{"model":"reference","prompt":"When in the course of","max_tokens":8,"seed":1}`, "X-Request-ID", "two")
	text := regexp.MustCompile(`"text":"[^"]*"`)
	require.Equal(t, text.FindString(body), text.FindString(again), "equal seeds, equal texts")
	status, body = p.post("/v1/chat/completions", `{"model":"reference","messages":[{"role":"user","content":"hello"}],"max_tokens":8,"stream":true}`)
	require.Equal(t, 200, status)
	require.True(t, strings.HasSuffix(body, "data: [DONE]\n\n"), body)
	status, body = p.post("/v1/ranking", `{"model":"reference","query":{"text":"a king"},"passages":[{"text":"bread"},{"text":"the king"}]}`)
	require.Equal(t, 200, status)
	require.True(t, strings.HasPrefix(body, `{"rankings":[{"index":1,`), body)

	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, p.cmd.Wait(), "exit code 0")
	require.Empty(t, p.stderr.String())
	recs, bad := records(t, path)
	require.Empty(t, bad)
	require.Len(t, recs, 4)
	for _, r := range recs {
		require.Equal(t, record.Completed, r.Outcome)
		require.True(t, r.Reference)
	}
}

func TestRecordsSurviveAKillAndARestartGoesOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "records.jsonl")
	p := start(t, "-records", path)
	const n = 20
	for i := range n {
		status, _ := p.post("/v1/completions", `{"model":"reference","prompt":"a","max_tokens":1}`, "X-Request-ID", fmt.Sprint("before-", i))
		require.Equal(t, 200, status)
	}
	require.NoError(t, p.cmd.Process.Kill())
	require.Error(t, p.cmd.Wait())
	// The last answer may have left just before its record; those before it are there.
	recs, _ := records(t, path)
	require.GreaterOrEqual(t, len(recs), n-1)

	p = start(t, "-records", path)
	p.post("/v1/completions", `{"model":"reference","prompt":"a","max_tokens":1}`, "X-Request-ID", "after")
	require.NoError(t, p.cmd.Process.Signal(os.Interrupt))
	require.NoError(t, p.cmd.Wait())
	after, bad := records(t, path)
	require.LessOrEqual(t, len(bad), 1)
	require.Len(t, after, len(recs)+1)
	require.Equal(t, "after", after[len(after)-1].RequestID)
}

func TestHangingCallEndsWithTheGraceAndIsRecorded(t *testing.T) {
	dir := t.TempDir()
	p := reference.TextParams()
	p.Fault = &reference.Fault{Kind: reference.FaultHang, MS: 60_000}
	hangs := filepath.Join(dir, "hangs.bundle")
	require.NoError(t, reference.WriteBundle(hangs, p))
	path := filepath.Join(dir, "records.jsonl")
	prog := start(t, "-model", "m="+hangs, "-records", path, "-grace", "50ms")
	go func() {
		res, err := http.Post(prog.url+"/v1/completions", "application/json", strings.NewReader(`{"model":"m","prompt":"a"}`))
		if err == nil {
			res.Body.Close()
		}
	}()
	require.Eventually(t, func() bool {
		res, err := http.Get(prog.url + "/metrics")
		if err != nil {
			return false
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		return err == nil && strings.Contains(string(b), `trtmc_lanes_busy{model="m"} 1`)
	}, 10*time.Second, 5*time.Millisecond)
	require.NoError(t, prog.cmd.Process.Signal(syscall.SIGTERM))
	require.Error(t, prog.cmd.Wait())
	require.Equal(t, 1, prog.cmd.ProcessState.ExitCode())
	require.Contains(t, prog.stderr.String(), "still inside a task call")
	recs, bad := records(t, path)
	require.Empty(t, bad)
	require.Len(t, recs, 1)
	require.Equal(t, record.Failed, recs[0].Outcome)
	require.Equal(t, record.StageRunning, recs[0].Stage)
}

func try(args ...string) (code int, stderr string) {
	var out, errs bytes.Buffer
	code = run(context.Background(), args, &out, &errs)
	return code, errs.String()
}

func TestUsageMistakesAreOneLineAndCode2(t *testing.T) {
	for want, args := range map[string][]string{
		"flag provided but not defined: -bogus": {"-bogus"},
		"want NAME=BUNDLE":                      {"-model", "x"},
		"unexpected argument \"x\"":             {"x"},
		"-lanes is 0, want at least 1":          {"-lanes", "0"},
		"invalid value \"x\" for flag -queue":   {"-queue", "x"},
		"-queue is -1, want 0 or more":          {"-queue", "-1"},
		"want HOST:PORT":                        {"-addr", "here"},
		"beyond loopback, which needs":          {"-addr", "0.0.0.0:80"},
		"want a duration above 0":               {"-grace", "0s"},
	} {
		code, stderr := try(args...)
		require.Equal(t, exitUsage, code, stderr)
		require.Contains(t, stderr, want)
		require.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
	}
}

func TestWhatCannotBeServedIsOneLineAndCode1(t *testing.T) {
	needRuntime(t)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.WriteFile(at("corrupt"), []byte("BUNDLE\x01\x00\xff\xff\xff\xff\xff\xff\xff\xff{}"), 0o644))
	require.NoError(t, os.WriteFile(at("empty"), nil, 0o644))
	require.NoError(t, bundle.Write(at("foreign"), bundle.Header{Family: "other", Task: "x", Backend: "trt"}, nil))
	require.NoError(t, os.WriteFile(at("nokey"), []byte(" \n"), 0o644))
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer busy.Close()
	for name, c := range map[string]struct {
		args []string
		says []string
	}{
		"missing bundle":  {[]string{"-model", "m=" + at("missing")}, []string{at("missing"), "no such file"}},
		"corrupt bundle":  {[]string{"-model", "m=" + at("corrupt")}, []string{at("corrupt"), "header"}},
		"empty bundle":    {[]string{"-model", "m=" + at("empty")}, []string{at("empty")}},
		"foreign backend": {[]string{"-model", "m=" + at("foreign")}, []string{at("foreign"), "trt"}},
		"bad name":        {[]string{"-model", "a b=" + referenceBundle(t)}, []string{`model name "a b"`}},
		"missing library": {[]string{"-runtime", at("lib.so")}, []string{at("lib.so"), "not found"}},
		"no key":          {[]string{"-api-key-file", at("nokey")}, []string{"holds none"}},
		"missing key":     {[]string{"-api-key-file", at("none")}, []string{"no such file"}},
		"records":         {[]string{"-records", filepath.Join(dir, "no", "records")}, []string{"open record file"}},
		"port in use":     {[]string{"-addr", busy.Addr().String()}, []string{"address already in use"}},
	} {
		t.Run(name, func(t *testing.T) {
			args := c.args
			if name != "port in use" {
				args = append([]string{"-addr", "127.0.0.1:0"}, args...)
			}
			code, stderr := try(args...)
			require.Equal(t, exitFailed, code, stderr)
			for _, want := range c.says {
				require.Contains(t, stderr, want)
			}
			require.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
		})
	}
}

func referenceBundle(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "reference.bundle")
	require.NoError(t, reference.WriteBundle(path, reference.TextParams()))
	return path
}

// TestLibraryThatIsNoRuntimeIsNamed builds libraries that go wrong at the first symbol.
func TestLibraryThatIsNoRuntimeIsNamed(t *testing.T) {
	needRuntime(t)
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("needs a C compiler: ", err)
	}
	for source, want := range map[string]string{
		"int nothing;": "trtmc_get_api",
		"int trtmc_get_api(unsigned major, unsigned minor, const void** out) { *out = 0; return 5; }": "version mismatch",
	} {
		dir := t.TempDir()
		lib, src := filepath.Join(dir, "libtrtmc_c.so.1"), filepath.Join(dir, "lib.c")
		require.NoError(t, os.WriteFile(src, []byte(source), 0o644))
		said, err := exec.Command(cc, "-shared", "-fPIC", "-o", lib, src).CombinedOutput()
		require.NoError(t, err, "%s", said)
		code, stderr := try("-addr", "127.0.0.1:0", "-runtime", lib)
		require.Equal(t, exitFailed, code)
		require.Contains(t, stderr, lib)
		require.Contains(t, stderr, want)
		require.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
	}
}

func TestKeyFileOpensOtherAddresses(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(key, []byte("s3cret\n"), 0o600))
	p := start(t, "-addr", "0.0.0.0:0", "-api-key-file", key)
	p.url = strings.Replace(strings.Replace(p.url, "[::]", "127.0.0.1", 1), "0.0.0.0", "127.0.0.1", 1)
	body := `{"model":"reference","prompt":"a","max_tokens":1}`
	status, _ := p.post("/v1/completions", body)
	require.Equal(t, 401, status)
	status, _ = p.post("/v1/completions", body, "Authorization", "Bearer s3cret")
	require.Equal(t, 200, status)
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, p.cmd.Wait())
}
