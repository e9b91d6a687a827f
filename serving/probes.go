package serving

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/trtmc-go/trtmc/native/task"
	"github.com/trtmc-go/trtmc/serving/record"
)

// owner is the owned_by of every model in /v1/models.
const owner = "tensorrt-model-connect"

func (s *Server) healthLive(d *delivery, _ *http.Request) error {
	return sendJSON(d, http.StatusOK, map[string]string{"status": "live"})
}

func (s *Server) healthReady(d *delivery, _ *http.Request) error {
	if s.isDraining() {
		return sendJSON(d, http.StatusServiceUnavailable, map[string]string{"status": "draining"})
	}
	return sendJSON(d, http.StatusOK, map[string]string{"status": "ready"})
}

type wireModel struct {
	ID      string    `json:"id"`
	Object  string    `json:"object"`
	Created int64     `json:"created"`
	OwnedBy string    `json:"owned_by"`
	TRTMC   wireFacts `json:"trtmc"`
}

type wireFacts struct {
	Streaming string    `json:"streaming"` // incremental, buffered, or none
	Tasks     []task.ID `json:"tasks"`
	Runtime   string    `json:"runtime"`
	Reference bool      `json:"reference"`
}

func (s *Server) wireModel(m *served) wireModel {
	w := wireModel{ID: m.Name, Object: "model", Created: s.started.Unix(), OwnedBy: owner}
	w.TRTMC = wireFacts{Streaming: m.streaming(), Runtime: m.info.Runtime, Reference: m.info.Reference}
	for _, d := range m.info.Tasks {
		w.TRTMC.Tasks = append(w.TRTMC.Tasks, d.ID)
	}
	return w
}

func (m *served) streaming() string {
	switch {
	case m.declares(task.StreamingTextContinuation), m.declares(task.StreamingTextConversation):
		return streamIncremental
	case m.declares(task.TextContinuation), m.declares(task.TextConversation):
		return streamBuffered
	}
	return "none"
}

func (s *Server) listModels(d *delivery, _ *http.Request) error {
	list := make([]wireModel, len(s.models))
	for i, m := range s.models {
		list[i] = s.wireModel(m)
	}
	return sendJSON(d, http.StatusOK, map[string]any{"object": "list", "data": list})
}

func (s *Server) showModel(d *delivery, r *http.Request) error {
	m := s.model(strings.TrimPrefix(r.URL.Path, "/v1/models/"))
	if m == nil {
		return s.noModel()
	}
	return sendJSON(d, http.StatusOK, s.wireModel(m))
}

func (s *Server) noModel() *fault {
	names := make([]string, len(s.models))
	for i, m := range s.models {
		names[i] = m.Name
	}
	return &fault{status: http.StatusNotFound, reason: record.ReasonModelNotFound, param: "model", msg: "model: not served here, want one of: " + strings.Join(names, ", ")}
}

func sendJSON(d *delivery, status int, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return &fault{status: http.StatusInternalServerError, reason: record.ReasonInternal, msg: "the answer cannot be encoded", cause: err}
	}
	return d.json(status, b)
}

type infoModel struct {
	Name            string     `json:"name"`
	Runtime         string     `json:"runtime"`
	Reference       bool       `json:"reference"`
	Family          string     `json:"family"`
	Backend         string     `json:"backend"`
	BundleTask      string     `json:"bundle_task"`
	Lanes           int        `json:"lanes"`
	ContextTokens   int        `json:"context_tokens,omitempty"`
	MaxOutputTokens int        `json:"max_output_tokens,omitempty"`
	Tasks           []infoTask `json:"tasks"`
}

type infoTask struct {
	ID     task.ID     `json:"id"`
	Fields []infoField `json:"fields"`
}

type infoField struct {
	Name        string `json:"name"`
	Kind        string `json:"kind"`
	Default     any    `json:"default,omitempty"`
	Description string `json:"description,omitempty"`
}

// info is /v1/serving/info: what is served, with which settings, within which limits.
func (s *Server) info(d *delivery, _ *http.Request) error {
	models := make([]infoModel, len(s.models))
	for i, m := range s.models {
		models[i] = infoModel{
			Name: m.Name, Runtime: m.info.Runtime, Reference: m.info.Reference, Family: m.info.Family, Backend: m.info.Backend,
			BundleTask: m.info.BundleTask, Lanes: len(m.Lanes), ContextTokens: m.ContextTokens,
			MaxOutputTokens: m.MaxOutputTokens, Tasks: infoTasks(m.info),
		}
	}
	l, q := s.cfg.Limits, s.cfg.Queue
	var routes []string
	for _, rt := range s.routes {
		routes = append(routes, strings.Join(rt.methods, ",")+" "+rt.pattern)
	}
	slices.Sort(routes)
	return sendJSON(d, http.StatusOK, map[string]any{
		"models": models,
		"routes": routes,
		"queue":  map[string]any{"count": q.Count, "bytes": q.Bytes, "wait_ms": q.Wait.Milliseconds()},
		"limits": map[string]any{
			"body_bytes": l.BodyBytes, "header_bytes": l.HeaderBytes, "prompt_bytes": l.PromptBytes,
			"body_time_ms": l.BodyTime.Milliseconds(), "idle_time_ms": l.IdleTime.Milliseconds(),
		},
		"clock":           s.cfg.Clock.Name(),
		"record_schema":   record.Schema,
		"accepted_unused": []string{"user"},
		"draining":        s.isDraining(),
	})
}

func infoTasks(info task.Info) []infoTask {
	out := []infoTask{}
	for _, d := range info.Tasks {
		t := infoTask{ID: d.ID, Fields: []infoField{}}
		for _, f := range d.Fields {
			t.Fields = append(t.Fields, infoField{Name: f.Name, Kind: f.Kind.String(), Default: f.Default.Any(), Description: f.Description})
		}
		out = append(out, t)
	}
	return out
}
