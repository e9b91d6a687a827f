package serving_test

import (
	"bytes"
	"context"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native/task"
	"github.com/trtmc-go/trtmc/serving"
	"github.com/trtmc-go/trtmc/serving/record"
	"github.com/trtmc-go/trtmc/video"
)

// painter is a model that paints small clips; gate, when set, holds each call until it may go on.
type painter struct {
	gate    chan struct{}
	entered chan string // when set, gets the prompt of each call
	fail    error
}

func (p *painter) Info() task.Info {
	return task.Info{Runtime: "painter/1", Family: "painter", Backend: "painter", BundleTask: "text_to_video", Tasks: []task.Decl{{
		ID: task.TextToVideo, Major: 1, Fields: []task.Field{
			{Name: "num_frames", Kind: task.KindInt, Default: task.Int(3)}, {Name: "fps", Kind: task.KindFloat, Default: task.Float(8)},
			{Name: "num_inference_steps", Kind: task.KindInt, Default: task.Int(4)}, {Name: "seed", Kind: task.KindInt},
		},
	}}}
}

func (p *painter) Lookup(id task.ID) (any, error) {
	if id != task.TextToVideo {
		return nil, task.Unsupported(id)
	}
	return p, nil
}

func (p *painter) Close() error { return nil }

func (p *painter) GenerateVideo(_ context.Context, req task.VideoRequest) (task.Video, error) {
	start := time.Now()
	if p.entered != nil {
		p.entered <- req.Prompt
	}
	if p.gate != nil {
		<-p.gate
	}
	if p.fail != nil {
		return nil, p.fail
	}
	frames := int64(3)
	if v, ok := req.Settings.Get("num_frames"); ok {
		frames = v.Int()
	}
	c := clip{frames: int(frames)}
	c.timing = task.Timing{Start: start, Call: time.Since(start), Inference: time.Since(start)}
	return c, nil
}

type clip struct {
	frames int
	timing task.Timing
}

func (c clip) Info() task.VideoInfo { return task.VideoInfo{Frames: c.frames, Timing: c.timing} }
func (c clip) Release()             {}

func (c clip) Frame(i int) (task.Frame, error) {
	px := make([]float32, 64*48*3)
	for n := range px {
		px[n] = float32((n/3+i*5)%64) / 64
	}
	return task.Frame{Pixels: px, Width: 64, Height: 48, Channels: 3}, nil
}

func needEncoder(t *testing.T) {
	t.Helper()
	if !video.HasEncoder {
		t.Skip(video.ErrNoEncoder)
	}
}

// videoConfig serves painters, one lane each.
func videoConfig(t *testing.T, lanes ...task.Model) serving.Config {
	needEncoder(t)
	return serving.Config{Models: model(lanes...), Video: serving.VideoOptions{Dir: t.TempDir()}}
}

const aJob = `{"model":"m","prompt":"a red ball","seed":7}`

// jobID is the id in an answer to a creation.
func jobID(t *testing.T, a answer) string {
	t.Helper()
	require.Equal(t, 200, a.status, "%s", a.body)
	return a.json(t)["id"].(string)
}

