package openaigo

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native"
	"github.com/trtmc-go/trtmc/native/reference"
	"github.com/trtmc-go/trtmc/video"
)

// serve runs video jobs of a reference bundle and returns a client of them, with retries off: a retry would hide a
// refusal.
func serve(t *testing.T, edit func(*reference.Params), queue int) (openai.Client, *video.Service) {
	t.Helper()
	if !video.HasEncoder {
		t.Skip(video.ErrNoEncoder)
	}
	dir := t.TempDir()
	params := reference.VideoParams(64, 48, 9, 8, 2)
	if edit != nil {
		edit(&params)
	}
	bundle := filepath.Join(dir, "painter.bundle")
	require.NoError(t, reference.WriteBundle(bundle, params))
	rt, err := native.Open(native.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, rt.Close()) })
	lane, err := rt.Load(bundle, native.LoadOptions{})
	require.NoError(t, err)
	model, err := video.ModelOf("sora-2", lane)
	require.NoError(t, err)
	jobs, err := video.Open(video.Config{Dir: filepath.Join(dir, "videos"), Models: []video.Model{model}, Queue: queue})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, jobs.Close()) })
	h := video.NewHandler(jobs, video.Options{PollAfter: 20 * time.Millisecond})
	mux := http.NewServeMux()
	mux.Handle(video.RouteVideos, h)
	mux.Handle(video.RouteVideos+"/", h)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return openai.NewClient(option.WithBaseURL(server.URL+"/v1"), option.WithAPIKey("none"), option.WithMaxRetries(0)), jobs
}

func TestCreatePollListDownloadDelete(t *testing.T) {
	client, _ := serve(t, nil, 0)
	params := openai.VideoNewParams{Prompt: "a red ball bounces", Model: "sora-2", Size: "96x64", Seconds: "2"}
	// In a form the SDK sends only extra fields that are strings.
	params.SetExtraFields(map[string]any{"fps": "8", "seed": "7"})
	created, err := client.Videos.New(t.Context(), params)
	require.NoError(t, err)
	require.Equal(t, openai.VideoStatusQueued, created.Status)

	// The server says how often to ask, by the header openai-poll-after-ms.
	done, err := client.Videos.PollStatus(t.Context(), created.ID, 0)
	require.NoError(t, err)
	require.Equal(t, openai.VideoStatusCompleted, done.Status)
	require.EqualValues(t, 100, done.Progress)
	require.EqualValues(t, "96x64", done.Size)
	require.EqualValues(t, "2", done.Seconds)
	require.EqualValues(t, "sora-2", done.Model)
	require.NotZero(t, done.CompletedAt)
	require.Greater(t, done.ExpiresAt, done.CompletedAt)
	require.Equal(t, "16", done.JSON.ExtraFields["frames"].Raw())

	second, err := client.Videos.NewAndPoll(t.Context(), openai.VideoNewParams{Prompt: "only prompt"}, 20)
	require.NoError(t, err)
	require.Equal(t, openai.VideoStatusCompleted, second.Status)

	var ids []string
	pager := client.Videos.ListAutoPaging(t.Context(), openai.VideoListParams{Limit: openai.Int(1), Order: openai.VideoListParamsOrderAsc})
	for pager.Next() {
		ids = append(ids, pager.Current().ID)
	}
	require.NoError(t, pager.Err())
	require.Equal(t, []string{created.ID, second.ID}, ids)

	resp, err := client.Videos.DownloadContent(t.Context(), created.ID, openai.VideoDownloadContentParams{})
	require.NoError(t, err)
	file, err := io.ReadAll(resp.Body)
	require.NoError(t, resp.Body.Close())
	require.NoError(t, err)
	require.Equal(t, "video/mp4", resp.Header.Get("Content-Type"))
	clip, err := video.CheckMP4(bytes.NewReader(file), int64(len(file)))
	require.NoError(t, err)
	require.Equal(t, 16, clip.Frames)
	thumb, err := client.Videos.DownloadContent(t.Context(), created.ID, openai.VideoDownloadContentParams{Variant: openai.VideoDownloadContentParamsVariantThumbnail})
	require.NoError(t, err)
	require.NoError(t, thumb.Body.Close())
	require.Equal(t, "image/jpeg", thumb.Header.Get("Content-Type"))

	deleted, err := client.Videos.Delete(t.Context(), created.ID)
	require.NoError(t, err)
	require.True(t, deleted.Deleted)
	require.Equal(t, created.ID, deleted.ID)
	_, err = client.Videos.Get(t.Context(), created.ID)
	refusal(t, err, 404, "not_found", "")
}

