package task

import "context"

// ScoreKind is what a relevance score is; the numbers are the native ones. Kinds are never converted into another.
type ScoreKind uint32

// The kinds of a relevance score.
const (
	ScoreLogit ScoreKind = iota + 1
	ScoreProbability
	ScoreUnbounded
)

// String returns logit, probability, unbounded, or unknown.
func (k ScoreKind) String() string {
	switch k {
	case ScoreLogit:
		return "logit"
	case ScoreProbability:
		return "probability"
	case ScoreUnbounded:
		return "unbounded"
	}
	return "unknown"
}

// ScoreRequest asks how relevant each document is to the query. An empty list is legal.
//
// Backing is optional and changes no result: when the documents are substrings of one string (a decoded request body,
// say), setting it to that string lets an implementation hand them over where they lie instead of copying each.
type ScoreRequest struct {
	Query     string
	Documents []string
	Backing   string
	Settings  Settings
}

// ScoreResult holds one score per document in document order, as the model gave them: not sorted, not normalised,
// not checked for finiteness.
type ScoreResult struct {
	Scores []float32
	Kind   ScoreKind
	Timing Timing
}

// Scorer is the Task text_query_documents_to_relevance.
type Scorer interface {
	Score(ctx context.Context, req ScoreRequest) (ScoreResult, error)
}

// PairRequest asks how relevant one document is to the query.
type PairRequest struct {
	Query    string
	Document string
	Settings Settings
}

// PairResult is the score of one pair.
type PairResult struct {
	Score  float32
	Kind   ScoreKind
	Timing Timing
}

// PairScorer is the Task text_pair_to_relevance.
type PairScorer interface {
	ScorePair(ctx context.Context, req PairRequest) (PairResult, error)
}

// EmbeddingRole is what a text is to be compared as; the numbers are the native ones.
type EmbeddingRole uint32

// The roles of an embedded text.
const (
	EmbedDefault EmbeddingRole = iota
	EmbedQuery
	EmbedDocument
)

// EmbeddingRequest asks for the vector of a text.
type EmbeddingRequest struct {
	Text     string
	Role     EmbeddingRole
	Settings Settings
}

// EmbeddingResult is a vector. Space may be empty, which means unknown: two unknown spaces are not comparable.
type EmbeddingResult struct {
	Values        []float32
	Space         string
	Pooling       string
	Normalization string
	Timing        Timing
}

// Embedder is the Task text_to_embedding.
type Embedder interface {
	Embed(ctx context.Context, req EmbeddingRequest) (EmbeddingResult, error)
}
