//go:build cgo

package qual_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/internal/monotime"
	"github.com/trtmc-go/trtmc/native"
	"github.com/trtmc-go/trtmc/native/reference"
	"github.com/trtmc-go/trtmc/native/task"
	"github.com/trtmc-go/trtmc/qual"
	"github.com/trtmc-go/trtmc/serving"
	"github.com/trtmc-go/trtmc/serving/record"
	"github.com/trtmc-go/trtmc/trace"
	"github.com/trtmc-go/trtmc/video"
)

const (
	videoClient    = "workloads/video/" + qual.ClientFile
	videoDirect    = "workloads/video/" + qual.DirectFile
	videoPlan      = "workloads/video/" + qual.ManifestFile
	videoOffer     = "workloads/video/" + qual.WorkloadFile
	videoArtifacts = "workloads/video/" + qual.ArtifactDir + "/"

	framesCheck   = "videos equal direct Task calls"
	artifactCheck = "artifacts are whole and the recorded ones"
	clipCheck     = "clips are what was asked for"
)

// smallPrompts ask for clips that take a few milliseconds.
const smallPrompts = `{"session_id":"v-0","text":"a red ball","extra":{"size":"64x48","num_frames":5,"fps":8,"num_inference_steps":2,"seed":1}}
{"session_id":"v-1","text":"a blue kite","extra":{"size":"96x64","num_frames":7,"fps":12,"num_inference_steps":3,"seed":2}}
{"session_id":"v-2","text":"a slow tram","extra":{"size":"64x48","num_frames":5,"fps":8,"num_inference_steps":2,"seed":3}}
`

// videoRun is how a run is made.
type videoRun struct {
	fault   *reference.Fault
	stepMS  float64
	queue   int // of jobs; 0 the default
	clients int // 0 is 2
}

// make runs a server over the reference runtime, makes clips over HTTP and directly, and returns the sealed folder.
func (r videoRun) make(t *testing.T) string {
	t.Helper()
	if !video.HasEncoder {
		t.Skip(video.ErrNoEncoder)
	}
	dir := t.TempDir()
	folder := filepath.Join(dir, "workloads", "video")
	require.NoError(t, os.MkdirAll(folder, 0o755))
	prompts, err := qual.ReadVideoPrompts(strings.NewReader(smallPrompts), "small.jsonl")
	require.NoError(t, err)
	clients := max(r.clients, 2)
	m, err := qual.PrepareVideo(folder, prompts, qual.VideoOptions{Model: "v", Count: 6, Warmup: 2, Concurrency: clients, Poll: 5 * time.Millisecond})
	require.NoError(t, err)
	open, digest := r.opener(t)
	clock := monotime.New()
	began := time.Now().UTC()
	r.drive(t, dir, folder, clock, open())
	direct := open()
	writeDirectFrames(t, folder, direct, digest)
	run := &qual.Run{
		Schema: qual.RunSchema, Command: []string{"qualify"}, Clock: clock.Name(), SharedProcess: true, StartedAt: began, EndedAt: time.Now().UTC(),
		MaxLatenessMS: 60_000,
		Runtime:       qual.RuntimeFacts{Version: direct.Info().Runtime, Reference: direct.Info().Reference},
		Bundles:       []qual.BundleFacts{{Model: "v", SHA256: digest}},
		Workloads:     []qual.RunWorkload{{Name: "video", Model: "v", Path: "/v1/videos", SourceSHA256: m.Source.SHA256}},
		Exit:          qual.ExitFacts{Drained: true},
	}
	require.NoError(t, qual.WriteRun(dir, run))
	seal(t, dir)
	return dir
}

// opener returns what opens one more handle, and the digest of the bundle.
func (r videoRun) opener(t *testing.T) (func() task.Model, string) {
	params := reference.VideoParams(64, 48, 5, 8, 2)
	params.Timing, params.Fault = reference.Timing{StepMS: r.stepMS}, r.fault
	path := filepath.Join(t.TempDir(), "video.bundle")
	require.NoError(t, reference.WriteBundle(path, params))
	rt, err := native.Open(native.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, rt.Close()) })
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	sum := sha256.Sum256(data)
	return func() task.Model {
		m, err := rt.Load(path, native.LoadOptions{})
		require.NoError(t, err)
		return m
	}, hex.EncodeToString(sum[:])
}

