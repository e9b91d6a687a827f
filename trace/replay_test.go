package trace_test

import (
	"context"
	"errors"
	"fmt"
	"io"
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
	"go.uber.org/goleak"

	"github.com/trtmc-go/trtmc/internal/monotime"
	"github.com/trtmc-go/trtmc/trace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// answerJSON is a whole completions answer with usage.
const answerJSON = `{"object":"text_completion","choices":[{"index":0,"text":"word","finish_reason":"length"}],"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}}`

func writeAnswer(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, answerJSON)
}

// items returns requests at the offsets.
func items(offsets ...time.Duration) []trace.Item {
	out := make([]trace.Item, len(offsets))
	for i, o := range offsets {
		out[i] = trace.Item{RequestID: fmt.Sprintf("row-%d", i+1), Offset: o, Path: "/v1/completions", Body: []byte(`{"prompt":"a b c"}`)}
	}
	return out
}

// rows collects what a run hands out.
type rows struct{ all []trace.Row }

func (r *rows) take(row trace.Row) error {
	r.all = append(r.all, row)
	return nil
}

// byID returns the row of a request; there must be exactly one.
func (r *rows) byID(t *testing.T, id string) trace.Row {
	t.Helper()
	var found []trace.Row
	for _, row := range r.all {
		if row.RequestID == id {
			found = append(found, row)
		}
	}
	require.Len(t, found, 1, "rows of %s", id)
	return found[0]
}

// memory is a network of pipes, for tests in virtual time.
type memory struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newMemory() *memory { return &memory{conns: make(chan net.Conn), done: make(chan struct{})} }

func (m *memory) Accept() (net.Conn, error) {
	select {
	case c := <-m.conns:
		return c, nil
	case <-m.done:
		return nil, net.ErrClosed
	}
}

func (m *memory) Close() error { m.once.Do(func() { close(m.done) }); return nil }

func (m *memory) Addr() net.Addr { return &net.TCPAddr{} }

func (m *memory) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case m.conns <- server:
		return client, nil
	case <-m.done:
		return nil, errors.New("connection refused")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// bubble runs f in virtual time with a server and a replayer that reaches it.
func bubble(t *testing.T, handler http.HandlerFunc, f func(t *testing.T, r *trace.Replayer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		net := newMemory()
		server := &http.Server{Handler: handler}
		served := make(chan error, 1)
		go func() { served <- server.Serve(net) }()
		sender := &trace.Sender{BaseURL: "http://server", Dial: net.Dial, Workload: "text-trace"}
		f(t, &trace.Replayer{Sender: sender, RuntimeTimers: true})
		require.NoError(t, sender.Close())
		require.NoError(t, server.Close())
		require.ErrorIs(t, <-served, http.ErrServerClosed)
	})
}

func TestCase_A11(t *testing.T) {
	var mu sync.Mutex
	var flying, peak int
	arrived := map[string]time.Time{}
	slow := func(w http.ResponseWriter, req *http.Request) {
		mu.Lock()
		arrived[req.Header.Get("X-Request-ID")] = time.Now()
		flying++
		peak = max(peak, flying)
		mu.Unlock()
		time.Sleep(500 * time.Millisecond) // the service time, in virtual time
		mu.Lock()
		flying--
		mu.Unlock()
		writeAnswer(w)
	}
	bubble(t, slow, func(t *testing.T, r *trace.Replayer) {
		var got rows
		offered := items(0, 100*time.Millisecond, 200*time.Millisecond)
		_, err := r.Run(t.Context(), offered, trace.PhaseMeasured, got.take)
		require.NoError(t, err)
		first := got.byID(t, "row-1")
		for i, item := range offered {
			row := got.byID(t, item.RequestID)
			require.Equal(t, trace.ResultOK, row.Result)
			require.Equal(t, int64(item.Offset), row.SentNS-first.SentNS, "sent at its own instant")
			require.Equal(t, item.Offset, arrived[item.RequestID].Sub(arrived["row-1"]))
			if i > 0 {
				require.Less(t, row.SentNS, first.LastByteNS, "sent before the first was answered")
			}
		}
		require.Equal(t, 3, peak)
	})
}

