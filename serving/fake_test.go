package serving_test

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"github.com/trtmc-go/trtmc/native/task"
)

// fake is a model made of functions; it declares the Tasks whose function is set.
type fake struct {
	fields   []task.Field
	text     func(context.Context, task.TextRequest) (task.TextResult, error)
	stream   func(context.Context, task.TextRequest, func(task.TextDelta) error) (task.TextResult, error)
	talk     func(context.Context, task.ConversationRequest) (task.ConversationResult, error)
	talkLive func(context.Context, task.ConversationRequest, func(task.ConversationDelta) error) (task.ConversationResult, error)
	score    func(context.Context, task.ScoreRequest) (task.ScoreResult, error)
	calls    atomic.Int64
}

func (f *fake) Info() task.Info {
	info := task.Info{Runtime: "fake/1", Family: "fake", Backend: "fake", BundleTask: "text_generation"}
	for _, x := range []struct {
		id  task.ID
		set bool
	}{
		{task.TextContinuation, f.text != nil}, {task.StreamingTextContinuation, f.stream != nil}, {task.TextConversation, f.talk != nil},
		{task.StreamingTextConversation, f.talkLive != nil}, {task.TextQueryDocumentsToRelevance, f.score != nil},
	} {
		if x.set {
			info.Tasks = append(info.Tasks, task.Decl{ID: x.id, Major: 1, Fields: f.fields})
		}
	}
	return info
}

func (f *fake) Lookup(id task.ID) (any, error) {
	if _, ok := f.Info().Decl(id); !ok {
		return nil, task.Unsupported(id)
	}
	switch id {
	case task.TextContinuation:
		return textFunc(f.text), nil
	case task.StreamingTextContinuation:
		return streamFunc(f.stream), nil
	case task.TextConversation:
		return talkFunc(f.talk), nil
	case task.StreamingTextConversation:
		return talkLiveFunc(f.talkLive), nil
	}
	return scoreFunc(f.score), nil
}

func (f *fake) Close() error { return nil }

type (
	textFunc     func(context.Context, task.TextRequest) (task.TextResult, error)
	streamFunc   func(context.Context, task.TextRequest, func(task.TextDelta) error) (task.TextResult, error)
	talkFunc     func(context.Context, task.ConversationRequest) (task.ConversationResult, error)
	talkLiveFunc func(context.Context, task.ConversationRequest, func(task.ConversationDelta) error) (task.ConversationResult, error)
	scoreFunc    func(context.Context, task.ScoreRequest) (task.ScoreResult, error)
)

func (f textFunc) ContinueText(ctx context.Context, r task.TextRequest) (task.TextResult, error) {
	return f(ctx, r)
}

func (f streamFunc) StreamText(ctx context.Context, r task.TextRequest, emit func(task.TextDelta) error) (task.TextResult, error) {
	return f(ctx, r, emit)
}

func (f talkFunc) Converse(ctx context.Context, r task.ConversationRequest) (task.ConversationResult, error) {
	return f(ctx, r)
}

func (f talkLiveFunc) StreamConversation(ctx context.Context, r task.ConversationRequest, emit func(task.ConversationDelta) error) (task.ConversationResult, error) {
	return f(ctx, r, emit)
}

func (f scoreFunc) Score(ctx context.Context, r task.ScoreRequest) (task.ScoreResult, error) {
	return f(ctx, r)
}

// textFields are those of a usual text model.
var textFields = []task.Field{
	{Name: "max_new_tokens", Kind: task.KindInt, Default: task.Int(16)},
	{Name: "temperature", Kind: task.KindFloat, Default: task.Float(1)},
	{Name: "seed", Kind: task.KindInt, Default: task.Int(-1)},
	{Name: "ignore_eos", Kind: task.KindBool, Default: task.Bool(false)},
	{Name: "min_tokens", Kind: task.KindInt, Default: task.Int(0)},
	{Name: "use_chat_template", Kind: task.KindBool, Default: task.Bool(false)},
	{Name: "stop_strings", Kind: task.KindStrings},
	{Name: "bias", Kind: task.KindFloats},
}

// echo continues a prompt with its own words, one token each, as many as max_new_tokens allows and at most four.
func echo(req task.TextRequest) []string {
	words := strings.Fields(req.Text)
	most := int64(16)
	if v, ok := req.Settings.Get("max_new_tokens"); ok {
		most = v.Int()
	}
	return words[:min(len(words), 4, int(most))]
}

func result(start time.Time, words []string) task.TextResult {
	res := task.TextResult{Text: strings.Join(words, ""), Timing: task.Timing{Start: start, Call: time.Since(start), Decode: time.Millisecond}}
	for i := range words {
		res.TokenIDs = append(res.TokenIDs, int32(i))
	}
	return res
}

// echoModel has the continuation Tasks over echo.
func echoModel() *fake {
	f := &fake{fields: textFields}
	f.text = func(_ context.Context, req task.TextRequest) (task.TextResult, error) {
		f.calls.Add(1)
		return result(time.Now(), echo(req)), nil
	}
	f.stream = func(ctx context.Context, req task.TextRequest, emit func(task.TextDelta) error) (task.TextResult, error) {
		f.calls.Add(1)
		start := time.Now()
		words := echo(req)
		for i, w := range words {
			if ctx.Err() != nil {
				return task.TextResult{}, context.Cause(ctx)
			}
			if err := emit(task.TextDelta{Text: w, TokenIDs: []int32{int32(i)}}); err != nil {
				return task.TextResult{}, err
			}
		}
		return result(start, words), nil
	}
	return f
}

// gate is a one-shot model that hands the context of each call to entered and returns when leave is closed or sent to.
func gate() (f *fake, entered chan context.Context, leave chan struct{}) {
	entered, leave = make(chan context.Context, 100), make(chan struct{})
	f = &fake{fields: textFields}
	f.text = func(ctx context.Context, req task.TextRequest) (task.TextResult, error) {
		start := time.Now()
		f.calls.Add(1)
		entered <- ctx
		<-leave
		return result(start, echo(req)), nil
	}
	return f, entered, leave
}
