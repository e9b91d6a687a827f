package serving

import (
	"net/http"
	"slices"
	"strings"

	"github.com/trtmc-go/trtmc/ranking"
	"github.com/trtmc-go/trtmc/serving/record"
)

// route is one path pattern. A work route's requests are offered work: each has an identity and a record. The others
// are looked at by probes and scrapes, which are only counted.
type route struct {
	pattern string // segments; {x} stands for one, {x...} for all that follow
	methods []string
	work    bool
	looks   []string // methods of a work route that offer none
	open    bool     // no API key is asked for
	// serve answers. What it returns, when not nil, keeps the request from completing, and is sent to the client where
	// nothing has been sent yet.
	serve func(d *delivery, r *http.Request) error
}

// otherRoute labels what matches no route.
const otherRoute = "other"

func (s *Server) allRoutes() []*route {
	get := []string{http.MethodGet, http.MethodHead}
	post := []string{http.MethodPost}
	return append([]*route{
		{pattern: "/v1/completions", methods: post, work: true, serve: s.completions},
		{pattern: "/v1/chat/completions", methods: post, work: true, serve: s.chat},
		{pattern: ranking.RouteRanking, methods: post, work: true, serve: s.ranking()},
		{pattern: ranking.RouteReranking, methods: post, work: true, serve: s.ranking()},
		{pattern: "/v1/models", methods: get, serve: s.listModels},
		{pattern: "/v1/models/{model...}", methods: get, serve: s.showModel},
		{pattern: "/v1/serving/info", methods: get, serve: s.info},
		{pattern: "/health/live", methods: get, open: true, serve: s.healthLive},
		{pattern: "/health/ready", methods: get, open: true, serve: s.healthReady},
		{pattern: "/metrics", methods: get, serve: s.scrape},
	}, s.videos.routes()...)
}

// offers reports whether a request with that method is offered work. HEAD never is.
func (rt *route) offers(method string) bool {
	return rt.work && method != http.MethodHead && !slices.Contains(rt.looks, method)
}

// find returns the route of a path, or one that answers 404.
func (s *Server) find(path, method string) *route {
	for _, rt := range s.routes {
		if match(rt.pattern, path) {
			return rt
		}
	}
	// Whoever sends something to a path that is not served offers work to it; whoever only looks does not.
	looks := slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodOptions}, method)
	return &route{pattern: otherRoute, work: !looks, serve: s.notServed}
}

func match(pattern, path string) bool {
	for {
		want, patternRest, more := strings.Cut(pattern, "/")
		if strings.HasSuffix(want, "...}") {
			return path != ""
		}
		got, pathRest, pathMore := strings.Cut(path, "/")
		wild := strings.HasPrefix(want, "{")
		if more != pathMore || wild && got == "" || !wild && want != got {
			return false
		}
		if !more {
			return true
		}
		pattern, path = patternRest, pathRest
	}
}

func (s *Server) notServed(*delivery, *http.Request) error {
	return &fault{status: http.StatusNotFound, reason: record.ReasonRouteNotServed, msg: "no such route; /v1/serving/info lists what is served"}
}

func (rt *route) allows(d *delivery, method string) *fault {
	if rt.methods == nil || slices.Contains(rt.methods, method) {
		return nil
	}
	d.Header().Set("Allow", strings.Join(rt.methods, ", "))
	return &fault{status: http.StatusMethodNotAllowed, reason: record.ReasonInvalidRequest, code: "method_not_allowed", msg: "this route wants " + strings.Join(rt.methods, " or ")}
}
