package serving_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native/task"
	"github.com/trtmc-go/trtmc/serving"
	"github.com/trtmc-go/trtmc/serving/record"
)

func TestProbesAreCountedAndNotRecorded(t *testing.T) {
	s, recs := newServer(t, serving.Config{Models: model2("m", echoModel())})
	for _, path := range []string{"/health/live", "/health/ready", "/v1/models", "/v1/models/m", "/v1/serving/info", "/metrics"} {
		require.Equal(t, 200, ask(s, "GET", path, "").status, path)
		require.Equal(t, 200, ask(s, "HEAD", path, "").status, path)
	}
	require.Equal(t, 404, ask(s, "GET", "/favicon.ico", "").status)
	require.Equal(t, 405, ask(s, "HEAD", "/v1/completions", "").status)
	require.Equal(t, 405, ask(s, "POST", "/health/live", "").status)
	require.Empty(t, recs.all())
	require.Equal(t, "3", metric(s, `trtmc_probes_total{route="/health/live"}`))
}

func TestWrongMethodAndUnknownRouteAreRecordedWhenTheyOfferWork(t *testing.T) {
	s, recs := newServer(t, serving.Config{Models: model2("m", echoModel())})
	a := ask(s, "PUT", "/v1/completions", body)
	require.Equal(t, 405, a.status)
	require.Equal(t, "POST", a.header.Get("Allow"))
	code, _, _ := a.fault(t)
	require.Equal(t, "method_not_allowed", code)
	r := recs.one()
	require.Equal(t, "/v1/completions", r.Route)
	require.Equal(t, record.ReasonInvalidRequest, r.Reason)

	a = ask(s, "POST", "/v1/embeddings", "{}")
	require.Equal(t, 404, a.status)
	code, _, _ = a.fault(t)
	require.Equal(t, "route_not_served", code)
	r = recs.one()
	require.Equal(t, "other", r.Route)
	require.Equal(t, record.Rejected, r.Outcome)
}

func TestModelWithoutTheTaskOfARouteIs404(t *testing.T) {
	s, recs := newServer(t, serving.Config{Models: model2("m", &fake{score: scores(1)})})
	for path, b := range map[string]string{"/v1/completions": body, "/v1/chat/completions": `{"model":"m","messages":[{"role":"user","content":"x"}]}`} {
		a := ask(s, "POST", path, b)
		require.Equal(t, 404, a.status)
		code, param, _ := a.fault(t)
		require.Equal(t, "route_not_served", code)
		require.Equal(t, "model", param)
		require.Equal(t, record.Rejected, recs.one().Outcome)
	}
}

func TestModelsSayWhatTheyCan(t *testing.T) {
	noStream := echoModel()
	noStream.stream = nil
	models := append(model2("org/a.b", echoModel()), model2("plain", noStream)...)
	models = append(models, model2("rank", &fake{score: scores(1)})...)
	s, _ := newServer(t, serving.Config{Models: models})
	list := ask(s, "GET", "/v1/models", "").json(t)["data"].([]any)
	var got []string
	for _, m := range list {
		x := m.(map[string]any)
		require.Equal(t, "tensorrt-model-connect", x["owned_by"])
		got = append(got, x["id"].(string)+" "+x["trtmc"].(map[string]any)["streaming"].(string))
	}
	require.Equal(t, []string{"org/a.b incremental", "plain buffered", "rank none"}, got)
	require.Equal(t, "org/a.b", ask(s, "GET", "/v1/models/org/a.b", "").json(t)["id"])
	code, _, _ := ask(s, "GET", "/v1/models/other", "").fault(t)
	require.Equal(t, "model_not_found", code)
}

