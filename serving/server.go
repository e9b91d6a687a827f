package serving

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/trtmc-go/trtmc/native/task"
)

// Server serves models over HTTP. Make one with New; it is safe for concurrent use.
type Server struct {
	cfg     Config
	models  []*served
	routes  []*route
	metrics *metrics
	videos  *videos // nil when no videos are served
	started time.Time

	mu       sync.Mutex
	live     map[string]*observation // by request id
	draining bool
	idle     chan struct{} // closed when draining and nothing is live
	drained  chan struct{} // closed when Shutdown is over
}

// served is one model with its lanes and what it declares.
type served struct {
	Model
	info task.Info
	pool *pool
}

// New checks the configuration and returns a server. All lanes of a model must declare the same Tasks. Without
// Config.Video it starts no goroutine and opens nothing. With it the jobs are opened and those that waited go on at
// once; Serve ends them, and a caller that uses Handler alone must call Shutdown.
func New(c Config) (*Server, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("serving: %w", err)
	}
	s := &Server{
		cfg: c, started: time.Now(), live: map[string]*observation{},
		idle: make(chan struct{}), drained: make(chan struct{}),
	}
	for _, m := range c.Models {
		info := m.Lanes[0].Info()
		for i, lane := range m.Lanes[1:] {
			if !sameTasks(info, lane.Info()) {
				return nil, fmt.Errorf("serving: lane %d of model %q declares other tasks than lane 0", i+1, m.Name)
			}
		}
		s.models = append(s.models, &served{Model: m, info: info, pool: newPool(len(m.Lanes), c.Queue)})
	}
	s.metrics = newMetrics(s)
	if s.videos, err = openVideos(s); err != nil {
		return nil, fmt.Errorf("serving: %w", err)
	}
	s.routes = s.allRoutes()
	return s, nil
}

func sameTasks(a, b task.Info) bool {
	return slices.EqualFunc(a.Tasks, b.Tasks, func(x, y task.Decl) bool { return x.ID == y.ID && x.Major == y.Major && x.Minor == y.Minor })
}

// model finds a served model by its exact name.
func (s *Server) model(name string) *served {
	for _, m := range s.models {
		if m.Name == name {
			return m
		}
	}
	return nil
}

// declares reports whether the model declares a Task.
func (m *served) declares(id task.ID) bool {
	_, ok := m.info.Decl(id)
	return ok
}

// first returns the first of the Tasks that the model declares.
func (m *served) first(ids ...task.ID) (task.Decl, bool) {
	for _, id := range ids {
		if d, ok := m.info.Decl(id); ok {
			return d, true
		}
	}
	return task.Decl{}, false
}
