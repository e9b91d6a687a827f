package aiperf

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// stubServer answers the three workloads and keeps the identity of each POST. Its faults are chosen by request text.
type stubServer struct {
	*httptest.Server
	mu    sync.Mutex
	posts map[string]string // X-Request-ID -> path
	polls map[string]int    // job -> polls
	gone  map[string]bool   // job whose content was fetched
}

func newStub(t *testing.T) *stubServer {
	s := &stubServer{posts: map[string]string{}, polls: map[string]int{}, gone: map[string]bool{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.text)
	mux.HandleFunc("POST /v1/completions", s.text)
	mux.HandleFunc("POST /v1/ranking", s.ranking)
	mux.HandleFunc("POST /v1/videos", s.create)
	mux.HandleFunc("GET /v1/videos/{id}", s.poll)
	mux.HandleFunc("GET /v1/videos/{id}/content", s.content)
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func (s *stubServer) note(r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.posts[r.Header.Get("X-Request-ID")] = r.URL.Path
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// text answers "refuse" with 429, "crash" with 500, "cut" with a stream that ends early without an error.
func (s *stubServer) text(w http.ResponseWriter, r *http.Request) {
	s.note(r)
	body, _ := io.ReadAll(r.Body)
	ask := string(body)
	if strings.Contains(ask, "refuse") {
		writeJSON(w, 429, map[string]any{"error": map[string]string{"message": "queue is full"}})
		return
	}
	if strings.Contains(ask, "crash") {
		writeJSON(w, 500, map[string]any{"error": map[string]string{"message": "task failed"}})
		return
	}
	usage := map[string]int{"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
	chat := strings.Contains(r.URL.Path, "chat")
	if !strings.Contains(ask, `"stream":true`) {
		writeJSON(w, 200, map[string]any{"object": "text_completion", "usage": usage,
			"choices": []any{map[string]any{"index": 0, "text": "one two three four", "finish_reason": "length"}}})
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for i := range 4 {
		object, choice := "text_completion", map[string]any{"index": 0, "text": "word "}
		if chat {
			object, choice = "chat.completion.chunk", map[string]any{"index": 0, "delta": map[string]string{"content": "word "}}
		}
		if i == 3 {
			choice["finish_reason"] = "length"
		}
		if i == 2 && strings.Contains(ask, "cut") {
			return
		}
		event(w, map[string]any{"object": object, "choices": []any{choice}})
	}
	event(w, map[string]any{"object": "chat.completion.chunk", "choices": []any{}, "usage": usage})
	fmt.Fprint(w, "data: [DONE]\n\n")
}

func event(w http.ResponseWriter, v any) {
	b, _ := json.Marshal(v)
	fmt.Fprintf(w, "data: %s\n\n", b)
	_ = http.NewResponseController(w).Flush()
}

func (s *stubServer) ranking(w http.ResponseWriter, r *http.Request) {
	s.note(r)
	var in struct {
		Passages []any `json:"passages"`
	}
	_ = json.NewDecoder(r.Body).Decode(&in)
	out := make([]map[string]any, len(in.Passages))
	for i := range out {
		out[i] = map[string]any{"index": i, "logit": -float64(i)}
	}
	writeJSON(w, 200, map[string]any{"rankings": out})
}

func (s *stubServer) create(w http.ResponseWriter, r *http.Request) {
	s.note(r)
	id := "video_" + r.Header.Get("X-Request-ID")
	if strings.Contains(r.FormValue("prompt"), "break") {
		id = "bad_" + r.Header.Get("X-Request-ID")
	}
	writeJSON(w, 200, map[string]any{"id": id, "object": "video", "status": "queued"})
}

func (s *stubServer) poll(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	s.mu.Lock()
	s.polls[id]++
	n := s.polls[id]
	s.mu.Unlock()
	job := map[string]any{"id": id, "object": "video", "status": "in_progress"}
	switch {
	case n >= 2 && strings.HasPrefix(id, "bad_"):
		job["status"], job["error"] = "failed", map[string]string{"message": "task failed"}
	case n >= 2:
		job["status"], job["inference_time_s"] = "completed", 0.05
	}
	writeJSON(w, 200, job)
}

func (s *stubServer) content(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.gone[r.PathValue("id")] = true
	s.mu.Unlock()
	w.Header().Set("Content-Type", "video/mp4")
	fmt.Fprint(w, "ftyp")
}
