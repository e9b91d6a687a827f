package serving_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native/task"
	"github.com/trtmc-go/trtmc/serving"
	"github.com/trtmc-go/trtmc/serving/record"
)

// settingsModel hands out the settings of its last call.
func settingsModel() (*fake, *task.Settings) {
	got := new(task.Settings)
	return &fake{fields: textFields, text: func(_ context.Context, r task.TextRequest) (task.TextResult, error) {
		*got = r.Settings
		return task.TextResult{Text: "x"}, nil
	}}, got
}

func TestControlsReachTheTaskWithTheirDeclaredKinds(t *testing.T) {
	m, got := settingsModel()
	s, recs := newServer(t, serving.Config{Models: model(m)})
	a := complete(s, `,"temperature":1,"ignore_eos":true,"min_tokens":3,"max_tokens":5,"stop_strings":["a","b"],"bias":[1,2.5],"seed":null`)
	require.Equal(t, 200, a.status, a.body)
	require.Equal(t, task.Settings{
		{Name: "temperature", Value: task.Float(1)}, {Name: "ignore_eos", Value: task.Bool(true)}, {Name: "min_tokens", Value: task.Int(3)},
		{Name: "stop_strings", Value: task.Strings("a", "b")}, {Name: "bias", Value: task.Floats(1, 2.5)}, {Name: "max_new_tokens", Value: task.Int(5)},
	}, *got)
	require.True(t, recs.one().Text.ForcedLength)
}

func TestFieldsThatHaveNoEffectAreRefusedByName(t *testing.T) {
	for _, c := range []struct{ fields, code, param, says string }{
		{`,"top_p":0.5`, "unsupported_parameter", "top_p", "declares no such setting"},
		{`,"n":2`, "unsupported_parameter", "n", "declares no such setting"},
		{`,"logprobs":5`, "unsupported_parameter", "logprobs", ""},
		{`,"echo":true`, "unsupported_parameter", "echo", ""},
		{`,"stop":"x"`, "unsupported_parameter", "stop", ""},
		{`,"logit_bias":{}`, "unsupported_parameter", "logit_bias", ""},
		{`,"nonsense":1`, "unsupported_parameter", "nonsense", `unknown field "nonsense"`},
		{`,"messages":[]`, "unsupported_parameter", "messages", ""},
		{`,"Max_Tokens":1`, "unsupported_parameter", "Max_Tokens", "did you mean max_tokens?"},
		{`,"ſtream":true`, "unsupported_parameter", "ſtream", "did you mean stream?"},
		{`,"seed":1.0`, "invalid_request", "seed", "want a whole number"},
		{`,"seed":"1"`, "invalid_request", "seed", "want a whole number"},
		{`,"temperature":"hot"`, "invalid_request", "temperature", "want a number"},
		{`,"temperature":1e999`, "invalid_request", "temperature", "want a number"},
		{`,"ignore_eos":1`, "invalid_request", "ignore_eos", "want true or false"},
		{`,"stop_strings":["a",1]`, "invalid_request", "stop_strings[1]", "want a string"},
		{`,"bias":3`, "invalid_request", "bias", "want an array"},
		{`,"stream":1`, "invalid_request", "stream", "want true or false"},
		{`,"stream_options":{"include_usage":true}`, "invalid_request", "stream_options", "only with stream"},
		{`,"stream":true,"stream_options":{"other":true}`, "unsupported_parameter", "stream_options.other", ""},
		{`,"max_tokens":3,"max_completion_tokens":4`, "invalid_request", "max_completion_tokens", "differs from max_tokens"},
		{`,"max_tokens":3,"max_new_tokens":4`, "invalid_request", "max_new_tokens", "differs from max_tokens"},
		{`,"user":5`, "invalid_request", "user", "want a string"},
	} {
		t.Run(c.fields, func(t *testing.T) {
			m := echoModel()
			s, recs := newServer(t, serving.Config{Models: model(m)})
			a := complete(s, c.fields)
			require.Equal(t, 400, a.status)
			code, param, msg := a.fault(t)
			require.Equal(t, c.code, code, msg)
			require.Equal(t, c.param, param, msg)
			require.Contains(t, msg, c.says)
			r := recs.one()
			require.Equal(t, record.Rejected, r.Outcome)
			require.Equal(t, record.Reason(c.code), r.Reason)
			require.Zero(t, m.calls.Load())
			require.Equal(t, -1, r.Lane)
		})
	}
}

func TestValuesThatAskForNothingNeedNoDeclaration(t *testing.T) {
	s, _ := newServer(t, serving.Config{Models: model(echoModel())})
	a := complete(s, `,"n":1,"best_of":1,"echo":false,"logprobs":null,"stop":null,"suffix":null,"presence_penalty":0,"frequency_penalty":0,"max_tokens":3,"max_completion_tokens":3,"stream_options":null`)
	require.Equal(t, 200, a.status, a.body)
}

func TestOutputLimitIsRefusedByNameBeforeAnyCall(t *testing.T) {
	models := model(echoModel())
	models[0].MaxOutputTokens, models[0].ContextTokens = 8, 100
	models[0].CountTokens = func(p string) int { return len(p) }
	s, recs := newServer(t, serving.Config{Models: models})
	_, param, msg := complete(s, `,"max_completion_tokens":9`).fault(t)
	require.Equal(t, "max_completion_tokens", param)
	require.Contains(t, msg, "at most 8 tokens")
	require.Equal(t, record.ReasonInvalidRequest, recs.one().Reason)

	long := string(make([]byte, 0, 95))
	for len(long) < 95 {
		long += "x"
	}
	code, param, _ := ask(s, "POST", "/v1/completions", `{"model":"m","prompt":"`+long+`","max_tokens":8}`).fault(t)
	require.Equal(t, "context_length_exceeded", code)
	require.Equal(t, "max_tokens", param)
	r := recs.one()
	require.Equal(t, record.Rejected, r.Outcome)
	require.Equal(t, record.ReasonContextLength, r.Reason)
	code, param, _ = ask(s, "POST", "/v1/completions", `{"model":"m","prompt":"`+long+long+`"}`).fault(t)
	require.Equal(t, "context_length_exceeded", code)
	require.Equal(t, "prompt", param)
	require.Equal(t, 200, ask(s, "POST", "/v1/completions", `{"model":"m","prompt":"x","max_tokens":8}`).status)
}
