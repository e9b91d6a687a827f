package tasktest

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"github.com/trtmc-go/trtmc/native/task"
)

func textChecks() []check {
	return []check{
		{Case{"text-length-limit", "No more tokens come out than max_new_tokens says."}, textLimit},
		{Case{"text-of-any-content", "Empty, long and odd texts (NUL, several scripts) are answered or refused as ErrInvalid, and the model still works afterwards."}, anyContent},
		{Case{"input-not-kept", "What the caller does to its input after a call changes neither that call's result nor the next call's."}, inputNotKept},
	}
}

func textLimit(p *probe) error {
	if err := p.need(task.TextContinuation); err != nil {
		return err
	}
	d, _ := p.info.Decl(task.TextContinuation)
	if f, ok := d.Field("max_new_tokens"); !ok || f.Kind != task.KindInt {
		return skip("the model declares no max_new_tokens")
	}
	for _, limit := range []int64{1, 3} {
		o, err := p.continueText(p.ctx, p.model, p.settings(task.TextContinuation).With("max_new_tokens", task.Int(limit)))
		if err != nil {
			return err
		}
		if n := len(o.value.(task.TextResult).TokenIDs); int64(n) > limit {
			return fmt.Errorf("%d tokens with max_new_tokens %d", n, limit)
		}
	}
	return nil
}

// anyContent asks with hard texts. What a model makes of them is its own; that it survives them is not.
func anyContent(p *probe) error {
	long := p.cfg.LongText
	if long == 0 {
		long = 1 << 20
	}
	texts := map[string]string{
		"empty": "", "NUL": "before\x00after", "scripts": "Grüße, 世界, мир, שלום 🙂", "long": strings.Repeat("a long text ", long/12+1)[:long],
	}
	return p.each(func(c call) error {
		var errs []error
		for name, text := range texts {
			if err := fine(p.ask(c.id, text)); err != nil {
				errs = append(errs, fmt.Errorf("%s text: %w", name, err))
			}
		}
		if _, err := c.run(p); err != nil {
			errs = append(errs, fmt.Errorf("ordinary call afterwards: %w", err))
		}
		return errors.Join(errs...)
	})
}

// ask makes the ordinary call of a Task with another text everywhere.
func (p *probe) ask(id task.ID, text string) error {
	s := p.settings(id)
	switch id {
	case task.TextQueryDocumentsToRelevance:
		t, err := task.ScorerOf(p.model)
		if err != nil {
			return err
		}
		_, err = t.Score(p.ctx, task.ScoreRequest{Query: text, Documents: []string{text, ""}, Settings: s})
		return err
	case task.TextPairToRelevance:
		t, err := task.PairScorerOf(p.model)
		if err != nil {
			return err
		}
		_, err = t.ScorePair(p.ctx, task.PairRequest{Query: text, Document: text, Settings: s})
		return err
	case task.TextContinuation:
		t, err := task.TextContinuerOf(p.model)
		if err != nil {
			return err
		}
		_, err = t.ContinueText(p.ctx, task.TextRequest{Text: text, Settings: s})
		return err
	case task.TextToEmbedding:
		t, err := task.EmbedderOf(p.model)
		if err != nil {
			return err
		}
		_, err = t.Embed(p.ctx, task.EmbeddingRequest{Text: text, Role: task.EmbedQuery, Settings: s})
		return err
	}
	return nil
}

// inputNotKept overwrites the caller's memory between and after calls.
func inputNotKept(p *probe) error {
	return errors.Join(p.tokensNotKept(), p.documentsNotKept())
}

func (p *probe) tokensNotKept() error {
	if p.need(task.TextContinuation) != nil {
		return nil
	}
	o, err := p.continueText(p.ctx, p.model, p.settings(task.TextContinuation))
	if err != nil {
		return err
	}
	ids := o.value.(task.TextResult).TokenIDs
	if len(ids) == 0 {
		return nil
	}
	t, err := task.TextContinuerOf(p.model)
	if err != nil {
		return err
	}
	buffer := append([]int32(nil), ids...)
	r, err := t.ContinueText(p.ctx, task.TextRequest{TokenIDs: buffer, Settings: p.settings(task.TextContinuation)})
	if err != nil {
		return fine(err)
	}
	before := fmt.Sprint(r.TokenIDs)
	clear(buffer)
	if after := fmt.Sprint(r.TokenIDs); after != before {
		return fmt.Errorf("the result's token ids %s became %s when the caller's prefix was overwritten", before, after)
	}
	return nil
}

// documentsNotKept reuses one buffer for the documents of two calls, as a server does with its request bodies.
func (p *probe) documentsNotKept() error {
	if p.need(task.TextQueryDocumentsToRelevance) != nil {
		return nil
	}
	t, err := task.ScorerOf(p.model)
	if err != nil {
		return err
	}
	texts := []string{"the course of human events", "apples and pears and plums"}
	buffer := make([]byte, len(texts[0]))
	score := func(text string) (task.ScoreResult, error) {
		copy(buffer, text)
		doc := unsafe.String(&buffer[0], len(buffer)) // read only during the call
		return t.Score(p.ctx, task.ScoreRequest{Query: p.prompt(), Documents: []string{doc}, Settings: p.settings(task.TextQueryDocumentsToRelevance)})
	}
	first, err := score(texts[0])
	if err != nil {
		return err
	}
	kept := append([]float32(nil), first.Scores...)
	second, err := score(texts[1])
	if err != nil {
		return err
	}
	fresh, err := t.Score(p.ctx, task.ScoreRequest{Query: p.prompt(), Documents: texts[1:], Settings: p.settings(task.TextQueryDocumentsToRelevance)})
	if err != nil {
		return err
	}
	if !same(first.Scores, kept) {
		return fmt.Errorf("the scores %v became %v when the documents' memory was used again", kept, first.Scores)
	}
	if !same(second.Scores, fresh.Scores) {
		return fmt.Errorf("a document in reused memory scored %v, the same text elsewhere %v", second.Scores, fresh.Scores)
	}
	return nil
}
