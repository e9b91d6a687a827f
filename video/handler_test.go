package video

import (
	"bytes"
	"context"
	"encoding/json"
	"image/jpeg"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native/task"
)

// site is a served handler with what its observers saw.
type site struct {
	t       testing.TB
	service *Service
	log     *eventLog
	server  *httptest.Server

	mu   sync.Mutex
	seen []Observation
}

func newSite(t testing.TB, g task.VideoGenerator, edit func(*Config)) *site {
	t.Helper()
	s := &site{t: t}
	s.service, s.log = service(t, g, edit)
	return s.serve(Options{})
}

func (s *site) serve(opts Options) *site {
	opts.Observe = func(_ context.Context, o Observation) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.seen = append(s.seen, o)
	}
	h := NewHandler(s.service, opts)
	mux := http.NewServeMux()
	mux.Handle("/v1/videos", h)
	mux.Handle("/v1/videos/", h)
	s.server = httptest.NewServer(mux)
	s.t.Cleanup(s.server.Close)
	return s
}

// answer is an HTTP answer that was read to its end.
type answer struct {
	*http.Response
	body []byte
}

func (a answer) json(t testing.TB) map[string]any {
	t.Helper()
	var v map[string]any
	require.NoError(t, json.Unmarshal(a.body, &v), "%s", a.body)
	return v
}

// code returns error.code of a refusal and checks its form.
func (a answer) code(t testing.TB) string {
	t.Helper()
	require.Equal(t, "application/json", a.Header.Get("Content-Type"))
	v := a.json(t)
	e := v["error"].(map[string]any)
	require.NotEmpty(t, e["message"])
	require.NotEmpty(t, e["type"])
	require.Contains(t, e, "param")
	require.Equal(t, e["message"], v["message"])
	require.NotEmpty(t, v["detail"])
	return e["code"].(string)
}

func (s *site) do(method, path string, body io.Reader, header ...string) answer {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.server.URL+path, body)
	require.NoError(s.t, err)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := s.server.Client().Do(req)
	require.NoError(s.t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	require.NoError(s.t, err)
	return answer{resp, b}
}

func (s *site) get(path string, header ...string) answer {
	s.t.Helper()
	return s.do(http.MethodGet, path, nil, header...)
}

func (s *site) post(body string, header ...string) answer {
	s.t.Helper()
	return s.do(http.MethodPost, "/v1/videos", strings.NewReader(body), append([]string{"Content-Type", "application/json"}, header...)...)
}

// form posts fields as AIPerf does, with a content type in every part.
func (s *site) form(fields ...string) answer {
	s.t.Helper()
	body, kind := form(s.t, fields...)
	return s.do(http.MethodPost, "/v1/videos", bytes.NewReader(body), "Content-Type", kind)
}

