package tasktest_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/trtmc-go/trtmc/native/task"
)

// fake is a small honest model in Go with every Task. Its texts, scores and frames are sums of what it was given.
type fake struct {
	mu     sync.Mutex // one call at a time
	state  sync.Mutex
	closed bool
	calls  sync.WaitGroup
	nan    bool
}

func newFake() *fake { return &fake{} }

var allTasks = []task.ID{
	task.TextContinuation, task.StreamingTextContinuation, task.TextConversation, task.StreamingTextConversation,
	task.TextPairToRelevance, task.TextQueryDocumentsToRelevance, task.TextToEmbedding, task.TextToVideo, task.BatchTextToVideo,
}

func (f *fake) Info() task.Info {
	info := task.Info{Runtime: "fake/1", Family: "fake", Backend: "go", BundleTask: "everything"}
	for _, id := range allTasks {
		d := task.Decl{ID: id, Major: 1, Fields: []task.Field{
			{Name: "seed", Kind: task.KindInt, Default: task.Int(-1)},
			{Name: "style", Kind: task.KindString, Default: task.String("plain")},
			{Name: "weight", Kind: task.KindFloat},
		}}
		if strings.Contains(string(id), "continuation") || strings.Contains(string(id), "conversation") {
			d.Fields = append(d.Fields, task.Field{Name: "max_new_tokens", Kind: task.KindInt, Default: task.Int(6)})
		}
		info.Tasks = append(info.Tasks, d)
	}
	return info
}

func (f *fake) Lookup(id task.ID) (any, error) {
	if _, ok := f.Info().Decl(id); !ok {
		return nil, task.Unsupported(id)
	}
	return f, nil
}

func (f *fake) Close() error {
	f.state.Lock()
	f.closed = true
	f.state.Unlock()
	f.calls.Wait()
	return nil
}

// enter checks the settings and takes the model. Call the function it returns when the call is over.
func (f *fake) enter(ctx context.Context, id task.ID, s task.Settings) (func() task.Timing, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	f.state.Lock()
	if f.closed {
		f.state.Unlock()
		return nil, &task.Error{Op: "run", Task: id, Detail: "the model is closed", Err: task.ErrClosed}
	}
	f.calls.Add(1)
	f.state.Unlock()
	if err := f.check(id, s); err != nil {
		f.calls.Done()
		return nil, err
	}
	f.mu.Lock()
	start := time.Now()
	return func() task.Timing {
		defer f.calls.Done()
		defer f.mu.Unlock()
		return task.Timing{Start: start, Call: time.Since(start) + 1}
	}, nil
}

func (f *fake) check(id task.ID, s task.Settings) error {
	d, _ := f.Info().Decl(id)
	seen := map[string]bool{}
	for _, x := range s {
		field, ok := d.Field(x.Name)
		if !ok || seen[x.Name] || field.Kind != x.Value.Kind() {
			return invalid(id, "setting %q of kind %s", x.Name, x.Value.Kind())
		}
		seen[x.Name] = true
	}
	return nil
}

func invalid(id task.ID, format string, args ...any) error {
	return &task.Error{Op: "run", Task: id, Detail: fmt.Sprintf(format, args...), Err: task.ErrInvalid}
}

func sum(parts ...string) uint32 {
	h := fnv.New32a()
	for _, p := range parts {
		_, _ = h.Write([]byte(p))
	}
	return h.Sum32()
}

// tokens makes up an answer; each token is written as one word.
func tokens(prompt string, s task.Settings) []int32 {
	n := int64(6)
	if v, ok := s.Get("max_new_tokens"); ok {
		n = v.Int()
	}
	var ids []int32
	for i := range n {
		ids = append(ids, int32(sum(prompt, fmt.Sprint(i))%1000))
	}
	return ids
}

func words(ids []int32) string {
	var b strings.Builder
	for _, id := range ids {
		fmt.Fprintf(&b, " w%d", id)
	}
	return b.String()
}

func (f *fake) ContinueText(ctx context.Context, req task.TextRequest) (task.TextResult, error) {
	leave, err := f.enter(ctx, task.TextContinuation, req.Settings)
	if err != nil {
		return task.TextResult{}, err
	}
	ids := tokens(req.Text+fmt.Sprint(req.TokenIDs), req.Settings)
	return task.TextResult{Text: words(ids), TokenIDs: ids, Timing: leave()}, nil
}

func (f *fake) StreamText(ctx context.Context, req task.TextRequest, emit func(task.TextDelta) error) (task.TextResult, error) {
	leave, err := f.enter(ctx, task.StreamingTextContinuation, req.Settings)
	if err != nil {
		return task.TextResult{}, err
	}
	ids := tokens(req.Text+fmt.Sprint(req.TokenIDs), req.Settings)
	err = each(ctx, ids, func(id int32) error {
		return emit(task.TextDelta{Text: words([]int32{id}), TokenIDs: []int32{id}})
	})
	timing := leave()
	if err != nil {
		return task.TextResult{}, err
	}
	return task.TextResult{Text: words(ids), TokenIDs: ids, Timing: timing}, nil
}

func each(ctx context.Context, ids []int32, emit func(int32) error) error {
	for _, id := range ids {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := emit(id); err != nil {
			return err
		}
	}
	return nil
}

