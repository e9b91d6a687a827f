package serving_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native/task"
	"github.com/trtmc-go/trtmc/serving"
	"github.com/trtmc-go/trtmc/serving/record"
)

func TestCompletionAnswersAndRecords(t *testing.T) {
	s, recs := newServer(t, serving.Config{Models: model(echoModel())})
	a := ask(s, "POST", "/v1/completions", `{"model":"m","prompt":"a b c d e","max_tokens":3,"temperature":0,"seed":7,"user":"u"}`, "X-Request-ID", "r-1")
	require.Equal(t, 200, a.status, a.body)
	require.Equal(t, "r-1", a.header.Get("X-Request-ID"))
	got := a.json(t)
	require.Equal(t, "text_completion", got["object"])
	require.Equal(t, "cmpl-r-1", got["id"])
	require.Equal(t, map[string]any{"index": 0.0, "text": "abc", "logprobs": nil, "finish_reason": "length"}, got["choices"].([]any)[0])
	require.Equal(t, map[string]any{"completion_tokens": 3.0}, got["usage"], "the number of prompt tokens is not known")

	r := recs.one()
	require.Equal(t, record.Completed, r.Outcome)
	require.Equal(t, record.StageDone, r.Stage)
	require.Equal(t, "client", r.RequestIDSource)
	require.Equal(t, 0, r.Lane)
	require.Equal(t, "text_continuation", r.Task)
	require.Equal(t, map[string]any{"max_new_tokens": int64(3), "temperature": 0.0, "seed": int64(7)}, r.Settings)
	require.EqualValues(t, 3, *r.Text.CompletionTokens)
	require.EqualValues(t, 3, *r.Text.MaxTokens)
	require.Equal(t, record.TokensFromTaskIDs, r.Text.TokenSource)
	require.Equal(t, 5, r.Text.PromptWords)
	require.EqualValues(t, len(a.body), r.BytesOut)
	require.Positive(t, r.BytesIn)
	require.Equal(t, "fake/1", r.Runtime)
}

func TestFinishReasonIsSaidOnlyWhenItIsKnown(t *testing.T) {
	noIDs := &fake{fields: textFields, text: func(context.Context, task.TextRequest) (task.TextResult, error) {
		return task.TextResult{Text: "x"}, nil
	}}
	noDefault := echoModel()
	noDefault.fields = []task.Field{{Name: "max_new_tokens", Kind: task.KindInt}}
	for name, c := range map[string]struct {
		m      task.Model
		fields string
		want   any
	}{
		"at the limit asked for":  {echoModel(), `,"max_tokens":2`, "length"},
		"below the default limit": {echoModel(), ``, "stop"},
		"without a known limit":   {noDefault, ``, nil},
		"without token ids":       {noIDs, `,"max_tokens":2`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := newServer(t, serving.Config{Models: model(c.m)})
			choice := complete(s, c.fields).json(t)["choices"].([]any)[0].(map[string]any)
			require.Equal(t, c.want, choice["finish_reason"])
		})
	}
}

func TestUsageIsAbsentWhenUnknownAndWholeWhenKnown(t *testing.T) {
	noIDs := &fake{text: func(context.Context, task.TextRequest) (task.TextResult, error) {
		return task.TextResult{Text: "x"}, nil
	}}
	s, _ := newServer(t, serving.Config{Models: model(noIDs)})
	require.NotContains(t, complete(s, "").json(t), "usage")

	counted := model(echoModel())
	counted[0].CountTokens = func(p string) int { return len(p) }
	s, recs := newServer(t, serving.Config{Models: counted})
	require.Equal(t, map[string]any{"prompt_tokens": 9.0, "completion_tokens": 4.0, "total_tokens": 13.0}, complete(s, "").json(t)["usage"])
	require.EqualValues(t, 9, *recs.one().Text.PromptTokens)
}

