package trace

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/trtmc-go/trtmc/internal/monotime"
)

// The defaults of a [Sender].
const (
	DefaultTimeout     = 300 * time.Second
	DefaultDialTimeout = 10 * time.Second
	DefaultIdleTimeout = 55 * time.Second // below the common keep-alive limits of servers and balancers from 60 s on
	DefaultMaxIdle     = 1024
)

// freshIdleTimeout is how long a connection that never carried a request is kept: servers close such connections when
// the time for the first request head is over, often within seconds, and a request should not run into that.
const freshIdleTimeout = 3 * time.Second

// Sender sends requests over HTTP/1.1 and says what became of each as a [Row].
//
// It keeps a pool of connections and writes prebuilt bytes to them. It never retries, whatever the method and the
// error, and never follows a redirect: one call is at most one request at the server. When no connection is idle it
// makes one, and the time that takes shows as lateness of the request. A connection that the server closed while idle
// is noticed and not used; if the server closes at the very moment of sending, the row is a transport_error.
//
// Set the fields before the first call and leave them alone; then a Sender is safe for concurrent use. Close it at
// the end.
type Sender struct {
	// BaseURL is scheme and host and an optional path prefix, such as http://127.0.0.1:8000.
	BaseURL string
	// Header is added to every request, for instance Authorization. Names the sender itself sets are refused.
	Header http.Header
	// Workload is written into rows.
	Workload string
	// Clock gives the instants; the zero value stands for monotime.New at the first call.
	Clock monotime.Clock
	// Timeout bounds one request from the call to the last byte of the answer; 0 means DefaultTimeout.
	Timeout time.Duration
	// DialTimeout bounds the making of a connection; 0 means DefaultDialTimeout.
	DialTimeout time.Duration
	// IdleTimeout is how long an idle connection is kept; 0 means DefaultIdleTimeout.
	IdleTimeout time.Duration
	// MaxIdle bounds the idle connections that are kept, never the requests under way; 0 means DefaultMaxIdle.
	MaxIdle int
	// KeepResponse puts JSON answers into Row.Response.
	KeepResponse bool
	// Dial makes a connection; nil means TCP.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// TLS is used for https; nil means the defaults of crypto/tls.
	TLS *tls.Config

	once    sync.Once
	target  target
	err     error // of the configuration
	pool    pool
	buffers sync.Pool // of *[]byte
}

// target is what the base URL and the header say, worked out once.
type target struct {
	tls     bool
	address string // host:port
	prefix  string // of every path
	head    string // header lines that every request carries
}

// ownHeaders are written by the sender.
var ownHeaders = []string{
	"Host", "Content-Length", "Content-Type", "Connection", "Transfer-Encoding", "Accept", "Accept-Encoding", "Expect", "X-Request-Id",
}

// Check reports what is wrong with the configuration, or nil.
func (s *Sender) Check() error {
	s.once.Do(s.prepare)
	return s.err
}

func (s *Sender) prepare() {
	if s.Clock == (monotime.Clock{}) {
		s.Clock = monotime.New()
	}
	s.pool.max = positive(s.MaxIdle, DefaultMaxIdle)
	s.target, s.err = newTarget(s.BaseURL, s.Header)
}

func newTarget(base string, header http.Header) (target, error) {
	u, err := url.Parse(base)
	if err != nil {
		return target{}, fmt.Errorf("base URL: %w", err)
	}
	t := target{tls: u.Scheme == "https", prefix: strings.TrimRight(u.EscapedPath(), "/")}
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return target{}, fmt.Errorf("base URL %q: want http://host:port or https://host:port, with a path at most", base)
	}
	port := u.Port()
	if port == "" {
		port = map[bool]string{false: "80", true: "443"}[t.tls]
	}
	t.address = net.JoinHostPort(u.Hostname(), port)
	var head strings.Builder
	head.WriteString("Host: " + u.Host + "\r\n")
	if header.Get("User-Agent") == "" {
		head.WriteString("User-Agent: trtmc-trace/1\r\n")
	}
	for name := range header {
		if slices.ContainsFunc(ownHeaders, func(own string) bool { return strings.EqualFold(own, name) }) {
			return target{}, fmt.Errorf("header %s is set by the sender itself", name)
		}
		if name == "" || strings.ContainsAny(name, " \t\r\n:") || strings.ContainsAny(strings.Join(header[name], ""), "\r\n\x00") {
			return target{}, fmt.Errorf("header %q is not a valid name with a value of one line", name)
		}
	}
	if err := header.Write(&head); err != nil {
		return target{}, fmt.Errorf("header: %w", err)
	}
	t.head = head.String()
	return t, nil
}

