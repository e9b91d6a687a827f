package tasktest_test

import (
	"context"

	"github.com/trtmc-go/trtmc/native/task"
)

// liar is the fake with one thing wrong. Functions that are nil are honest.
type liar struct {
	*fake
	info   func() task.Info
	lookup func(task.ID) (any, error)
	close  func() error
}

func (l *liar) Info() task.Info {
	if l.info != nil {
		return l.info()
	}
	return l.fake.Info()
}

func (l *liar) Lookup(id task.ID) (any, error) {
	if l.lookup != nil {
		return l.lookup(id)
	}
	return l.fake.Lookup(id)
}

func (l *liar) Close() error {
	if l.close != nil {
		return l.close()
	}
	return l.fake.Close()
}

// replacing makes a liar that has another implementation of one Task.
func replacing(f *fake, id task.ID, impl any) *liar {
	return &liar{fake: f, lookup: func(want task.ID) (any, error) {
		if want == id {
			return impl, nil
		}
		return f.Lookup(want)
	}}
}

type scoreFunc func(context.Context, task.ScoreRequest) (task.ScoreResult, error)

func (f scoreFunc) Score(ctx context.Context, r task.ScoreRequest) (task.ScoreResult, error) {
	return f(ctx, r)
}

type textFunc func(context.Context, task.TextRequest) (task.TextResult, error)

func (f textFunc) ContinueText(ctx context.Context, r task.TextRequest) (task.TextResult, error) {
	return f(ctx, r)
}

type streamFunc func(context.Context, task.TextRequest, func(task.TextDelta) error) (task.TextResult, error)

func (f streamFunc) StreamText(ctx context.Context, r task.TextRequest, emit func(task.TextDelta) error) (task.TextResult, error) {
	return f(ctx, r, emit)
}

type embedFunc func(context.Context, task.EmbeddingRequest) (task.EmbeddingResult, error)

func (f embedFunc) Embed(ctx context.Context, r task.EmbeddingRequest) (task.EmbeddingResult, error) {
	return f(ctx, r)
}

type converseFunc func(context.Context, task.ConversationRequest) (task.ConversationResult, error)

func (f converseFunc) Converse(ctx context.Context, r task.ConversationRequest) (task.ConversationResult, error) {
	return f(ctx, r)
}

type videoFunc func(context.Context, task.VideoRequest) (task.Video, error)

func (f videoFunc) GenerateVideo(ctx context.Context, r task.VideoRequest) (task.Video, error) {
	return f(ctx, r)
}

type keptClip struct{ *fakeClip }

func (keptClip) Release() {}

// scored, continued and streamed make models with one Task changed.
func scored(change func(ctx context.Context, f *fake, r task.ScoreRequest) (task.ScoreResult, error)) func() task.Model {
	return func() task.Model {
		f := newFake()
		return replacing(f, task.TextQueryDocumentsToRelevance, scoreFunc(func(ctx context.Context, r task.ScoreRequest) (task.ScoreResult, error) {
			return change(ctx, f, r)
		}))
	}
}

func continued(change func(ctx context.Context, f *fake, r task.TextRequest) (task.TextResult, error)) func() task.Model {
	return func() task.Model {
		f := newFake()
		return replacing(f, task.TextContinuation, textFunc(func(ctx context.Context, r task.TextRequest) (task.TextResult, error) {
			return change(ctx, f, r)
		}))
	}
}

func streamed(change func(ctx context.Context, f *fake, r task.TextRequest, emit func(task.TextDelta) error) (task.TextResult, error)) func() task.Model {
	return func() task.Model {
		f := newFake()
		return replacing(f, task.StreamingTextContinuation, streamFunc(func(ctx context.Context, r task.TextRequest, emit func(task.TextDelta) error) (task.TextResult, error) {
			return change(ctx, f, r, emit)
		}))
	}
}
