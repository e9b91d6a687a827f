package video

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWaitingJobResumesWithItsTagAndSaysSo(t *testing.T) {
	g := &fakeGenerator{defaults: smallScene()}
	release := holding(g)
	dir := t.TempDir()
	s, l := service(t, g, func(c *Config) { c.Dir = dir })
	running := create(t, s, Spec{})
	l.wait(t, running.ID, EventCallStarted)
	h := NewHandler(s, Options{Tag: func(_ context.Context, r Request) string { return "of " + r.RequestID }})
	req := httptest.NewRequest("POST", RouteVideos, strings.NewReader(`{"prompt":"p","model":"m"}`))
	req.Header.Set("X-Request-ID", "second")
	h.ServeHTTP(httptest.NewRecorder(), req)
	require.Equal(t, []Load{{Model: "m", Queued: 1, InProgress: 1}}, s.Loads())
	down := make(chan error)
	go func() { down <- s.Shutdown(t.Context()) }()
	require.Eventually(t, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.closed
	}, waiting, time.Millisecond)
	release()
	require.NoError(t, <-down)
	require.Equal(t, []Load{{Model: "m", Queued: 1}}, s.Loads())
	require.NoError(t, s.Close())

	s, l = service(t, g, func(c *Config) { c.Dir = dir })
	page, err := s.List(t.Context(), Query{Limit: 9})
	require.NoError(t, err)
	require.Len(t, page.Jobs, 2)
	second := page.Jobs[1]
	require.Equal(t, "of second", second.Tag)
	require.Equal(t, "second", l.of(second.ID)[0].Job.RequestID)
	require.Equal(t, Completed, l.finished(t, second.ID).State)
	require.Equal(t, []Kind{EventResumed, EventStarted, EventCallStarted, EventCallEnded, EventEncoded, EventFinished}, kinds(l.of(second.ID)))
	require.Empty(t, l.of(running.ID), "a job that had finished has no event")
}
