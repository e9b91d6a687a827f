package ranking

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"

	"github.com/trtmc-go/trtmc/native/task"
)

// The patterns of the routes.
const (
	RouteRanking   = "/v1/ranking"
	RouteReranking = "/v1/retrieval/{org}/{model}/reranking"
)

// Options configure a handler. The zero value serves one model without a name and with the default limits.
type Options struct {
	// Model, Truncate and MaxPassageWords describe the one model of NewHandler, as the fields of [Model] do.
	// An empty Model serves every name. NewModelsHandler ignores the three.
	Model           string
	Truncate        task.Field
	MaxPassageWords int

	Limits Limits
	// Observe is called once for each request to the two routes, after it was answered, on the request's goroutine
	// and with its context.
	Observe func(context.Context, Observation)
}

// NewHandler returns a handler of both routes for one model. It is safe for concurrent use and calls the scorer once
// for each accepted request, with the request's context. An error of the scorer that has the methods
// HTTPStatus() int, Code() string and RetryAfter() time.Duration is answered in that form; errors of package task
// have forms of their own; any other error is a 500.
func NewHandler(scorer task.Scorer, opts Options) http.Handler {
	return NewModelsHandler([]Model{{
		Name: opts.Model, Scorer: scorer, Truncate: opts.Truncate, MaxPassageWords: opts.MaxPassageWords,
	}}, opts)
}

// NewModelsHandler returns a handler like that of [NewHandler] that chooses among several models by name. A request
// that names none is refused unless there is exactly one.
func NewModelsHandler(models []Model, opts Options) http.Handler {
	h := &handler{models: append([]Model(nil), models...), limits: opts.Limits.withDefaults(), observe: opts.Observe}
	h.answers.New = func() any { return new([]byte) }
	return h
}

type handler struct {
	models  []Model
	limits  Limits
	observe func(context.Context, Observation)
	answers sync.Pool // *[]byte; bodies are never used again, because a Scorer may keep the texts that it was given
}

// exchange is one request on its way.
type exchange struct {
	route string
	model string // from the path, empty on RouteRanking
	obs   Observation
}

// ServeHTTP answers one request.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := exchange{}
	if x.route, x.model = match(r.URL.Path); x.route == "" {
		(&fault{status: http.StatusNotFound, code: CodeRoute, msg: "no such route, want POST " + RouteRanking + " or " + RouteReranking}).write(w)
		return
	}
	x.obs.Route = x.route
	out := h.answers.Get().(*[]byte)
	defer h.answers.Put(out)

	err := h.answer(w, r, &x, out)
	if err == nil {
		x.obs.Status = http.StatusOK
		err = send(w, http.StatusOK, *out)
		if err != nil {
			x.obs.Code, x.obs.Err = CodeClientGone, fmt.Errorf("send answer: %w", err)
		}
	} else {
		f := faultOf(r.Context(), err)
		x.obs.Status, x.obs.Code, x.obs.Err = f.status, f.code, err
		// Also with no client left: a handler that writes nothing has sent an empty 200. A client that does not read
		// its refusal changes nothing of it.
		_ = f.write(w)
	}
	if h.observe != nil {
		h.observe(r.Context(), x.obs)
	}
}

// match returns the route of a path, empty when it is none of ours, and the model that the path names.
func match(path string) (route, model string) {
	if path == RouteRanking {
		return RouteRanking, ""
	}
	rest, ok := strings.CutPrefix(path, "/v1/retrieval/")
	if !ok {
		return "", ""
	}
	model, ok = strings.CutSuffix(rest, "/reranking")
	org, name, two := strings.Cut(model, "/")
	if !ok || !two || org == "" || name == "" || strings.Contains(name, "/") {
		return "", ""
	}
	return RouteReranking, model
}

// answer decodes, scores and ranks, and leaves the encoded answer in out: nothing of it is sent before it is whole.
func (h *handler) answer(w http.ResponseWriter, r *http.Request, x *exchange, out *[]byte) error {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return &fault{status: http.StatusMethodNotAllowed, code: CodeInvalid, msg: fmt.Sprintf("method %s is not served here, want POST", clip(r.Method))}
	}
	req, err := h.read(w, r, x)
	if err != nil {
		return err
	}
	if h.observe != nil {
		x.obs.count(req)
	}
	m, err := choose(h.models, x.model, req.Model)
	if err != nil {
		return err
	}
	x.obs.Model = m.Name
	if m.Scorer == nil {
		return task.Unsupported(task.TextQueryDocumentsToRelevance)
	}
	if x.obs.Settings, err = m.Settings(req.Truncate); err != nil {
		return err
	}
	if err := m.checkLength(req); err != nil {
		return err
	}
	rankings, err := score(r.Context(), m.Scorer, req, &x.obs)
	if err != nil {
		return err
	}
	*out, err = AppendResponse((*out)[:0], rankings)
	return err
}

// score calls the Task and ranks what it gave.
func score(ctx context.Context, scorer task.Scorer, req *Request, obs *Observation) ([]Ranking, error) {
	obs.Called = true
	res, err := scorer.Score(ctx, task.ScoreRequest{Query: req.Query, Documents: req.Passages, Backing: req.body, Settings: obs.Settings})
	obs.Kind, obs.Timing = res.Kind, res.Timing
	if err != nil {
		return nil, err
	}
	rankings, err := Rank(res.Scores, len(req.Passages))
	if err != nil {
		return nil, err
	}
	if req.TopK > 0 && req.TopK < len(rankings) {
		rankings = rankings[:req.TopK]
	}
	return rankings, nil
}

// read takes in the body and decodes it.
func (h *handler) read(w http.ResponseWriter, r *http.Request, x *exchange) (*Request, error) {
	if enc := r.Header.Get("Content-Encoding"); enc != "" && !strings.EqualFold(enc, "identity") {
		return nil, &fault{status: http.StatusUnsupportedMediaType, code: CodeEncoding, msg: fmt.Sprintf("content encoding %q is not read here, want none", clip(enc))}
	}
	if r.ContentLength > h.limits.BodyBytes {
		w.Header().Set("Connection", "close") // the body stays unread, so the connection cannot be used again
		return nil, bodyTooLarge(h.limits.BodyBytes)
	}
	body, err := readAll(http.MaxBytesReader(w, r.Body, h.limits.BodyBytes), r.ContentLength)
	x.obs.BytesIn = int64(len(body))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, bodyTooLarge(h.limits.BodyBytes)
	case errors.Is(err, io.ErrUnexpectedEOF), err != nil && r.Context().Err() != nil:
		return nil, &fault{status: statusClientGone, code: CodeClientGone, msg: "the body ended early", cause: err}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, &fault{status: http.StatusRequestTimeout, code: CodeDeadline, msg: "the body did not arrive in time", cause: err}
	case err != nil:
		return nil, &fault{status: http.StatusBadRequest, code: CodeInvalid, msg: "the body could not be read", cause: err}
	}
	return decode(body, h.limits, x.route == RouteReranking)
}

// readAll reads all of r. An announced size saves growing, up to a bound: a client may announce and not send.
func readAll(r io.Reader, size int64) ([]byte, error) {
	const trusted = 256 << 10
	dst := make([]byte, 0, max(512, min(size, trusted)+1)) // one more than the size, so that the end is found without growing
	for {
		if len(dst) == cap(dst) {
			dst = append(dst, 0)[:len(dst)]
		}
		n, err := r.Read(dst[len(dst):cap(dst)])
		dst = dst[:len(dst)+n]
		if err == io.EOF {
			return dst, nil
		}
		if err != nil {
			return dst, err
		}
	}
}
