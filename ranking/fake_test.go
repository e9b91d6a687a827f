package ranking_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native/task"
	"github.com/trtmc-go/trtmc/ranking"
)

// scripted is a Scorer that answers with fixed scores or an error and keeps what it was asked.
type scripted struct {
	scores []float32
	err    error
	mu     sync.Mutex
	calls  []task.ScoreRequest
}

func (s *scripted) Score(_ context.Context, req task.ScoreRequest) (task.ScoreResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, req)
	return task.ScoreResult{Scores: s.scores, Kind: task.ScoreLogit, Timing: task.Timing{Call: 3}}, s.err
}

// bench is a handler with one scripted model and all that it observed.
type bench struct {
	scorer *scripted
	seen   []ranking.Observation
	http.Handler
}

func newBench(opts ranking.Options, scores ...float32) *bench {
	b := &bench{scorer: &scripted{scores: scores}}
	opts.Observe = func(_ context.Context, o ranking.Observation) { b.seen = append(b.seen, o) }
	b.Handler = ranking.NewHandler(b.scorer, opts)
	return b
}

func post(h http.Handler, path, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, strings.NewReader(body)))
	return w
}

type wireError struct {
	Error struct {
		Message, Type, Code string
		Param               *string
	}
	Message, Detail string
}

// refusal checks the form of an error answer and returns it.
func refusal(t *testing.T, w *httptest.ResponseRecorder, status int, code string) wireError {
	t.Helper()
	require.Equal(t, status, w.Code, w.Body.String())
	require.Equal(t, "application/json", w.Header().Get("Content-Type"))
	var e wireError
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &e))
	require.Equal(t, code, e.Error.Code)
	require.NotEmpty(t, e.Error.Message)
	require.Equal(t, e.Error.Message, e.Message)
	require.Contains(t, e.Detail, code)
	if e.Error.Param != nil {
		require.Contains(t, e.Detail, *e.Error.Param)
	}
	return e
}

// rejected checks that the last request was refused as the client's error, observed once and never scored.
func (b *bench) rejected(t *testing.T, code string) {
	t.Helper()
	require.Empty(t, b.scorer.calls, "the Task was called")
	require.Len(t, b.seen, 1, "observed exactly once")
	require.Equal(t, code, b.seen[0].Code)
	require.Less(t, b.seen[0].Status, 500)
	require.GreaterOrEqual(t, b.seen[0].Status, 400)
	require.False(t, b.seen[0].Called)
	require.Error(t, b.seen[0].Err)
}
