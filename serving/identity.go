package serving

import (
	"net/http"
	"slices"

	"github.com/google/uuid"

	"github.com/trtmc-go/trtmc/serving/record"
)

// headerID carries a request's identity in both directions.
const headerID = "X-Request-Id"

const (
	maxIDBytes   = 128
	fromClient   = "client"
	fromGenerate = "generated"
)

// identify returns the identity that a request shall have. A client's own is taken as it is or refused, never
// replaced in silence: on a fault the id is a generated one, for the refusal itself.
func identify(h http.Header) (id, source string, f *fault) {
	given := h.Values(headerID)
	if len(given) == 0 {
		return uuid.NewString(), fromGenerate, nil
	}
	different := slices.ContainsFunc(given, func(v string) bool { return v != given[0] })
	if different || !validID(given[0]) {
		f = invalid("X-Request-ID", "want one value of 1 to %d characters from A-Z, a-z, 0-9, '.', '_', ':' and '-'", maxIDBytes)
		f.reason = record.ReasonRequestID
		return uuid.NewString(), fromGenerate, f
	}
	return given[0], fromClient, nil
}

func validID(s string) bool {
	if s == "" || len(s) > maxIDBytes {
		return false
	}
	for _, c := range []byte(s) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '_', c == ':', c == '-':
		default:
			return false
		}
	}
	return true
}

// begin makes o a live request under its id, unless the server is draining or another live request, or a job
// that is not final, has the id.
func (s *Server) begin(o *observation) *fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := o.id()
	switch {
	case s.draining:
		return draining()
	case s.live[id] != nil, s.videos.holds(id):
		return &fault{status: http.StatusConflict, reason: record.ReasonDuplicateID, param: "X-Request-ID", msg: "X-Request-ID: a request with this id is being served"}
	}
	s.live[id] = o
	return nil
}

// end takes o from the live requests.
func (s *Server) end(o *observation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id := o.id(); s.live[id] == o {
		delete(s.live, id)
		s.checkIdle()
	}
}