func TestCase_A10(t *testing.T) {
	// The second request is held up for 100 ms on its way out: its connection takes that long to be made.
	bubble(t, func(w http.ResponseWriter, _ *http.Request) { writeAnswer(w) }, func(t *testing.T, r *trace.Replayer) {
		dial := r.Sender.Dial
		var blockedUntil atomic.Int64
		r.Progress = func(done, _ int) {
			if done == 1 {
				blockedUntil.Store(time.Now().Add(120 * time.Millisecond).UnixNano())
			}
		}
		// Connections are not kept, so every later request needs one, and until the block ends none can be had.
		r.Sender.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			time.Sleep(time.Until(time.Unix(0, blockedUntil.Load())))
			return dial(ctx, network, address)
		}
		r.Sender.IdleTimeout = time.Nanosecond
		var got rows
		ms := time.Millisecond
		offered := items(0, 20*ms, 40*ms, 60*ms, 80*ms)
		_, err := r.Run(t.Context(), offered, trace.PhaseMeasured, got.take)
		require.NoError(t, err)
		require.Len(t, got.all, 5)
		zero := got.byID(t, "row-1").ScheduledNS
		for i, want := range []time.Duration{0, 100 * ms, 80 * ms, 60 * ms, 40 * ms} {
			row := got.byID(t, fmt.Sprintf("row-%d", i+1))
			require.Equal(t, trace.ResultOK, row.Result)
			require.Equal(t, int64(offered[i].Offset), row.ScheduledNS-zero, "the schedule is not moved")
			require.InDelta(t, float64(want), float64(row.SentNS-row.ScheduledNS), float64(5*ms), "lateness of request %d", i+1)
		}
		f := trace.Compare(offered, got.all, nil, trace.ClockFacts{})
		require.InDelta(t, 50, f.Offered.PerSecond, 0.01, "offered comes from the schedule")
		require.InDelta(t, 4/0.12, f.Sent.PerSecond, 0.5, "achieved comes from the sends")
		require.ErrorContains(t, f.Within(10*ms), "send lateness")
		require.Contains(t, fmt.Sprint(f.Doubts), "off the scheduled rate")
	})
}

func TestRunKeepsTimeOverAnHour(t *testing.T) {
	start := time.Now()
	bubble(t, func(w http.ResponseWriter, _ *http.Request) { writeAnswer(w) }, func(t *testing.T, r *trace.Replayer) {
		var got rows
		offered := items(0, time.Minute, 20*time.Minute, time.Hour)
		sum, err := r.Run(t.Context(), offered, trace.PhaseMeasured, got.take)
		require.NoError(t, err)
		require.Equal(t, map[trace.Result]int{trace.ResultOK: 4}, sum.Results)
		for _, item := range offered {
			row := got.byID(t, item.RequestID)
			require.Equal(t, sum.ZeroNS+int64(item.Offset), row.ScheduledNS)
			require.Equal(t, row.ScheduledNS, row.SentNS)
		}
	})
	require.Less(t, time.Since(start), 30*time.Minute, "virtual time")
}

func TestStartAtIsKeptWithConnectionsReady(t *testing.T) {
	bubble(t, func(w http.ResponseWriter, _ *http.Request) { writeAnswer(w) }, func(t *testing.T, r *trace.Replayer) {
		r.StartAt = time.Now().Add(time.Minute)
		var got rows
		first, last := time.Hour, time.Hour+5*time.Millisecond
		sum, err := r.Run(t.Context(), items(first, last), trace.PhaseMeasured, got.take)
		require.NoError(t, err)
		require.Equal(t, sum.ZeroNS, int64(r.Sender.Clock.At(r.StartAt)))
		for _, row := range got.all {
			require.Equal(t, row.ScheduledNS, row.SentNS)
			require.False(t, row.NewConnection, "made before they were needed")
		}
	})
}

