package video

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The patterns of the routes.
const (
	RouteVideos  = "/v1/videos"
	RouteVideo   = "/v1/videos/{id}"
	RouteContent = "/v1/videos/{id}/content"
)

// Options configure a handler. The zero value has the default limits.
type Options struct {
	Limits Limits
	// PollAfter is sent with jobs that are not final, as openai-poll-after-ms, for clients that let the server choose
	// how often they ask: 500 ms. Negative: nothing is sent.
	PollAfter time.Duration
	// RequestID, when set, gives the identity of a request that was established outside. Nil: that of the header
	// X-Request-ID, which must be 1 to 128 visible ASCII characters, else the request is refused; a new one without it.
	RequestID func(*http.Request) string
	// Tag, when set, gives what is kept as [Job].Tag with the job that a decoded request is about to make.
	Tag func(context.Context, Request) string
	// Observe, when set, is called once for each request, after it was answered, on the request's goroutine.
	Observe func(context.Context, Observation)
}

// Observation is what a handler knows of one request when it has answered it. It holds no text of the client.
type Observation struct {
	Method    string
	Route     string // the route's pattern, empty when none is served
	RequestID string
	JobID     string // empty when no job was found or made
	Model     string // as a creation names it
	Status    int
	BytesIn   int64  // body bytes read
	BytesOut  int64  // body bytes handed over
	Code      string // empty when the request was served, else one of the Code constants or a foreign error's own
	Err       error  // the cause in full, for logs
}

// NewHandler returns a handler of all routes over a service, safe for concurrent use. Mount it at "/v1/videos" and at
// "/v1/videos/". A queue that is full refuses the creation of a job and nothing else.
func NewHandler(s *Service, opts Options) http.Handler {
	if opts.PollAfter == 0 {
		opts.PollAfter = 500 * time.Millisecond
	}
	opts.Limits = opts.Limits.withDefaults()
	return &handler{service: s, opts: opts}
}

type handler struct {
	service *Service
	opts    Options
}

// ServeHTTP answers one request.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o := Observation{Method: r.Method}
	counted := &countingWriter{ResponseWriter: w}
	if err := h.serve(counted, r, &o); err != nil {
		f := faultOf(r.Context(), err)
		o.Code, o.Err = f.code, f
		f.send(counted)
	}
	o.Status, o.BytesOut = counted.status, counted.bytes
	if h.opts.Observe != nil {
		h.opts.Observe(r.Context(), o)
	}
}

// serve answers a request or returns why not; when it returns an error, nothing was sent.
func (h *handler) serve(w http.ResponseWriter, r *http.Request, o *Observation) error {
	if err := h.identify(w, r, o); err != nil {
		return err
	}
	route, id := match(r.URL.Path)
	o.Route = route
	read := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch {
	case route == "":
		return &fault{status: http.StatusNotFound, code: CodeRoute, msg: "no such route here: jobs are made by POST " + RouteVideos + " and read under " + RouteVideo}
	case route == RouteVideos && r.Method == http.MethodPost:
		return h.create(w, r, o)
	case route == RouteVideos && read:
		return h.list(w, r)
	case route == RouteVideo && read:
		return h.job(w, r, id, o)
	case route == RouteVideo && r.Method == http.MethodDelete:
		return h.delete(w, r, id, o)
	case route == RouteContent && read:
		return h.content(w, r, id, o)
	}
	allow := map[string]string{RouteVideos: "GET, HEAD, POST", RouteVideo: "GET, HEAD, DELETE", RouteContent: "GET, HEAD"}[route]
	w.Header().Set("Allow", allow)
	return &fault{status: http.StatusMethodNotAllowed, code: CodeInvalid, msg: fmt.Sprintf("method %s is not served here, want one of: %s", clip(r.Method), allow)}
}

// match returns the route of a path and the job id in it; an empty route when it is none of ours. The words beside ids
// are routes of OpenAI's that make other things than clips from text.
func match(path string) (route, id string) {
	rest, ok := strings.CutPrefix(path, RouteVideos)
	if ok && (rest == "" || rest == "/") {
		return RouteVideos, ""
	}
	id, tail, two := strings.Cut(strings.TrimPrefix(rest, "/"), "/")
	switch {
	case !ok || rest[0] != '/' || id == "" || id == "edits" || id == "extensions" || id == "characters":
		return "", ""
	case !two:
		return RouteVideo, id
	case tail == "content":
		return RouteContent, id
	}
	return "", ""
}

// identify finds the request's identity and echoes it.
func (h *handler) identify(w http.ResponseWriter, r *http.Request, o *Observation) error {
	const header = "X-Request-ID"
	if h.opts.RequestID != nil {
		o.RequestID = h.opts.RequestID(r)
		w.Header().Set(header, o.RequestID)
		return nil
	}
	o.RequestID = r.Header.Get(header)
	_, given := r.Header[http.CanonicalHeaderKey(header)]
	bad := given && !validRequestID(o.RequestID)
	if bad || !given {
		o.RequestID = "req_" + strings.ToLower(rand.Text())
	}
	w.Header().Set(header, o.RequestID)
	if bad {
		return &fault{status: http.StatusBadRequest, code: CodeRequestID, param: header, msg: header + ": want 1 to 128 visible ASCII characters"}
	}
	return nil
}

