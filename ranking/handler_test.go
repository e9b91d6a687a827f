package ranking_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native/task"
	"github.com/trtmc-go/trtmc/ranking"
)

const rerankingPath = "/v1/retrieval/org/m/reranking"

func TestRerankingRouteCutsAfterRanking(t *testing.T) {
	with := func(topK string) string {
		return `{"model":"org/m","query":{"text":"q"},"passages":[{"text":"a"},{"text":"b"},{"text":"c"}]` + topK + `}`
	}
	for topK, want := range map[string]string{
		``:            `{"rankings":[{"index":2,"logit":3},{"index":1,"logit":2},{"index":0,"logit":1}]}`,
		`,"top_k":1`:  `{"rankings":[{"index":2,"logit":3}]}`,
		`,"top_k":2`:  `{"rankings":[{"index":2,"logit":3},{"index":1,"logit":2}]}`,
		`,"top_k":99`: `{"rankings":[{"index":2,"logit":3},{"index":1,"logit":2},{"index":0,"logit":1}]}`,
	} {
		b := newBench(ranking.Options{Model: "org/m"}, 1, 2, 3)
		w := post(b, rerankingPath, with(topK))
		require.Equal(t, 200, w.Code)
		require.Equal(t, want, w.Body.String())
		require.Len(t, b.scorer.calls[0].Documents, 3, "every passage is scored")
		require.Equal(t, ranking.RouteReranking, b.seen[0].Route)
	}
	b := newBench(ranking.Options{Model: "org/m"}, 1, 2, 3)
	refusal(t, post(b, rerankingPath, with(`,"top_n":1`)), 400, ranking.CodeUnsupported)
	b.rejected(t, ranking.CodeUnsupported)
}

func TestModelNamesAreChecked(t *testing.T) {
	a, b := &scripted{scores: []float32{1}}, &scripted{scores: []float32{2}}
	two := ranking.NewModelsHandler([]ranking.Model{{Name: "org/a", Scorer: a}, {Name: "b", Scorer: b}, {Name: "text"}}, ranking.Options{})
	one := ranking.NewHandler(a, ranking.Options{Model: "org/a"})
	open := ranking.NewHandler(a, ranking.Options{})
	tests := []struct {
		name, path, model string
		h                 http.Handler
		status            int
		code              string
	}{
		{"first of two", ranking.RouteRanking, "org/a", two, 200, ""},
		{"second of two", ranking.RouteRanking, "b", two, 200, ""},
		{"none of two", ranking.RouteRanking, "", two, 400, ranking.CodeInvalid},
		{"unknown of two", ranking.RouteRanking, "c", two, 404, ranking.CodeModel},
		{"case matters", ranking.RouteRanking, "ORG/A", two, 404, ranking.CodeModel},
		{"no ranking", ranking.RouteRanking, "text", two, 404, ranking.CodeRoute},
		{"path names it", "/v1/retrieval/org/a/reranking", "", two, 200, ""},
		{"path and body agree", "/v1/retrieval/org/a/reranking", "org/a", two, 200, ""},
		{"path and body differ", "/v1/retrieval/org/a/reranking", "b", two, 400, ranking.CodeInvalid},
		{"path unknown", "/v1/retrieval/org/c/reranking", "", two, 404, ranking.CodeModel},
		{"none of one", ranking.RouteRanking, "", one, 200, ""},
		{"unknown of one", ranking.RouteRanking, "x", one, 404, ranking.CodeModel},
		{"path unknown of one", "/v1/retrieval/org/x/reranking", "", one, 404, ranking.CodeModel},
		{"any name of one without a name", ranking.RouteRanking, "x", open, 200, ""},
		{"any path of one without a name", "/v1/retrieval/org/x/reranking", "", open, 200, ""},
		{"path and body differ without a name", "/v1/retrieval/org/x/reranking", "y", open, 400, ranking.CodeInvalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			body := `{"query":{"text":"q"},"passages":[{"text":"p"}]}`
			if tt.model != "" {
				body = `{"model":"` + tt.model + `",` + body[1:]
			}
			w := post(tt.h, tt.path, body)
			if tt.status == 200 {
				require.Equal(t, 200, w.Code, w.Body.String())
				return
			}
			require.Equal(t, "model", *refusal(t, w, tt.status, tt.code).Error.Param)
		})
	}
}

