package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"

	"github.com/bytedance/sonic"

	"github.com/trtmc-go/trtmc/native/task"
	"github.com/trtmc-go/trtmc/ranking"
)

// The names of the servers that this program can be itself.
const (
	serverOurs     = "ours"
	serverStandard = "encoding-json"
	serverSonic    = "sonic"
)

// handlerNamed returns the handler of a Go server, nil for a name that is none. The two peers are what a service
// writes by hand: they refuse unknown names and empty lists, and check nothing else.
func handlerNamed(name string) http.Handler {
	switch name {
	case serverOurs:
		return ranking.NewHandler(trivial{}, ranking.Options{Model: "m"})
	case serverStandard:
		return http.HandlerFunc(serveStandard)
	case serverSonic:
		strict := sonic.Config{DisallowUnknownFields: true}.Froze()
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serveSonic(strict, w, r) })
	}
	return nil
}

// trivial is the scorer of all servers: next to nothing, so that the handlers are what is compared.
type trivial struct{}

func score(passage string) float32 { return float32(len(passage)%97) - 48.5 }

func (trivial) Score(_ context.Context, req task.ScoreRequest) (task.ScoreResult, error) {
	res := task.ScoreResult{Scores: make([]float32, len(req.Documents)), Kind: task.ScoreLogit}
	for i, d := range req.Documents {
		res.Scores[i] = score(d)
	}
	return res, nil
}

func serveStandard(w http.ResponseWriter, r *http.Request) {
	var req wireRequest
	dec := json.NewDecoder(r.Body)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answer, err := rank(req)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// serveSonic reads into a buffer of the announced size: sonic decodes from memory.
func serveSonic(api sonic.API, w http.ResponseWriter, r *http.Request) {
	body := bytes.NewBuffer(make([]byte, 0, max(512, r.ContentLength+bytes.MinRead)))
	if _, err := io.Copy(body, r.Body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var req wireRequest
	if err := api.Unmarshal(body.Bytes(), &req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answer, err := rank(req)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	out, err := api.Marshal(answer)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(out)
}

func rank(req wireRequest) (wireResponse, error) {
	if req.Query.Text == "" || len(req.Passages) == 0 {
		return wireResponse{}, errEmpty
	}
	out := wireResponse{Rankings: make([]wireRanking, len(req.Passages))}
	for i, p := range req.Passages {
		out.Rankings[i] = wireRanking{Index: i, Logit: score(p.Text)}
	}
	slices.SortStableFunc(out.Rankings, func(a, b wireRanking) int { return cmp.Compare(b.Logit, a.Logit) })
	return out, nil
}
