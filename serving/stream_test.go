package serving_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native/task"
	"github.com/trtmc-go/trtmc/serving"
	"github.com/trtmc-go/trtmc/serving/record"
)

// events splits a stream as the documented form wants it: lines end in LF, one blank line after each event.
func events(t *testing.T, body string) []string {
	t.Helper()
	require.NotContains(t, body, "\r")
	require.NotContains(t, body, "\n\n\n")
	require.True(t, strings.HasSuffix(body, "\n\n"))
	return strings.Split(strings.TrimSuffix(body, "\n\n"), "\n\n")
}

func chunk(t *testing.T, event string) map[string]any {
	t.Helper()
	data, ok := strings.CutPrefix(event, "data: ")
	require.True(t, ok, "%q", event)
	var m map[string]any
	require.NoError(t, json.Unmarshal([]byte(data), &m))
	return m
}

func choice(t *testing.T, event string) map[string]any {
	t.Helper()
	return chunk(t, event)["choices"].([]any)[0].(map[string]any)
}

// pieces is a streaming model that emits the texts as they are, one token each.
func pieces(texts ...string) *fake {
	return &fake{fields: textFields, stream: func(_ context.Context, _ task.TextRequest, emit func(task.TextDelta) error) (task.TextResult, error) {
		var res task.TextResult
		for i, s := range texts {
			res.Text += s
			res.TokenIDs = append(res.TokenIDs, int32(i))
			if err := emit(task.TextDelta{Text: s, TokenIDs: []int32{int32(i)}}); err != nil {
				return res, err
			}
		}
		return res, nil
	}}
}

func TestStreamSendsEachDeltaThenFinishUsageDone(t *testing.T) {
	s, recs := newServer(t, serving.Config{Models: model(echoModel())})
	a := complete(s, `,"max_tokens":3,"stream":true,"stream_options":{"include_usage":true}`)
	require.Equal(t, 200, a.status)
	require.Equal(t, "text/event-stream; charset=utf-8", a.header.Get("Content-Type"))
	require.Equal(t, "incremental", a.header.Get("X-TRTMC-Streaming"))
	require.Equal(t, "no-cache", a.header.Get("Cache-Control"))
	ev := events(t, a.body)
	require.Len(t, ev, 6)
	for i, want := range []string{"a", "b", "c"} {
		require.Equal(t, want, choice(t, ev[i])["text"])
		require.Nil(t, choice(t, ev[i])["finish_reason"])
	}
	require.Equal(t, "length", choice(t, ev[3])["finish_reason"])
	require.Empty(t, chunk(t, ev[4])["choices"])
	require.Equal(t, map[string]any{"completion_tokens": 3.0}, chunk(t, ev[4])["usage"])
	require.Equal(t, "data: [DONE]", ev[5])

	r := recs.one()
	require.Equal(t, record.Completed, r.Outcome)
	require.True(t, r.Streaming)
	require.Equal(t, 3, r.Text.Deltas)
	require.Equal(t, "streaming_text_continuation", r.Task)
	require.EqualValues(t, len(a.body), r.BytesOut)
}

