package serving

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"

	"github.com/trtmc-go/trtmc/internal/monotime"
	"github.com/trtmc-go/trtmc/serving/record"
)

// Handler returns the handler of all routes, for use in a server of the caller's own. Serve is the better choice
// where there is none: it also sets the timeouts that Limits name and drains.
func (s *Server) Handler() http.Handler { return http.HandlerFunc(s.handle) }

func (s *Server) handle(w http.ResponseWriter, r *http.Request) {
	arrived := s.cfg.Clock.Now()
	rt := s.find(r.URL.Path, r.Method)
	if rt.offers(r.Method) {
		s.handleWork(w, r, rt, arrived)
		return
	}
	s.metrics.probes.WithLabelValues(rt.pattern).Inc()
	d := newDelivery(w, s, nil)
	s.guardBody(d, r)
	if id, _, f := identify(r.Header); f == nil {
		d.Header().Set(headerID, id)
	}
	defer d.done()
	if err := s.serveOn(rt, d, r); err != nil {
		d.refuse(faultOf(r.Context(), err))
	}
}

// handleWork serves one offered request: from here every path ends in finish.
func (s *Server) handleWork(w http.ResponseWriter, r *http.Request, rt *route, arrived monotime.Instant) {
	id, source, bad := identify(r.Header)
	o := s.observe(rt.pattern, id, source, arrived)
	if bad == nil {
		if bad = s.begin(o); bad != nil && bad.reason == record.ReasonDuplicateID {
			// The id belongs to the other request, so this one is recorded under one of its own.
			id, _, _ = identify(nil)
			o.note(func(r *record.Record) { r.RequestID, r.RequestIDSource = id, fromGenerate })
		}
	}
	ctx, cancel := context.WithCancelCause(withObservation(r.Context(), o))
	defer cancel(nil)
	o.cancelWith(cancel)
	d := newDelivery(w, s, o)
	s.guardBody(d, r)
	d.Header().Set(headerID, id)

	var err error
	defer func() {
		if p := recover(); p != nil {
			err = &fault{status: http.StatusInternalServerError, reason: record.ReasonInternal, msg: "internal error", cause: fmt.Errorf("panic: %v", p)}
			s.cfg.Logger.Error("panic while serving", "request_id", id, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		}
		s.conclude(ctx, o, d, err)
		s.end(o)
	}()
	if bad != nil {
		err = bad
		return
	}
	err = s.serveOn(rt, d, r.WithContext(ctx))
}

// conclude delivers what is still to be delivered and finishes the observation with what really became of it.
func (s *Server) conclude(ctx context.Context, o *observation, d *delivery, err error) {
	var f *fault
	if err != nil {
		f = faultOf(ctx, err)
		d.refuse(f)
	}
	d.done()
	if o.isJob() {
		return // the end of the job finishes the observation
	}
	if f == nil && d.err != nil {
		f = clientGone(d.err)
	}
	o.finish(f)
}

// serveOn makes the checks that all routes share and serves.
func (s *Server) serveOn(rt *route, d *delivery, r *http.Request) error {
	if !rt.open && !s.authorized(r) {
		d.Header().Set("WWW-Authenticate", "Bearer")
		return &fault{status: http.StatusUnauthorized, reason: record.ReasonUnauthorized, code: "invalid_api_key", msg: "want the server's API key as a bearer token in Authorization"}
	}
	if f := rt.allows(d, r.Method); f != nil {
		return f
	}
	return rt.serve(d, r)
}

func (s *Server) authorized(r *http.Request) bool {
	if s.cfg.APIKey == "" {
		return true
	}
	scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	// Digests have one length, so the comparison takes one time whatever was sent.
	got, want := sha256.Sum256([]byte(strings.TrimSpace(key))), sha256.Sum256([]byte(s.cfg.APIKey))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1 && strings.EqualFold(scheme, "Bearer")
}