func TestJobHasOneRecordThatTellsItWhole(t *testing.T) {
	l := start(t, videoConfig(t, &painter{}))
	id := jobID(t, l.do("POST", "/v1/videos", aJob, "X-Request-ID", "one"))
	r := l.recs.one()
	require.Equal(t, record.Completed, r.Outcome, "%s", r.Error)
	require.Equal(t, "one", r.RequestID)
	require.Equal(t, "client", r.RequestIDSource)
	require.Equal(t, "/v1/videos", r.Route)
	require.Equal(t, "m", r.Model)
	require.Equal(t, 200, r.Status)
	require.Equal(t, "text_to_video", r.Task)
	require.Equal(t, map[string]any{"seed": int64(7)}, r.Settings)
	require.Zero(t, r.Lane)
	require.Positive(t, r.QueueNS)
	require.Positive(t, r.TaskCallNS)
	require.EqualValues(t, len(aJob), r.BytesIn)
	v := r.Video
	require.Equal(t, id, v.JobID)
	require.Equal(t, []int{3, 64, 48, 8, 1}, []int{v.Frames, v.Width, v.Height, v.FPSNum, v.FPSDen})
	require.InDelta(t, 0.375, v.DurationSeconds, 1e-9)
	require.EqualValues(t, 4, *v.Steps, "the declared default, where nothing was asked for")
	require.EqualValues(t, 7, *v.Seed)
	require.Positive(t, v.EncodeNS)
	require.Positive(t, v.FileBytes)
	require.Equal(t, v.FinishedNS-r.ArrivedNS, r.HandlingNS)
	require.GreaterOrEqual(t, r.HandlingNS, r.QueueNS+r.TaskCallNS+v.EncodeNS)
	want, err := video.FramesSHA256(clip{frames: 3})
	require.NoError(t, err)
	require.Equal(t, want, v.FramesSHA256)
	metrics := l.do("GET", "/metrics", "").body
	require.Contains(t, metrics, `trtmc_video_jobs_total{model="m",state="completed"} 1`)
	require.Contains(t, metrics, `trtmc_video_frames_total{model="m"} 3`)
	require.Contains(t, metrics, `trtmc_video_jobs{model="m",state="queued"} 0`)
	require.Len(t, l.recs.all(), 1)
}

func TestRefusedCreationIsRejectedAtOnceAndNothingElseIsRefused(t *testing.T) {
	p := &painter{gate: make(chan struct{}), entered: make(chan string, 9)}
	c := videoConfig(t, p)
	c.Video.Queue = 1
	l := start(t, c)
	running := jobID(t, l.do("POST", "/v1/videos", aJob, "X-Request-ID", "running"))
	<-p.entered
	queued := jobID(t, l.do("POST", "/v1/videos", aJob, "X-Request-ID", "queued"))

	full := l.do("POST", "/v1/videos", aJob, "X-Request-ID", "full")
	require.Equal(t, 429, full.status)
	require.NotEmpty(t, full.header.Get("Retry-After"))
	r := l.recs.one()
	require.Equal(t, record.Rejected, r.Outcome)
	require.Equal(t, record.ReasonQueueFull, r.Reason)
	require.Equal(t, "full", r.RequestID)
	require.Equal(t, 1, r.QueueDepth)
	require.Nil(t, r.Video)

	unknown := l.do("POST", "/v1/videos", `{"model":"m","prompt":"p","guidance_scale":3}`)
	code, param, _ := unknown.fault(t)
	require.Equal(t, []any{400, "unsupported_parameter", "guidance_scale"}, []any{unknown.status, code, param})
	require.Equal(t, record.ReasonUnsupported, l.recs.one().Reason)

	for _, path := range []string{"/v1/videos", "/v1/videos/" + running, "/v1/videos/" + queued} {
		require.Equal(t, 200, l.do("GET", path, "").status, path)
	}
	require.Equal(t, 404, l.do("GET", "/v1/videos/"+running+"/content", "").status)
	require.Contains(t, l.do("GET", "/metrics", "").body, `trtmc_video_jobs{model="m",state="in_progress"} 1`)

	twice := l.do("POST", "/v1/videos", aJob, "X-Request-ID", "queued")
	require.Equal(t, 409, twice.status, "the job of that id is not final")
	require.Equal(t, record.ReasonDuplicateID, l.recs.one().Reason)

	require.Equal(t, 200, l.do("DELETE", "/v1/videos/"+queued, "").status)
	r = l.recs.one()
	require.Equal(t, []any{"queued", record.Failed, record.ReasonCancelled}, []any{r.RequestID, r.Outcome, r.Reason})
	again := jobID(t, l.do("POST", "/v1/videos", aJob, "X-Request-ID", "queued"))
	close(p.gate)
	require.Equal(t, "running", l.recs.one().RequestID)
	r = l.recs.one()
	require.Equal(t, []any{"queued", record.Completed, again}, []any{r.RequestID, r.Outcome, r.Video.JobID})
}