func form(t testing.TB, fields ...string) (body []byte, contentType string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for i := 0; i < len(fields); i += 2 {
		h := textproto.MIMEHeader{"Content-Type": {"text/plain; charset=utf-8"}, "Content-Disposition": {`form-data; name="` + fields[i] + `"`}}
		p, err := w.CreatePart(h)
		require.NoError(t, err)
		_, err = io.WriteString(p, fields[i+1])
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes(), w.FormDataContentType()
}

// made creates a job and returns its id.
func (s *site) made(body string) string {
	s.t.Helper()
	a := s.post(body)
	require.Equal(s.t, 200, a.StatusCode, "%s", a.body)
	return a.json(s.t)["id"].(string)
}

func (s *site) completed(body string) Job {
	s.t.Helper()
	j := s.log.finished(s.t, s.made(body))
	require.Equal(s.t, Completed, j.State, "%+v", j.Failure)
	return j
}

func TestJobJSONIsWhatClientsRead(t *testing.T) {
	hold := make(chan struct{})
	g := &fakeGenerator{defaults: smallScene()}
	g.do = func(_ context.Context, req task.VideoRequest) (task.Video, error) { <-hold; return g.paint(req), nil }
	s := newSite(t, g, nil)
	a := s.post(`{"prompt":"p","model":"m","seconds":"2","fps":8,"size":"64x48","seed":3}`, "X-Request-ID", "rid-1")
	require.Equal(t, 200, a.StatusCode)
	require.Equal(t, "rid-1", a.Header.Get("X-Request-ID"))
	require.Equal(t, "500", a.Header.Get("openai-poll-after-ms"))
	v := a.json(t)
	id := v["id"].(string)
	require.Regexp(t, `^video_[0-9a-f]{32}$`, id)
	for name, want := range map[string]any{
		"object": "video", "model": "m", "status": "queued", "progress": 0.0, "prompt": "p", "seconds": "2", "size": "64x48",
		"completed_at": nil, "expires_at": nil, "error": nil, "remixed_from_video_id": nil, "request_id": "rid-1", "fps": 8.0,
	} {
		require.Equal(t, want, v[name], name)
		require.Contains(t, v, name)
	}
	require.Positive(t, v["created_at"])
	require.NotContains(t, v, "url")
	require.NotContains(t, v, "inference_time_s")

	s.log.wait(t, id, EventCallStarted)
	require.Equal(t, "in_progress", s.get("/v1/videos/" + id).json(t)["status"])
	close(hold)
	s.log.finished(t, id)
	a = s.get("/v1/videos/" + id)
	require.Empty(t, a.Header.Get("openai-poll-after-ms"))
	v = a.json(t)
	require.Equal(t, "completed", v["status"])
	require.Equal(t, 100.0, v["progress"])
	require.Equal(t, 16.0, v["frames"])
	require.Positive(t, v["completed_at"])
	require.Greater(t, v["expires_at"], v["completed_at"])
	require.Positive(t, v["encode_time_s"])
	require.Positive(t, v["queue_time_s"])
	require.Len(t, v["artifact"].(map[string]any)["frames_sha256"], 64)
}

func TestContentIsServedWithRanges(t *testing.T) {
	s := newSite(t, &fakeGenerator{defaults: smallScene()}, nil)
	j := s.completed(`{"prompt":"p"}`)
	path := "/v1/videos/" + j.ID + "/content"
	whole := s.get(path, "Accept", "application/binary")
	require.Equal(t, 200, whole.StatusCode)
	require.Equal(t, "video/mp4", whole.Header.Get("Content-Type"))
	require.Equal(t, `"`+j.Artifact.SHA256+`"`, whole.Header.Get("ETag"))
	require.Equal(t, "bytes", whole.Header.Get("Accept-Ranges"))
	require.EqualValues(t, j.Artifact.Bytes, whole.ContentLength)
	require.NoError(t, j.Artifact.Verify(bytes.NewReader(whole.body), int64(len(whole.body))))

	head := s.do(http.MethodHead, path, nil)
	require.Equal(t, 200, head.StatusCode)
	require.EqualValues(t, j.Artifact.Bytes, head.ContentLength)
	require.Empty(t, head.body)
	part := s.get(path, "Range", "bytes=10-19")
	require.Equal(t, 206, part.StatusCode)
	require.Equal(t, whole.body[10:20], part.body)
	require.Equal(t, 206, s.get(path, "Range", "bytes=10-19", "If-Range", whole.Header.Get("ETag")).StatusCode)
	require.Equal(t, 200, s.get(path, "Range", "bytes=10-19", "If-Range", `"other"`).StatusCode)
	require.Equal(t, 304, s.get(path, "If-None-Match", whole.Header.Get("ETag")).StatusCode)
	require.Equal(t, 416, s.get(path, "Range", "bytes=99999999-").StatusCode)
	require.Equal(t, whole.body, s.get(path+"?variant=video").body)

	thumb := s.get(path + "?variant=thumbnail")
	require.Equal(t, "image/jpeg", thumb.Header.Get("Content-Type"))
	require.NotEqual(t, whole.Header.Get("ETag"), thumb.Header.Get("ETag"))
	img, err := jpeg.Decode(bytes.NewReader(thumb.body))
	require.NoError(t, err)
	require.Equal(t, 64, img.Bounds().Dx())
	sheet := s.get(path + "?variant=spritesheet")
	require.Equal(t, 404, sheet.StatusCode)
	require.Equal(t, CodeUnsupported, sheet.code(t))

	require.NoError(t, os.Truncate(s.service.files.path(j.ID, VideoMP4), 100))
	gone := s.get(path)
	require.Equal(t, 404, gone.StatusCode, "half a file is not served")
	require.Equal(t, CodeArtifact, gone.code(t))
}

func TestListPages(t *testing.T) {
	s := newSite(t, &fakeGenerator{defaults: smallScene()}, nil)
	empty := s.get("/v1/videos").json(t)
	require.Equal(t, map[string]any{"object": "list", "data": []any{}, "first_id": nil, "last_id": nil, "has_more": false}, empty)
	var ids []string
	for range 5 {
		ids = append(ids, s.made(`{"prompt":"p"}`))
	}
	list := func(query string) (got []string, more bool) {
		v := s.get("/v1/videos?" + query).json(t)
		for _, d := range v["data"].([]any) {
			got = append(got, d.(map[string]any)["id"].(string))
		}
		if len(got) > 0 {
			require.Equal(t, got[0], v["first_id"])
			require.Equal(t, got[len(got)-1], v["last_id"])
		}
		return got, v["has_more"].(bool)
	}
	got, more := list("order=asc&limit=2")
	require.Equal(t, ids[:2], got)
	require.True(t, more)
	got, more = list("order=asc&limit=3&after=" + ids[1])
	require.Equal(t, ids[2:], got)
	require.False(t, more)
	got, more = list("limit=2")
	require.Equal(t, []string{ids[4], ids[3]}, got)
	require.True(t, more)
	got, more = list("after=" + ids[1])
	require.Equal(t, ids[:1], got)
	require.False(t, more)
	require.Equal(t, 200, s.do(http.MethodDelete, "/v1/videos/"+ids[1], nil).StatusCode)
	got, _ = list("order=asc&after=" + ids[1])
	require.Equal(t, ids[2:], got, "a page goes on behind a job that was deleted")
	for _, bad := range []string{"limit=0", "limit=101", "limit=x", "order=up", "after=video_1"} {
		a := s.get("/v1/videos?" + bad)
		require.Equal(t, 400, a.StatusCode, bad)
		require.Equal(t, strings.SplitN(bad, "=", 2)[0], a.json(t)["error"].(map[string]any)["param"])
	}
}

func TestDeletedJobIsGone(t *testing.T) {
	s := newSite(t, &fakeGenerator{defaults: smallScene()}, nil)
	j := s.completed(`{"prompt":"p"}`)
	a := s.do(http.MethodDelete, "/v1/videos/"+j.ID, nil)
	require.Equal(t, map[string]any{"id": j.ID, "object": "video.deleted", "deleted": true}, a.json(t))
	require.Empty(t, filesOf(t, s.service.cfg.Dir))
	for _, a := range []answer{s.get("/v1/videos/" + j.ID), s.get("/v1/videos/" + j.ID + "/content"), s.do(http.MethodDelete, "/v1/videos/"+j.ID, nil)} {
		require.Equal(t, 404, a.StatusCode)
		require.Equal(t, CodeNoJob, a.code(t))
	}
}

func TestRoutesThatAreNotServed(t *testing.T) {
	s := newSite(t, &fakeGenerator{defaults: smallScene()}, nil)
	id := s.completed(`{"prompt":"p"}`).ID
	for _, tt := range []struct {
		method, path string
		status       int
		code         string
	}{
		{"POST", "/v1/videos/" + id + "/remix", 404, CodeRoute},
		{"POST", "/v1/videos/edits", 404, CodeRoute},
		{"POST", "/v1/videos/extensions", 404, CodeRoute},
		{"POST", "/v1/videos/characters", 404, CodeRoute},
		{"GET", "/v1/videos/characters/x", 404, CodeRoute},
		{"GET", "/v1/videos/" + id + "/content/x", 404, CodeRoute},
		{"GET", "/v1/videos/..%2fjobs.db", 404, CodeRoute},
		{"GET", "/v1/videos/" + id + ".mp4", 404, CodeNoJob},
		{"PUT", "/v1/videos", 405, CodeInvalid},
		{"POST", "/v1/videos/" + id, 405, CodeInvalid},
		{"DELETE", "/v1/videos/" + id + "/content", 405, CodeInvalid},
	} {
		a := s.do(tt.method, tt.path, nil)
		require.Equal(t, tt.status, a.StatusCode, "%s %s", tt.method, tt.path)
		require.Equal(t, tt.code, a.code(t), "%s %s", tt.method, tt.path)
		require.Equal(t, tt.status == 405, a.Header.Get("Allow") != "")
	}
}

func TestBodyLimitsAndEncoding(t *testing.T) {
	s := newSite(t, &fakeGenerator{defaults: smallScene()}, nil)
	a := s.post(`{"prompt":"` + strings.Repeat("x", 1<<20) + `"}`)
	require.Equal(t, 413, a.StatusCode)
	require.Equal(t, CodeTooLarge, a.code(t))
	a = s.post(`{"prompt":"` + strings.Repeat("x", 33<<10) + `"}`)
	require.Equal(t, 413, a.StatusCode)
	a = s.post(`{"prompt":"x"}`, "Content-Encoding", "gzip")
	require.Equal(t, 415, a.StatusCode)
	require.Equal(t, CodeEncoding, a.code(t))
	a = s.post(`{"prompt":"x","model":"other"}`)
	require.Equal(t, 404, a.StatusCode)
	require.Equal(t, CodeModel, a.code(t))
}

func TestRequestIDIsHonouredOrRefused(t *testing.T) {
	s := newSite(t, &fakeGenerator{defaults: smallScene()}, nil)
	require.Equal(t, "abc", s.get("/v1/videos", "X-Request-ID", "abc").Header.Get("X-Request-ID"))
	require.Regexp(t, "^req_", s.get("/v1/videos").Header.Get("X-Request-ID"))
	for _, bad := range []string{"", "two words", strings.Repeat("x", 129), "é"} {
		a := s.get("/v1/videos", "X-Request-ID", bad)
		require.Equal(t, 400, a.StatusCode, "%q", bad)
		require.Equal(t, CodeRequestID, a.code(t))
		require.NotEqual(t, bad, a.Header.Get("X-Request-ID"))
	}
	outside := (&site{t: t, service: s.service, log: s.log}).serve(Options{RequestID: func(*http.Request) string { return "outside" }, PollAfter: -1})
	a := outside.post(`{"prompt":"p"}`, "X-Request-ID", "ignored")
	require.Equal(t, "outside", a.json(t)["request_id"])
	require.Empty(t, a.Header.Get("openai-poll-after-ms"))
}
