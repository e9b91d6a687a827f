//go:build cgo

package native_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native"
	"github.com/trtmc-go/trtmc/native/internal/cabi"
	"github.com/trtmc-go/trtmc/native/reference"
	"github.com/trtmc-go/trtmc/native/task"
)

// entry is a model that several goroutines use, and what the rules need to know of it.
type entry struct {
	model   *native.Model
	closing atomic.Bool // set before Close is called
	closed  atomic.Bool // set when a Close has returned
}

// playground is the shared state of one fuzz run.
type playground struct {
	rt             *native.Runtime
	runtimeClosing atomic.Bool
	runtimeClosed  atomic.Bool
	bundles        [2]string
	mu             sync.Mutex
	entries        [4]*entry
	clips          []task.Video
}

// FuzzCallSequences runs programs of calls from several goroutines and holds every answer against the rules: a call that
// begins after Close has returned gives ErrClosed, one that begins before Close was called does not, nothing crashes,
// and at the end nothing is left.
func FuzzCallSequences(f *testing.F) {
	bundles := [2]string{writeBundle(f, fast(reference.AllParams())), writeBundle(f, faulty(reference.AllParams(), reference.Fault{Kind: reference.FaultFailEvery, Every: 2}))}
	f.Add([]byte{2, 0, 8, 16, 24, 32, 40, 48, 56, 1, 9, 17, 25, 33, 41, 49, 57})
	f.Add([]byte{4, 0, 1, 2, 3, 8, 9, 10, 11, 24, 25, 26, 27, 56, 56, 57, 57, 40, 41, 0, 1, 8})
	f.Add([]byte{3, 64, 0, 72, 48, 40, 80, 88, 8, 16, 96, 104, 0, 8})
	f.Add([]byte{1, 0, 40, 40, 56, 48, 0, 24, 32, 56, 104, 8})
	f.Fuzz(func(t *testing.T, program []byte) {
		if len(program) < 2 || len(program) > 64 {
			return
		}
		before, beforeReference := cabi.Live(), reference.LiveHandles()
		rt, err := native.Open(native.Options{})
		require.NoError(t, err)
		p := &playground{rt: rt, bundles: bundles}
		workers := int(program[0]%4) + 1
		errs := make([]error, workers)
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() {
				for i := 1 + w; i < len(program) && errs[w] == nil; i += workers {
					errs[w] = p.step(program[i])
				}
			})
		}
		wg.Wait()
		require.NoError(t, errors.Join(errs...))
		require.NoError(t, rt.Close())
		for _, v := range p.clips {
			v.Release()
		}
		require.Equal(t, before, cabi.Live())
		require.Equal(t, beforeReference, reference.LiveHandles())
	})
}

// step does one operation: the low bits choose the model, the high bits what happens.
func (p *playground) step(op byte) error {
	slot := int(op % 4)
	p.mu.Lock()
	e := p.entries[slot]
	p.mu.Unlock()
	what := op / 8 % 14
	if e == nil && what != 8 && what != 13 {
		return p.load(slot, op)
	}
	switch what {
	case 0:
		return p.load(slot, op)
	case 1, 2:
		return p.call(e, func() error {
			text, err := task.TextContinuerOf(e.model)
			if err != nil {
				return err
			}
			_, err = text.ContinueText(context.Background(), task.TextRequest{Text: "We the", Settings: few()})
			return err
		})
	case 3, 4, 5:
		return p.stream(e, int(what)-3)
	case 6:
		return p.call(e, func() error {
			scorer, err := task.ScorerOf(e.model)
			if err != nil {
				return err
			}
			_, err = scorer.Score(context.Background(), task.ScoreRequest{Query: "a", Documents: []string{"a", "b"}})
			return err
		})
	case 7, 12:
		e.closing.Store(true)
		err := e.model.Close()
		e.closed.Store(true)
		return err
	case 8:
		return p.readBundle()
	case 9, 10:
		return p.video(e)
	case 11:
		return p.releaseClip()
	}
	p.runtimeClosing.Store(true)
	err := p.rt.Close()
	p.runtimeClosed.Store(true)
	return err
}