func (r videoRun) drive(t *testing.T, dir, folder string, clock monotime.Clock, lane task.Model) {
	t.Helper()
	sink, err := record.OpenWriter(filepath.Join(dir, qual.RecordsFile))
	require.NoError(t, err)
	srv, err := serving.New(serving.Config{
		Models: []serving.Model{{Name: "v", Lanes: []task.Model{lane}}}, Records: sink, Clock: clock,
		Video: serving.VideoOptions{Dir: t.TempDir(), Queue: r.queue},
	})
	require.NoError(t, err)
	web := httptest.NewServer(srv.Handler())
	require.NoError(t, (&qual.VideoClient{BaseURL: web.URL, Clock: clock}).Run(context.Background(), folder))
	web.Close()
	require.NoError(t, srv.Shutdown(context.Background()))
	require.NoError(t, sink.Close())
}

func writeDirectFrames(t *testing.T, folder string, model task.Model, digest string) {
	t.Helper()
	generators, err := video.ModelOf("v", model)
	require.NoError(t, err)
	f, err := os.Create(filepath.Join(folder, qual.DirectFile))
	require.NoError(t, err)
	direct := &qual.DirectGenerator{Model: generators, Info: model.Info(), BundleSHA256: digest}
	for _, name := range []string{qual.WarmupFile, qual.WorkloadFile} {
		items, err := trace.ReadWorkload(filepath.Join(folder, name))
		require.NoError(t, err)
		require.NoError(t, direct.Run(context.Background(), items, func(d qual.DirectFrames) error { return qual.WriteDirectFrames(f, d) }))
	}
	require.NoError(t, f.Close())
}

func TestAVideoRunHoldsEveryCheck(t *testing.T) {
	dir := videoRun{}.make(t)
	r, err := qual.Judge(dir)
	require.NoError(t, err)
	require.Empty(t, failedChecks(r), "%+v", r.Findings)
	w := r.Workloads["video"]
	require.Equal(t, qual.Counts{Offered: 6, Completed: 6}, w.Measured)
	require.Equal(t, qual.Counts{Offered: 2, Completed: 2}, w.Warmup)
	v := w.Video
	require.Equal(t, qual.VideoIdentity{Made: true, Measured: qual.Compared{Equal: 6, Compared: 6}, Warmup: qual.Compared{Equal: 2, Compared: 2}}, v.Identity)
	require.Equal(t, qual.Compared{Equal: 8, Compared: 8}, v.Artifacts)
	require.EqualValues(t, 4*5+2*7, v.Frames)
	require.Equal(t, "not reported", v.Precision)
	require.True(t, v.ClipsPerMinute.Known())
	require.Len(t, v.Clips, 8)
	clip := v.Clips[3]
	require.Equal(t, []any{"v-1", trace.PhaseMeasured, 7, 96, 64, 12, 1, int64(3), int64(2)},
		[]any{clip.RequestID, clip.Phase, clip.Frames, clip.Width, clip.Height, clip.FPSNum, clip.FPSDen, *clip.Steps, *clip.Seed})
	require.Positive(t, w.Client.Latency.Samples)
	require.Equal(t, 6, v.PollingDelay.Samples)
	require.GreaterOrEqual(t, float64(v.PollingDelay.Min), 0.0, "a client cannot know of the end before it")
	require.Greater(t, float64(w.Client.Latency.Min), float64(w.Server.TaskCall.Min))
	page := string(r.Markdown())
	require.Contains(t, page, "![v-1](workloads/video/artifacts/v-1.jpg)")
	require.Contains(t, page, "Precision: not reported")
	require.NotContains(t, page, "Tokens completed")
}

func TestFailedJobsAreFailedRequestsOnBothSides(t *testing.T) {
	for name, c := range map[string]struct {
		fault reference.Fault
		cause string
	}{
		"error":     {reference.Fault{Kind: reference.FaultError}, "task_error"},
		"no frames": {reference.Fault{Kind: reference.FaultZeroFrames}, "task_result_invalid"},
		"nan":       {reference.Fault{Kind: reference.FaultNaNFrame}, "task_result_invalid"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := qual.Judge(videoRun{fault: &c.fault}.make(t))
			require.NoError(t, err)
			w := r.Workloads["video"]
			require.Equal(t, qual.Counts{Offered: 6, Failed: 6}, w.Measured)
			require.Equal(t, []qual.Cause{{Outcome: record.Failed, Cause: c.cause, Count: 6}}, w.Causes)
			bad := failedChecks(r)
			require.Contains(t, bad, "no request failed")
			require.NotContains(t, bad, "both sides agree")
			require.NotContains(t, bad, "records are valid")
		})
	}
}

