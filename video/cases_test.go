package video

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native/task"
)

// The tests named after a case are distilled from public bug reports about video services and their clients.

// TestCase_C03: a backend that finishes at once must not overtake the storing of its job.
func TestCase_C03(t *testing.T) {
	s := newSite(t, &fakeGenerator{defaults: scene{width: 16, height: 16, frames: 1, fps: 8}}, func(c *Config) { c.Queue = 200 })
	var wg sync.WaitGroup
	ids := make([][]string, 8)
	for c := range ids {
		wg.Go(func() {
			for range 25 {
				a := s.post(`{"prompt":"p"}`)
				if a.StatusCode != 200 {
					t.Errorf("create: %d %s", a.StatusCode, a.body)
					return
				}
				id := a.json(t)["id"].(string)
				if got := s.get("/v1/videos/" + id); got.StatusCode != 200 {
					t.Errorf("the next GET of %s: %d", id, got.StatusCode)
				}
				ids[c] = append(ids[c], id)
			}
		})
	}
	wg.Wait()
	all := slices.Concat(ids...)
	require.Len(t, all, 200)
	for _, id := range all {
		require.Equal(t, Completed, s.log.finished(t, id).State)
		require.Equal(t, "completed", s.get("/v1/videos/" + id).json(t)["status"])
	}
}

// heedful is a generator that ends when its context does, as a Task that can be cancelled would, and counts that.
func heedful(g *fakeGenerator, cancels *atomic.Int32) func(context.Context, task.VideoRequest) (task.Video, error) {
	return func(ctx context.Context, req task.VideoRequest) (task.Video, error) {
		if !strings.HasPrefix(req.Prompt, "hang") {
			return g.paint(req), nil
		}
		<-ctx.Done()
		cancels.Add(1)
		return nil, context.Cause(ctx)
	}
}

// TestCase_C05: DELETE of a running job ends its context once; the lane is free when the call has returned.
func TestCase_C05(t *testing.T) {
	var cancels atomic.Int32
	g := &fakeGenerator{defaults: smallScene()}
	g.do = heedful(g, &cancels)
	s := newSite(t, g, nil)
	id := s.made(`{"prompt":"hang"}`)
	s.log.wait(t, id, EventCallStarted)
	require.Equal(t, 200, s.do(http.MethodDelete, "/v1/videos/"+id, nil).StatusCode)
	s.completed(`{"prompt":"p"}`) // on the one lane
	require.EqualValues(t, 1, cancels.Load())
	require.Equal(t, CodeCancelled, s.log.finished(t, id).Failure.Code)
	require.Equal(t, 404, s.get("/v1/videos/"+id).StatusCode)
	require.Equal(t, 1, countKind(s.log.of(id), EventFinished), "accounted for exactly once")
}

// TestCase_C05_Wedged: a call that heeds nothing does not hold up DELETE, keeps its lane until it returns, and its
// clip does not bring the job back.
func TestCase_C05_Wedged(t *testing.T) {
	hold := make(chan struct{})
	g := &fakeGenerator{defaults: smallScene()}
	g.do = func(_ context.Context, req task.VideoRequest) (task.Video, error) {
		if req.Prompt == "hang" {
			<-hold
		}
		return g.paint(req), nil
	}
	s := newSite(t, g, nil)
	id := s.made(`{"prompt":"hang"}`)
	s.log.wait(t, id, EventCallStarted)
	second := s.made(`{"prompt":"p"}`)
	require.Equal(t, 200, s.do(http.MethodDelete, "/v1/videos/"+id, nil).StatusCode)
	require.Equal(t, 404, s.get("/v1/videos/"+id).StatusCode)
	require.Equal(t, "queued", s.get("/v1/videos/" + second).json(t)["status"], "the lane is still taken")
	close(hold)
	require.Equal(t, Completed, s.log.finished(t, second).State)
	require.Equal(t, CodeCancelled, s.log.finished(t, id).Failure.Code)
	require.Equal(t, 404, s.get("/v1/videos/"+id).StatusCode)
	require.Equal(t, 1, countKind(s.log.of(id), EventFinished))
	require.Equal(t, []string{second + ".jpg", second + ".mp4"}, filesOf(t, s.service.cfg.Dir))
}

