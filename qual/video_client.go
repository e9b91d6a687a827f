package qual

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trtmc-go/trtmc/internal/monotime"
	"github.com/trtmc-go/trtmc/trace"
)

// VideoClient makes the clips of a prepared video workload over HTTP: it creates each job with the form that AIPerf
// sends, asks for its state at once and then PollNS of the manifest after each answer, and downloads clip and poster
// of a completed one. Every request of a job carries the identity of its creation. A state that it does not know is
// one to go on asking about, never an end. It never deletes a job and never creates one twice. Set the fields before
// Run; a client runs one workload at a time.
type VideoClient struct {
	// BaseURL is scheme and host and an optional path prefix, such as http://127.0.0.1:8000.
	BaseURL string
	// Header is added to every request, for instance Authorization.
	Header http.Header
	// Clock gives the instants; the zero value stands for monotime.New.
	Clock monotime.Clock
	// Timeout bounds one job from its creation to its last state; 0 means DefaultVideoTimeout. When it is over, the
	// client asks once more: a job that is final then counts as what it is, any other one as unfinished.
	Timeout time.Duration
	// Progress is called after each settled job, one call at a time; nil means nobody asks.
	Progress func(phase trace.Phase, done, total int)
}

// DefaultVideoTimeout is the time for one job unless the client says otherwise.
const DefaultVideoTimeout = 2 * time.Minute

// lastQuestion bounds the question after a timeout, and each download.
const lastQuestion = 30 * time.Second

// Run makes the clips of the workload in dir: the warm-up first, then the measured ones, each in a closed loop. It
// writes one row for every request into client.jsonl and clips and posters into artifacts/. What the server does is in
// the rows; an error means that the workload could not be read, the run was cancelled, or files could not be written.
func (c *VideoClient) Run(ctx context.Context, dir string) (err error) {
	m, err := ReadVideoManifest(dir)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, ArtifactDir), 0o755); err != nil {
		return fmt.Errorf("video client: %w", err)
	}
	f, err := os.Create(filepath.Join(dir, ClientFile))
	if err != nil {
		return fmt.Errorf("video client: %w", err)
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			err = fmt.Errorf("video client: %w", err)
		}
	}()
	run := c.newRun(dir, m, trace.NewRowWriter(f))
	defer run.http.CloseIdleConnections()
	for _, part := range []struct {
		phase trace.Phase
		file  string
	}{{trace.PhaseWarmup, WarmupFile}, {trace.PhaseMeasured, WorkloadFile}} {
		items, err := trace.ReadWorkload(filepath.Join(dir, part.file))
		if err != nil {
			return err
		}
		// A cancelled phase leaves a row for each of its requests, and so does the one after it.
		if err := run.closedLoop(ctx, part.phase, items); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// videoRun is one call of [VideoClient.Run].
type videoRun struct {
	client *VideoClient
	dir    string
	m      *VideoManifest
	clock  monotime.Clock
	http   *http.Client

	mu   sync.Mutex // of what follows
	rows *trace.RowWriter
}

func (c *VideoClient) newRun(dir string, m *VideoManifest, rows *trace.RowWriter) *videoRun {
	r := &videoRun{client: c, dir: dir, m: m, clock: c.Clock, rows: rows}
	if r.clock == (monotime.Clock{}) {
		r.clock = monotime.New()
	}
	dialer := &net.Dialer{Timeout: trace.DefaultDialTimeout}
	r.http = &http.Client{
		Transport: &http.Transport{
			MaxIdleConnsPerHost: m.Load.Concurrency, DisableCompression: true,
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := dialer.DialContext(ctx, network, address)
				if err != nil {
					return nil, err
				}
				return &meteredConn{Conn: conn}, nil
			},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return r
}

// closedLoop takes the items up one after another, as many at a time as the manifest says.
func (r *videoRun) closedLoop(ctx context.Context, phase trace.Phase, items []trace.Item) error {
	var group sync.WaitGroup
	var next atomic.Int64
	var failed error
	done := 0
	for range r.m.Load.Concurrency {
		group.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(items); i = next.Add(1) - 1 {
				row := r.make(ctx, phase, items[i])
				r.mu.Lock()
				if err := r.rows.Append(row); failed == nil {
					failed = err
				}
				done++
				if r.client.Progress != nil {
					r.client.Progress(phase, done, len(items))
				}
				r.mu.Unlock()
			}
		})
	}
	group.Wait()
	return failed
}

// meteredConn counts the bytes written.
type meteredConn struct {
	net.Conn
	written atomic.Int64
}

// Write writes and counts.
func (c *meteredConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.written.Add(int64(n))
	return n, err
}
