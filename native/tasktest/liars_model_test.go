package tasktest_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/trtmc-go/trtmc/native/task"
)

// Models that break a rule of the model itself, of settings or of results.

func modelLiars() map[string]func() task.Model {
	return map[string]func() task.Model{
		"info-stable": func() task.Model {
			f := newFake()
			shared := f.Info()
			return &liar{fake: f, info: func() task.Info { return shared }}
		},
		"tasks-declared": func() task.Model { return replacing(newFake(), task.TextToVideo, "not a generator") },
		"undeclared-task-unsupported": func() task.Model {
			f := newFake()
			return &liar{fake: f, lookup: func(id task.ID) (any, error) {
				if impl, err := f.Lookup(id); err == nil {
					return impl, nil
				}
				return nil, invalid(id, "no such task")
			}}
		},
		"fields-declared": func() task.Model {
			f := newFake()
			return &liar{fake: f, info: func() task.Info {
				info := f.Info()
				info.Tasks[0].Fields = append(info.Tasks[0].Fields, info.Tasks[0].Fields[2])
				return info
			}}
		},
		"close-twice": func() task.Model {
			f := newFake()
			var closed atomic.Bool
			return &liar{fake: f, close: func() error {
				if closed.Swap(true) {
					return task.ErrClosed
				}
				return f.Close()
			}}
		},
		"call-after-close": func() task.Model {
			f := newFake()
			return &liar{fake: f, close: func() error { f.calls.Wait(); return nil }}
		},
		"close-waits": func() task.Model {
			f := newFake()
			return &liar{fake: f, close: func() error {
				f.state.Lock()
				defer f.state.Unlock()
				f.closed = true
				return nil
			}}
		},
	}
}

func settingLiars() map[string]func() task.Model {
	return map[string]func() task.Model{
		"undeclared-setting-refused": continued(func(ctx context.Context, f *fake, r task.TextRequest) (task.TextResult, error) {
			r.Settings = slices.DeleteFunc(slices.Clone(r.Settings), func(s task.Setting) bool { return s.Name == "no_such_setting" })
			return f.ContinueText(ctx, r)
		}),
		"doubled-setting-refused": continued(func(ctx context.Context, f *fake, r task.TextRequest) (task.TextResult, error) {
			var once task.Settings
			for _, s := range r.Settings {
				once = once.With(s.Name, s.Value)
			}
			r.Settings = once
			return f.ContinueText(ctx, r)
		}),
		"wrong-kind-refused": continued(func(ctx context.Context, f *fake, r task.TextRequest) (task.TextResult, error) {
			r.Settings = slices.Clone(r.Settings)
			for i, s := range r.Settings {
				if s.Name == "weight" && s.Value.Kind() == task.KindString {
					r.Settings[i].Value = task.Float(1)
				}
			}
			return f.ContinueText(ctx, r)
		}),
		"default-equals-absent": continued(func(ctx context.Context, f *fake, r task.TextRequest) (task.TextResult, error) {
			if _, ok := r.Settings.Get("style"); ok {
				r.Text += "in style"
			}
			return f.ContinueText(ctx, r)
		}),
		"absent-is-not-zero": continued(func(ctx context.Context, f *fake, r task.TextRequest) (task.TextResult, error) {
			if v, ok := r.Settings.Get("max_new_tokens"); ok && v.Kind() == task.KindInt && v.Int() == 0 {
				r.Settings = nil
			}
			return f.ContinueText(ctx, r)
		}),
		"error-says-what": scored(func(ctx context.Context, f *fake, r task.ScoreRequest) (task.ScoreResult, error) {
			res, err := f.Score(ctx, r)
			if errors.Is(err, task.ErrInvalid) {
				err = task.ErrInvalid
			}
			return res, err
		}),
		"text-length-limit": continued(func(ctx context.Context, f *fake, r task.TextRequest) (task.TextResult, error) {
			if v, ok := r.Settings.Get("max_new_tokens"); ok && v.Int() == 3 {
				r.Settings = r.Settings.With("max_new_tokens", task.Int(4))
			}
			return f.ContinueText(ctx, r)
		}),
		"input-not-kept": continued(func(ctx context.Context, f *fake, r task.TextRequest) (task.TextResult, error) {
			res, err := f.ContinueText(ctx, r)
			if err == nil && r.TokenIDs != nil {
				res.TokenIDs = r.TokenIDs
			}
			return res, err
		}),
	}
}