func countKind(events []Event, kind Kind) int {
	n := 0
	for _, e := range events {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

// TestCase_C07: a client that gives up changes nothing of its job, and every job has one outcome, with a text.
func TestCase_C07(t *testing.T) {
	hold := make(chan struct{})
	g := &fakeGenerator{defaults: scene{width: 16, height: 16, frames: 1, fps: 8}}
	var n atomic.Int32
	g.do = func(_ context.Context, req task.VideoRequest) (task.Video, error) {
		switch i := n.Add(1); {
		case i > 80:
			<-hold
		case i%16 == 0:
			return nil, task.ErrInternal
		}
		return g.paint(req), nil
	}
	s := newSite(t, g, func(c *Config) { c.Queue = 90 })
	ids := make([]string, 90)
	for i := range ids {
		ids[i] = s.made(`{"prompt":"p"}`)
	}
	s.log.finished(t, ids[79])
	s.log.wait(t, ids[80], EventCallStarted)
	count := func() map[string]int {
		counts := map[string]int{}
		for _, id := range ids {
			v := s.get("/v1/videos/" + id).json(t)
			counts[v["status"].(string)]++
			if v["status"] == "failed" {
				require.NotEmpty(t, v["error"].(map[string]any)["message"])
			}
		}
		return counts
	}
	require.Equal(t, map[string]int{"completed": 75, "failed": 5, "in_progress": 1, "queued": 9}, count())
	close(hold) // the client gave up on ten; they finish all the same
	for _, id := range ids {
		s.log.finished(t, id)
	}
	require.Equal(t, map[string]int{"completed": 85, "failed": 5}, count())
}

// TestCase_C08: only four words are ever shown, and 100 per cent only with completed.
func TestCase_C08(t *testing.T) {
	var cancels atomic.Int32
	g := &fakeGenerator{defaults: smallScene()}
	hang := heedful(g, &cancels)
	g.do = func(ctx context.Context, req task.VideoRequest) (task.Video, error) {
		if req.Prompt == "error" {
			return nil, task.ErrInternal
		}
		return hang(ctx, req)
	}
	s := newSite(t, g, nil)
	onDisk := s.service.files.create
	for _, tt := range []struct {
		prompt, status string
	}{{"success", "completed"}, {"error", "failed"}, {"hang", "404"}, {"disk", "failed"}} {
		if tt.prompt == "disk" {
			s.service.files.create = (&quota{10, onDisk}).create
		}
		id := s.made(`{"prompt":"` + tt.prompt + `"}`)
		if tt.prompt == "hang" {
			s.log.wait(t, id, EventCallStarted)
			s.do(http.MethodDelete, "/v1/videos/"+id, nil)
		}
		for final := false; !final; {
			final = countKind(s.log.of(id), EventFinished) > 0
			a := s.get("/v1/videos/" + id)
			if a.StatusCode == 404 {
				require.Equal(t, "404", tt.status)
				continue
			}
			v := a.json(t)
			require.Contains(t, []any{"queued", "in_progress", "completed", "failed"}, v["status"])
			require.Equal(t, v["status"] == "completed", v["progress"] == 100.0)
			if final {
				require.Equal(t, tt.status, v["status"])
			}
		}
	}
}

// TestCase_C09: no url in the job, and content that a client takes for a video.
func TestCase_C09(t *testing.T) {
	s := newSite(t, &fakeGenerator{defaults: smallScene()}, nil)
	j := s.completed(`{"prompt":"p"}`)
	poll := "/v1/videos/" + j.ID
	require.Nil(t, s.get(poll).json(t)["url"])
	a := s.get(poll + "/content")
	require.Equal(t, "video/mp4", a.Header.Get("Content-Type"))
	require.EqualValues(t, len(a.body), a.ContentLength)
	require.NotEqual(t, byte('{'), a.body[0])
}

// TestCase_C10: a failed job is a 200 with an error object, and only a failed job has one.
func TestCase_C10(t *testing.T) {
	g := &fakeGenerator{defaults: smallScene()}
	g.do = func(context.Context, task.VideoRequest) (task.Video, error) {
		return nil, &task.Error{Op: "run", Task: task.TextToVideo, Status: 6, Detail: "out of memory at step 3", Err: task.ErrResource}
	}
	s := newSite(t, g, nil)
	id := s.made(`{"prompt":"p"}`)
	s.log.finished(t, id)
	a := s.get("/v1/videos/" + id)
	require.Equal(t, 200, a.StatusCode)
	v := a.json(t)
	require.Equal(t, "failed", v["status"])
	e := v["error"].(map[string]any)
	require.NotEmpty(t, e["message"])
	require.Equal(t, CodeTaskResource, e["code"])
	require.NotContains(t, v, "artifact")
	require.NotEqual(t, 100.0, v["progress"])
	require.Nil(t, v["completed_at"])
	g.do = nil
	done := s.get("/v1/videos/" + s.completed(`{"prompt":"p"}`).ID).json(t)
	require.Contains(t, done, "error")
	require.Nil(t, done["error"])
}

// TestCase_C11: the same identity on creation, polls and download is one job, and a full queue refuses no poll.
func TestCase_C11(t *testing.T) {
	hold := make(chan struct{})
	g := &fakeGenerator{defaults: smallScene()}
	g.do = func(_ context.Context, req task.VideoRequest) (task.Video, error) { <-hold; return g.paint(req), nil }
	s := newSite(t, g, func(c *Config) { c.Queue = 1 })
	const rid = "1b4e28ba-2fa1-41d2-883f-0016d3cca427"
	a := s.post(`{"prompt":"p"}`, "X-Request-ID", rid)
	require.Equal(t, 200, a.StatusCode)
	id := a.json(t)["id"].(string)
	require.Regexp(t, `^[A-Za-z0-9_-]+$`, id)
	s.log.wait(t, id, EventCallStarted)
	s.made(`{"prompt":"fills the queue"}`)
	full := s.post(`{"prompt":"one too many"}`)
	require.Equal(t, 429, full.StatusCode)
	require.Equal(t, CodeQueueFull, full.code(t))
	require.NotEmpty(t, full.Header.Get("Retry-After"))
	for range 7 {
		a := s.get("/v1/videos/"+id, "X-Request-ID", rid)
		require.Equal(t, 200, a.StatusCode)
		require.Equal(t, rid, a.Header.Get("X-Request-ID"))
	}
	close(hold)
	s.log.finished(t, id)
	require.Equal(t, 200, s.get("/v1/videos/"+id+"/content", "X-Request-ID", rid).StatusCode)
	require.Equal(t, 1, countKind(s.log.of(id), EventCreated))
	s.mu.Lock()
	defer s.mu.Unlock()
	polls := 0
	for _, o := range s.seen {
		if o.RequestID == rid && o.JobID == id && o.Route == RouteVideo {
			polls++
		}
	}
	require.Equal(t, 7, polls, "observers can count polls by job")
}

// TestCase_C12: one job whatever the form of the request, and a refusal that names the field.
func TestCase_C12(t *testing.T) {
	s := newSite(t, &fakeGenerator{defaults: smallScene()}, nil)
	for _, a := range []answer{
		s.post(`{"prompt":"p","model":"m","seconds":4,"size":"832x480","fps":1}`),
		s.form("prompt", "p", "model", "m", "seconds", "4", "size", "832x480", "fps", "1"),
		s.post(`{"prompt":"p","model":"m","seconds":"4","size":"832x480","fps":"1"}`),
		s.post(`{"prompt":"p","extra_body":{"seconds":4,"fps":1},"size":"832x480"}`),
	} {
		require.Equal(t, 200, a.StatusCode, "%s", a.body)
		v := a.json(t)
		require.Equal(t, "4", v["seconds"])
		require.Equal(t, "832x480", v["size"])
		j := s.log.finished(t, v["id"].(string))
		require.Equal(t, Completed, j.State, "%+v", j.Failure)
		require.Equal(t, 4, j.Artifact.Frames)
	}
	for field, values := range map[string][]string{
		"size":    {"832*480", "832x", "x480", "0x480", "-1x5", "99999999x480", "832x480x3", " 832x480", "833x480", "8x8", "0832x480", "", "8٣2x480"},
		"seconds": {"4s", "NaN", "0", "-1", "Inf", "", "1e9", "0x4", "1_0"},
		"fps":     {"0", "61", "-8", "8/1", "1e1", "x"}, "num_frames": {"0", "-1", "1.5", "1e2", "1001", "+4", "0x10"},
		"num_inference_steps": {"0", "many", "1001"}, "seed": {"1.0", "9223372036854775808", "x"}, "guidance_scale": {"NaN", "Inf", "high", ""},
		"prompt": {"", "  "}, "quality": {"high"}, "url": {"x"}, "input_reference": {"file-1"},
	} {
		for _, v := range values {
			fields := []string{field, v}
			if field != "prompt" {
				fields = append(fields, "prompt", "p")
			}
			body := `{"prompt":"p","` + field + `":"` + v + `"}`
			if field == "prompt" {
				body = `{"prompt":"` + v + `"}`
			}
			for form, a := range map[string]answer{"form": s.form(fields...), "json": s.post(body)} {
				require.Equal(t, 400, a.StatusCode, "%s %s=%q", form, field, v)
				require.Equal(t, field, a.json(t)["error"].(map[string]any)["param"], "%s %s=%q", form, field, v)
				require.Contains(t, []string{CodeInvalid, CodeUnsupported}, a.code(t))
			}
		}
	}
}

// TestCase_C14: content before, instead of and after completion.
func TestCase_C14(t *testing.T) {
	hold := make(chan struct{})
	g := &fakeGenerator{defaults: smallScene()}
	g.do = func(_ context.Context, req task.VideoRequest) (task.Video, error) {
		if req.Prompt == "bad" {
			return nil, task.ErrInternal
		}
		<-hold
		return g.paint(req), nil
	}
	s := newSite(t, g, nil)
	content := func(id string) answer { return s.get("/v1/videos/" + id + "/content") }
	bad := s.made(`{"prompt":"bad"}`)
	s.log.finished(t, bad)
	running := s.made(`{"prompt":"p"}`)
	s.log.wait(t, running, EventCallStarted)
	waiting := s.made(`{"prompt":"p"}`)
	for id, code := range map[string]string{bad: CodeJobFailed, running: CodeNotReady, waiting: CodeNotReady, newID(1): CodeNoJob, "video_x": CodeNoJob} {
		a := content(id)
		require.Equal(t, 404, a.StatusCode)
		require.Equal(t, code, a.code(t))
	}
	close(hold)
	s.log.finished(t, running)
	a := content(running)
	require.Equal(t, 200, a.StatusCode)
	require.NotEmpty(t, a.body)
}

// TestCase_C15: a job that a restart interrupted is failed and says so, one that waited runs, and nothing is left over.
func TestCase_C15(t *testing.T) {
	dir := t.TempDir()
	stop := make(chan struct{})
	g := &fakeGenerator{defaults: smallScene()}
	g.do = func(ctx context.Context, req task.VideoRequest) (task.Video, error) { <-stop; return nil, ctx.Err() }
	s, l := service(t, g, func(c *Config) { c.Dir = dir })
	running := create(t, s, Spec{})
	l.wait(t, running.ID, EventCallStarted)
	waiting := create(t, s, Spec{})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	err := s.Shutdown(ended)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, running.ID)
	require.Equal(t, CodeRestart, l.finished(t, running.ID).Failure.Code)
	_, err = s.Create(t.Context(), Request{Spec: Spec{Prompt: "p"}})
	require.ErrorIs(t, err, ErrClosed)
	close(stop)
	require.NoError(t, s.Close())
	require.Equal(t, 1, countKind(l.of(running.ID), EventFinished))

	orphan := filepath.Join(dir, "artifacts", newID(1)+".mp4.tmp")
	require.NoError(t, writeFile(orphan))
	g.do = nil
	s, l = service(t, g, func(c *Config) { c.Dir = dir })
	require.Equal(t, Completed, l.finished(t, waiting.ID).State)
	j, err := s.Job(t.Context(), running.ID)
	require.NoError(t, err)
	require.Equal(t, Failed, j.State)
	require.Contains(t, j.Failure.Message, "shut down")
	require.Equal(t, []string{waiting.ID + ".jpg", waiting.ID + ".mp4"}, filesOf(t, dir))
}

// TestAIPerfRequestIsServed replays what AIPerf 0.13.0 sends for a video job, byte for byte but for the identity.
func TestAIPerfRequestIsServed(t *testing.T) {
	s := newSite(t, &fakeGenerator{defaults: smallScene()}, nil)
	const boundary = "14afb57213024772b373fbfcdba08638"
	var b bytes.Buffer
	for _, f := range [][2]string{{"prompt", "A red ball rolls down a hill."}, {"model", "m"}, {"size", "640x360"}, {"seconds", "2"},
		{"num_inference_steps", "4"}, {"fps", "8"}, {"guidance_scale", "5.5"}, {"seed", "100"}} {
		fmt.Fprintf(&b, "--%s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Disposition: form-data; name=%q\r\n\r\n%s\r\n", boundary, f[0], f[1])
	}
	fmt.Fprintf(&b, "--%s--\r\n", boundary)
	a := s.do(http.MethodPost, "/v1/videos", &b, "Content-Type", "multipart/form-data; boundary="+boundary, "User-Agent", "aiperf/0.13.0",
		"X-Request-ID", "af6fc894-d747-4e88-bf82-2542b4d7ceca", "X-Correlation-ID", "daa96280-e45a-45ef-86b0-960186c0fd89", "Accept", "application/json")
	require.Equal(t, 200, a.StatusCode, "%s", a.body)
	j := s.log.finished(t, a.json(t)["id"].(string))
	require.Equal(t, Completed, j.State, "%+v", j.Failure)
	require.Equal(t, 16, j.Artifact.Frames)
	require.Equal(t, 640, j.Artifact.Width)
}