func TestTruncateMeansWhatTheTaskCanDo(t *testing.T) {
	text := task.Field{Name: "truncate", Kind: task.KindString}
	flag := task.Field{Name: "truncation", Kind: task.KindBool}
	tests := []struct {
		field    task.Field
		truncate string
		want     task.Settings
	}{
		{text, "", task.Settings{{Name: "truncate", Value: task.String("NONE")}}},
		{text, `,"truncate":"NONE"`, task.Settings{{Name: "truncate", Value: task.String("NONE")}}},
		{text, `,"truncate":"END"`, task.Settings{{Name: "truncate", Value: task.String("END")}}},
		{flag, "", task.Settings{{Name: "truncation", Value: task.Bool(false)}}},
		{flag, `,"truncate":"END"`, task.Settings{{Name: "truncation", Value: task.Bool(true)}}},
		{task.Field{}, "", nil},
		{task.Field{}, `,"truncate":"NONE"`, nil},
	}
	for _, tt := range tests {
		b := newBench(ranking.Options{Truncate: tt.field, MaxPassageWords: 2}, 1)
		passage := "one two"
		if strings.Contains(tt.truncate, "END") {
			passage = "one two three: the Task cuts it"
		}
		w := post(b, ranking.RouteRanking, `{"query":{"text":"q"},"passages":[{"text":"`+passage+`"}]`+tt.truncate+`}`)
		require.Equal(t, 200, w.Code, w.Body.String())
		require.Equal(t, tt.want, b.scorer.calls[0].Settings)
		require.Equal(t, tt.want, b.seen[0].Settings)
	}
	b := newBench(ranking.Options{}, 1)
	w := post(b, ranking.RouteRanking, `{"query":{"text":"q"},"passages":[{"text":"p"}],"truncate":"END"}`)
	require.Equal(t, "truncate", *refusal(t, w, 400, ranking.CodeUnsupported).Error.Param)
	b.rejected(t, ranking.CodeUnsupported)
}

type formed struct{ after time.Duration }

func (formed) Error() string               { return "the queue is full" }
func (formed) HTTPStatus() int             { return 429 }
func (formed) Code() string                { return "queue_full" }
func (f formed) RetryAfter() time.Duration { return f.after }
func nativeError(class error, d string) error {
	return &task.Error{Op: "run", Task: task.TextQueryDocumentsToRelevance, Status: 7, Detail: d, Err: class}
}

func TestErrorsOfTheScorerHaveOneFormEach(t *testing.T) {
	tests := []struct {
		err    error
		status int
		code   string
		retry  string
		shown  string
	}{
		{fmt.Errorf("acquire: %w", formed{1500 * time.Millisecond}), 429, "queue_full", "2", "acquire: the queue is full"},
		{formed{}, 429, "queue_full", "", "the queue is full"},
		{nativeError(task.ErrInvalid, "documents[2] is too long\n(900 tokens)"), 400, ranking.CodeTaskInvalid, "", "passages[2].text: the model refuses this passage: documents[2] is too long (900 tokens)"},
		{nativeError(task.ErrInvalid, "documents[x] odd"), 400, ranking.CodeTaskInvalid, "", "the model refuses this input: documents[x] odd"},
		{fmt.Errorf("plain: %w", task.ErrInvalid), 400, ranking.CodeTaskInvalid, "", "the model refuses this input: plain: invalid input"},
		{task.Unsupported(task.TextQueryDocumentsToRelevance), 404, ranking.CodeRoute, "", "the model does not rank passages"},
		{nativeError(task.ErrBusy, "x"), 503, ranking.CodeTaskBusy, "1", "the model is busy"},
		{nativeError(task.ErrResource, "x"), 503, ranking.CodeTaskResource, "1", "the model ran out of resources"},
		{task.ErrClosed, 503, ranking.CodeDraining, "", "the model is closed"},
		{context.DeadlineExceeded, 504, ranking.CodeDeadline, "", "the time for this request ran out"},
		{nativeError(task.ErrInternal, "/secret/path: core dumped"), 500, ranking.CodeTaskError, "", "the model failed to score the passages"},
		{&task.Error{Op: "run", Detail: "1 scores for 2 documents", Err: task.ErrInternal}, 502, ranking.CodeTaskResult, "", "the model gave an invalid result"},
		{errors.New("anything"), 500, ranking.CodeTaskError, "", "the model failed to score the passages"},
		{context.Canceled, 500, ranking.CodeTaskError, "", "the model failed to score the passages"},
	}
	for _, tt := range tests {
		t.Run(tt.err.Error(), func(t *testing.T) {
			b := newBench(ranking.Options{})
			b.scorer.err = tt.err
			w := post(b, ranking.RouteRanking, threePassages)
			require.Equal(t, tt.shown, refusal(t, w, tt.status, tt.code).Message)
			require.Equal(t, tt.retry, w.Header().Get("Retry-After"))
			require.Len(t, b.seen, 1)
			require.True(t, b.seen[0].Called)
			require.Equal(t, tt.status, b.seen[0].Status)
		})
	}
}

