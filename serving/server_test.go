package serving_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native/task"
	"github.com/trtmc-go/trtmc/serving"
	"github.com/trtmc-go/trtmc/serving/record"
)

// sink keeps records and holds each to its own consistency.
type sink struct {
	mu   sync.Mutex
	recs []record.Record
	bad  []error
	next chan record.Record
}

func newSink(t *testing.T) *sink {
	s := &sink{next: make(chan record.Record, 10_000)}
	t.Cleanup(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		require.Empty(t, s.bad)
	})
	return s
}

func (s *sink) Append(r record.Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recs = append(s.recs, r)
	if err := r.Validate(); err != nil {
		s.bad = append(s.bad, err)
	}
	s.next <- r
	return nil
}

// one returns the next record.
func (s *sink) one() record.Record { return <-s.next }

func (s *sink) all() []record.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]record.Record(nil), s.recs...)
}

func model(lanes ...task.Model) []serving.Model { return []serving.Model{{Name: "m", Lanes: lanes}} }

// newServer returns a server and its records.
func newServer(t *testing.T, c serving.Config) (*serving.Server, *sink) {
	t.Helper()
	recs := newSink(t)
	c.Records = recs
	s, err := serving.New(c)
	require.NoError(t, err)
	return s, recs
}

// live is a server on a real socket.
type live struct {
	t      *testing.T
	url    string
	client *http.Client
	recs   *sink
	stop   context.CancelFunc
	ended  chan error
}

func start(t *testing.T, c serving.Config) *live {
	t.Helper()
	s, recs := newServer(t, c)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	l := &live{t: t, url: "http://" + ln.Addr().String(), recs: recs, stop: cancel, ended: make(chan error, 1)}
	transport := &http.Transport{}
	l.client = &http.Client{Transport: transport}
	go func() { l.ended <- s.Serve(ctx, ln) }()
	t.Cleanup(func() {
		cancel()
		<-l.ended
		transport.CloseIdleConnections()
	})
	return l
}

// answer is a whole HTTP answer.
type answer struct {
	status int
	header http.Header
	body   string
}

func (a answer) json(t *testing.T) map[string]any {
	t.Helper()
	var m map[string]any
	require.NoError(t, json.Unmarshal([]byte(a.body), &m), "%s", a.body)
	return m
}

// fault returns the code, param and message of an error answer, and checks its form.
func (a answer) fault(t *testing.T) (code, param, msg string) {
	t.Helper()
	m := a.json(t)
	e := m["error"].(map[string]any)
	require.Equal(t, e["message"], m["message"])
	require.NotEmpty(t, m["detail"])
	require.NotEmpty(t, e["type"])
	param, _ = e["param"].(string)
	return e["code"].(string), param, e["message"].(string)
}

func (l *live) do(method, path, body string, headers ...string) answer {
	l.t.Helper()
	req, err := http.NewRequest(method, l.url+path, strings.NewReader(body))
	require.NoError(l.t, err)
	setHeaders(req, headers)
	res, err := l.client.Do(req)
	require.NoError(l.t, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	require.NoError(l.t, err)
	return answer{res.StatusCode, res.Header, string(b)}
}

func setHeaders(req *http.Request, pairs []string) {
	for i := 0; i < len(pairs); i += 2 {
		req.Header.Add(pairs[i], pairs[i+1])
	}
}

// ask serves one request in memory.
func ask(s *serving.Server, method, path, body string, headers ...string) answer {
	req := httptest.NewRequest(method, path, bytes.NewReader([]byte(body)))
	setHeaders(req, headers)
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, req)
	return answer{w.Code, w.Header(), w.Body.String()}
}

func complete(s *serving.Server, fields string) answer {
	return ask(s, "POST", "/v1/completions", `{"model":"m","prompt":"a b c d e"`+fields+`}`)
}

// metric returns the value of one line of /metrics, empty when it is not there.
func metric(s *serving.Server, line string) string {
	for l := range strings.Lines(ask(s, "GET", "/metrics", "").body) {
		if rest, ok := strings.CutPrefix(l, line+" "); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}