func TestFailedJobIsAFailedRecordWithItsReason(t *testing.T) {
	p := &painter{fail: &task.Error{Op: "run", Task: task.TextToVideo, Detail: "step 3", Err: task.ErrResource}}
	l := start(t, videoConfig(t, p))
	jobID(t, l.do("POST", "/v1/videos", aJob))
	r := l.recs.one()
	require.Equal(t, []any{record.Failed, record.ReasonTaskResource, 200}, []any{r.Outcome, r.Reason, r.Status})
	require.Contains(t, r.Error, "step 3")
	require.Zero(t, r.Video.Frames)
}

func TestDrainFinishesRunningJobsAndLeavesWaitingOnesForTheNextStart(t *testing.T) {
	p := &painter{gate: make(chan struct{}), entered: make(chan string, 9)}
	c := videoConfig(t, p)
	l := start(t, c)
	jobID(t, l.do("POST", "/v1/videos", aJob, "X-Request-ID", "running"))
	<-p.entered
	jobID(t, l.do("POST", "/v1/videos", aJob, "X-Request-ID", "waiting"))
	l.stop()
	require.Eventually(t, func() bool { return l.do("GET", "/health/ready", "").status == 503 }, 10*time.Second, time.Millisecond)
	require.Equal(t, 503, l.do("POST", "/v1/videos", aJob).status)
	require.Equal(t, record.ReasonDraining, l.recs.one().Reason)
	close(p.gate)
	err := <-l.ended
	l.ended <- err
	require.NoError(t, err)
	r := l.recs.one()
	require.Equal(t, []any{"running", record.Completed}, []any{r.RequestID, r.Outcome})
	require.Len(t, l.recs.all(), 2, "the job that waits has no record yet")

	c.Models = model(&painter{})
	next := start(t, c)
	r = next.recs.one()
	require.Equal(t, []any{"waiting", "client", record.Completed}, []any{r.RequestID, r.RequestIDSource, r.Outcome})
	require.EqualValues(t, len(aJob), r.BytesIn)
	require.Greater(t, r.QueueNS, int64(0))
}

func TestDrainEndsWithItsGraceAndNamesTheJobInsideItsCall(t *testing.T) {
	p := &painter{gate: make(chan struct{}), entered: make(chan string, 9)}
	s, recs := newServer(t, videoConfig(t, p))
	w := httptest.NewRecorder()
	req := httptest.NewRequest("POST", "/v1/videos", strings.NewReader(aJob))
	req.Header.Set("X-Request-ID", "stuck")
	s.Handler().ServeHTTP(w, req)
	require.Equal(t, 200, w.Code)
	<-p.entered
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	err := s.Shutdown(ended)
	var stuck *serving.ShutdownError
	require.ErrorAs(t, err, &stuck)
	require.Equal(t, []string{"stuck"}, stuck.RequestIDs)
	r := recs.one()
	require.Equal(t, []any{"stuck", record.Failed, record.ReasonRestart}, []any{r.RequestID, r.Outcome, r.Reason})
	close(p.gate)
	require.Len(t, recs.all(), 1)
}

// aiperfForm is a creation as AIPerf writes it: the type of each part first, no file names, numbers as text.
func aiperfForm(t *testing.T, pairs ...string) (contentType, body string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for i := 0; i < len(pairs); i += 2 {
		part, err := w.CreatePart(textproto.MIMEHeader{
			"Content-Type": {"text/plain; charset=utf-8"}, "Content-Disposition": {fmt.Sprintf(`form-data; name="%s"`, pairs[i])},
		})
		require.NoError(t, err)
		fmt.Fprint(part, pairs[i+1])
	}
	require.NoError(t, w.Close())
	return w.FormDataContentType(), b.String()
}

