package tasktest_test

import (
	"context"
	"slices"

	"github.com/trtmc-go/trtmc/native/task"
)

// Models that break a rule of scores, embeddings, conversations or clips.

func scoreLiars() map[string]func() task.Model {
	return map[string]func() task.Model{
		"score-per-document": scored(func(ctx context.Context, f *fake, r task.ScoreRequest) (task.ScoreResult, error) {
			var once []string
			for _, d := range r.Documents {
				if !slices.Contains(once, d) {
					once = append(once, d)
				}
			}
			r.Documents = once
			return f.Score(ctx, r)
		}),
		"score-order": scored(func(ctx context.Context, f *fake, r task.ScoreRequest) (task.ScoreResult, error) {
			res, err := f.Score(ctx, r)
			slices.Sort(res.Scores)
			return res, err
		}),
		"score-empty-list": scored(func(ctx context.Context, f *fake, r task.ScoreRequest) (task.ScoreResult, error) {
			if len(r.Documents) == 0 {
				return task.ScoreResult{}, invalid(task.TextQueryDocumentsToRelevance, "no documents")
			}
			return f.Score(ctx, r)
		}),
		"score-backing": scored(func(ctx context.Context, f *fake, r task.ScoreRequest) (task.ScoreResult, error) {
			res, err := f.Score(ctx, r)
			if r.Backing != "" {
				clear(res.Scores)
			}
			return res, err
		}),
		"embedding-described": func() task.Model {
			f := newFake()
			return replacing(f, task.TextToEmbedding, embedFunc(func(ctx context.Context, r task.EmbeddingRequest) (task.EmbeddingResult, error) {
				res, err := f.Embed(ctx, r)
				res.Pooling = ""
				return res, err
			}))
		},
	}
}

func answerLiars() map[string]func() task.Model {
	return map[string]func() task.Model{
		"conversation-answer": func() task.Model {
			f := newFake()
			return replacing(f, task.TextConversation, converseFunc(func(ctx context.Context, r task.ConversationRequest) (task.ConversationResult, error) {
				res, err := f.Converse(ctx, r)
				res.OtherFinish = "because"
				return res, err
			}))
		},
		"conversation-roles": func() task.Model {
			f := newFake()
			return replacing(f, task.TextConversation, converseFunc(func(ctx context.Context, r task.ConversationRequest) (task.ConversationResult, error) {
				for i := range r.Messages {
					r.Messages[i].Role = task.RoleAssistant
				}
				return f.Converse(ctx, r)
			}))
		},
		"video-frames-uniform": func() task.Model {
			f := newFake()
			return replacing(f, task.TextToVideo, videoFunc(func(ctx context.Context, r task.VideoRequest) (task.Video, error) {
				v, err := f.GenerateVideo(ctx, r)
				if err == nil {
					c := v.(*fakeClip)
					c.frames[2].Height, c.frames[2].Pixels = 1, c.frames[2].Pixels[:2]
				}
				return v, err
			}))
		},
		"video-release": func() task.Model {
			f := newFake()
			return replacing(f, task.TextToVideo, videoFunc(func(ctx context.Context, r task.VideoRequest) (task.Video, error) {
				v, err := f.GenerateVideo(ctx, r)
				if err != nil {
					return nil, err
				}
				return keptClip{v.(*fakeClip)}, nil
			}))
		},
	}
}