func TestRefusedCreationsAreRejectedAndNothingIsLost(t *testing.T) {
	r, err := qual.Judge(videoRun{queue: 1, clients: 6, stepMS: 150}.make(t))
	require.NoError(t, err)
	w := r.Workloads["video"]
	require.Equal(t, 6, w.Measured.Completed+w.Measured.Rejected)
	require.Positive(t, w.Measured.Rejected)
	require.Empty(t, failedChecks(r), "%+v", r.Findings)
	require.Equal(t, w.Measured.Completed, w.Video.Identity.Measured.Compared, "only completed jobs are compared")
}

func TestEveryMutationOfAVideoRunIsFound(t *testing.T) {
	whole := videoRun{}.make(t)
	const id, warm = "v-1", "warmup-v-0-r2"
	endedAt := regexp.MustCompile(`"ended_ns":(\d+)`)
	for name, c := range map[string]struct {
		file, id, check string
		change          func(line string) string
	}{
		"frame digest in the record":  {qual.RecordsFile, id, framesCheck, digit(`"frames_sha256":"[a-f]*(\d)`)},
		"frame digest of warm-up":     {qual.RecordsFile, warm, framesCheck, digit(`"frames_sha256":"[a-f]*(\d)`)},
		"frame digest of direct call": {videoDirect, id, framesCheck, digit(`"frames_sha256":"[a-f]*(\d)`)},
		"direct call gone":            {videoDirect, id, directCheck, func(string) string { return "" }},
		"direct call twice":           {videoDirect, id, directCheck, func(l string) string { return l + l }},
		"direct call failed":          {videoDirect, id, directCheck, swap(`"reference":true`, `"reference":true,"error":"broke"`)},
		"other bundle":                {videoDirect, id, directCheck, digit(`"bundle_sha256":"[a-f]*(\d)`)},
		"other runtime":               {videoDirect, id, directCheck, swap(`"runtime":"trtmc-reference`, `"runtime":"trtmc-other`)},
		"other settings":              {videoDirect, id, directCheck, swap(`"seed":2`, `"seed":4`)},
		"settings in the record":      {qual.RecordsFile, id, directCheck, swap(`"num_inference_steps":3`, `"num_inference_steps":4`)},
		"unreadable direct call":      {videoDirect, id, "every line is readable", func(l string) string { return l + "{}\n" }},
		"file digest in the record":   {qual.RecordsFile, id, artifactCheck, digit(`"file_sha256":"[a-f]*(\d)`)},
		"file digest in the row":      {videoClient, id, artifactCheck, digit(`"artifact_sha256":"[a-f]*(\d)`)},
		"frames in the record":        {qual.RecordsFile, id, artifactCheck, swap(`"frames":7`, `"frames":8`)},
		"frames asked for":            {qual.RecordsFile, id, clipCheck, swap(`"frames":7`, `"frames":8`)},
		"size in the record":          {qual.RecordsFile, id, clipCheck, swap(`"width":96,"height":64`, `"width":64,"height":96`)},
		"rate in the record":          {qual.RecordsFile, id, clipCheck, swap(`"fps_num":12`, `"fps_num":24`)},
		"duration in the record":      {qual.RecordsFile, id, artifactCheck, digit(`"duration_seconds":0\.(\d+)`)},
		"seed in the record":          {qual.RecordsFile, id, clipCheck, swap(`"steps":3,"seed":2`, `"steps":3,"seed":4`)},
		"steps in the record":         {qual.RecordsFile, id, clipCheck, swap(`"steps":3`, `"steps":4`)},
		"job of another request":      {videoClient, id, artifactCheck, digit(`"job_id":"video_[a-f]*0*(\d)`)},
		"record without a job":        {qual.RecordsFile, id, artifactCheck, func(l string) string { return regexp.MustCompile(`,"video":\{[^}]*\}`).ReplaceAllString(l, "") }},
		"final before its Task ended": {qual.RecordsFile, id, "records are valid", func(l string) string {
			return regexp.MustCompile(`"finished_ns":\d+`).ReplaceAllString(l, `"finished_ns":1`)
		}},
		"job unfinished at the client": {videoClient, id, "both sides agree", swap(`"result":"ok"`, `"result":"timeout"`)},
		"row gone":                     {videoClient, id, "one client row for every offered request", func(string) string { return "" }},
		"record gone":                  {qual.RecordsFile, id, "one server record for every sent request", func(string) string { return "" }},
		"too many under way":           {videoClient, "*", "the closed loop kept its concurrency", func(l string) string { return endedAt.ReplaceAllString(l, `"ended_ns":9$1`) }},
		"manifest of another kind":     {videoPlan, "", "the video manifest is readable", swap(`"video-prompts"`, `"mooncake"`)},
		"prompt in the workload":       {videoOffer, "", "the workload is the prepared one", swap("a blue kite", "a green kite")},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.CopyFS(dir, os.DirFS(whole)))
			changed := false
			edit(t, dir, c.file, func(lines []string) []string {
				lines[len(lines)-1] += "\n"
				for i, line := range lines {
					if c.id != "*" && c.id != "" && !strings.Contains(line, `"`+c.id+`"`) || changed && c.id == "" {
						continue
					}
					lines[i] = c.change(line)
					changed = changed || lines[i] != line
				}
				return lines
			})
			require.True(t, changed, "the mutation changed nothing")
			mustFind(t, dir, c.check, strings.Trim(c.id, "*"), name != "unreadable direct call")
		})
	}
}

