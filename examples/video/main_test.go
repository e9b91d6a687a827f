package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native"
	"github.com/trtmc-go/trtmc/native/reference"
	"github.com/trtmc-go/trtmc/native/task"
	"github.com/trtmc-go/trtmc/video"
)

// childVariable makes the test binary run the program instead, so that a test can kill it.
const childVariable = "TRTMC_EXAMPLE_VIDEO_ARGS"

func TestMain(m *testing.M) {
	if args := os.Getenv(childVariable); args != "" {
		os.Exit(run(context.Background(), strings.Fields(args), os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

func needEncoder(t *testing.T) {
	t.Helper()
	if !video.HasEncoder {
		t.Skip(video.ErrNoEncoder)
	}
}

// baseOf reads the first line of the program and returns where it serves.
func baseOf(t *testing.T, out io.Reader, stderr fmt.Stringer) string {
	t.Helper()
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err, "the program said nothing; stderr: %s", stderr)
	base := regexp.MustCompile(`http://[^/\s]+`).FindString(line)
	require.NotEmpty(t, base, line)
	return base
}

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
	return baseOf(t, out, &stderr), func() int {
		cancel()
		return <-code
	}
}

type job struct {
	ID, Status, Size string
	Frames           int
	FPS              float64
	Error            *struct{ Code, Message string }
	Artifact         video.Artifact
}

func call(t *testing.T, method, url, body string, out any) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	if raw, ok := out.(*[]byte); ok {
		*raw = b
	} else {
		require.NoError(t, json.Unmarshal(b, out), "%s", b)
	}
	return resp.StatusCode
}

// ended polls a job until it is final.
func ended(t *testing.T, base, id string) job {
	t.Helper()
	var j job
	require.Eventually(t, func() bool {
		require.Equal(t, 200, call(t, "GET", base+"/v1/videos/"+id, "", &j))
		return j.Status == "completed" || j.Status == "failed"
	}, time.Minute, 10*time.Millisecond)
	return j
}

// TestREADMEWorks sends the body of the README's first curl command, and compares the job's frames with those of a
// direct call of the Task.
func TestREADMEWorks(t *testing.T) {
	needEncoder(t)
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	found := regexp.MustCompile(`curl -s http://127\.0\.0\.1:8000/v1/videos -d '(.*?)'\n`).FindSubmatch(readme)
	require.Len(t, found, 2)
	base, stop := start(t, "-lanes", "2")
	var created job
	require.Equal(t, 200, call(t, "POST", base+"/v1/videos", string(found[1]), &created))
	require.Equal(t, "queued", created.Status)
	j := ended(t, base, created.ID)
	require.Equal(t, "completed", j.Status, "%+v", j.Error)
	require.Equal(t, "416x240", j.Size)
	require.Equal(t, 17, j.Frames)
	require.InDelta(t, 16, j.FPS, 0)
	require.Equal(t, directFrames(t), j.Artifact.FramesSHA256)

	var file []byte
	require.Equal(t, 200, call(t, "GET", base+"/v1/videos/"+j.ID+"/content", "", &file))
	require.NoError(t, j.Artifact.Verify(bytes.NewReader(file), int64(len(file))))
	var gone struct{ Deleted bool }
	require.Equal(t, 200, call(t, "DELETE", base+"/v1/videos/"+j.ID, "", &gone))
	require.True(t, gone.Deleted)
	require.Equal(t, 404, call(t, "GET", base+"/v1/videos/"+j.ID, "", &file))
	require.Equal(t, 0, stop())
}

// directFrames is the digest of the clip that the README asks for, made without a server.
func directFrames(t *testing.T) string {
	t.Helper()
	path := t.TempDir() + "/painter.bundle"
	require.NoError(t, reference.WriteBundle(path, reference.VideoParams(416, 240, 17, 16, 8)))
	rt, err := native.Open(native.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, rt.Close()) }()
	model, err := rt.Load(path, native.LoadOptions{})
	require.NoError(t, err)
	generator, err := task.VideoGeneratorOf(model)
	require.NoError(t, err)
	clip, err := generator.GenerateVideo(t.Context(), task.VideoRequest{Prompt: "a red ball rolls down a hill", Settings: task.Settings{
		{Name: "width", Value: task.Int(416)}, {Name: "height", Value: task.Int(240)}, {Name: "num_frames", Value: task.Int(17)}, {Name: "seed", Value: task.Int(7)},
	}})
	require.NoError(t, err)
	defer clip.Release()
	sum, err := video.FramesSHA256(clip)
	require.NoError(t, err)
	return sum
}

// TestKilledServerKeepsItsJobs does what the README says of -dir.
func TestKilledServerKeepsItsJobs(t *testing.T) {
	needEncoder(t)
	dir := t.TempDir()
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), childVariable+"=-addr 127.0.0.1:0 -dir "+dir)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	require.NoError(t, cmd.Start())
	base := baseOf(t, out, &stderr)
	var done, running, waiting job
	require.Equal(t, 200, call(t, "POST", base+"/v1/videos", `{"prompt":"p"}`, &done))
	require.Equal(t, "completed", ended(t, base, done.ID).Status)
	slow := `{"prompt":"p","num_inference_steps":1000}` // two seconds
	require.Equal(t, 200, call(t, "POST", base+"/v1/videos", slow, &running))
	require.Equal(t, 200, call(t, "POST", base+"/v1/videos", `{"prompt":"p","seed":3}`, &waiting))
	require.Eventually(t, func() bool {
		var j job
		call(t, "GET", base+"/v1/videos/"+running.ID, "", &j)
		return j.Status == "in_progress"
	}, time.Minute, time.Millisecond)
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())

	base, stop := start(t, "-dir", dir)
	failed := ended(t, base, running.ID)
	require.Equal(t, "failed", failed.Status)
	require.Contains(t, failed.Error.Message, "restart")
	require.Equal(t, "completed", ended(t, base, waiting.ID).Status)
	var file []byte
	require.Equal(t, 200, call(t, "GET", base+"/v1/videos/"+done.ID+"/content", "", &file))
	require.NotEmpty(t, file)
	require.Equal(t, 0, stop())
}

func TestWrongUsageIsSaidInOneLine(t *testing.T) {
	for _, args := range [][]string{{"extra"}, {"-lanes", "0"}} {
		var out, errs bytes.Buffer
		require.Equal(t, 2, run(t.Context(), args, &out, &errs))
		require.Equal(t, 1, strings.Count(errs.String(), "\n"), "%s", &errs)
	}
	var out, errs bytes.Buffer
	require.Equal(t, 1, run(t.Context(), []string{"-bundle", "/nowhere/x.bundle"}, &out, &errs))
	require.Contains(t, errs.String(), "/nowhere/x.bundle")
	require.Equal(t, 0, run(t.Context(), []string{"-h"}, &out, &errs))
}
