package tasktest

import (
	"context"
	"errors"
	"fmt"

	"github.com/trtmc-go/trtmc/native/task"
)

// probe is one case at work: a model of its own, and calls on it that every Task can be asked for.
type probe struct {
	cfg   *Config
	ctx   context.Context
	model task.Model
	info  task.Info
}

func (p *probe) open() error {
	m, err := p.another(p.cfg.Open)
	if err != nil {
		return err
	}
	p.model, p.info = m, m.Info()
	return nil
}

func (p *probe) another(open func() (task.Model, error)) (task.Model, error) {
	m, err := open()
	if err != nil {
		return nil, fmt.Errorf("open a model: %w", err)
	}
	return m, nil
}

// need skips the case when a Task is not declared, or cannot be looked up, which the case tasks-declared judges.
func (p *probe) need(ids ...task.ID) error {
	for _, id := range ids {
		if _, ok := p.info.Decl(id); !ok {
			return skip("the model does not declare %s", id)
		}
		if err := p.lookups(id); err != nil {
			return skip("%v", err)
		}
	}
	return nil
}

func (p *probe) lookups(id task.ID) error {
	if look, known := typedLookups()[id]; known {
		return look(p.model)
	}
	return nil
}

func (p *probe) prompt() string {
	if p.cfg.Prompt != "" {
		return p.cfg.Prompt
	}
	return "When in the course of human events"
}

// settings are those of an ordinary call: short and repeatable where the model declares the usual fields.
func (p *probe) settings(id task.ID) task.Settings {
	if s, ok := p.cfg.Settings[id]; ok {
		return s
	}
	d, _ := p.info.Decl(id)
	var s task.Settings
	if f, ok := d.Field("max_new_tokens"); ok && f.Kind == task.KindInt {
		s = s.With(f.Name, task.Int(8))
	}
	if f, ok := d.Field("seed"); ok && f.Kind == task.KindInt {
		s = s.With(f.Name, task.Int(7))
	}
	return s
}

// outcome is what a call of any Task gave, without its timing, in a form that can be compared.
type outcome struct {
	value  any
	timing task.Timing
}

// call makes an ordinary call of one Task on a model with the given settings.
type call struct {
	id task.ID
	do func(ctx context.Context, m task.Model, s task.Settings) (outcome, error)
}

// run makes the ordinary call on the model of the case.
func (c call) run(p *probe) (outcome, error) { return c.do(p.ctx, p.model, p.settings(c.id)) }

// calls lists the ordinary calls of the declared Tasks.
func (p *probe) calls() []call {
	all := []call{
		{task.TextContinuation, p.continueText}, {task.StreamingTextContinuation, p.streamText},
		{task.TextConversation, p.converse}, {task.StreamingTextConversation, p.streamConversation},
		{task.TextQueryDocumentsToRelevance, p.score}, {task.TextPairToRelevance, p.scorePair},
		{task.TextToEmbedding, p.embed}, {task.TextToVideo, p.video}, {task.BatchTextToVideo, p.videos},
	}
	var out []call
	for _, c := range all {
		if p.need(c.id) == nil {
			out = append(out, c)
		}
	}
	return out
}

// each runs check for every declared Task and names the Task in what it returns.
func (p *probe) each(check func(call) error) error {
	var errs []error
	for _, c := range p.calls() {
		if err := check(c); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", c.id, err))
		}
	}
	return errors.Join(errs...)
}

func (p *probe) continueText(ctx context.Context, m task.Model, s task.Settings) (outcome, error) {
	t, err := task.TextContinuerOf(m)
	if err != nil {
		return outcome{}, err
	}
	r, err := t.ContinueText(ctx, task.TextRequest{Text: p.prompt(), Settings: s})
	return textOutcome(r), err
}

func textOutcome(r task.TextResult) outcome {
	o := outcome{timing: r.Timing}
	r.Timing = task.Timing{}
	o.value = r
	return o
}

func (p *probe) streamText(ctx context.Context, m task.Model, s task.Settings) (outcome, error) {
	t, err := task.TextStreamerOf(m)
	if err != nil {
		return outcome{}, err
	}
	r, err := t.StreamText(ctx, task.TextRequest{Text: p.prompt(), Settings: s}, func(task.TextDelta) error { return nil })
	return textOutcome(r), err
}

