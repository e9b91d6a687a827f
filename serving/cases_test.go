package serving_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native/task"
	"github.com/trtmc-go/trtmc/serving"
	"github.com/trtmc-go/trtmc/serving/record"
)

const body = `{"model":"m","prompt":"a b c"}`

// send starts a request and returns what ends it and the channel of its answer.
func (l *live) send(id string) (cancel context.CancelFunc, done chan answer) {
	l.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, "POST", l.url+"/v1/completions", strings.NewReader(body))
	require.NoError(l.t, err)
	req.Header.Set("X-Request-ID", id)
	done = make(chan answer, 1)
	go func() {
		res, err := l.client.Do(req)
		if err != nil {
			done <- answer{body: err.Error()}
			return
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		if err != nil {
			b = []byte(err.Error())
		}
		done <- answer{res.StatusCode, res.Header, string(b)}
	}()
	return cancel, done
}

// value reads one gauge or counter of the server.
func (l *live) value(line string) string {
	for s := range strings.Lines(l.do("GET", "/metrics", "").body) {
		if rest, ok := strings.CutPrefix(s, line+" "); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

func (l *live) eventually(line, want string) {
	l.t.Helper()
	require.Eventually(l.t, func() bool { return l.value(line) == want }, 10*time.Second, 2*time.Millisecond, "%s %s", line, want)
}

// TestCase_D01: a client that disconnects during the native call keeps its lane until the call returns, not longer.
func TestCase_D01(t *testing.T) {
	m, entered, leave := gate()
	l := start(t, serving.Config{Models: model(m, m)})
	const n = 50
	for i := range n {
		cancel, done := l.send(fmt.Sprint("gone-", i))
		ctx := <-entered
		cancel()
		<-done
		<-ctx.Done() // the server has noticed
		leave <- struct{}{}
		r := l.recs.one()
		require.Equal(t, record.Failed, r.Outcome)
		require.Equal(t, record.ReasonClientGone, r.Reason)
		require.Equal(t, 499, r.Status)
		require.NotZero(t, r.TaskCallEndNS, "the record says how long the lane was taken")
	}
	_, done := l.send("last")
	<-entered
	leave <- struct{}{}
	require.Equal(t, 200, (<-done).status)
	require.Equal(t, record.Completed, l.recs.one().Outcome) // written once the answer is delivered
	require.Len(t, l.recs.all(), n+1)
	l.eventually("trtmc_live_requests", "0")
	require.Equal(t, "0", l.value(`trtmc_lanes_busy{model="m"}`))
	require.Equal(t, "2", l.value(`trtmc_lanes{model="m"}`))
}

// TestCase_D02: waiters that disconnect leave the queue at once and never reach the model.
func TestCase_D02(t *testing.T) {
	m, entered, leave := gate()
	l := start(t, serving.Config{Models: model(m)})
	depth := `trtmc_queue_depth{model="m"}`
	_, first := l.send("first")
	<-entered
	var cancels []context.CancelFunc
	for i := range 3 {
		cancel, _ := l.send(fmt.Sprint("gone-", i))
		cancels = append(cancels, cancel)
		l.eventually(depth, strconv.Itoa(i+1))
	}
	_, fourth := l.send("fourth")
	l.eventually(depth, "4")
	for _, cancel := range cancels {
		cancel()
	}
	l.eventually(depth, "1")
	for range 3 {
		r := l.recs.one()
		require.Contains(t, r.RequestID, "gone-")
		require.Equal(t, record.Failed, r.Outcome)
		require.Equal(t, record.ReasonClientGone, r.Reason)
		require.Equal(t, record.StageQueued, r.Stage)
		require.Positive(t, r.QueueNS)
		require.Zero(t, r.TaskCallStartNS)
		require.Equal(t, -1, r.Lane)
	}
	leave <- struct{}{}
	require.Equal(t, 200, (<-first).status)
	<-entered
	leave <- struct{}{}
	require.Equal(t, 200, (<-fourth).status)
	require.EqualValues(t, 2, m.calls.Load())
}

// TestCase_D04: a full queue is 429 with Retry-After, counted and recorded; nobody gets a 500.
func TestCase_D04(t *testing.T) {
	m, entered, leave := gate()
	l := start(t, serving.Config{Models: model(m), Queue: serving.Queue{Count: 1}})
	_, first := l.send("1")
	<-entered
	_, second := l.send("2")
	l.eventually(`trtmc_queue_depth{model="m"}`, "1")
	_, third := l.send("3")
	a := <-third
	require.Equal(t, 429, a.status)
	code, _, _ := a.fault(t)
	require.Equal(t, "queue_full", code)
	wait, err := strconv.Atoi(a.header.Get("Retry-After"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, wait, 1)
	r := l.recs.one()
	require.Equal(t, record.Rejected, r.Outcome)
	require.Equal(t, record.ReasonQueueFull, r.Reason)
	require.Equal(t, 1, r.QueueDepth)
	close(leave)
	require.Equal(t, 200, (<-first).status)
	require.Equal(t, 200, (<-second).status)
	require.Equal(t, "1", l.value(`trtmc_requests_total{model="m",outcome="rejected",reason="queue_full",route="/v1/completions"}`))
}

// TestCase_D05: a request id is echoed as it is, or refused; never copied when it could break a line or a path.
func TestCase_D05(t *testing.T) {
	s, recs := newServer(t, serving.Config{Models: model(echoModel())})
	id := uuid.NewString()
	a := ask(s, "POST", "/v1/completions", body, "X-Request-ID", id)
	require.Equal(t, id, a.header.Get("X-Request-ID"))
	require.Equal(t, id, recs.one().RequestID)

	for _, bad := range []string{strings.Repeat("a", 129), "id\tx", "a\"b}\n{", "../../x", "", "ü"} {
		a := ask(s, "POST", "/v1/completions", body, "X-Request-ID", bad)
		require.Equal(t, 400, a.status)
		_, param, _ := a.fault(t)
		require.Equal(t, "X-Request-ID", param)
		r := recs.one()
		require.Equal(t, record.ReasonRequestID, r.Reason)
		require.Equal(t, "generated", r.RequestIDSource)
		require.Equal(t, r.RequestID, a.header.Get("X-Request-ID"))
		require.NoError(t, uuid.Validate(r.RequestID))
		line, err := json.Marshal(r)
		require.NoError(t, err)
		require.True(t, json.Valid(line))
	}
	a = ask(s, "POST", "/v1/completions", body, "X-Request-ID", "a", "X-Request-ID", "b")
	require.Equal(t, 400, a.status)
	require.Equal(t, record.ReasonRequestID, recs.one().Reason)
	require.Equal(t, 200, ask(s, "POST", "/v1/completions", body, "X-Request-ID", "a", "X-Request-ID", "a").status)
	require.Equal(t, "client", recs.one().RequestIDSource)

	a = ask(s, "POST", "/v1/completions", body)
	require.Equal(t, 200, a.status)
	require.NoError(t, uuid.Validate(a.header.Get("X-Request-ID")))
	require.Equal(t, "generated", recs.one().RequestIDSource)

	l := start(t, serving.Config{Models: model(echoModel())})
	require.Equal(t, 431, l.do("POST", "/v1/completions", body, "X-Request-ID", strings.Repeat("a", 1<<20)).status)
	require.Equal(t, 200, l.do("POST", "/v1/completions", body).status)
}

// TestCase_D07: names that only case folding makes equal are unknown.
func TestCase_D07(t *testing.T) {
	s, recs := newServer(t, serving.Config{Models: model(&fake{score: scores(1)})})
	for _, b := range []string{
		`{"Model":"m","query":{"text":"q"},"passages":[{"text":"a"}]}`,
		`{"model":"m","query":{"text":"q"},"pa\u017f\u017fages":[{"text":"a"}]}`,
	} {
		a := ask(s, "POST", "/v1/ranking", b)
		require.Equal(t, 400, a.status)
		_, _, msg := a.fault(t)
		require.Contains(t, msg, "unknown field")
		require.Equal(t, record.Rejected, recs.one().Outcome)
	}
	for _, b := range []string{`{"Model":"m","prompt":"p"}`, `{"model":"m","Prompt":"p"}`, `{"model":"m","prompt":"p","\u017ftream":true}`} {
		_, _, msg := ask(s, "POST", "/v1/completions", b).fault(t)
		require.Contains(t, msg, "unknown field")
	}
}

// TestCase_D08: a doubled key is refused by name, at any depth, and so is data after the body.
func TestCase_D08(t *testing.T) {
	s, _ := newServer(t, serving.Config{Models: model(echoModel())})
	for b, want := range map[string]string{
		`{"model":"a","model":"b","prompt":"p"}`:                                            `model: duplicate field "model"`,
		`{"model":"m","messages":[{"role":"user","content":"a","role":"user"}]}`:            `messages[0].role: duplicate field "role"`,
		`{"model":"m","prompt":"p","stream_options":{"include_usage":1,"include_usage":2}}`: `stream_options.include_usage: duplicate field "include_usage"`,
		`{"model":"a","prompt":"p"} x`:                                                      "more data after the value",
		`{"model":"a","prompt":"p"}{}`:                                                      "more data after the value",
		"":                                                                                  "want a value, got the end of the body",
		`["model"]`:                                                                         "the body is an array, want an object",
	} {
		path := "/v1/completions"
		if strings.Contains(b, "messages") {
			path = "/v1/chat/completions"
		}
		a := ask(s, "POST", path, b)
		require.Equal(t, 400, a.status, b)
		_, _, msg := a.fault(t)
		require.Contains(t, msg, want)
	}
}

func gzipped(t *testing.T, b []byte) string {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, err := z.Write(b)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return out.String()
}

// TestCase_D10: the body limit holds for chunked and compressed bodies too, in bounded memory.
func TestCase_D10(t *testing.T) {
	l := start(t, serving.Config{Models: model(echoModel()), Limits: serving.Limits{BodyBytes: 1 << 20}})
	expect := func(a answer, status int, code string) {
		t.Helper()
		require.Equal(t, status, a.status, a.body)
		got, _, _ := a.fault(t)
		require.Equal(t, code, got)
		r := l.recs.one()
		require.Equal(t, record.Rejected, r.Outcome)
		require.Equal(t, record.Reason(code), r.Reason)
		require.Equal(t, 200, l.do("POST", "/v1/completions", body).status, "the next request")
		l.recs.one()
	}
	big := strings.Repeat("x", 2<<20)
	req, err := http.NewRequest("POST", l.url+"/v1/completions", io.MultiReader(strings.NewReader(big))) // no length: chunked
	require.NoError(t, err)
	res, err := l.client.Do(req)
	require.NoError(t, err)
	b, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	expect(answer{res.StatusCode, res.Header, string(b)}, 413, "content_too_large")

	bomb := gzipped(t, make([]byte, 64<<20))
	require.Less(t, len(bomb), 100<<10)
	expect(l.do("POST", "/v1/completions", bomb, "Content-Encoding", "gzip"), 413, "content_too_large")
	expect(l.do("POST", "/v1/completions", body, "Content-Encoding", "br"), 415, "unsupported_encoding")
	expect(l.do("POST", "/v1/completions", body, "Content-Encoding", "gzip"), 400, "invalid_request")
	expect(l.do("POST", "/v1/completions", gzipped(t, []byte(body))[:20], "Content-Encoding", "gzip"), 400, "invalid_request")
	expect(l.do("POST", "/v1/completions", strings.Repeat("[", 20000)), 400, "invalid_request")

	enc, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	zbomb := string(enc.EncodeAll(make([]byte, 64<<20), nil))
	expect(l.do("POST", "/v1/completions", zbomb, "Content-Encoding", "zstd"), 413, "content_too_large")
	require.Equal(t, 200, l.do("POST", "/v1/completions", string(enc.EncodeAll([]byte(body), nil)), "Content-Encoding", "zstd").status)
	require.Equal(t, 200, l.do("POST", "/v1/completions", gzipped(t, []byte(body)), "Content-Encoding", "gzip").status)
	require.NoError(t, enc.Close())
}

// TestCase_D11: no value of max_tokens does more than refuse its own request.
func TestCase_D11(t *testing.T) {
	models := model(echoModel())
	models[0].ContextTokens = 4096
	s, _ := newServer(t, serving.Config{Models: models})
	for _, v := range []string{"2147483647", "9223372036854775807", "1e18", "1e400", "3.5", "-1", "0", `"7"`, "true", "[]", "9223372036854775808"} {
		a := complete(s, `,"max_tokens":`+v)
		require.Equal(t, 400, a.status, v)
		_, param, msg := a.fault(t)
		require.Equal(t, "max_tokens", param)
		require.Contains(t, msg, "max_tokens")
		require.Equal(t, 200, ask(s, "GET", "/health/live", "").status)
		require.Equal(t, 200, complete(s, "").status)
	}
	code, _, _ := complete(s, `,"max_tokens":2147483647`).fault(t)
	require.Equal(t, "context_length_exceeded", code)
	require.Equal(t, 200, complete(s, `,"max_tokens":null`).status)
}

// TestCase_D12: a shutdown answers everything: what runs and what waits is served, what comes is told to go away.
func TestCase_D12(t *testing.T) {
	m, entered, leave := gate()
	l := start(t, serving.Config{Models: model(m, m, m)})
	var done []chan answer
	for i := range 5 {
		_, d := l.send(fmt.Sprint("admitted-", i))
		done = append(done, d)
		if i < 3 {
			<-entered
		}
	}
	l.eventually(`trtmc_queue_depth{model="m"}`, "2")
	l.stop()
	require.Eventually(t, func() bool { return l.do("GET", "/health/ready", "").status == 503 }, 10*time.Second, time.Millisecond)
	require.Equal(t, 200, l.do("GET", "/health/live", "").status)
	a := l.do("POST", "/v1/completions", body, "X-Request-ID", "late")
	require.Equal(t, 503, a.status)
	require.NotEmpty(t, a.header.Get("Retry-After"))
	code, _, _ := a.fault(t)
	require.Equal(t, "draining", code)
	close(leave)
	for _, d := range done {
		require.Equal(t, 200, (<-d).status)
	}
	require.NoError(t, <-l.ended)
	l.ended <- nil
	recs := l.recs.all()
	require.Len(t, recs, 6)
	outcomes := map[record.Outcome]int{}
	for _, r := range recs {
		outcomes[r.Outcome]++
	}
	require.Equal(t, map[record.Outcome]int{record.Completed: 5, record.Rejected: 1}, outcomes)
	_, err := net.Dial("tcp", strings.TrimPrefix(l.url, "http://"))
	require.Error(t, err, "the listener is closed")
}

// TestCase_D14: names that clients invent make no metric series.
func TestCase_D14(t *testing.T) {
	s, recs := newServer(t, serving.Config{Models: model(echoModel())})
	probe := func(n int) {
		for i := range n {
			name := fmt.Sprint("random-", uuid.NewString(), i)
			require.Equal(t, 404, ask(s, "POST", "/v1/completions", `{"model":"`+name+`","prompt":"p"}`).status)
			require.Equal(t, record.ReasonModelNotFound, recs.one().Reason)
			require.Equal(t, 404, ask(s, "GET", "/v1/videos/"+name, "").status)
			require.Equal(t, 404, ask(s, "GET", "/v1/models/"+name, "").status)
			require.Equal(t, 404, ask(s, "POST", "/"+name, "").status)
			require.Equal(t, record.ReasonRouteNotServed, recs.one().Reason)
		}
	}
	series := func() int {
		n := 0
		for l := range strings.Lines(ask(s, "GET", "/metrics", "").body) {
			if strings.HasPrefix(l, "trtmc_") {
				n++
			}
		}
		return n
	}
	probe(10)
	before := series()
	probe(1000)
	require.Equal(t, before, series())
	require.Equal(t, "1010", metric(s, `trtmc_requests_total{model="other",outcome="rejected",reason="model_not_found",route="/v1/completions"}`))
	require.Equal(t, "1010", metric(s, `trtmc_probes_total{route="other"}`))
}

// TestCase_D15: the server's half of the stream's form; white space at the edge of a chunk is kept.
func TestCase_D15(t *testing.T) {
	s, _ := newServer(t, serving.Config{Models: model(pieces("é", " b ", "\n\nc\t", "data: [DONE]\n\n"))})
	a := complete(s, `,"stream":true`)
	require.NotContains(t, a.body, "\r")
	var text string
	ev := events(t, a.body)
	for _, e := range ev[:len(ev)-1] {
		require.Equal(t, 1, strings.Count(e, "\n")+1, "one line an event")
		text += choice(t, e)["text"].(string)
	}
	require.Equal(t, "é b \n\nc\tdata: [DONE]\n\n", text)
	require.Equal(t, "data: [DONE]", ev[len(ev)-1])
}

// scores is a scorer that gives each document the score of its place in the list.
func scores(list ...float32) func(context.Context, task.ScoreRequest) (task.ScoreResult, error) {
	return func(_ context.Context, r task.ScoreRequest) (task.ScoreResult, error) {
		return task.ScoreResult{Scores: list[:min(len(list), len(r.Documents))], Kind: task.ScoreLogit}, nil
	}
}
