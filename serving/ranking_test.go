package serving_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native/task"
	"github.com/trtmc-go/trtmc/serving"
	"github.com/trtmc-go/trtmc/serving/record"
)

const rankBody = `{"model":"org/r","query":{"text":"two words"},"passages":[{"text":"a"},{"text":"b c"},{"text":"d"}]}`

func ranker(scores ...float32) *fake {
	return &fake{score: func(_ context.Context, r task.ScoreRequest) (task.ScoreResult, error) {
		start := time.Now()
		return task.ScoreResult{Scores: scores, Kind: task.ScoreLogit, Timing: task.Timing{Start: start, Call: time.Since(start) + 1}}, nil
	}}
}

func TestRankingIsServedOverLanesAndRecorded(t *testing.T) {
	models := append(model2("org/r", ranker(0.5, 2, -1)), model2("m", echoModel())...)
	s, recs := newServer(t, serving.Config{Models: models})
	a := ask(s, "POST", "/v1/ranking", rankBody, "X-Request-ID", "rank-1")
	require.Equal(t, 200, a.status, a.body)
	require.JSONEq(t, `{"rankings":[{"index":1,"logit":2},{"index":0,"logit":0.5},{"index":2,"logit":-1}]}`, a.body)
	require.Equal(t, "rank-1", a.header.Get("X-Request-ID"))
	r := recs.one()
	require.Equal(t, record.Completed, r.Outcome)
	require.Equal(t, "org/r", r.Model)
	require.Equal(t, "text_query_documents_to_relevance", r.Task)
	require.Equal(t, &record.Ranking{Passages: 3, QueryBytes: 9, QueryWords: 2, PassageBytes: 5, PassageWords: 4, ScoreKind: "logit"}, r.Ranking)
	require.EqualValues(t, len(rankBody), r.BytesIn)
	require.EqualValues(t, len(a.body), r.BytesOut)
	require.NotZero(t, r.AdmittedNS)
	require.Equal(t, "3", metric(s, `trtmc_ranking_passages_total{model="org/r"}`))

	a = ask(s, "POST", "/v1/retrieval/org/r/reranking", `{"query":{"text":"q"},"passages":[{"text":"a"},{"text":"b"},{"text":"c"}],"top_k":1}`)
	require.JSONEq(t, `{"rankings":[{"index":1,"logit":2}]}`, a.body)
	require.Equal(t, "/v1/retrieval/{org}/{model}/reranking", recs.one().Route)
}

func TestRankingFailuresHaveTheirOutcomeAndReason(t *testing.T) {
	nan := float32(math.NaN())
	refuses := &fake{score: func(context.Context, task.ScoreRequest) (task.ScoreResult, error) {
		return task.ScoreResult{}, &task.Error{Op: "run", Detail: "documents[1] is too long", Err: task.ErrInvalid}
	}}
	for _, c := range []struct {
		m       *fake
		body    string
		status  int
		reason  record.Reason
		outcome record.Outcome
	}{
		{ranker(1, nan, 2), rankBody, 502, record.ReasonBadResult, record.Failed},
		{ranker(1), rankBody, 502, record.ReasonBadResult, record.Failed},
		{refuses, rankBody, 400, record.ReasonTaskInvalid, record.Failed},
		{echoModel(), rankBody, 404, record.ReasonRouteNotServed, record.Rejected},
		{ranker(1), `{"model":"x","query":{"text":"q"},"passages":[{"text":"a"}]}`, 404, record.ReasonModelNotFound, record.Rejected},
		{ranker(1), `{"model":"org/r","query":{"text":"q"},"passages":[]}`, 400, record.ReasonInvalidRequest, record.Rejected},
		{ranker(1), `{"model":"org/r","query":{"text":"q"},"passages":[{"text":"a"}],"top_k":1}`, 400, record.ReasonUnsupported, record.Rejected},
		{ranker(1), `{"model":"org/r"`, 400, record.ReasonInvalidRequest, record.Rejected},
	} {
		s, recs := newServer(t, serving.Config{Models: append(model2("org/r", c.m), model2("m", echoModel())...)})
		a := ask(s, "POST", "/v1/ranking", c.body)
		require.Equal(t, c.status, a.status, a.body)
		a.fault(t)
		r := recs.one()
		require.Equal(t, c.reason, r.Reason)
		require.Equal(t, c.outcome, r.Outcome)
		require.Equal(t, c.status, r.Status)
		require.NotEmpty(t, r.Error)
	}
}

func TestRankingTakesCompressedBodiesWithinTheLimit(t *testing.T) {
	s, recs := newServer(t, serving.Config{Models: model2("org/r", ranker(0.5, 2, -1)), Limits: serving.Limits{BodyBytes: 1 << 16}})
	require.Equal(t, 200, ask(s, "POST", "/v1/ranking", gzipped(t, []byte(rankBody)), "Content-Encoding", "gzip").status)
	require.Equal(t, record.Completed, recs.one().Outcome)
	for status, b := range map[int]string{413: gzipped(t, make([]byte, 1<<20)), 400: gzipped(t, []byte(rankBody))[:30]} {
		a := ask(s, "POST", "/v1/ranking", b, "Content-Encoding", "gzip")
		require.Equal(t, status, a.status, a.body)
		require.Equal(t, record.Rejected, recs.one().Outcome)
	}
}

func TestRankingQueueRefusalKeepsItsForm(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	m := &fake{score: func(context.Context, task.ScoreRequest) (task.ScoreResult, error) {
		close(entered)
		<-leave
		return task.ScoreResult{Scores: []float32{1, 2, 3}}, nil
	}}
	s, recs := newServer(t, serving.Config{Models: model2("org/r", m), Queue: serving.Queue{Count: -1}})
	first := make(chan answer)
	go func() { first <- ask(s, "POST", "/v1/ranking", rankBody) }()
	<-entered
	a := ask(s, "POST", "/v1/ranking", rankBody)
	require.Equal(t, 429, a.status)
	require.Equal(t, "1", a.header.Get("Retry-After"))
	code, _, _ := a.fault(t)
	require.Equal(t, "queue_full", code)
	r := recs.one()
	require.Equal(t, record.ReasonQueueFull, r.Reason)
	require.Equal(t, record.Rejected, r.Outcome)
	close(leave)
	require.Equal(t, 200, (<-first).status)
}