func TestCancelledRunHasRowForEveryItem(t *testing.T) {
	hang := func(_ http.ResponseWriter, req *http.Request) {
		io.Copy(io.Discard, req.Body)
		<-req.Context().Done()
	}
	bubble(t, hang, func(t *testing.T, r *trace.Replayer) {
		gaveUp := errors.New("operator gave up")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(1500*time.Millisecond, func() { cancel(gaveUp) })
		var got rows
		sum, err := r.Run(ctx, items(0, time.Second, time.Minute, time.Hour), trace.PhaseMeasured, got.take)
		require.ErrorIs(t, err, gaveUp)
		require.Equal(t, map[trace.Result]int{trace.ResultCancelled: 2, trace.ResultNotSent: 2}, sum.Results)
		late := got.byID(t, "row-4")
		require.Equal(t, trace.CodeCancelled, late.ErrorCode)
		require.Zero(t, late.SentNS)
		require.Equal(t, sum.ZeroNS+int64(time.Hour), late.ScheduledNS)
		require.Contains(t, got.byID(t, "row-1").Error, "operator gave up")
	})
}

func TestTimeoutIsARowAndDelaysNobody(t *testing.T) {
	handler := func(w http.ResponseWriter, req *http.Request) {
		if req.Header.Get("X-Request-ID") == "row-1" {
			io.Copy(io.Discard, req.Body)
			<-req.Context().Done()
			return
		}
		writeAnswer(w)
	}
	bubble(t, handler, func(t *testing.T, r *trace.Replayer) {
		r.Sender.Timeout = 2 * time.Second
		var got rows
		_, err := r.Run(t.Context(), items(0, time.Second, 3*time.Second), trace.PhaseMeasured, got.take)
		require.NoError(t, err)
		first := got.byID(t, "row-1")
		require.Equal(t, trace.ResultTimeout, first.Result)
		require.Equal(t, int64(2*time.Second), first.EndedNS-first.SentNS)
		require.Zero(t, first.FirstByteNS)
		require.Equal(t, trace.ResultOK, got.byID(t, "row-2").Result)
		require.Equal(t, trace.ResultOK, got.byID(t, "row-3").Result)
	})
}

func TestMaxInFlightNeverDelays(t *testing.T) {
	slow := func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(time.Second)
		writeAnswer(w)
	}
	bubble(t, slow, func(t *testing.T, r *trace.Replayer) {
		r.MaxInFlight = 2
		var got rows
		ms := time.Millisecond
		sum, err := r.Run(t.Context(), items(0, 10*ms, 20*ms, 30*ms, 1500*ms), trace.PhaseMeasured, got.take)
		require.NoError(t, err)
		require.Equal(t, map[trace.Result]int{trace.ResultOK: 3, trace.ResultNotSent: 2}, sum.Results)
		third := got.byID(t, "row-3")
		require.Equal(t, trace.CodeMaxInFlight, third.ErrorCode)
		require.Equal(t, third.ScheduledNS, third.EndedNS)
		fifth := got.byID(t, "row-5")
		require.Equal(t, trace.ResultOK, fifth.Result)
		require.Equal(t, fifth.ScheduledNS, fifth.SentNS)
	})
}

func TestSlowSinkDoesNotDelayTheSchedule(t *testing.T) {
	bubble(t, func(w http.ResponseWriter, _ *http.Request) { writeAnswer(w) }, func(t *testing.T, r *trace.Replayer) {
		var got rows
		_, err := r.Run(t.Context(), items(0, time.Second, 2*time.Second), trace.PhaseMeasured, func(row trace.Row) error {
			time.Sleep(time.Minute)
			return got.take(row)
		})
		require.NoError(t, err)
		for _, row := range got.all {
			require.Equal(t, row.ScheduledNS, row.SentNS)
		}
		require.Len(t, got.all, 3)
	})
}

func TestSinkErrorEndsTheRun(t *testing.T) {
	bubble(t, func(w http.ResponseWriter, _ *http.Request) { writeAnswer(w) }, func(t *testing.T, r *trace.Replayer) {
		full := errors.New("disk full")
		calls := 0
		_, err := r.Run(t.Context(), items(0, time.Hour), trace.PhaseMeasured, func(trace.Row) error {
			calls++
			return full
		})
		require.ErrorIs(t, err, full)
		require.Equal(t, 1, calls)
	})
}

