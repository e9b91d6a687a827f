package record_test

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/trtmc-go/trtmc/serving/record"
)

func pointer(n int64) *int64 { return &n }

// completed is a sound record of a text request.
func completed(id string) record.Record {
	return record.Record{
		Schema: record.Schema, RequestID: id, RequestIDSource: "client", Route: "/v1/completions", Model: "m", Runtime: "fake/1",
		Outcome: record.Completed, Stage: record.StageDone, Status: 200, Clock: "CLOCK_MONOTONIC", WallBaseUnixNS: 1_700_000_000_000_000_000,
		ArrivedNS: 1000, EnqueuedNS: 1100, AdmittedNS: 1300, TaskCallStartNS: 1400, TaskCallEndNS: 2400, FirstByteNS: 2500, LastByteNS: 2600,
		QueueNS: 200, TaskCallNS: 1000, HandlingNS: 1600, BytesIn: 120, BytesOut: 300,
		Settings: map[string]any{"max_new_tokens": int64(16), "temperature": 0.5, "ignore_eos": true}, Task: "text_continuation",
		Text: &record.Text{PromptBytes: 100, PromptWords: 20, CompletionTokens: pointer(16), TokenSource: record.TokensFromTaskIDs, MaxTokens: pointer(16), FinishReason: "length", PrefillMS: 1.25, DecodeMS: 20.5},
	}
}

func TestValidateFindsEachContradiction(t *testing.T) {
	r := completed("a")
	require.NoError(t, r.Validate())
	for want, spoil := range map[string]func(*record.Record){
		"schema 0":                  func(r *record.Record) { r.Schema = 0 },
		"no request_id":             func(r *record.Record) { r.RequestID = "" },
		"request_id_source":         func(r *record.Record) { r.RequestIDSource = "" },
		"stage":                     func(r *record.Record) { r.Stage = "asleep" },
		"no instant of arrival":     func(r *record.Record) { r.ArrivedNS = 0 },
		"outcome":                   func(r *record.Record) { r.Outcome = "lost" },
		"completed with reason":     func(r *record.Record) { r.Reason = record.ReasonInternal },
		"without a whole Task call": func(r *record.Record) { r.TaskCallEndNS = 0 },
		"rejected although": func(r *record.Record) {
			r.Outcome, r.Reason, r.Stage = record.Rejected, record.ReasonQueueFull, record.StageQueued
		},
		"failed with reason":            func(r *record.Record) { r.Outcome = record.Failed },
		"admitted is 1ns before":        func(r *record.Record) { r.AdmittedNS = r.EnqueuedNS - 1 },
		"task call end is":              func(r *record.Record) { r.TaskCallEndNS = r.TaskCallStartNS - 1 },
		"first byte before arrival":     func(r *record.Record) { r.FirstByteNS = 1 },
		"last byte before":              func(r *record.Record) { r.LastByteNS = r.FirstByteNS - 1 },
		"without a lane":                func(r *record.Record) { r.Lane = -1 },
		"negative duration":             func(r *record.Record) { r.HandlingNS = -1 },
		"queue is":                      func(r *record.Record) { r.QueueNS++ },
		"public_task_call_wall is":      func(r *record.Record) { r.TaskCallNS++ },
		"handling is 1.601µs, its inst": func(r *record.Record) { r.HandlingNS++ },
	} {
		r := completed("a")
		spoil(&r)
		require.ErrorContains(t, r.Validate(), want)
	}
}

// TestLinesAreThoseOfEncodingJSON holds the hand-written encoder to the schema's tags, for any content.
func TestLinesAreThoseOfEncodingJSON(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "a/b-c", "tab\t", `quo"te\`, "<&>", "é\u2028", "\xff\xfe", "\x7f"}))
	number := rapid.OneOf(rapid.Int64(), rapid.Just(int64(0)))
	float := rapid.OneOf(rapid.Float64Range(-1e30, 1e30), rapid.Float64Range(0, 1e-5), rapid.SampledFrom([]float64{0, 1, 1e21, 1e-7, 12.5}))
	optional := func(rt *rapid.T, name string) *int64 {
		if rapid.Bool().Draw(rt, name+" set") {
			return pointer(number.Draw(rt, name))
		}
		return nil
	}
	rapid.Check(t, func(rt *rapid.T) {
		s := func(name string) string { return text.Draw(rt, name) }
		n := func(name string) int64 { return number.Draw(rt, name) }
		r := record.Record{
			Schema: 1, RequestID: s("id"), RequestIDSource: s("source"), Route: s("route"), Model: s("model"), Runtime: s("runtime"), Reference: rapid.Bool().Draw(rt, "reference"),
			Lane: int(n("lane")), Streaming: rapid.Bool().Draw(rt, "streaming"), Outcome: record.Outcome(s("outcome")), Reason: record.Reason(s("reason")), Stage: record.Stage(s("stage")),
			Status: int(n("status")), Error: s("error"), Clock: s("clock"), WallBaseUnixNS: n("wall"), ArrivedNS: n("arrived"), EnqueuedNS: n("enqueued"), AdmittedNS: n("admitted"),
			TaskCallStartNS: n("start"), TaskCallEndNS: n("end"), FirstByteNS: n("first"), LastByteNS: n("last"), QueueNS: n("queue"), TaskCallNS: n("call"), HandlingNS: n("handling"),
			QueueDepth: int(n("depth")), BytesIn: n("in"), BytesOut: n("out"), Task: s("task"),
		}
		if rapid.Bool().Draw(rt, "settings") {
			r.Settings = map[string]any{s("key"): n("int"), "f": float.Draw(rt, "float"), "b": true, "s": s("string"), "l": []float64{1.5, 2}, "n": nil}
		}
		if rapid.Bool().Draw(rt, "text") {
			r.Text = &record.Text{
				PromptBytes: int(n("bytes")), PromptWords: int(n("words")), PromptTokens: optional(rt, "prompt"), CompletionTokens: optional(rt, "completion"),
				TokenSource: record.TokenSource(s("tokens")), MaxTokens: optional(rt, "max"), FinishReason: s("finish"), Deltas: int(n("deltas")),
				SetupMS: float.Draw(rt, "setup"), PrefillMS: float.Draw(rt, "prefill"), DecodeMS: float.Draw(rt, "decode"), ForcedLength: rapid.Bool().Draw(rt, "forced"),
			}
		}
		if rapid.Bool().Draw(rt, "ranking") {
			r.Ranking = &record.Ranking{Passages: int(n("passages")), Tokens: optional(rt, "ranking tokens"), ScoreKind: s("kind")}
		}
		if rapid.Bool().Draw(rt, "video") {
			r.Video = &record.Video{JobID: s("job"), DurationSeconds: float.Draw(rt, "seconds"), Steps: optional(rt, "steps")}
		}
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(&r); err != nil {
			rt.Fatal(err)
		}
		got, err := record.AppendRecord(nil, &r)
		if err != nil {
			rt.Fatal(err)
		}
		if string(got) != want.String() {
			rt.Fatalf("got  %s\nwant %s", got, want.String())
		}
	})
}

func TestRecordThatCannotBeEncodedLeavesNoTrace(t *testing.T) {
	r := completed("a")
	r.Settings["temperature"] = math.NaN()
	got, err := record.AppendRecord([]byte("before"), &r)
	require.ErrorContains(t, err, `encode record "a"`)
	require.Equal(t, "before", string(got))
}