func TestFirstChatChunkHoldsRoleAndContent(t *testing.T) {
	s, _ := newServer(t, serving.Config{Models: model(echoModel())})
	a := ask(s, "POST", "/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"hi there"}],"stream":true}`)
	ev := events(t, a.body)
	require.Equal(t, map[string]any{"role": "assistant", "content": "hi"}, choice(t, ev[0])["delta"])
	require.Equal(t, map[string]any{"content": "there"}, choice(t, ev[1])["delta"])
	require.Equal(t, "chat.completion.chunk", chunk(t, ev[0])["object"])
	require.Equal(t, map[string]any{}, choice(t, ev[2])["delta"])
	require.Equal(t, "stop", choice(t, ev[2])["finish_reason"])
}

func TestStreamWithoutStreamingTaskIsOneBufferedChunk(t *testing.T) {
	m := echoModel()
	m.stream = nil
	s, recs := newServer(t, serving.Config{Models: model(m)})
	a := complete(s, `,"stream":true`)
	require.Equal(t, "buffered", a.header.Get("X-TRTMC-Streaming"))
	ev := events(t, a.body)
	require.Len(t, ev, 3)
	require.Equal(t, "abcd", choice(t, ev[0])["text"])
	require.Equal(t, 1, recs.one().Text.Deltas)
}

func TestPlainAnswerComesFromAStreamingTaskAlone(t *testing.T) {
	s, recs := newServer(t, serving.Config{Models: model(pieces("x", " y"))})
	require.Equal(t, "x y", complete(s, "").json(t)["choices"].([]any)[0].(map[string]any)["text"])
	require.False(t, recs.one().Streaming)
}

func TestCharactersSplitOverDeltasAreJoined(t *testing.T) {
	s, _ := newServer(t, serving.Config{Models: model(pieces("\xe2", "\x82", "\xac ", "\xf0\x9f", "\x98\x80", "\xc3"))})
	ev := events(t, complete(s, `,"stream":true`).body)
	var got []string
	for _, e := range ev[:len(ev)-2] {
		got = append(got, choice(t, e)["text"].(string))
	}
	require.Equal(t, []string{"€ ", "😀", "\ufffd"}, got)
}

func TestEmptyStreamStillEndsInOrder(t *testing.T) {
	s, recs := newServer(t, serving.Config{Models: model(pieces())})
	ev := events(t, complete(s, `,"stream":true`).body)
	require.Len(t, ev, 2)
	require.Equal(t, "", choice(t, ev[0])["text"])
	require.Equal(t, record.Completed, recs.one().Outcome)
}

func TestErrorBeforeTheFirstDeltaIsAnOrdinaryAnswer(t *testing.T) {
	m := &fake{stream: func(context.Context, task.TextRequest, func(task.TextDelta) error) (task.TextResult, error) {
		return task.TextResult{}, &task.Error{Op: "start stream", Detail: "seed is too large", Err: task.ErrInvalid}
	}}
	s, recs := newServer(t, serving.Config{Models: model(m)})
	a := complete(s, `,"stream":true`)
	require.Equal(t, 400, a.status)
	require.Equal(t, "application/json", a.header.Get("Content-Type"))
	_, _, msg := a.fault(t)
	require.Contains(t, msg, "seed is too large")
	require.Equal(t, record.ReasonTaskInvalid, recs.one().Reason)
}

func TestErrorInAStreamIsOneEventWithAConstantComment(t *testing.T) {
	m := &fake{stream: func(_ context.Context, _ task.TextRequest, emit func(task.TextDelta) error) (task.TextResult, error) {
		if err := emit(task.TextDelta{Text: "x"}); err != nil {
			return task.TextResult{}, err
		}
		return task.TextResult{}, errors.New("lost the device")
	}}
	s, recs := newServer(t, serving.Config{Models: model(m)})
	a := complete(s, `,"stream":true`)
	require.Equal(t, 200, a.status)
	ev := events(t, a.body)
	require.Len(t, ev, 2, "no [DONE] after a failure")
	lines := strings.Split(ev[1], "\n")
	require.Len(t, lines, 3)
	require.Equal(t, ": task_error", lines[0])
	require.Equal(t, "event: error", lines[1])
	failure := answer{body: strings.TrimPrefix(lines[2], "data: ")}
	code, _, msg := failure.fault(t)
	require.Equal(t, "task_error", code)
	require.NotContains(t, msg, "device")
	r := recs.one()
	require.Equal(t, record.Failed, r.Outcome)
	require.Equal(t, 200, r.Status)
	require.Contains(t, r.Error, "lost the device")
}

func TestStreamThatContradictsItsFinalTextFails(t *testing.T) {
	m := &fake{stream: func(_ context.Context, _ task.TextRequest, emit func(task.TextDelta) error) (task.TextResult, error) {
		return task.TextResult{Text: "y"}, emit(task.TextDelta{Text: "x"})
	}}
	s, recs := newServer(t, serving.Config{Models: model(m)})
	require.NotContains(t, complete(s, `,"stream":true`).body, "[DONE]")
	require.Equal(t, record.ReasonBadResult, recs.one().Reason)
}

// TestDeltaIsDeliveredBeforeTheNextIsMade reads the first event while the model waits for the reading to have happened.
func TestDeltaIsDeliveredBeforeTheNextIsMade(t *testing.T) {
	seen := make(chan struct{})
	m := &fake{stream: func(_ context.Context, _ task.TextRequest, emit func(task.TextDelta) error) (task.TextResult, error) {
		if err := emit(task.TextDelta{Text: "first "}); err != nil {
			return task.TextResult{}, err
		}
		<-seen
		return task.TextResult{Text: "first last"}, emit(task.TextDelta{Text: "last"})
	}}
	l := start(t, serving.Config{Models: model(m)})
	res, err := l.client.Post(l.url+"/v1/completions", "application/json", strings.NewReader(`{"model":"m","prompt":"p","stream":true}`))
	require.NoError(t, err)
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	require.True(t, lines.Scan())
	require.Contains(t, lines.Text(), `"first "`)
	close(seen)
	var last string
	for lines.Scan() {
		if lines.Text() != "" {
			last = lines.Text()
		}
	}
	require.Equal(t, "data: [DONE]", last)
}

func TestStreamOfAClientThatLeavesIsCancelledAndFreesItsLane(t *testing.T) {
	m := &fake{stream: func(ctx context.Context, _ task.TextRequest, emit func(task.TextDelta) error) (task.TextResult, error) {
		if err := emit(task.TextDelta{Text: "x"}); err != nil {
			return task.TextResult{}, err
		}
		<-ctx.Done()
		return task.TextResult{}, context.Cause(ctx)
	}}
	l := start(t, serving.Config{Models: model(m)})
	ctx, cancel := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, "POST", l.url+"/v1/completions", strings.NewReader(`{"model":"m","prompt":"p","stream":true}`))
	require.NoError(t, err)
	res, err := l.client.Do(req)
	require.NoError(t, err)
	cancel()
	_ = res.Body.Close()
	r := l.recs.one()
	require.Equal(t, record.Failed, r.Outcome)
	require.Equal(t, record.ReasonClientGone, r.Reason)
	require.NotZero(t, r.TaskCallEndNS)
	require.Equal(t, 200, r.Status)
}