func TestPromptMayBeAnArrayOfOneString(t *testing.T) {
	s, _ := newServer(t, serving.Config{Models: model(echoModel())})
	a := ask(s, "POST", "/v1/completions", `{"model":"m","prompt":["a b"]}`)
	require.Equal(t, 200, a.status)
	for _, prompt := range []string{`["a","b"]`, `[1,2]`, `[]`, `7`, `null`} {
		code, param, _ := ask(s, "POST", "/v1/completions", `{"model":"m","prompt":`+prompt+`}`).fault(t)
		require.Equal(t, "invalid_request", code)
		require.Equal(t, "prompt", param)
	}
}

func TestTaskErrorsMapToOneStatusEach(t *testing.T) {
	for _, c := range []struct {
		err     error
		status  int
		code    string
		reason  record.Reason
		outcome record.Outcome
	}{
		{&task.Error{Op: "run", Detail: "temperature must not be negative", Err: task.ErrInvalid}, 400, "task_refused_input", record.ReasonTaskInvalid, record.Failed},
		{&task.Error{Op: "run", Detail: "context length exceeded: 300 of 256", Err: task.ErrInvalid}, 400, "context_length_exceeded", record.ReasonTaskInvalid, record.Failed},
		{&task.Error{Op: "run", Err: task.ErrBusy}, 503, "task_busy", record.ReasonTaskBusy, record.Failed},
		{&task.Error{Op: "run", Err: task.ErrResource}, 503, "task_out_of_resources", record.ReasonTaskResource, record.Failed},
		{&task.Error{Op: "run", Detail: "/secret/path", Err: task.ErrInternal}, 500, "task_error", record.ReasonTaskError, record.Failed},
		{errors.New("anything"), 500, "task_error", record.ReasonTaskError, record.Failed},
		{&task.Error{Op: "run", Err: task.ErrClosed}, 503, "draining", record.ReasonDraining, record.Rejected},
	} {
		m := &fake{text: func(context.Context, task.TextRequest) (task.TextResult, error) { return task.TextResult{}, c.err }}
		s, recs := newServer(t, serving.Config{Models: model(m)})
		a := complete(s, "")
		require.Equal(t, c.status, a.status)
		code, _, msg := a.fault(t)
		require.Equal(t, c.code, code)
		require.NotContains(t, msg, "secret")
		r := recs.one()
		require.Equal(t, c.reason, r.Reason)
		require.Equal(t, c.outcome, r.Outcome)
		require.Equal(t, c.status, r.Status)
		if c.outcome == record.Failed {
			require.NotZero(t, r.TaskCallEndNS)
		}
	}
}

func TestTaskCallIsTheTasksOwnMeasureOfTheNativeCall(t *testing.T) {
	m := &fake{text: func(context.Context, task.TextRequest) (task.TextResult, error) {
		start := time.Now()
		return task.TextResult{Text: "x", Timing: task.Timing{Start: start, Call: 1}}, nil
	}}
	s, recs := newServer(t, serving.Config{Models: model(m)})
	require.Equal(t, 200, complete(s, "").status)
	r := recs.one()
	require.EqualValues(t, 1, r.TaskCallNS)
	require.Equal(t, r.TaskCallStartNS+1, r.TaskCallEndNS)
}

func TestPanicOfATaskIsOneFailedRequestAndFreesTheLane(t *testing.T) {
	calls := 0
	m := &fake{text: func(context.Context, task.TextRequest) (task.TextResult, error) {
		if calls++; calls == 1 {
			panic("boom")
		}
		return task.TextResult{Text: "x"}, nil
	}}
	s, recs := newServer(t, serving.Config{Models: model(m)})
	a := complete(s, "")
	require.Equal(t, 500, a.status)
	code, _, msg := a.fault(t)
	require.Equal(t, "internal_error", code)
	require.NotContains(t, msg, "boom")
	r := recs.one()
	require.Equal(t, record.Failed, r.Outcome)
	require.Contains(t, r.Error, "boom")
	require.Equal(t, 200, complete(s, "").status)
}