func TestWrongNumberOfScoresIsAServerFailure(t *testing.T) {
	for _, scores := range [][]float32{nil, {1}, {1, 2}, {1, 2, 3, 4}} {
		b := newBench(ranking.Options{}, scores...)
		refusal(t, post(b, ranking.RouteRanking, threePassages), 502, ranking.CodeTaskResult)
		require.Equal(t, 502, b.seen[0].Status)
	}
}

func TestClientGoneDuringTheCallIsNotAServerFailure(t *testing.T) {
	b := newBench(ranking.Options{})
	ctx, cancel := context.WithCancelCause(context.Background())
	gone := errors.New("connection reset")
	cancel(gone)
	b.scorer.err = gone
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, ranking.RouteRanking, strings.NewReader(threePassages))
	b.ServeHTTP(httptest.NewRecorder(), r)
	require.Equal(t, 499, b.seen[0].Status)
	require.Equal(t, ranking.CodeClientGone, b.seen[0].Code)
}

func TestObservationCountsTextsAndNotes(t *testing.T) {
	b := newBench(ranking.Options{Model: "m"}, 1, 2)
	body := `{"model":"m","query":{"text":" two  words "},"passages":[{"text":"é\tè"},{"text":"one"}]}`
	require.Equal(t, 200, post(b, ranking.RouteRanking, body).Code)
	require.Equal(t, []ranking.Observation{{
		Route: ranking.RouteRanking, Model: "m", BytesIn: int64(len(body)), Passages: 2,
		QueryBytes: 12, QueryWords: 2, PassageBytes: 8, PassageWords: 3,
		Called: true, Kind: task.ScoreLogit, Timing: task.Timing{Call: 3}, Status: 200,
	}}, b.seen)
}

func TestOtherMethodsPathsAndEncodingsAreRefused(t *testing.T) {
	b := newBench(ranking.Options{}, 1)
	w := httptest.NewRecorder()
	b.ServeHTTP(w, httptest.NewRequest(http.MethodGet, ranking.RouteRanking, nil))
	refusal(t, w, 405, ranking.CodeInvalid)
	require.Equal(t, "POST", w.Header().Get("Allow"))
	b.rejected(t, ranking.CodeInvalid)

	for _, path := range []string{"/", "/v1/ranking/", "/v1/rankings", "/v1/retrieval/", "/v1/retrieval/m/reranking", "/v1/retrieval//m/reranking", "/v1/retrieval/org//reranking", "/v1/retrieval/a/b/c/reranking", "/v1/retrieval/a/b/embedding"} {
		refusal(t, post(b, path, "{}"), 404, ranking.CodeRoute)
	}

	b = newBench(ranking.Options{}, 1, 2, 3)
	r := httptest.NewRequest(http.MethodPost, ranking.RouteRanking, strings.NewReader(threePassages))
	r.Header.Set("Content-Encoding", "gzip")
	w = httptest.NewRecorder()
	b.ServeHTTP(w, r)
	refusal(t, w, 415, ranking.CodeEncoding)
	b.rejected(t, ranking.CodeEncoding)
}

func TestBodiesWithoutLengthAreBoundedToo(t *testing.T) {
	b := newBench(ranking.Options{Limits: ranking.Limits{BodyBytes: 1000}}, 1, 2, 3)
	for size, status := range map[int]int{1000: 200, 1001: 413} {
		body := threePassages + strings.Repeat(" ", size-len(threePassages))
		r := httptest.NewRequest(http.MethodPost, ranking.RouteRanking, io.MultiReader(strings.NewReader(body)))
		r.ContentLength = -1
		w := httptest.NewRecorder()
		b.ServeHTTP(w, r)
		require.Equal(t, status, w.Code)
	}
}