// positive returns v when it is above 0, else the default.
func positive[T int | time.Duration](v, def T) T {
	if v > 0 {
		return v
	}
	return def
}

// Do sends the item now and returns when its row is settled. Scheduled is the instant the row calls scheduled; 0 means
// now. The caller sets Row.Phase. Do never returns an error: every failure is a Result.
func (s *Sender) Do(ctx context.Context, item Item, scheduled monotime.Instant) Row {
	settled := make(chan Row, 1)
	x := s.exchange(item, func(row Row) { settled <- row })
	if scheduled == 0 {
		scheduled = s.Clock.Now()
	}
	x.launch(ctx, scheduled)
	return <-settled
}

// Close closes all connections, those in use too, and waits for their goroutines. Requests under way end as
// transport_error, later ones as not_sent.
func (s *Sender) Close() error {
	s.once.Do(s.prepare)
	s.pool.close()
	return nil
}

// Predial makes n connections and leaves them idle, so that the first requests need not wait for theirs. Failures are
// left to the requests to report.
func (s *Sender) Predial(ctx context.Context, n int) {
	if s.Check() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, positive(s.DialTimeout, DefaultDialTimeout))
	defer cancel()
	var wg sync.WaitGroup
	for range min(n, s.pool.max) {
		wg.Go(func() {
			if c, err := s.connect(ctx); err == nil {
				c.park(freshIdleTimeout)
			}
		})
	}
	wg.Wait()
}

// Idle returns how many idle connections are kept at this moment.
func (s *Sender) Idle() int {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	return len(s.pool.idle)
}

// exchange prepares a request up to its bytes; launch sends it. Done is called exactly once, from any goroutine.
func (s *Sender) exchange(item Item, done func(Row)) *exchange {
	x := &exchange{s: s, item: item, done: done}
	err := s.Check()
	x.row = Row{
		Schema: RowSchema, RequestID: item.RequestID, Workload: s.Workload,
		Clock: s.Clock.Name(), WallBaseUnixNS: s.Clock.WallBase(), OfferedOffsetNS: int64(item.Offset),
	}
	if err == nil {
		err = checkItem(&item)
	}
	if err != nil {
		x.row.ErrorCode, x.row.Error = CodeInvalidItem, err.Error()
		return x
	}
	x.wire, _ = s.buffers.Get().(*[]byte)
	if x.wire == nil {
		x.wire = new([]byte)
	}
	*x.wire = appendRequest((*x.wire)[:0], &s.target, &item)
	x.total = int64(len(*x.wire))
	return x
}

func appendRequest(b []byte, t *target, item *Item) []byte {
	b = append(b, "POST "...)
	b = append(b, t.prefix...)
	b = append(b, item.Path...)
	b = append(b, " HTTP/1.1\r\n"...)
	b = append(b, t.head...)
	b = append(b, "Content-Type: application/json\r\nAccept: "...)
	if item.Streaming {
		b = append(b, "text/event-stream"...)
	} else {
		b = append(b, "application/json"...)
	}
	b = append(b, "\r\nX-Request-ID: "...)
	b = append(b, item.RequestID...)
	b = append(b, "\r\nContent-Length: "...)
	b = strconv.AppendInt(b, int64(len(item.Body)), 10)
	b = append(b, "\r\n\r\n"...)
	return append(b, item.Body...)
}

// checkItem refuses what would break the request line or the header.
func checkItem(item *Item) error {
	if !validID(item.RequestID) {
		return fmt.Errorf("request id %q: want 1 to 128 of A-Z a-z 0-9 . _ -", item.RequestID)
	}
	if !strings.HasPrefix(item.Path, "/") || strings.ContainsFunc(item.Path, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fmt.Errorf("path %q: want /... in printable ASCII", item.Path)
	}
	return nil
}

// validID is the rule for request identities.
func validID(id string) bool {
	if len(id) < 1 || len(id) > 128 {
		return false
	}
	for _, c := range []byte(id) {
		if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return true
}