// TestCase_C11: the identity of a creation comes back on every poll and on the download.
func TestCase_C11(t *testing.T) {
	const id = "1b4e28ba-2fa1-41d2-883f-0016d3cca427"
	p := &painter{gate: make(chan struct{}), entered: make(chan string, 9)}
	l := start(t, videoConfig(t, p))
	kind, body := aiperfForm(t, "prompt", "a red ball", "model", "m", "num_frames", "2", "seed", "100")
	job := jobID(t, l.do("POST", "/v1/videos", body, "Content-Type", kind, "X-Request-ID", id))
	require.Regexp(t, `^[A-Za-z0-9._-]+$`, job)
	<-p.entered
	for range 7 {
		a := l.do("GET", "/v1/videos/"+job, "", "X-Request-ID", id)
		require.Equal(t, 200, a.status)
		require.Equal(t, id, a.header.Get("X-Request-ID"))
		require.Equal(t, "in_progress", a.json(t)["status"])
	}
	close(p.gate)
	r := l.recs.one()
	require.Equal(t, record.Completed, r.Outcome, "%s", r.Error)
	require.Equal(t, id, r.RequestID)
	require.Equal(t, 7, r.Video.Polls)
	a := l.do("GET", "/v1/videos/"+job+"/content", "", "X-Request-ID", id)
	require.Equal(t, []any{200, "video/mp4"}, []any{a.status, a.header.Get("Content-Type")})
	require.Len(t, a.body, int(r.Video.FileBytes))
	require.Len(t, l.recs.all(), 1, "polls and download are no requests of their own")
	require.Contains(t, l.do("GET", "/metrics", "").body, `trtmc_probes_total{route="/v1/videos/{id}"} 7`)
}

// TestCase_C15: a job that the end of the process interrupts is accounted for as failed at the next start.
func TestCase_C15(t *testing.T) {
	p := &painter{gate: make(chan struct{}), entered: make(chan string, 9)}
	c := videoConfig(t, p)
	crashed, err := crashedStore(t, c.Video.Dir)
	require.NoError(t, err)
	c.Models = model(&painter{})
	l := start(t, c)
	r := l.recs.one()
	require.Equal(t, []any{"lost", "client", record.Failed, record.ReasonRestart}, []any{r.RequestID, r.RequestIDSource, r.Outcome, r.Reason})
	require.Equal(t, record.StageRunning, r.Stage)
	require.Positive(t, r.QueueNS)
	require.Greater(t, r.HandlingNS, r.QueueNS)
	a := l.do("GET", "/v1/videos/"+crashed, "")
	require.Equal(t, "failed", a.json(t)["status"])
	require.Contains(t, a.body, "restart")
	require.Len(t, l.recs.all(), 1)
}

// crashedStore leaves what a process leaves that was killed while a job was in progress.
func crashedStore(t *testing.T, dir string) (string, error) {
	t.Helper()
	store, err := video.OpenBolt(dir + "/jobs.db")
	if err != nil {
		return "", err
	}
	now := time.Now()
	j := video.Job{
		ID: "video_" + strings.Repeat("0", 31) + "1", RequestID: "lost", Model: "m", State: video.InProgress,
		Spec: video.Spec{Prompt: "p"}, CreatedAt: now.Add(-2 * time.Second), StartedAt: now.Add(-time.Second),
		Tag: fmt.Sprintf(`{"source":"client","arrived_unix_ns":%d,"bytes_in":9,"queue_depth":0}`, now.Add(-2*time.Second).UnixNano()),
	}
	if err := store.Create(t.Context(), j); err != nil {
		return "", err
	}
	return j.ID, store.Close()
}

func TestVideoDirectoryWithoutAVideoModelIsRefused(t *testing.T) {
	_, err := serving.New(serving.Config{Models: model(&fake{score: nil}), Video: serving.VideoOptions{Dir: t.TempDir()}})
	require.ErrorContains(t, err, "no model declares text_to_video")
}

func TestVideosAreNotServedWithoutADirectory(t *testing.T) {
	l := start(t, serving.Config{Models: model(&painter{})})
	require.Equal(t, http.StatusNotFound, l.do("POST", "/v1/videos", aJob).status)
	require.Equal(t, record.ReasonRouteNotServed, l.recs.one().Reason)
}
