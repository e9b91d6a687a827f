package tasktest

import (
	"fmt"
	"math"
	"strings"

	"github.com/trtmc-go/trtmc/native/task"
)

func scoreChecks() []check {
	return []check{
		{Case{"score-per-document", "There is exactly one score per document, of a known kind, also for doubled documents."}, scorePerDocument},
		{Case{"score-order", "Scores come in document order: permuting the documents permutes the scores."}, scoreOrder},
		{Case{"score-empty-list", "An empty list of documents gives no scores and no error."}, scoreEmptyList},
		{Case{"score-backing", "ScoreRequest.Backing changes no score."}, scoreBacking},
		{Case{"score-nan-visible", "A NaN of the model reaches the caller as a NaN."}, scoreNaN},
		{Case{"embedding-described", "An embedding has values, of equal number for different texts, and names its pooling and normalization."}, embeddingDescribed},
	}
}

func (p *probe) scores(docs []string, backing string) (task.ScoreResult, error) {
	t, err := task.ScorerOf(p.model)
	if err != nil {
		return task.ScoreResult{}, err
	}
	return t.Score(p.ctx, task.ScoreRequest{
		Query: p.prompt(), Documents: docs, Backing: backing, Settings: p.settings(task.TextQueryDocumentsToRelevance),
	})
}

func scorePerDocument(p *probe) error {
	if err := p.need(task.TextQueryDocumentsToRelevance); err != nil {
		return err
	}
	docs := p.documents()
	for _, docs := range [][]string{docs[:1], docs, append(docs, docs[0])} {
		r, err := p.scores(docs, "")
		if err != nil {
			return err
		}
		if len(r.Scores) != len(docs) {
			return fmt.Errorf("%d scores for %d documents", len(r.Scores), len(docs))
		}
		if r.Kind < task.ScoreLogit || r.Kind > task.ScoreUnbounded {
			return fmt.Errorf("score kind %d", r.Kind)
		}
	}
	return nil
}

// scoreOrder compares as sets of pairs, so that a wrong number of scores is left to its own case.
func scoreOrder(p *probe) error {
	if err := p.need(task.TextQueryDocumentsToRelevance); err != nil {
		return err
	}
	docs := p.documents()
	straight, err := p.scores(docs, "")
	if err != nil {
		return err
	}
	turned := make([]string, len(docs))
	for i := range docs {
		turned[i] = docs[len(docs)-1-i]
	}
	reversed, err := p.scores(turned, "")
	if err != nil {
		return err
	}
	if len(straight.Scores) != len(docs) || len(reversed.Scores) != len(docs) {
		return skip("the numbers of scores and documents differ")
	}
	for i := range docs {
		a, b := straight.Scores[i], reversed.Scores[len(docs)-1-i]
		if math.Float32bits(a) != math.Float32bits(b) {
			return fmt.Errorf("document %q scores %v, and %v in reversed order", docs[i], a, b)
		}
	}
	return nil
}

func scoreEmptyList(p *probe) error {
	if err := p.need(task.TextQueryDocumentsToRelevance); err != nil {
		return err
	}
	for _, docs := range [][]string{nil, {}} {
		r, err := p.scores(docs, "")
		if err != nil {
			return err
		}
		if len(r.Scores) != 0 {
			return fmt.Errorf("%d scores for no documents", len(r.Scores))
		}
	}
	return nil
}

// scoreBacking gives the documents once by themselves and once as parts of a whole; in between, one lies outside it.
func scoreBacking(p *probe) error {
	if err := p.need(task.TextQueryDocumentsToRelevance); err != nil {
		return err
	}
	docs := append(p.documents(), "")
	want, err := p.scores(docs, "")
	if err != nil {
		return err
	}
	backing := strings.Join(docs, "|")
	parts := strings.Split(backing, "|")
	mixed := append([]string(nil), parts...)
	mixed[1] = strings.Clone(mixed[1])
	for name, docs := range map[string][]string{"all inside": parts, "one outside": mixed, "all outside": docs} {
		got, err := p.scores(docs, backing)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if !same(got.Scores, want.Scores) {
			return fmt.Errorf("%s: scores %v, without backing %v", name, got.Scores, want.Scores)
		}
	}
	return nil
}

func scoreNaN(p *probe) error {
	if p.cfg.OpenNaN == nil {
		return skip("Config.OpenNaN is not set")
	}
	m, err := p.another(p.cfg.OpenNaN)
	if err != nil {
		return err
	}
	defer m.Close()
	t, err := task.ScorerOf(m)
	if err != nil {
		return err
	}
	r, err := t.Score(p.ctx, task.ScoreRequest{Query: p.prompt(), Documents: p.documents()})
	if err != nil {
		return err
	}
	if len(r.Scores) != len(p.documents()) || !math.IsNaN(float64(r.Scores[0])) {
		return fmt.Errorf("scores %v; the first is to be NaN", r.Scores)
	}
	return nil
}

func embeddingDescribed(p *probe) error {
	if err := p.need(task.TextToEmbedding); err != nil {
		return err
	}
	t, err := task.EmbedderOf(p.model)
	if err != nil {
		return err
	}
	size := -1
	for _, text := range []string{p.prompt(), "apples"} {
		r, err := t.Embed(p.ctx, task.EmbeddingRequest{Text: text, Settings: p.settings(task.TextToEmbedding)})
		if err != nil {
			return err
		}
		if len(r.Values) == 0 || size >= 0 && len(r.Values) != size {
			return fmt.Errorf("%d values for %q, %d for the text before", len(r.Values), text, size)
		}
		size = len(r.Values)
		if r.Pooling == "" || r.Normalization == "" {
			return fmt.Errorf("pooling %q, normalization %q; neither may be empty", r.Pooling, r.Normalization)
		}
	}
	return nil
}
