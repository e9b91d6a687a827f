package serving_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/serving"
	"github.com/trtmc-go/trtmc/serving/record"
)

// dial opens a bare connection to the server.
func (l *live) dial() net.Conn {
	l.t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(l.url, "http://"))
	require.NoError(l.t, err)
	l.t.Cleanup(func() { _ = c.Close() })
	require.NoError(l.t, c.SetDeadline(time.Now().Add(20*time.Second)))
	return c
}

const half = "POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"

func TestBodyThatStopsIsAnsweredInTime(t *testing.T) {
	l := start(t, serving.Config{Models: model(echoModel()), Limits: serving.Limits{BodyTime: 20 * time.Millisecond}})
	c := l.dial()
	_, err := io.WriteString(c, half)
	require.NoError(t, err)
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	require.NoError(t, err)
	defer res.Body.Close()
	require.Equal(t, 408, res.StatusCode)
	r := l.recs.one()
	require.Equal(t, record.ReasonDeadline, r.Reason)
	require.Equal(t, record.StageReceived, r.Stage)
}

func TestClientThatLeavesInTheMiddleOfItsBodyIsRecorded(t *testing.T) {
	l := start(t, serving.Config{Models: model(echoModel())})
	c := l.dial()
	_, err := io.WriteString(c, half)
	require.NoError(t, err)
	require.NoError(t, c.Close())
	r := l.recs.one()
	require.Equal(t, record.ReasonClientGone, r.Reason)
	require.Equal(t, record.Failed, r.Outcome)
	require.Equal(t, 499, r.Status)
	require.EqualValues(t, 1, r.BytesIn)
}

// TestConnectionServesOnAfterItsDeadlines sends two requests over one connection, the second later than the first's
// time for body and answer.
func TestConnectionServesOnAfterItsDeadlines(t *testing.T) {
	l := start(t, serving.Config{Models: model(echoModel()), Limits: serving.Limits{BodyTime: 300 * time.Millisecond, WriteTime: 300 * time.Millisecond}})
	c := l.dial()
	r := bufio.NewReader(c)
	for i := range 2 {
		if i == 1 {
			<-time.After(400 * time.Millisecond)
		}
		_, err := fmt.Fprintf(c, "POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		require.NoError(t, err)
		res, err := http.ReadResponse(r, nil)
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, res.Body)
		require.NoError(t, err)
		require.Equal(t, 200, res.StatusCode)
	}
}

func TestSlowHeadersCloseTheConnection(t *testing.T) {
	l := start(t, serving.Config{Models: model(echoModel()), Limits: serving.Limits{HeaderTime: 20 * time.Millisecond}})
	c := l.dial()
	_, err := io.WriteString(c, "POST /v1/completions HTTP/1.1\r\nHost")
	require.NoError(t, err)
	_, err = io.ReadAll(c)
	require.NoError(t, err, "closed by the server")
	require.Empty(t, l.recs.all())
}

func TestIDOfALiveRequestIsRefusedUntilItEnds(t *testing.T) {
	m, entered, leave := gate()
	l := start(t, serving.Config{Models: model(m, m)})
	_, first := l.send("same")
	<-entered
	a := l.do("POST", "/v1/completions", body, "X-Request-ID", "same")
	require.Equal(t, 409, a.status)
	code, param, _ := a.fault(t)
	require.Equal(t, "duplicate_request_id", code)
	require.Equal(t, "X-Request-ID", param)
	r := l.recs.one()
	require.NotEqual(t, "same", r.RequestID)
	require.Equal(t, "generated", r.RequestIDSource)
	require.Equal(t, record.ReasonDuplicateID, r.Reason)
	require.Equal(t, r.RequestID, a.header.Get("X-Request-ID"))
	leave <- struct{}{}
	require.Equal(t, 200, (<-first).status)
	close(leave)
	require.Eventually(t, func() bool {
		return l.do("POST", "/v1/completions", body, "X-Request-ID", "same").status == 200
	}, 10*time.Second, time.Millisecond)
}

func TestPromptLimitIsItsOwn(t *testing.T) {
	s, recs := newServer(t, serving.Config{Models: model(echoModel()), Limits: serving.Limits{PromptBytes: 4}})
	a := complete(s, "")
	require.Equal(t, 413, a.status)
	_, param, _ := a.fault(t)
	require.Equal(t, "prompt", param)
	require.Equal(t, record.ReasonTooLarge, recs.one().Reason)
	a = chatWith(s, `[{"role":"user","content":"hello"}]`, "")
	require.Equal(t, 413, a.status)
}
