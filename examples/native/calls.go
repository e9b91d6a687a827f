package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/trtmc-go/trtmc/native/task"
)

const prompt = "When in the course of human events"

// caller makes one small call of a Task and says what came out, without times.
type caller func(ctx context.Context, m task.Model, d task.Decl) (string, task.Timing, error)

func calls() map[task.ID]caller {
	return map[task.ID]caller{
		task.TextContinuation:              continueText,
		task.StreamingTextContinuation:     streamText,
		task.TextConversation:              converse,
		task.StreamingTextConversation:     streamConversation,
		task.TextPairToRelevance:           scorePair,
		task.TextQueryDocumentsToRelevance: score,
		task.TextToEmbedding:               embed,
		task.TextToVideo:                   generate,
		task.BatchTextToVideo:              generateTwo,
	}
}

// short asks for few tokens where the Task can be asked for that.
func short(d task.Decl) task.Settings {
	if f, ok := d.Field("max_new_tokens"); ok && f.Kind == task.KindInt {
		return task.Settings{{Name: f.Name, Value: task.Int(16)}}
	}
	return nil
}

func continueText(ctx context.Context, m task.Model, d task.Decl) (string, task.Timing, error) {
	t, err := task.TextContinuerOf(m)
	if err != nil {
		return "", task.Timing{}, err
	}
	r, err := t.ContinueText(ctx, task.TextRequest{Text: prompt, Settings: short(d)})
	return fmt.Sprintf("%d tokens: %q", len(r.TokenIDs), r.Text), r.Timing, err
}

func streamText(ctx context.Context, m task.Model, d task.Decl) (string, task.Timing, error) {
	t, err := task.TextStreamerOf(m)
	if err != nil {
		return "", task.Timing{}, err
	}
	deltas := 0
	r, err := t.StreamText(ctx, task.TextRequest{Text: prompt, Settings: short(d)}, func(task.TextDelta) error { deltas++; return nil })
	return fmt.Sprintf("%d tokens in %d deltas: %q", len(r.TokenIDs), deltas, r.Text), r.Timing, err
}

func question(d task.Decl) task.ConversationRequest {
	return task.ConversationRequest{
		Messages: []task.Message{{Role: task.RoleUser, Parts: []task.Part{{Kind: task.PartText, Text: "What is self-evident?"}}}},
		Settings: short(d),
	}
}

func converse(ctx context.Context, m task.Model, d task.Decl) (string, task.Timing, error) {
	t, err := task.ConverserOf(m)
	if err != nil {
		return "", task.Timing{}, err
	}
	r, err := t.Converse(ctx, question(d))
	return answer(r), r.Timing, err
}

func streamConversation(ctx context.Context, m task.Model, d task.Decl) (string, task.Timing, error) {
	t, err := task.ConversationStreamerOf(m)
	if err != nil {
		return "", task.Timing{}, err
	}
	deltas := 0
	r, err := t.StreamConversation(ctx, question(d), func(task.ConversationDelta) error { deltas++; return nil })
	return fmt.Sprintf("%d deltas, %s", deltas, answer(r)), r.Timing, err
}

func answer(r task.ConversationResult) string {
	var text strings.Builder
	for _, p := range r.Parts {
		text.WriteString(p.Text)
	}
	return fmt.Sprintf("%d parts, finish reason %d: %q", len(r.Parts), r.Finish, text.String())
}

func scorePair(ctx context.Context, m task.Model, _ task.Decl) (string, task.Timing, error) {
	t, err := task.PairScorerOf(m)
	if err != nil {
		return "", task.Timing{}, err
	}
	r, err := t.ScorePair(ctx, task.PairRequest{Query: prompt, Document: "In the course of a day"})
	return fmt.Sprintf("%v (%s)", r.Score, r.Kind), r.Timing, err
}

func score(ctx context.Context, m task.Model, _ task.Decl) (string, task.Timing, error) {
	t, err := task.ScorerOf(m)
	if err != nil {
		return "", task.Timing{}, err
	}
	r, err := t.Score(ctx, task.ScoreRequest{Query: prompt, Documents: []string{"In the course of a day", "human events", "fruit"}})
	return fmt.Sprintf("%v (%s)", r.Scores, r.Kind), r.Timing, err
}

func embed(ctx context.Context, m task.Model, _ task.Decl) (string, task.Timing, error) {
	t, err := task.EmbedderOf(m)
	if err != nil {
		return "", task.Timing{}, err
	}
	r, err := t.Embed(ctx, task.EmbeddingRequest{Text: prompt, Role: task.EmbedQuery})
	return fmt.Sprintf("%d values, space %q, pooling %q, normalization %q", len(r.Values), r.Space, r.Pooling, r.Normalization), r.Timing, err
}

func generate(ctx context.Context, m task.Model, _ task.Decl) (string, task.Timing, error) {
	t, err := task.VideoGeneratorOf(m)
	if err != nil {
		return "", task.Timing{}, err
	}
	v, err := t.GenerateVideo(ctx, task.VideoRequest{Prompt: "a red ball over blue water"})
	if err != nil {
		return "", task.Timing{}, err
	}
	defer v.Release()
	text, err := clip(v)
	return text, v.Info().Timing, err
}

func generateTwo(ctx context.Context, m task.Model, _ task.Decl) (string, task.Timing, error) {
	t, err := task.BatchVideoGeneratorOf(m)
	if err != nil {
		return "", task.Timing{}, err
	}
	vs, err := t.GenerateVideos(ctx, []task.VideoRequest{{Prompt: "a red ball"}, {Prompt: "blue water"}})
	if err != nil {
		return "", task.Timing{}, err
	}
	var texts []string
	for _, v := range vs {
		defer v.Release()
		text, err := clip(v)
		if err != nil {
			return "", task.Timing{}, err
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "; "), vs[0].Info().Timing, nil
}

// clip describes a clip: the mean sample tells two of them apart.
func clip(v task.Video) (string, error) {
	info := v.Info()
	if info.Frames == 0 {
		return "no frames: another rank owns the output", nil
	}
	var size task.Frame
	var sum float64
	var n int
	for i := range info.Frames {
		f, err := v.Frame(i)
		if err != nil {
			return "", err
		}
		for _, x := range f.Pixels {
			sum += float64(x)
		}
		n += len(f.Pixels)
		size = f
	}
	text := fmt.Sprintf("%d frames of %dx%dx%d, mean sample %.6f", info.Frames, size.Width, size.Height, size.Channels, sum/float64(n))
	if k := len(info.Timestamps); k > 0 {
		text += fmt.Sprintf(", last at %v", info.Timestamps[k-1].Round(time.Microsecond))
	}
	return text, nil
}

// timingText lists the parts of a call that are known.
func timingText(t task.Timing) string {
	text := fmt.Sprintf("call %v", t.Call.Round(time.Microsecond))
	for _, p := range []struct {
		name string
		d    time.Duration
	}{{"setup", t.Setup}, {"prefill", t.Prefill}, {"decode", t.Decode}, {"inference", t.Inference}} {
		if p.d > 0 {
			text += fmt.Sprintf(", %s %v", p.name, p.d.Round(time.Microsecond))
		}
	}
	return text
}