func few() task.Settings { return task.Settings{{Name: "max_new_tokens", Value: task.Int(3)}} }

// call holds the outcome of a call on a model against the rules.
func (p *playground) call(e *entry, do func() error) error {
	wasClosed := e.closed.Load() || p.runtimeClosed.Load()
	err := do()
	isClosing := e.closing.Load() || p.runtimeClosing.Load()
	switch {
	case wasClosed && !errors.Is(err, task.ErrClosed):
		return fmt.Errorf("call on a closed model gave %v", err)
	case errors.Is(err, task.ErrClosed) && !isClosing:
		return fmt.Errorf("call on an open model gave %w", err)
	case err != nil && !errors.Is(err, task.ErrClosed) && !errors.Is(err, errFault):
		return fmt.Errorf("call failed: %w", err)
	}
	return nil
}

// errFault is the class of the faults that the second bundle shows.
var errFault = task.ErrInternal

func (p *playground) load(slot int, op byte) error {
	wasClosed := p.runtimeClosed.Load()
	m, err := p.rt.Load(p.bundles[op/4%2], native.LoadOptions{})
	if err != nil {
		if errors.Is(err, task.ErrClosed) && p.runtimeClosing.Load() {
			return nil
		}
		return err
	}
	if wasClosed {
		return errors.New("a closed runtime loaded a model")
	}
	p.mu.Lock()
	old := p.entries[slot]
	p.entries[slot] = &entry{model: m}
	p.mu.Unlock()
	if old != nil && op%3 == 0 { // otherwise the runtime closes it
		old.closing.Store(true)
		return old.model.Close()
	}
	return nil
}

// stream reads a whole stream, stops it from the receiver, or ends its context inside.
func (p *playground) stream(e *entry, how int) error {
	full := errors.New("full")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	return p.call(e, func() error {
		text, err := task.TextStreamerOf(e.model)
		if err != nil {
			return err
		}
		_, err = text.StreamText(ctx, task.TextRequest{Text: "We the", Settings: few()}, func(task.TextDelta) error {
			switch how {
			case 1:
				return full
			case 2:
				cancel()
			}
			return nil
		})
		if errors.Is(err, full) && how == 1 || errors.Is(err, context.Canceled) && how == 2 {
			return nil
		}
		return err
	})
}

func (p *playground) video(e *entry) error {
	return p.call(e, func() error {
		g, err := task.VideoGeneratorOf(e.model)
		if err != nil {
			return err
		}
		v, err := g.GenerateVideo(context.Background(), task.VideoRequest{Prompt: "a", Settings: task.Settings{
			{Name: "width", Value: task.Int(16)}, {Name: "height", Value: task.Int(16)}, {Name: "num_frames", Value: task.Int(2)},
		}})
		if err != nil {
			return err
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.clips = append(p.clips, v)
		return nil
	})
}

func (p *playground) releaseClip() error {
	p.mu.Lock()
	var v task.Video
	if n := len(p.clips); n > 0 {
		v = p.clips[n-1]
	}
	p.mu.Unlock()
	if v == nil {
		return nil
	}
	v.Release()
	if _, err := v.Frame(0); !errors.Is(err, task.ErrReleased) {
		return fmt.Errorf("frame of a released clip gave %v", err)
	}
	return nil
}

func (p *playground) readBundle() error {
	wasClosed := p.runtimeClosed.Load()
	b, err := p.rt.OpenBundle(p.bundles[0])
	if err == nil && wasClosed {
		return errors.New("a closed runtime opened a bundle")
	}
	if err == nil {
		_, err = b.ReadSection(reference.Section)
		err = errors.Join(err, b.Close())
	}
	if errors.Is(err, task.ErrClosed) && p.runtimeClosing.Load() {
		return nil
	}
	return err
}