func validRequestID(id string) bool {
	visible := strings.IndexFunc(id, func(r rune) bool { return r <= ' ' || r > '~' }) < 0
	return visible && len(id) >= 1 && len(id) <= 128
}

func (h *handler) create(w http.ResponseWriter, r *http.Request, o *Observation) error {
	req, err := h.decode(w, r, o)
	if err != nil {
		return err
	}
	req.RequestID, o.Model = o.RequestID, req.Model
	if h.opts.Tag != nil {
		req.Tag = h.opts.Tag(r.Context(), *req)
	}
	j, err := h.service.Create(r.Context(), *req)
	if err != nil {
		return err
	}
	o.JobID = j.ID
	h.sendJob(w, j)
	return nil
}

// decode reads the body of a creation: multipart when it says so, else JSON.
func (h *handler) decode(w http.ResponseWriter, r *http.Request, o *Observation) (*Request, error) {
	if enc := r.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		return nil, &fault{status: http.StatusUnsupportedMediaType, code: CodeEncoding, msg: "the body must not be encoded"}
	}
	limit := h.opts.Limits.BodyBytes
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	o.BytesIn = int64(len(body))
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, tooLarge(limit)
	case err != nil:
		return nil, &fault{status: http.StatusBadRequest, code: CodeInvalid, msg: "the body could not be read", cause: err}
	}
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err == nil && kind == "multipart/form-data" {
		return DecodeForm(body, params["boundary"], h.opts.Limits)
	}
	return DecodeJSON(body, h.opts.Limits)
}

func (h *handler) list(w http.ResponseWriter, r *http.Request) error {
	const most = 100
	values := r.URL.Query()
	q := Query{After: values.Get("after"), Limit: 20, Descending: true}
	if _, ok := idNumber(q.After); !ok && q.After != "" {
		return invalid("after", "want the id of a video, got %q", clip(q.After))
	}
	if v := values.Get("limit"); v != "" {
		n, err := whole("limit", v, 1, most)
		if err != nil {
			return err
		}
		q.Limit = int(n)
	}
	switch v := values.Get("order"); v {
	case "", "desc":
	case "asc":
		q.Descending = false
	default:
		return invalid("order", "want asc or desc, got %q", clip(v))
	}
	page, err := h.service.List(r.Context(), q)
	if err != nil {
		return err
	}
	sendJSON(w, http.StatusOK, page.wire())
	return nil
}

func (h *handler) job(w http.ResponseWriter, r *http.Request, id string, o *Observation) error {
	j, err := h.service.Job(r.Context(), id)
	if err != nil {
		return err
	}
	o.JobID = j.ID
	h.sendJob(w, j)
	return nil
}

func (h *handler) sendJob(w http.ResponseWriter, j Job) {
	if ms := h.opts.PollAfter.Milliseconds(); !j.State.Final() && ms > 0 {
		w.Header().Set("openai-poll-after-ms", strconv.FormatInt(ms, 10))
	}
	sendJSON(w, http.StatusOK, j.wire())
}

func (h *handler) delete(w http.ResponseWriter, r *http.Request, id string, o *Observation) error {
	j, err := h.service.Delete(r.Context(), id)
	if err != nil {
		return err
	}
	o.JobID = j.ID
	sendJSON(w, http.StatusOK, deletedJSON{ID: j.ID, Object: "video.deleted", Deleted: true})
	return nil
}

// content sends a file with net/http's handling of ranges and conditions. The digest of the clip is the entity tag.
func (h *handler) content(w http.ResponseWriter, r *http.Request, id string, o *Observation) error {
	v, mediaType := VideoMP4, "video/mp4"
	switch name := r.URL.Query().Get("variant"); name {
	case "", string(VideoMP4):
	case string(ThumbnailJPEG):
		v, mediaType = ThumbnailJPEG, "image/jpeg"
	default:
		return &fault{status: http.StatusNotFound, code: CodeUnsupported, param: "variant", msg: fmt.Sprintf("variant: want video or thumbnail, got %q", clip(name))}
	}
	file, j, err := h.service.Content(r.Context(), id, v)
	if err != nil {
		return err
	}
	defer file.Close()
	o.JobID = j.ID
	head := w.Header()
	head.Set("Content-Type", mediaType)
	tag := j.Artifact.SHA256
	if v != VideoMP4 {
		tag += "-" + string(v)
	}
	head.Set("ETag", `"`+tag+`"`)
	head.Set("Content-Disposition", `inline; filename="`+j.ID+v.suffix()+`"`)
	http.ServeContent(w, r, "", j.FinishedAt, file)
	return nil
}

func sendJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		// Every value sent is made of strings, finite numbers and times of this century.
		panic(fmt.Sprintf("encode %T: %v", v, err))
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that is gone changes nothing of what was done
}
