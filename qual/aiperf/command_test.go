package aiperf

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func textSpec() Spec {
	return Spec{Executable: "aiperf", Workload: TextTrace, BaseURL: "http://127.0.0.1:8000", Model: "m", InputFile: "t.jsonl", ArtifactDir: "d", TiktokenCache: "c"}
}

func args(t *testing.T, s Spec) string {
	t.Helper()
	got, err := s.Args()
	require.NoError(t, err)
	return strings.Join(got, " ")
}

func TestCommandOfATextTrace(t *testing.T) {
	s := textSpec()
	s.Chat, s.Streaming, s.Warmup, s.ExtraInputs = true, true, 2, []string{"ignore_eos:true"}
	require.Equal(t, "profile --model m --url http://127.0.0.1:8000 --endpoint-type chat --streaming --input-file t.jsonl --custom-dataset-type mooncake_trace --fixed-schedule"+
		" --tokenizer cl100k_base --use-server-token-count --extra-inputs ignore_eos:true --warmup-request-count 2"+
		" --export-level raw --artifact-dir d --random-seed 0 --ui none --no-gpu-telemetry --no-server-metrics", args(t, s))
	require.NotContains(t, args(t, textSpec()), "--streaming")
	require.Contains(t, args(t, textSpec()), "--endpoint-type completions")
	require.NotContains(t, args(t, s), "--concurrency", "an open loop has no limit")
	require.NotContains(t, args(t, s), "--benchmark-duration", "requests in flight at its end leave no row")
}

func TestCommandOfRankingAndVideo(t *testing.T) {
	s := textSpec()
	s.Workload, s.Requests, s.Warmup = Ranking, 50, 5
	require.Contains(t, args(t, s), "--endpoint-type nim_rankings --input-file t.jsonl --custom-dataset-type single_turn --dataset-sampling-strategy sequential --request-count 50 --concurrency 1")
	s.Workload, s.Concurrency, s.RequestTimeout = Video, 2, 90*time.Second
	require.Contains(t, args(t, s), "--endpoint-type video_generation --download-video-content --input-file t.jsonl")
	require.Contains(t, args(t, s), "--concurrency 2")
	require.Contains(t, args(t, s), "--request-timeout-seconds 90")
	s.FixedSchedule = true
	require.Contains(t, args(t, s), "single_turn --fixed-schedule")
	require.NotContains(t, args(t, s), "--request-count")
}

func TestWrongSpecificationsAreRefused(t *testing.T) {
	for name, change := range map[string]func(*Spec){
		"no address":         func(s *Spec) { s.BaseURL = "127.0.0.1:8000" },
		"workload":           func(s *Spec) { s.Workload = "audio" },
		"no model":           func(s *Spec) { s.Model = "" },
		"no requests":        func(s *Spec) { s.Workload = Ranking },
		"streamed ranking":   func(s *Spec) { s.Workload, s.Requests, s.Streaming = Ranking, 1, true },
		"negative warm-up":   func(s *Spec) { s.Warmup = -1 },
		"half a second":      func(s *Spec) { s.RequestTimeout = time.Second / 2 },
		"poll too often":     func(s *Spec) { s.PollInterval = time.Microsecond },
		"option as an input": func(s *Spec) { s.ExtraInputs = []string{"--url:x"} },
	} {
		s := textSpec()
		change(&s)
		_, err := s.Args()
		require.ErrorIs(t, err, ErrSpec, name)
	}
}

func TestEnvironmentIsCleanedAndSet(t *testing.T) {
	s := textSpec()
	s.Workload = Video
	env, removed := s.Environ([]string{"PATH=/bin", "TZ=Asia/Tokyo", "HF_HUB_OFFLINE=1", "TRANSFORMERS_OFFLINE=1", "AIPERF_HTTP_VIDEO_POLL_INTERVAL=9", "AIPERF_WORKER_X=1", "PYTHONPATH=/evil"})
	require.Equal(t, []string{"PATH=/bin", "TZ=UTC", "AIPERF_DATASET_MMAP_CACHE_ENABLED=false", "TIKTOKEN_CACHE_DIR=c", "AIPERF_HTTP_VIDEO_POLL_INTERVAL=0.1"}, env)
	require.Equal(t, []string{"AIPERF_WORKER_X", "HF_HUB_OFFLINE", "PYTHONPATH", "TRANSFORMERS_OFFLINE"}, removed)
}

func TestSingleTurnRowsCarryTheSameRequests(t *testing.T) {
	var out strings.Builder
	ids, err := WriteSingleTurn(&out, strings.NewReader(`{"timestamp":1.5,"session_id":"a","payload":{"model":"m","query":{"text":"<q>"},"passages":[{"text":"p0"},{"text":""}],"truncate":"END"}}`+"\n"), "w", Ranking, true)
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, ids)
	require.Equal(t, `{"session_id":"a","timestamp":1.5,"texts":[{"name":"query","contents":["<q>"]},{"name":"passages","contents":["p0",""]}],"extra":{"truncate":"END"}}`+"\n", out.String())

	out.Reset()
	_, err = WriteSingleTurn(&out, strings.NewReader(`{"session_id":"v","payload":{"model":"m","prompt":"a ball","seed":12345678901234567,"size":"640x360"}}`), "w", Video, false)
	require.NoError(t, err)
	require.Equal(t, `{"session_id":"v","text":"a ball","extra":{"seed":12345678901234567,"size":"640x360"}}`+"\n", out.String())
}

func TestRowsThatCannotBeRewrittenAreNamed(t *testing.T) {
	for text, want := range map[string]string{
		`{"payload":{"prompt":"x"}}`:                                         "session_id is missing",
		`{"session_id":"a"}`:                                                 "payload is missing",
		`{"session_id":"a","payload":{"query":{"text":"q"}}}`:                "passages is missing",
		`{"session_id":"a","payload":{"query":"q","passages":[]}}`:           "query.text is missing",
		`{"session_id":"a","payload":{"query":{"text":"q"},"passages":[1]}}`: "passages[0].text is missing",
		`{"session_id":`: "unexpected EOF",
	} {
		_, err := WriteSingleTurn(&strings.Builder{}, strings.NewReader("\n"+text), "w.jsonl", Ranking, false)
		require.ErrorContains(t, err, "w.jsonl:2")
		require.ErrorContains(t, err, want)
	}
}

func TestOfferedSetFollowsTheClientsWalkRoundTheFile(t *testing.T) {
	ids := []string{"a", "b", "c", "d"}
	require.Equal(t, map[string]int{"a": 1, "b": 1, "c": 1, "d": 1}, (&Spec{Workload: TextTrace, Warmup: 2}).Offered(ids))
	require.Equal(t, map[string]int{"c": 1, "d": 1, "a": 1, "b": 1}, (&Spec{Workload: Ranking, Requests: 4, Warmup: 2}).Offered(ids))
	require.Equal(t, map[string]int{"a": 2, "b": 1, "c": 1, "d": 1}, (&Spec{Workload: Video, Requests: 5}).Offered(ids))
	require.Equal(t, map[string]int{"a": 1, "b": 1, "c": 1, "d": 1}, (&Spec{Workload: Video, FixedSchedule: true}).Offered(ids))
}