// refusal checks an error as the SDK shows it.
func refusal(t *testing.T, err error, status int, code, param string) {
	t.Helper()
	var refused *openai.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, status, refused.StatusCode)
	require.Equal(t, code, refused.Code)
	require.Equal(t, param, refused.Param)
	require.NotEmpty(t, refused.Message)
}

func TestJSONBodyWithNumbers(t *testing.T) {
	client, _ := serve(t, nil, 0)
	body := []byte(`{"prompt":"p","num_frames":5,"seed":1,"extra_body":{"num_inference_steps":3}}`)
	created, err := client.Videos.New(t.Context(), openai.VideoNewParams{}, option.WithRequestBody("application/json", body))
	require.NoError(t, err)
	done, err := client.Videos.PollStatus(t.Context(), created.ID, 20)
	require.NoError(t, err)
	require.Equal(t, openai.VideoStatusCompleted, done.Status)
	require.Equal(t, "5", done.JSON.ExtraFields["frames"].Raw())
}

func TestRefusalsAreShown(t *testing.T) {
	client, _ := serve(t, nil, 0)
	_, err := client.Videos.New(t.Context(), openai.VideoNewParams{Prompt: "p", Size: "97x64"})
	refusal(t, err, 400, "invalid_request", "size")
	_, err = client.Videos.New(t.Context(), openai.VideoNewParams{Prompt: "p", Model: "sora-9"})
	refusal(t, err, 404, "model_not_found", "model")
	image := openai.VideoNewParamsInputReferenceUnion{OfFile: openai.File(bytes.NewReader([]byte("PNG")), "a.png", "image/png")}
	_, err = client.Videos.New(t.Context(), openai.VideoNewParams{Prompt: "p", InputReference: image})
	refusal(t, err, 400, "unsupported_parameter", "input_reference")
	_, err = client.Videos.DownloadContent(t.Context(), "video_none", openai.VideoDownloadContentParams{})
	refusal(t, err, 404, "not_found", "")
}

func TestFailedJobIsAnAnswerAndNoError(t *testing.T) {
	client, _ := serve(t, func(p *reference.Params) { p.Fault = &reference.Fault{Kind: reference.FaultNaNFrame} }, 0)
	done, err := client.Videos.NewAndPoll(t.Context(), openai.VideoNewParams{Prompt: "p"}, 20)
	require.NoError(t, err)
	require.Equal(t, openai.VideoStatusFailed, done.Status)
	require.Equal(t, "task_result_invalid", done.Error.Code)
	require.Contains(t, done.Error.Message, "NaN")
}

func TestFullQueueIsSeenOnCreationAlone(t *testing.T) {
	client, _ := serve(t, func(p *reference.Params) { p.Timing.SetupMS = 300 }, 1)
	running, err := client.Videos.New(t.Context(), openai.VideoNewParams{Prompt: "p"})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		j, err := client.Videos.Get(t.Context(), running.ID)
		require.NoError(t, err)
		return j.Status != openai.VideoStatusQueued
	}, time.Minute, time.Millisecond)
	_, err = client.Videos.New(t.Context(), openai.VideoNewParams{Prompt: "p"})
	require.NoError(t, err)
	_, err = client.Videos.New(t.Context(), openai.VideoNewParams{Prompt: "p"})
	refusal(t, err, 429, "queue_full", "")
	_, err = client.Videos.Get(t.Context(), running.ID)
	require.NoError(t, err)
}