// mustFind judges a folder that was changed: the seal is broken, and with it renewed the check fails and names the id.
func mustFind(t *testing.T, dir, check, id string, named bool) {
	t.Helper()
	r, err := qual.Judge(dir)
	require.NoError(t, err)
	require.Contains(t, failedChecks(r), "evidence is what the run left")
	seal(t, dir)
	r, err = qual.Judge(dir)
	require.NoError(t, err)
	require.Contains(t, failedChecks(r), check)
	require.Error(t, r.Held())
	if id != "" && named {
		require.Contains(t, failedChecks(r)[check].IDs, id)
	}
}

func TestEveryMutationOfAnArtifactIsFound(t *testing.T) {
	whole := videoRun{}.make(t)
	for name, c := range map[string]struct {
		file   string
		change func(b []byte) []byte
	}{
		"truncated":          {"v-1.mp4", func(b []byte) []byte { return b[:len(b)-7] }},
		"half":               {"v-1.mp4", func(b []byte) []byte { return b[:len(b)/2] }},
		"empty":              {"v-1.mp4", func([]byte) []byte { return nil }},
		"gone":               {"v-1.mp4", nil},
		"one bit":            {"v-1.mp4", func(b []byte) []byte { b[len(b)-9] ^= 1; return b }},
		"longer":             {"v-1.mp4", func(b []byte) []byte { return append(b, 0) }},
		"another clip":       {"v-1.mp4", func([]byte) []byte { b, _ := os.ReadFile(filepath.Join(whole, videoArtifacts+"v-0.mp4")); return b }},
		"poster gone":        {"v-1.jpg", nil},
		"poster cut":         {"v-1.jpg", func(b []byte) []byte { return b[:30] }},
		"poster of another":  {"v-1.jpg", func([]byte) []byte { b, _ := os.ReadFile(filepath.Join(whole, videoArtifacts+"v-0.jpg")); return b }},
		"warm-up clip's end": {"warmup-v-1-r2.mp4", func(b []byte) []byte { return b[:len(b)-1] }},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.CopyFS(dir, os.DirFS(whole)))
			path := filepath.Join(dir, videoArtifacts+c.file)
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			if c.change == nil {
				require.NoError(t, os.Remove(path))
			} else {
				require.NoError(t, os.WriteFile(path, c.change(data), 0o644))
			}
			mustFind(t, dir, artifactCheck, strings.TrimSuffix(strings.TrimSuffix(c.file, ".mp4"), ".jpg"), true)
		})
	}
}