func (f *fake) Converse(ctx context.Context, req task.ConversationRequest) (task.ConversationResult, error) {
	if err := roles(task.TextConversation, req.Messages); err != nil {
		return task.ConversationResult{}, err
	}
	leave, err := f.enter(ctx, task.TextConversation, req.Settings)
	if err != nil {
		return task.ConversationResult{}, err
	}
	return answer(tokens(fmt.Sprint(req.Messages), req.Settings), leave()), nil
}

func answer(ids []int32, t task.Timing) task.ConversationResult {
	return task.ConversationResult{
		Parts: []task.Part{{Kind: task.PartText, Text: words(ids)}}, TokenIDs: ids, Finish: task.FinishStop, Timing: t,
	}
}

func roles(id task.ID, messages []task.Message) error {
	if len(messages) == 0 {
		return invalid(id, "no messages")
	}
	for _, m := range messages {
		for _, p := range m.Parts {
			tool := p.Kind == task.PartToolResult
			ofAssistant := p.Kind == task.PartReasoning || p.Kind == task.PartToolCall
			if m.Role < task.RoleSystem || m.Role > task.RoleTool || tool != (m.Role == task.RoleTool) ||
				ofAssistant && m.Role != task.RoleAssistant || tool && p.Result.CallID == "" {
				return invalid(id, "part of kind %d in a message of role %d", p.Kind, m.Role)
			}
		}
	}
	return nil
}

func (f *fake) StreamConversation(ctx context.Context, req task.ConversationRequest, emit func(task.ConversationDelta) error) (task.ConversationResult, error) {
	leave, err := f.enter(ctx, task.StreamingTextConversation, req.Settings)
	if err != nil {
		return task.ConversationResult{}, err
	}
	ids := tokens(fmt.Sprint(req.Messages), req.Settings)
	err = each(ctx, ids, func(id int32) error {
		return emit(task.ConversationDelta{Kind: task.PartText, Text: words([]int32{id}), TokenIDs: []int32{id}})
	})
	timing := leave()
	if err != nil {
		return task.ConversationResult{}, err
	}
	return answer(ids, timing), nil
}

func (f *fake) Score(ctx context.Context, req task.ScoreRequest) (task.ScoreResult, error) {
	leave, err := f.enter(ctx, task.TextQueryDocumentsToRelevance, req.Settings)
	if err != nil {
		return task.ScoreResult{}, err
	}
	scores := make([]float32, len(req.Documents))
	for i, d := range req.Documents {
		scores[i] = float32(sum(req.Query, d) % 1000)
	}
	if f.nan && len(scores) > 0 {
		scores[0] = float32(math.NaN())
	}
	return task.ScoreResult{Scores: scores, Kind: task.ScoreLogit, Timing: leave()}, nil
}

func (f *fake) ScorePair(ctx context.Context, req task.PairRequest) (task.PairResult, error) {
	leave, err := f.enter(ctx, task.TextPairToRelevance, req.Settings)
	if err != nil {
		return task.PairResult{}, err
	}
	return task.PairResult{Score: float32(sum(req.Query, req.Document) % 1000), Kind: task.ScoreLogit, Timing: leave()}, nil
}

func (f *fake) Embed(ctx context.Context, req task.EmbeddingRequest) (task.EmbeddingResult, error) {
	leave, err := f.enter(ctx, task.TextToEmbedding, req.Settings)
	if err != nil {
		return task.EmbeddingResult{}, err
	}
	values := []float32{float32(sum(req.Text) % 1000), 1}
	return task.EmbeddingResult{Values: values, Pooling: "sum", Normalization: "none", Timing: leave()}, nil
}

func (f *fake) GenerateVideo(ctx context.Context, req task.VideoRequest) (task.Video, error) {
	leave, err := f.enter(ctx, task.TextToVideo, req.Settings)
	if err != nil {
		return nil, err
	}
	return newClip(req.Prompt, leave()), nil
}

func (f *fake) GenerateVideos(ctx context.Context, reqs []task.VideoRequest) ([]task.Video, error) {
	const id = task.BatchTextToVideo
	var all task.Settings
	if len(reqs) > 0 {
		all = reqs[0].Settings
	}
	leave, err := f.enter(ctx, id, all)
	if err != nil {
		return nil, err
	}
	timing := leave()
	if len(reqs) == 0 {
		return nil, invalid(id, "no requests")
	}
	var out []task.Video
	for _, r := range reqs {
		out = append(out, newClip(r.Prompt, timing))
	}
	return out, nil
}

// fakeClip is three frames of 2x2 with one channel.
type fakeClip struct {
	mu       sync.Mutex
	info     task.VideoInfo
	frames   []task.Frame
	released bool
}

func newClip(prompt string, t task.Timing) *fakeClip {
	c := &fakeClip{info: task.VideoInfo{Frames: 3, Timestamps: []time.Duration{0, 1, 2}, Timing: t}}
	for i := range 3 {
		v := float32(sum(prompt, fmt.Sprint(i))%100) / 100
		c.frames = append(c.frames, task.Frame{Pixels: []float32{v, v, v, v}, Height: 2, Width: 2, Channels: 1})
	}
	return c
}

func (c *fakeClip) Info() task.VideoInfo { return c.info }

func (c *fakeClip) Frame(i int) (task.Frame, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.released {
		return task.Frame{}, task.ErrReleased
	}
	if i < 0 || i >= len(c.frames) {
		return task.Frame{}, invalid(task.TextToVideo, "frame %d", i)
	}
	return c.frames[i], nil
}

func (c *fakeClip) Release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.released = true
}
