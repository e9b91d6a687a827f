package serving

import (
	"context"
	"net/http"

	"github.com/trtmc-go/trtmc/native/task"
	"github.com/trtmc-go/trtmc/ranking"
	"github.com/trtmc-go/trtmc/serving/record"
)

// ranking returns what serves the ranking routes: the handler of package ranking over scorers that take a lane.
func (s *Server) ranking() func(d *delivery, r *http.Request) error {
	models := make([]ranking.Model, len(s.models))
	for i, m := range s.models {
		models[i].Name = m.Name
		if m.declares(task.TextQueryDocumentsToRelevance) {
			models[i].Scorer, models[i].Truncate = laneScorer{s, m}, ranking.TruncateField(m.info)
		}
	}
	h := ranking.NewModelsHandler(models, ranking.Options{
		Limits:  ranking.Limits{BodyBytes: s.cfg.Limits.BodyBytes},
		Observe: s.noteRanking,
	})
	return func(d *delivery, r *http.Request) error { return s.serveForeign(h, d, r) }
}

// serveForeign lets the handler of another package serve a work request, whose body it reads expanded and bounded.
func (s *Server) serveForeign(h http.Handler, d *delivery, r *http.Request) error {
	in, err := s.open(d, r)
	if err != nil {
		return err
	}
	defer in.Close()
	if r.Header.Get("Content-Encoding") != "" { // what the handler reads is expanded already
		r = r.Clone(r.Context())
		r.Header.Del("Content-Encoding")
		r.ContentLength = -1
	}
	r.Body = in
	h.ServeHTTP(d, r)
	return d.o.foreign
}

// laneScorer scores on a lane of its model, for the request whose context it is called with.
type laneScorer struct {
	s *Server
	m *served
}

func (l laneScorer) Score(ctx context.Context, req task.ScoreRequest) (res task.ScoreResult, err error) {
	err = l.s.run(ctx, observationOf(ctx), l.m, task.TextQueryDocumentsToRelevance, req.Settings, func(lane task.Model) (task.Timing, error) {
		scorer, err := task.ScorerOf(lane)
		if err == nil {
			res, err = scorer.Score(ctx, req)
		}
		return res.Timing, err
	})
	if err == nil {
		err = gone(ctx)
	}
	return res, err
}

// noteRanking takes over what the handler knows of a request.
func (s *Server) noteRanking(ctx context.Context, seen ranking.Observation) {
	o := observationOf(ctx)
	if m := s.model(seen.Model); m != nil {
		o.noteModel(m)
	}
	o.note(func(r *record.Record) {
		if seen.Passages > 0 {
			r.Ranking = &record.Ranking{
				Passages: seen.Passages, QueryBytes: seen.QueryBytes, QueryWords: seen.QueryWords,
				PassageBytes: seen.PassageBytes, PassageWords: seen.PassageWords,
			}
			if seen.Kind != 0 {
				r.Ranking.ScoreKind = seen.Kind.String()
			}
		}
	})
	if seen.Err != nil {
		o.foreign = foreignFault(seen.Status, seen.Code, seen.Err)
	}
}