func TestBodyThatEndsEarlyIsAClientThatLeft(t *testing.T) {
	observed := make(chan ranking.Observation, 1)
	scorer := &scripted{}
	srv := httptest.NewServer(ranking.NewHandler(scorer, ranking.Options{Observe: func(_ context.Context, o ranking.Observation) { observed <- o }}))
	defer srv.Close()
	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	require.NoError(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, "POST /v1/ranking HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{\"query\"")
	require.NoError(t, err)
	require.NoError(t, conn.(*net.TCPConn).CloseWrite())
	o := <-observed
	require.Equal(t, ranking.CodeClientGone, o.Code)
	require.Equal(t, int64(8), o.BytesIn)
	require.Empty(t, scorer.calls)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, 499, resp.StatusCode, "a client that still listens gets no empty 200")
}

func TestScorerMayKeepTheTextsItWasGiven(t *testing.T) {
	b := newBench(ranking.Options{}, 1)
	for _, word := range []string{"first", "other", "third"} {
		require.Equal(t, 200, post(b, ranking.RouteRanking, `{"query":{"text":"`+word+`"},"passages":[{"text":"`+word+`"}]}`).Code)
	}
	for i, word := range []string{"first", "other", "third"} {
		require.Equal(t, word, b.scorer.calls[i].Query)
		require.Equal(t, []string{word}, b.scorer.calls[i].Documents)
	}
}

func TestScorerIsGivenTheBodyThatHoldsTheTexts(t *testing.T) {
	b := newBench(ranking.Options{}, 1, 2, 3)
	require.Equal(t, 200, post(b, ranking.RouteRanking, threePassages).Code)
	require.Equal(t, threePassages, b.scorer.calls[0].Backing)
}

func TestConcurrentRequestsDoNotShareBuffers(t *testing.T) {
	h := ranking.NewHandler(lengths{}, ranking.Options{})
	done := make(chan error, 8)
	for g := range 8 {
		go func() {
			for i := range 200 {
				n := (g*31+i*7)%90 + 1
				w := post(h, ranking.RouteRanking, `{"query":{"text":"q"},"passages":[{"text":"`+strings.Repeat("x", n)+`"}]}`)
				if want := fmt.Sprintf(`{"rankings":[{"index":0,"logit":%d}]}`, n); w.Body.String() != want {
					done <- fmt.Errorf("got %s, want %s", w.Body, want)
					return
				}
			}
			done <- nil
		}()
	}
	for range 8 {
		require.NoError(t, <-done)
	}
}

// lengths scores each passage with its length.
type lengths struct{}

func (lengths) Score(_ context.Context, req task.ScoreRequest) (task.ScoreResult, error) {
	res := task.ScoreResult{Kind: task.ScoreUnbounded}
	for _, d := range req.Documents {
		res.Scores = append(res.Scores, float32(len(d)))
	}
	return res, nil
}

type declared struct {
	task.Model
	tasks []task.Decl
}

func (d declared) Info() task.Info { return task.Info{Tasks: d.tasks} }
func (d declared) Lookup(id task.ID) (any, error) {
	if len(d.tasks) == 0 {
		return nil, task.Unsupported(id)
	}
	return lengths{}, nil
}

func TestModelOfFindsTheScorerAndTheControl(t *testing.T) {
	field := task.Field{Name: "truncate", Kind: task.KindString}
	m := declared{tasks: []task.Decl{{ID: task.TextQueryDocumentsToRelevance, Fields: []task.Field{{Name: "truncation", Kind: task.KindInt}, field}}}}
	got, err := ranking.ModelOf("m", m)
	require.NoError(t, err)
	require.Equal(t, ranking.Model{Name: "m", Scorer: lengths{}, Truncate: field}, got)

	_, err = ranking.ModelOf("m", declared{})
	require.ErrorIs(t, err, task.ErrUnsupported)

	m.tasks[0].Fields = m.tasks[0].Fields[:1]
	require.Empty(t, ranking.TruncateField(m.Info()).Name, "a control of another kind is not this control")
}