func TestRunClosedSendsOneAfterAnother(t *testing.T) {
	var mu sync.Mutex
	var order []string
	handler := func(w http.ResponseWriter, req *http.Request) {
		mu.Lock()
		order = append(order, req.Header.Get("X-Request-ID"))
		mu.Unlock()
		time.Sleep(time.Second)
		writeAnswer(w)
	}
	bubble(t, handler, func(t *testing.T, r *trace.Replayer) {
		start := time.Now()
		var got rows
		sum, err := r.RunClosed(t.Context(), items(0, 0, 0), trace.PhaseWarmup, 1, got.take)
		require.NoError(t, err)
		require.Equal(t, 3*time.Second, time.Since(start))
		require.Equal(t, []string{"row-1", "row-2", "row-3"}, order)
		require.Equal(t, trace.PhaseWarmup, got.all[0].Phase)
		require.Equal(t, 3, sum.Results[trace.ResultOK])

		start = time.Now()
		_, err = r.RunClosed(t.Context(), items(0, 0, 0), trace.PhaseWarmup, 3, got.take)
		require.NoError(t, err)
		require.Equal(t, time.Second, time.Since(start))
	})
}

func TestRunRefusesBadPlansBeforeSending(t *testing.T) {
	r := &trace.Replayer{Sender: &trace.Sender{BaseURL: "http://127.0.0.1:1"}}
	double := items(0, time.Second)
	double[1].RequestID = "row-1"
	_, err := r.Run(t.Context(), double, trace.PhaseMeasured, nil)
	require.ErrorContains(t, err, `request id "row-1" occurs twice`)
	_, err = r.Run(t.Context(), items(-1), trace.PhaseMeasured, nil)
	require.ErrorContains(t, err, "want 0 or more")
	for _, base := range []string{"", "127.0.0.1:80", "ftp://host", "http://", "http://user:pw@host", "http://host/?q=1"} {
		_, err = (&trace.Replayer{Sender: &trace.Sender{BaseURL: base}}).Run(t.Context(), items(0), trace.PhaseMeasured, nil)
		require.Error(t, err, base)
	}
	_, err = (&trace.Replayer{}).Run(t.Context(), items(0), trace.PhaseMeasured, nil)
	require.ErrorContains(t, err, "no sender")
}

func TestRunOverRealSockets(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		io.Copy(io.Discard, req.Body)
		writeAnswer(w)
	}))
	defer server.Close()
	sender := &trace.Sender{BaseURL: server.URL, Clock: monotime.New()}
	defer sender.Close()
	offsets := make([]time.Duration, 60)
	for i := range offsets {
		offsets[i] = time.Duration(i/4) * 4 * time.Millisecond
	}
	offered := items(offsets...)
	offered[7].Body = []byte(`{"prompt":"` + strings.Repeat("word ", 400_000) + `"}`) // more than a socket takes at once
	var got rows
	sum, err := (&trace.Replayer{Sender: sender}).Run(t.Context(), offered, trace.PhaseMeasured, got.take)
	require.NoError(t, err)
	require.Equal(t, map[trace.Result]int{trace.ResultOK: 60}, sum.Results, "%+v", got.all)
	for _, item := range offered {
		row := got.byID(t, item.RequestID)
		require.Equal(t, sum.ZeroNS+int64(item.Offset), row.ScheduledNS)
		require.GreaterOrEqual(t, row.SentNS, row.ScheduledNS, "never early")
		require.GreaterOrEqual(t, row.FirstByteNS, row.SentNS)
		require.GreaterOrEqual(t, row.LastByteNS, row.FirstByteNS)
		require.GreaterOrEqual(t, row.EndedNS, row.LastByteNS)
		require.Greater(t, row.BytesOut, int64(len(item.Body)))
		require.EqualValues(t, len(answerJSON), row.BytesIn)
		require.EqualValues(t, 3, *row.PromptTokens)
		require.EqualValues(t, 1, *row.CompletionTokens)
		require.Equal(t, "length", row.FinishReason)
	}
}