func TestInfoListsTasksSettingsAndLimits(t *testing.T) {
	models := model2("m", echoModel(), echoModel())
	models[0].ContextTokens = 256
	s, _ := newServer(t, serving.Config{Models: models, Queue: serving.Queue{Count: 3}})
	info := ask(s, "GET", "/v1/serving/info", "").json(t)
	m := info["models"].([]any)[0].(map[string]any)
	require.Equal(t, 2.0, m["lanes"])
	require.Equal(t, 256.0, m["context_tokens"])
	require.Equal(t, "fake/1", m["runtime"])
	tasks := m["tasks"].([]any)
	require.Equal(t, "text_continuation", tasks[0].(map[string]any)["id"])
	require.Equal(t, map[string]any{"name": "max_new_tokens", "kind": "int", "default": 16.0}, tasks[0].(map[string]any)["fields"].([]any)[0])
	require.Equal(t, 3.0, info["queue"].(map[string]any)["count"])
	require.Equal(t, []any{"user"}, info["accepted_unused"])
}

func TestKeyIsAskedForEverywhereButHealth(t *testing.T) {
	s, recs := newServer(t, serving.Config{Models: model2("m", echoModel()), APIKey: "s3cret"})
	require.Equal(t, 200, ask(s, "GET", "/health/ready", "").status)
	for _, auth := range []string{"", "Bearer wrong", "Basic s3cret", "s3cret", "Bearer s3cretx"} {
		headers := []string{}
		if auth != "" {
			headers = []string{"Authorization", auth}
		}
		a := ask(s, "POST", "/v1/completions", body, headers...)
		require.Equal(t, 401, a.status, auth)
		require.Equal(t, "Bearer", a.header.Get("WWW-Authenticate"))
		code, _, _ := a.fault(t)
		require.Equal(t, "invalid_api_key", code)
		require.Equal(t, record.ReasonUnauthorized, recs.one().Reason)
		require.Equal(t, 401, ask(s, "GET", "/metrics", "", headers...).status)
	}
	require.Equal(t, 200, ask(s, "POST", "/v1/completions", body, "Authorization", "Bearer s3cret").status)
	require.Equal(t, 200, ask(s, "GET", "/metrics", "", "Authorization", "bearer s3cret").status)
}

func TestMetricsHoldTimesTokensAndLanes(t *testing.T) {
	s, _ := newServer(t, serving.Config{Models: model2("m", echoModel())})
	complete(s, `,"stream":true`)
	on := `{model="m",route="/v1/completions"}`
	for line, want := range map[string]string{
		"trtmc_queue_seconds_count" + on:                                              "1",
		"trtmc_handling_seconds_count" + on:                                           "1",
		"trtmc_time_to_first_token_seconds_count" + on:                                "1",
		`trtmc_task_call_seconds_count{model="m",task="streaming_text_continuation"}`: "1",
		`trtmc_output_tokens_total{model="m"}`:                                        "4",
		`trtmc_lanes{model="m"}`:                                                      "1",
		`trtmc_lanes_busy{model="m"}`:                                                 "0",
		"trtmc_live_requests":                                                         "0",
		"trtmc_draining":                                                              "0",
		`trtmc_requests_total{model="m",outcome="completed",reason="",route="/v1/completions"}`: "1",
	} {
		require.Equal(t, want, metric(s, line), line)
	}
}

func TestBadConfigurationIsRefusedWithItsReason(t *testing.T) {
	for want, models := range map[string][]serving.Model{
		"no models to serve":            nil,
		`model name "": want`:           model2("", echoModel()),
		`model name "a b": want`:        model2("a b", echoModel()),
		`model "m" has no lanes`:        model2("m"),
		`lane 0 of model "m" is nil`:    {{Name: "m", Lanes: []task.Model{nil}}},
		`lane 1 of model "m" declares`:  model2("m", echoModel(), &fake{score: scores(1)}),
		`model name "m" is given twice`: append(model2("m", echoModel()), model2("m", echoModel())...),
	} {
		_, err := serving.New(serving.Config{Models: models})
		require.ErrorContains(t, err, want)
	}
}

func model2(name string, lanes ...task.Model) []serving.Model {
	return []serving.Model{{Name: name, Lanes: lanes}}
}
