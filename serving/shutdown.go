package serving

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"time"
)

// cancelWait is how long a shutdown whose context has ended waits for cancelled streams to be joined.
const cancelWait = 2 * time.Second

// Serve answers on ln until ctx ends, then drains for at most Config.Grace as Shutdown describes, closes ln and all
// connections and returns. While it drains it still answers: readiness with 503, new work with 503, so that no client
// meets a closed port before its balancer has noticed. It returns nil after a full drain, the error of Shutdown, or
// that of the listener; [ErrOpenAddress] when ln is reachable from other machines and no API key is set.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	if s.cfg.APIKey == "" && !loopback(ln.Addr()) {
		return errors.Join(fmt.Errorf("serve on %s: %w", ln.Addr(), ErrOpenAddress), ln.Close())
	}
	l := s.cfg.Limits
	hs := &http.Server{
		Handler: s.Handler(), ReadHeaderTimeout: l.HeaderTime, IdleTimeout: l.IdleTime, MaxHeaderBytes: l.HeaderBytes,
		ErrorLog: slog.NewLogLogger(s.cfg.Logger.Handler(), slog.LevelDebug),
	}
	failed := make(chan error, 1)
	go func() { failed <- hs.Serve(ln) }()
	var err error
	select {
	case err = <-failed:
		return fmt.Errorf("serve on %s: %w", ln.Addr(), err)
	case <-ctx.Done():
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.cfg.Grace)
		err = s.Shutdown(grace)
		cancel()
	case <-s.drained:
	}
	// Only late refusals are still being written; they get a moment, then their connections close.
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelWait)
	defer cancel()
	if hs.Shutdown(last) != nil {
		_ = hs.Close()
	}
	<-failed
	return err
}

// loopback reports whether only this machine reaches an address. Addresses that are not IP (a Unix socket, a pipe of a
// test) are not the network's.
func loopback(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	return !ok || tcp.IP.IsLoopback()
}

// Shutdown stops taking work and waits for what is under way. From its first moment readiness and new work are
// answered 503; running requests finish, and queued ones are served, until ctx ends. Then queued requests get 503,
// streams are cancelled and joined, and one-shot calls, which cannot be stopped, are given a last moment: those still
// inside are recorded as failed and named by the returned [ShutdownError]. When it returns, every request that was
// admitted has been handed to Records, and the jobs of videos are closed.
//
// A video job on a lane goes on until ctx ends and is failed then, with reason server_restarted. One that waits for a
// lane is not touched: it stays stored as queued, has no record yet, and runs when a server opens its directory again.
//
// Calling it again waits for the first call and returns nil.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	if s.draining {
		s.mu.Unlock()
		<-s.drained
		return nil
	}
	s.draining = true
	s.checkIdle()
	s.mu.Unlock()
	defer close(s.drained)
	jobs := make(chan []string, 1)
	go func() { jobs <- s.videos.shutdown(ctx) }()
	stuck := append(s.drain(ctx), <-jobs...)
	if len(stuck) == 0 {
		return nil
	}
	slices.Sort(stuck)
	return fmt.Errorf("shut down: %w", &ShutdownError{RequestIDs: stuck})
}

// drain waits for the live requests until ctx ends, then stops them. It returns the ids of those that are still inside
// a Task call a moment later.
func (s *Server) drain(ctx context.Context) []string {
	select {
	case <-s.idle:
		return nil
	case <-ctx.Done():
	}
	for _, m := range s.models {
		m.pool.stop()
	}
	for _, o := range s.alive() {
		o.stop()
	}
	timer := time.NewTimer(cancelWait)
	defer timer.Stop()
	select {
	case <-s.idle:
		return nil
	case <-timer.C:
	}
	var stuck []string
	for _, o := range s.alive() {
		o.finish(faultOf(ctx, errStopped))
		stuck = append(stuck, o.id())
	}
	return stuck
}

// checkIdle closes idle when it is time; s.mu is held.
func (s *Server) checkIdle() {
	if !s.draining || len(s.live) > 0 {
		return
	}
	select {
	case <-s.idle:
	default:
		close(s.idle)
	}
}

func (s *Server) alive() []*observation {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]*observation, 0, len(s.live))
	for _, o := range s.live {
		out = append(out, o)
	}
	return out
}

func (s *Server) isDraining() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.draining
}

// stop cancels the request's context, because the server stops.
func (o *observation) stop() {
	o.mu.Lock()
	cancel := o.cancel
	o.mu.Unlock()
	if cancel != nil {
		cancel(errStopped)
	}
}
