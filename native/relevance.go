package native

import (
	"context"

	"github.com/trtmc-go/trtmc/native/task"
)

type scorer struct{ h *handle }

func (s scorer) Score(ctx context.Context, req task.ScoreRequest) (task.ScoreResult, error) {
	const id = task.TextQueryDocumentsToRelevance
	if err := s.h.lane.enter(ctx, id); err != nil {
		return task.ScoreResult{}, err
	}
	defer s.h.lane.leave()
	res, err := s.h.native.Score(req.Query, req.Documents, req.Backing, s.h.callSettings(req.Settings))
	if err != nil {
		return task.ScoreResult{}, callError(id, err)
	}
	return task.ScoreResult{Scores: res.Scores, Kind: task.ScoreKind(res.Kind), Timing: timing(res.Span, 0, 0, 0)}, nil
}

type pairScorer struct{ h *handle }

func (s pairScorer) ScorePair(ctx context.Context, req task.PairRequest) (task.PairResult, error) {
	const id = task.TextPairToRelevance
	if err := s.h.lane.enter(ctx, id); err != nil {
		return task.PairResult{}, err
	}
	defer s.h.lane.leave()
	score, kind, span, err := s.h.native.ScorePair(req.Query, req.Document, s.h.callSettings(req.Settings))
	if err != nil {
		return task.PairResult{}, callError(id, err)
	}
	return task.PairResult{Score: score, Kind: task.ScoreKind(kind), Timing: timing(span, 0, 0, 0)}, nil
}

type embedder struct{ h *handle }

func (e embedder) Embed(ctx context.Context, req task.EmbeddingRequest) (task.EmbeddingResult, error) {
	const id = task.TextToEmbedding
	if err := e.h.lane.enter(ctx, id); err != nil {
		return task.EmbeddingResult{}, err
	}
	defer e.h.lane.leave()
	res, err := e.h.native.Embed(req.Text, uint32(req.Role), e.h.callSettings(req.Settings))
	if err != nil {
		return task.EmbeddingResult{}, callError(id, err)
	}
	return task.EmbeddingResult{
		Values: res.Values, Space: res.Space, Pooling: res.Pooling, Normalization: res.Normalization, Timing: timing(res.Span, 0, 0, 0),
	}, nil
}
