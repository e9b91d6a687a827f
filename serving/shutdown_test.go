package serving_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native/task"
	"github.com/trtmc-go/trtmc/serving"
	"github.com/trtmc-go/trtmc/serving/record"
)

func TestAddressBeyondLoopbackNeedsAKey(t *testing.T) {
	s, _ := newServer(t, serving.Config{Models: model(echoModel())})
	ln, err := net.Listen("tcp", "0.0.0.0:0")
	require.NoError(t, err)
	require.ErrorIs(t, s.Serve(t.Context(), ln), serving.ErrOpenAddress)
	_, err = net.Dial("tcp", strings.Replace(ln.Addr().String(), "[::]", "127.0.0.1", 1))
	require.Error(t, err, "the listener is closed")
}

func TestShutdownWithoutWorkReturnsAtOnceAndRefusesAfterwards(t *testing.T) {
	s, recs := newServer(t, serving.Config{Models: model(echoModel())})
	require.NoError(t, s.Shutdown(context.Background()))
	require.NoError(t, s.Shutdown(context.Background()))
	require.Equal(t, 503, complete(s, "").status)
	require.Equal(t, record.ReasonDraining, recs.one().Reason)
	require.Equal(t, "1", metric(s, "trtmc_draining"))
}

// TestShutdownPastItsGraceRefusesQueuedCancelsStreamsAndNamesStuckCalls runs in virtual time: one stream, one one-shot
// call that never returns in time, one waiter.
func TestShutdownPastItsGraceRefusesQueuedCancelsStreamsAndNamesStuckCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leave := make(chan struct{})
		m := &fake{
			stream: func(ctx context.Context, _ task.TextRequest, emit func(task.TextDelta) error) (task.TextResult, error) {
				if err := emit(task.TextDelta{Text: "x"}); err != nil {
					return task.TextResult{}, err
				}
				<-ctx.Done()
				return task.TextResult{}, context.Cause(ctx)
			},
			text: func(context.Context, task.TextRequest) (task.TextResult, error) {
				<-leave
				return task.TextResult{Text: "late"}, nil
			},
		}
		s, recs := newServer(t, serving.Config{Models: model(m, m)})
		answers := map[string]chan answer{}
		for _, id := range []string{"stream", "stuck", "waits"} {
			answers[id] = make(chan answer, 1)
			b := `{"model":"m","prompt":"p","stream":` + map[bool]string{true: "true", false: "false"}[id == "stream"] + `}`
			go func() { answers[id] <- ask(s, "POST", "/v1/completions", b, "X-Request-ID", id) }()
			synctest.Wait()
		}
		grace, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		begun := time.Now()
		err := s.Shutdown(grace)
		require.Equal(t, 7*time.Second, time.Since(begun), "the grace and a last moment")
		var stuck *serving.ShutdownError
		require.ErrorAs(t, err, &stuck)
		require.Equal(t, []string{"stuck"}, stuck.RequestIDs)

		require.Equal(t, 503, (<-answers["waits"]).status)
		streamed := <-answers["stream"]
		require.Contains(t, streamed.body, "event: error")
		require.Contains(t, streamed.body, "draining")
		require.NotContains(t, streamed.body, "[DONE]")
		byID := map[string]record.Record{}
		for range 3 {
			r := recs.one()
			byID[r.RequestID] = r
		}
		require.Equal(t, record.Rejected, byID["waits"].Outcome)
		require.Equal(t, record.Failed, byID["stream"].Outcome)
		require.Equal(t, record.Failed, byID["stuck"].Outcome)
		require.Equal(t, record.StageRunning, byID["stuck"].Stage)
		for _, r := range byID {
			require.Equal(t, record.ReasonDraining, r.Reason)
		}
		close(leave)
		require.Equal(t, 200, (<-answers["stuck"]).status, "the late result is still delivered")
		require.Len(t, recs.all(), 3, "one record a request, also when the call returns after it was given up")
	})
}

func TestServeReturnsWhenShutdownIsOver(t *testing.T) {
	l := start(t, serving.Config{Models: model(echoModel())})
	require.Equal(t, 200, l.do("POST", "/v1/completions", body).status)
	l.stop()
	require.NoError(t, <-l.ended)
	l.ended <- nil
}

func TestQueueWaitThatIsExceededIsARejection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, entered, leave := gate()
		s, recs := newServer(t, serving.Config{Models: model(m), Queue: serving.Queue{Wait: 3 * time.Second}})
		first := make(chan answer, 1)
		go func() { first <- complete(s, "") }()
		<-entered
		a := complete(s, "")
		require.Equal(t, 429, a.status)
		code, _, _ := a.fault(t)
		require.Equal(t, "queue_wait_exceeded", code)
		require.NotEmpty(t, a.header.Get("Retry-After"))
		r := recs.one()
		require.Equal(t, record.Rejected, r.Outcome)
		require.Equal(t, record.StageQueued, r.Stage)
		require.Equal(t, 3*time.Second, time.Duration(r.QueueNS))
		leave <- struct{}{}
		require.Equal(t, 200, (<-first).status)
	})
}