func (p *probe) conversation(s task.Settings) task.ConversationRequest {
	return task.ConversationRequest{
		Messages: []task.Message{{Role: task.RoleUser, Parts: []task.Part{{Kind: task.PartText, Text: p.prompt()}}}},
		Settings: s,
	}
}

func (p *probe) converse(ctx context.Context, m task.Model, s task.Settings) (outcome, error) {
	t, err := task.ConverserOf(m)
	if err != nil {
		return outcome{}, err
	}
	r, err := t.Converse(ctx, p.conversation(s))
	return conversationOutcome(r), err
}

func conversationOutcome(r task.ConversationResult) outcome {
	o := outcome{timing: r.Timing}
	r.Timing = task.Timing{}
	o.value = r
	return o
}

func (p *probe) streamConversation(ctx context.Context, m task.Model, s task.Settings) (outcome, error) {
	t, err := task.ConversationStreamerOf(m)
	if err != nil {
		return outcome{}, err
	}
	r, err := t.StreamConversation(ctx, p.conversation(s), func(task.ConversationDelta) error { return nil })
	return conversationOutcome(r), err
}

// documents are short texts of which some are nearer to the prompt than others.
func (p *probe) documents() []string {
	return []string{"a list of fruit: apples, pears", p.prompt() + ", it becomes necessary", "the course of a river", "nothing of the kind"}
}

func (p *probe) score(ctx context.Context, m task.Model, s task.Settings) (outcome, error) {
	t, err := task.ScorerOf(m)
	if err != nil {
		return outcome{}, err
	}
	r, err := t.Score(ctx, task.ScoreRequest{Query: p.prompt(), Documents: p.documents(), Settings: s})
	o := outcome{timing: r.Timing}
	r.Timing = task.Timing{}
	o.value = r
	return o, err
}

func (p *probe) scorePair(ctx context.Context, m task.Model, s task.Settings) (outcome, error) {
	t, err := task.PairScorerOf(m)
	if err != nil {
		return outcome{}, err
	}
	r, err := t.ScorePair(ctx, task.PairRequest{Query: p.prompt(), Document: p.documents()[1], Settings: s})
	o := outcome{timing: r.Timing}
	r.Timing = task.Timing{}
	o.value = r
	return o, err
}

func (p *probe) embed(ctx context.Context, m task.Model, s task.Settings) (outcome, error) {
	t, err := task.EmbedderOf(m)
	if err != nil {
		return outcome{}, err
	}
	r, err := t.Embed(ctx, task.EmbeddingRequest{Text: p.prompt(), Settings: s})
	o := outcome{timing: r.Timing}
	r.Timing = task.Timing{}
	o.value = r
	return o, err
}

func (p *probe) video(ctx context.Context, m task.Model, s task.Settings) (outcome, error) {
	t, err := task.VideoGeneratorOf(m)
	if err != nil {
		return outcome{}, err
	}
	v, err := t.GenerateVideo(ctx, task.VideoRequest{Prompt: p.prompt(), Settings: s})
	if err != nil {
		return outcome{}, err
	}
	defer v.Release()
	return videoOutcome(v)
}

func (p *probe) videos(ctx context.Context, m task.Model, s task.Settings) (outcome, error) {
	t, err := task.BatchVideoGeneratorOf(m)
	if err != nil {
		return outcome{}, err
	}
	vs, err := t.GenerateVideos(ctx, []task.VideoRequest{{Prompt: p.prompt(), Settings: s}, {Prompt: p.prompt() + " again", Settings: s}})
	if err != nil {
		return outcome{}, err
	}
	var all outcome
	var values []any
	for _, v := range vs {
		o, frameErr := videoOutcome(v)
		err = errors.Join(err, frameErr)
		all.timing = o.timing
		values = append(values, o.value)
		v.Release()
	}
	all.value = values
	return all, err
}

// clip is a video copied out of native memory.
type clip struct {
	Info   task.VideoInfo
	Frames []task.Frame
}

func videoOutcome(v task.Video) (outcome, error) {
	c := clip{Info: v.Info()}
	o := outcome{timing: c.Info.Timing}
	c.Info.Timing = task.Timing{}
	var err error
	c.Frames, err = task.CopyFrames(v)
	o.value = c
	return o, err
}
