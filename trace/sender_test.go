package trace_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/trace"
)

// ask sends one request to a handler over loopback.
func ask(t *testing.T, streaming bool, handler http.HandlerFunc) trace.Row {
	t.Helper()
	server := httptest.NewServer(handler)
	defer server.Close()
	sender := &trace.Sender{BaseURL: server.URL, KeepResponse: true, Timeout: 20 * time.Second}
	defer sender.Close()
	item := items(0)[0]
	item.Streaming = streaming
	return sender.Do(t.Context(), item, 0)
}

func stream(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		io.WriteString(w, body)
	}
}

func answer(status int, contentType, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

const textChunk = `data: {"choices":[{"index":0,"text":" a","finish_reason":null}]}` + "\n\n"

func TestAnswersBecomeResults(t *testing.T) {
	const jsonType = "application/json"
	for name, c := range map[string]struct {
		streaming bool
		handler   http.HandlerFunc
		want      trace.Row
	}{
		"json":              {false, answer(200, jsonType, answerJSON), trace.Row{Result: trace.ResultOK, Status: 200, FinishReason: "length"}},
		"other schema":      {false, answer(200, jsonType, `{"rankings":[{"index":0,"logit":1}],"usage":7}`), trace.Row{Result: trace.ResultOK, Status: 200}},
		"not json":          {false, answer(200, jsonType, `{"a":NaN}`), trace.Row{Result: trace.ResultBadResponse, Status: 200, Error: "answer is not JSON"}},
		"html":              {false, answer(200, "text/html", `<p>`), trace.Row{Result: trace.ResultBadResponse, Status: 200, Error: `got "text/html"`}},
		"gzip":              {false, answer(200, jsonType, "{}", "Content-Encoding", "gzip"), trace.Row{Result: trace.ResultBadResponse, Status: 200, Error: `content encoding "gzip"`}},
		"error in 200":      {false, answer(200, jsonType, `{"error":{"code":"oops","message":"no"}}`), trace.Row{Result: trace.ResultBadResponse, Status: 200, ErrorCode: "oops", Error: "no"}},
		"429":               {false, answer(429, jsonType, `{"error":{"code":"queue_full","message":"later","type":"x"}}`, "Retry-After", "2"), trace.Row{Result: trace.ResultHTTPError, Status: 429, ErrorCode: "queue_full", Error: "later", RetryAfterMS: 2000}},
		"429 of a stream":   {true, answer(429, jsonType, `{"error":{"type":"busy","code":null,"message":"later"}}`), trace.Row{Result: trace.ResultHTTPError, Status: 429, ErrorCode: "busy", Error: "later"}},
		"retry date":        {false, answer(503, jsonType, `{"detail":"draining"}`, "Date", "Mon, 02 Jan 2006 15:04:05 GMT", "Retry-After", "Mon, 02 Jan 2006 15:04:09 GMT"), trace.Row{Result: trace.ResultHTTPError, Status: 503, Error: "draining", RetryAfterMS: 4000}},
		"error as a string": {false, answer(500, jsonType, `{"error":"broke"}`), trace.Row{Result: trace.ResultHTTPError, Status: 500, Error: "broke"}},
		"error as text":     {false, answer(502, "text/plain", "bad gateway\xff"), trace.Row{Result: trace.ResultHTTPError, Status: 502, Error: "status 502: bad gateway\uFFFD"}},
		"numeric code":      {false, answer(400, jsonType, `{"error":{"code":400,"message":"x"}}`), trace.Row{Result: trace.ResultHTTPError, Status: 400, ErrorCode: "400", Error: "x"}},
		"redirect":          {false, answer(307, jsonType, `{}`, "Location", "/elsewhere"), trace.Row{Result: trace.ResultHTTPError, Status: 307}},
		"stream": {true, stream(": hi\n\ndata: {\"choices\":[{\"text\":\"\"}]}\n\n" + textChunk + textChunk +
			`data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}` + "\n\n" +
			`data: {"choices":[{"text":"","finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"),
			trace.Row{Result: trace.ResultOK, Status: 200, ContentChunks: 2, FinishReason: "stop"}},
		"chat stream": {true, stream(`data: {"choices":[{"delta":{"role":"assistant","content":""}}]}` + "\n\n" +
			`data: {"choices":[{"delta":{"content":"x"}}]}` + "\n\ndata: [DONE]\n\n"), trace.Row{Result: trace.ResultOK, Status: 200, ContentChunks: 1}},
		"stream cut":         {true, stream(textChunk), trace.Row{Result: trace.ResultStreamTruncated, Status: 200, ContentChunks: 1, Error: "without data: [DONE]"}},
		"stream error":       {true, stream(textChunk + ": task failed\nevent: error\ndata: {\"error\":{\"code\":\"task_error\",\"message\":\"m\"}}\n\n"), trace.Row{Result: trace.ResultStreamError, Status: 200, ContentChunks: 1, ErrorCode: "task_error", Error: "m"}},
		"stream error plain": {true, stream(": why\nevent: error\ndata: x\n\ndata: [DONE]\n\n"), trace.Row{Result: trace.ResultStreamError, Status: 200, Error: "why"}},
		"error as data":      {true, stream(`data: {"error":{"message":"m"}}` + "\n\ndata: [DONE]\n\n"), trace.Row{Result: trace.ResultStreamError, Status: 200, Error: "m"}},
		"bad chunk":          {true, stream("data: {\n\ndata: [DONE]\n\n"), trace.Row{Result: trace.ResultBadResponse, Status: 200, Error: "not a completions chunk"}},
		"json for a stream":  {true, answer(200, jsonType, answerJSON), trace.Row{Result: trace.ResultBadResponse, Status: 200, Error: "asked for text/event-stream"}},
		"stream for json":    {false, stream(textChunk), trace.Row{Result: trace.ResultBadResponse, Status: 200, Error: "asked for application/json"}},
	} {
		t.Run(name, func(t *testing.T) {
			row := ask(t, c.streaming, c.handler)
			require.Contains(t, row.Error, c.want.Error)
			got := trace.Row{
				Result: row.Result, Status: row.Status, ErrorCode: row.ErrorCode, Error: c.want.Error, RetryAfterMS: row.RetryAfterMS,
				ContentChunks: row.ContentChunks, FinishReason: row.FinishReason,
			}
			require.Equal(t, c.want, got)
			require.NotZero(t, row.LastByteNS)
			require.Len(t, row.ResponseSHA256, 64)
			require.Equal(t, c.want.ContentChunks > 0, row.FirstContentNS > 0)
			require.Equal(t, row.Result == trace.ResultOK && !c.streaming, row.Response != nil, "kept when whole JSON")
		})
	}
}

func TestStreamInstantsAreThoseOfTheChunks(t *testing.T) {
	handler := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i, text := range []string{": comment\n\n", textChunk, textChunk, textChunk, "data: [DONE]\n\n"} {
			time.Sleep(time.Duration(i+1) * time.Second) // virtual
			io.WriteString(w, text)
			w.(http.Flusher).Flush()
		}
	}
	bubble(t, handler, func(t *testing.T, r *trace.Replayer) {
		item := items(0)[0]
		item.Streaming = true
		row := r.Sender.Do(t.Context(), item, 0)
		require.Equal(t, trace.ResultOK, row.Result)
		since := func(ns int64) time.Duration { return time.Duration(ns - row.SentNS) }
		require.Equal(t, []time.Duration{1 * time.Second, 3 * time.Second, 10 * time.Second, 15 * time.Second},
			[]time.Duration{since(row.FirstByteNS), since(row.FirstContentNS), since(row.LastContentNS), since(row.LastByteNS)})
		require.Equal(t, 3, row.ContentChunks)
	})
}

func TestRequestOnTheWire(t *testing.T) {
	var got *http.Request
	var body []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		got = req.Clone(context.WithoutCancel(req.Context()))
		body, _ = io.ReadAll(req.Body)
		writeAnswer(w)
	}))
	defer server.Close()
	sender := &trace.Sender{BaseURL: server.URL + "/prefix/", Header: http.Header{"Authorization": {"Bearer k"}}, Workload: "w"}
	defer sender.Close()
	item := items(3 * time.Second)[0]
	row := sender.Do(t.Context(), item, 77)
	require.Equal(t, trace.ResultOK, row.Result, row.Error)
	require.Equal(t, "POST /prefix/v1/completions", got.Method+" "+got.URL.Path)
	require.Equal(t, "row-1", got.Header.Get("X-Request-ID"))
	require.Equal(t, "Bearer k", got.Header.Get("Authorization"))
	require.Equal(t, "application/json", got.Header.Get("Content-Type"))
	require.Equal(t, "HTTP/1.1", got.Proto)
	require.EqualValues(t, len(item.Body), got.ContentLength)
	require.Equal(t, string(item.Body), string(body))
	require.Equal(t, "w", row.Workload)
	require.EqualValues(t, 77, row.ScheduledNS)
	require.Equal(t, int64(3*time.Second), row.OfferedOffsetNS)
	require.True(t, row.NewConnection)
	require.False(t, sender.Do(t.Context(), item, 0).NewConnection, "the connection is kept")
}

func TestBadItemsAndHeadersAreRefused(t *testing.T) {
	sender := &trace.Sender{BaseURL: "http://127.0.0.1:1"}
	defer sender.Close()
	for _, change := range []func(*trace.Item){
		func(i *trace.Item) { i.RequestID = "a\r\nX: y" }, func(i *trace.Item) { i.RequestID = "" },
		func(i *trace.Item) { i.RequestID = strings.Repeat("a", 129) }, func(i *trace.Item) { i.Path = "/a b" },
		func(i *trace.Item) { i.Path = "v1" }, func(i *trace.Item) { i.Path = "/a HTTP/1.1\r\n" },
	} {
		item := items(0)[0]
		change(&item)
		row := sender.Do(t.Context(), item, 0)
		require.Equal(t, trace.ResultNotSent, row.Result)
		require.Equal(t, trace.CodeInvalidItem, row.ErrorCode)
		require.NotEmpty(t, row.Error)
	}
	for _, header := range []http.Header{{"X-Request-Id": {"a"}}, {"host": {"a"}}, {"A": {"b\r\nc: d"}}, {"A b": {"c"}}} {
		require.Error(t, (&trace.Sender{BaseURL: "http://h", Header: header}).Check(), "%v", header)
	}
}

func TestNoConnectionIsNotSent(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := l.Addr().String()
	require.NoError(t, l.Close())
	sender := &trace.Sender{BaseURL: "http://" + address}
	defer sender.Close()
	row := sender.Do(t.Context(), items(0)[0], 0)
	require.Equal(t, trace.ResultNotSent, row.Result)
	require.Equal(t, trace.CodeDialFailed, row.ErrorCode)
	require.Contains(t, row.Error, "refused")
	require.Zero(t, row.SentNS)
	require.NotZero(t, row.ScheduledNS)
}

func TestSlowDialIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sender := &trace.Sender{BaseURL: "http://h", Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}
		defer sender.Close()
		start := time.Now()
		row := sender.Do(t.Context(), items(0)[0], 0)
		require.Equal(t, trace.CodeDialTimeout, row.ErrorCode)
		require.Equal(t, trace.DefaultDialTimeout, time.Since(start))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		row = sender.Do(ctx, items(0)[0], 0)
		require.Equal(t, trace.ResultNotSent, row.Result)
		require.Equal(t, trace.CodeCancelled, row.ErrorCode)
	})
}

func TestHTTPS(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { writeAnswer(w) }))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // it complains of the distrustful client
	server.StartTLS()
	defer server.Close()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	sender := &trace.Sender{BaseURL: server.URL, TLS: &tls.Config{RootCAs: roots}}
	defer sender.Close()
	for range 2 {
		row := sender.Do(t.Context(), items(0)[0], 0)
		require.Equal(t, trace.ResultOK, row.Result, row.Error)
	}
	distrustful := &trace.Sender{BaseURL: server.URL}
	defer distrustful.Close()
	require.Equal(t, trace.CodeDialFailed, distrustful.Do(t.Context(), items(0)[0], 0).ErrorCode)
}

func TestIdleConnectionsAreBoundedAndExpire(t *testing.T) {
	handler := func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(time.Second) // virtual: all five are under way at once
		writeAnswer(w)
	}
	bubble(t, handler, func(t *testing.T, r *trace.Replayer) {
		r.Sender.MaxIdle = 2
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() { r.Sender.Do(t.Context(), items(0)[0], 0) })
		}
		all.Wait()
		synctest.Wait()
		require.Equal(t, 2, r.Sender.Idle())
		time.Sleep(trace.DefaultIdleTimeout + time.Second)
		synctest.Wait()
		require.Zero(t, r.Sender.Idle())
		r.Sender.Predial(t.Context(), 1)
		require.Equal(t, 1, r.Sender.Idle())
		row := r.Sender.Do(t.Context(), items(0)[0], 0)
		require.Equal(t, trace.ResultOK, row.Result)
		require.False(t, row.NewConnection)
	})
}

func TestOneSenderServesManyGoroutines(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		io.Copy(io.Discard, req.Body)
		writeAnswer(w)
	}))
	defer server.Close()
	sender := &trace.Sender{BaseURL: server.URL, MaxIdle: 3}
	defer sender.Close()
	var all sync.WaitGroup
	var ok atomic.Int64
	for range 8 {
		all.Go(func() {
			for range 50 {
				if row := sender.Do(t.Context(), items(0)[0], 0); row.Result == trace.ResultOK {
					ok.Add(1)
				}
			}
		})
	}
	all.Wait()
	require.EqualValues(t, 400, ok.Load())
}
