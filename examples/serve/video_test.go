package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native/reference"
	"github.com/trtmc-go/trtmc/serving/record"
	"github.com/trtmc-go/trtmc/video"
)

// get returns status and body of an answer.
func (p *program) get(path string) (int, string) {
	p.t.Helper()
	res, err := http.Get(p.url + path)
	require.NoError(p.t, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	require.NoError(p.t, err)
	return res.StatusCode, string(b)
}

// makeVideo creates a job and returns its id.
func (p *program) makeVideo(body, requestID string) string {
	p.t.Helper()
	status, answer := p.post("/v1/videos", body, "X-Request-ID", requestID)
	require.Equal(p.t, 200, status, answer)
	var job struct{ ID string }
	require.NoError(p.t, json.Unmarshal([]byte(answer), &job))
	return job.ID
}

// waitFor asks until a job has a state.
func (p *program) waitFor(id, state string) {
	p.t.Helper()
	require.Eventually(p.t, func() bool {
		_, body := p.get("/v1/videos/" + id)
		var job struct{ Status string }
		return json.Unmarshal([]byte(body), &job) == nil && job.Status == state
	}, 30*time.Second, 5*time.Millisecond, state)
}

func needEncoder(t *testing.T) {
	t.Helper()
	if !video.HasEncoder {
		t.Skip(video.ErrNoEncoder)
	}
}

func TestBuiltInBundleMakesVideosWithoutAnyFlag(t *testing.T) {
	needEncoder(t)
	p := start(t)
	id := p.makeVideo(`{"model":"reference","prompt":"a red ball","num_frames":5}`, "one")
	p.waitFor(id, "completed")
	status, clip := p.get("/v1/videos/" + id + "/content")
	require.Equal(t, 200, status)
	require.Equal(t, "ftyp", clip[4:8])
	require.NoError(t, p.cmd.Process.Signal(os.Interrupt))
	require.NoError(t, p.cmd.Wait())
}

// TestJobsOfAKilledServerAreAccountedForByTheNext kills the process while one job is inside its Task call and one
// waits: the next start records the first as failed and finishes the second, both under their own identities.
func TestJobsOfAKilledServerAreAccountedForByTheNext(t *testing.T) {
	needEncoder(t)
	dir := t.TempDir()
	params := reference.VideoParams(64, 48, 5, 8, 1)
	params.Timing = reference.Timing{StepMS: 60} // of up to 1000 steps
	bundle, path := filepath.Join(dir, "video.bundle"), filepath.Join(dir, "records.jsonl")
	require.NoError(t, reference.WriteBundle(bundle, params))
	args := []string{"-model", "v=" + bundle, "-video-dir", filepath.Join(dir, "videos"), "-records", path}

	p := start(t, args...)
	lost := p.makeVideo(`{"model":"v","prompt":"a","num_inference_steps":1000}`, "lost")
	p.waitFor(lost, "in_progress")
	waiting := p.makeVideo(`{"model":"v","prompt":"b"}`, "waiting")
	require.NoError(t, p.cmd.Process.Kill())
	require.Error(t, p.cmd.Wait())

	p = start(t, args...)
	p.waitFor(waiting, "completed")
	p.waitFor(lost, "failed")
	_, body := p.get("/v1/videos/" + lost)
	require.Contains(t, body, "restart")
	require.NoError(t, p.cmd.Process.Signal(os.Interrupt))
	require.NoError(t, p.cmd.Wait(), p.stderr)
	recs, bad := records(t, path)
	require.Empty(t, bad)
	require.Len(t, recs, 2)
	require.Equal(t, []any{"lost", "client", record.Failed, record.ReasonRestart, lost},
		[]any{recs[0].RequestID, recs[0].RequestIDSource, recs[0].Outcome, recs[0].Reason, recs[0].Video.JobID})
	require.Equal(t, []any{"waiting", record.Completed, waiting, 5}, []any{recs[1].RequestID, recs[1].Outcome, recs[1].Video.JobID, recs[1].Video.Frames})
	require.True(t, recs[1].Reference)
}

func TestVideoBundleWithoutADirectoryIsRefusedInWords(t *testing.T) {
	needRuntime(t)
	bundle := filepath.Join(t.TempDir(), "video.bundle")
	require.NoError(t, reference.WriteBundle(bundle, reference.VideoParams(64, 48, 5, 8, 1)))
	code, stderr := try("-addr", "127.0.0.1:0", "-model", "v="+bundle)
	require.Equal(t, exitFailed, code)
	require.Contains(t, stderr, `model "v" declares text_to_video: want -video-dir`)
}
