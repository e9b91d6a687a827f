package trace_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/trtmc-go/trtmc/internal/monotime"
	"github.com/trtmc-go/trtmc/trace"
)

// arrivalServer notes when each request arrived.
type arrivalServer struct {
	*httptest.Server
	clock monotime.Clock
	mu    sync.Mutex
	at    map[string]monotime.Instant
}

func newArrivalServer() *arrivalServer {
	s := &arrivalServer{clock: monotime.New(), at: map[string]monotime.Instant{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		now := s.clock.Now()
		s.mu.Lock()
		s.at[req.Header.Get("X-Request-ID")] = now
		s.mu.Unlock()
		io.Copy(io.Discard, req.Body)
		writeAnswer(w)
	}))
	return s
}

// BenchmarkReplayLateness sends half a second of requests at a constant rate with the Replayer and, in turn with it,
// with the common way (one goroutine that sleeps, net/http's client), and reports p50 and p99 of lateness at the
// server in microseconds and the ratios.
func BenchmarkReplayLateness(b *testing.B) {
	for _, rate := range []int{100, 1000} {
		b.Run(strconv.Itoa(rate)+"rps", func(b *testing.B) { benchmarkLateness(b, rate) })
	}
}

func benchmarkLateness(b *testing.B, rate int) {
	server := newArrivalServer()
	defer server.Close()
	offered := make([]trace.Item, rate/2)
	for i := range offered {
		offered[i] = trace.Item{
			RequestID: fmt.Sprintf("row-%d", i), Offset: time.Duration(i) * time.Second / time.Duration(rate),
			Path: "/v1/completions", Body: []byte(`{"prompt":"` + string(bytes.Repeat([]byte("word "), 16)) + `"}`),
		}
	}
	sender := &trace.Sender{BaseURL: server.URL, Clock: server.clock}
	defer sender.Close()
	var ours, theirs []float64
	for b.Loop() {
		sum, err := (&trace.Replayer{Sender: sender}).Run(b.Context(), offered, trace.PhaseMeasured, nil)
		if err != nil || sum.Results[trace.ResultOK] != len(offered) {
			b.Fatal(sum, err)
		}
		ours = append(ours, server.lateness(offered, monotime.Instant(sum.ZeroNS))...)
		zero := server.clock.Now().Add(20 * time.Millisecond)
		commonReplay(b.Context(), server, offered, zero)
		theirs = append(theirs, server.lateness(offered, zero)...)
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	for _, q := range []float64{0.5, 0.99} {
		a, c := trace.Quantile(ours, q), trace.Quantile(theirs, q)
		name := fmt.Sprintf("p%g", q*100)
		b.ReportMetric(a, name+"-us-ours")
		b.ReportMetric(c, name+"-us-net/http")
		b.ReportMetric(c/a, name+"-ratio")
	}
}

// lateness takes the arrivals, in microseconds after their instants.
func (s *arrivalServer) lateness(offered []trace.Item, zero monotime.Instant) []float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]float64, 0, len(offered))
	for _, item := range offered {
		out = append(out, float64(s.at[item.RequestID].Sub(zero.Add(item.Offset)))/1e3)
	}
	clear(s.at)
	return out
}

func commonReplay(ctx context.Context, server *arrivalServer, offered []trace.Item, zero monotime.Instant) {
	client := server.Client()
	var all sync.WaitGroup
	for _, item := range offered {
		time.Sleep(zero.Add(item.Offset).Sub(server.clock.Now()))
		all.Go(func() {
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+item.Path, bytes.NewReader(item.Body))
			if err != nil {
				return
			}
			req.Header.Set("X-Request-ID", item.RequestID)
			if resp, err := client.Do(req); err == nil {
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		})
	}
	all.Wait()
	client.CloseIdleConnections()
}
