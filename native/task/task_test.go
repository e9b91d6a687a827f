package task_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native/task"
)

func TestValueGivesBackItsOwnKindAlone(t *testing.T) {
	rows := []struct {
		v    task.Value
		kind task.Kind
		text string
		any  any
	}{
		{task.Value{}, task.KindNone, "none", nil},
		{task.Int(-3), task.KindInt, "-3", int64(-3)},
		{task.Float(0.5), task.KindFloat, "0.5", 0.5},
		{task.Bool(true), task.KindBool, "true", true},
		{task.Bool(false), task.KindBool, "false", false},
		{task.String("a\n"), task.KindString, `"a\n"`, "a\n"},
		{task.Ints(1, 2), task.KindInts, "[1 2]", []int64{1, 2}},
		{task.Floats(1, 2.5), task.KindFloats, "[1 2.5]", []float64{1, 2.5}},
		{task.Strings("a", ""), task.KindStrings, `["a" ""]`, []string{"a", ""}},
	}
	for _, row := range rows {
		require.Equal(t, row.kind, row.v.Kind(), row.text)
		require.Equal(t, row.text, row.v.String())
		require.Equal(t, row.any, row.v.Any())
	}
	require.Zero(t, task.Bool(true).Int(), "a bool is no integer")
	require.False(t, task.Int(1).Bool(), "an integer is no bool")
	require.Equal(t, "kind(99)", task.Kind(99).String())
}

func TestValuesDoNotShareMemory(t *testing.T) {
	in := []int64{1, 2}
	v := task.Ints(in...)
	in[0] = 9
	v.Ints()[1] = 9
	require.Equal(t, []int64{1, 2}, v.Ints())
}

func TestSettingsKeepAbsentAndZeroApart(t *testing.T) {
	var none task.Settings
	_, set := none.Get("seed")
	require.False(t, set)
	zero := none.With("seed", task.Int(0))
	v, set := zero.Get("seed")
	require.True(t, set)
	require.Equal(t, task.Int(0), v)
	other := zero.With("seed", task.Int(1)).With("top_k", task.Int(2))
	require.Len(t, other, 2)
	v, _ = zero.Get("seed")
	require.Equal(t, task.Int(0), v, "With copies")
}

func TestErrorIsOneLineAndMatchesItsClass(t *testing.T) {
	err := error(&task.Error{Op: "run", Task: task.TextToVideo, Status: 6, Detail: "no device memory", Err: task.ErrResource})
	require.EqualError(t, err, "text_to_video: run: out of resources (native status 6): no device memory")
	require.ErrorIs(t, err, task.ErrResource)
	require.EqualError(t, &task.Error{Op: "load", Err: task.ErrInvalid}, "load: invalid input")
}

// mock declares one Task and has the wrong type for another.
type mock struct{}

func (mock) Info() task.Info {
	return task.Info{Tasks: []task.Decl{{ID: task.TextToEmbedding, Major: 1}}}
}
func (mock) Close() error { return nil }
func (mock) Lookup(id task.ID) (any, error) {
	if id == task.TextToEmbedding {
		return "no embedder", nil
	}
	return nil, task.Unsupported(id)
}

func TestLookupIsTypedAndMayFail(t *testing.T) {
	_, err := task.ScorerOf(mock{})
	require.ErrorIs(t, err, task.ErrUnsupported)
	_, err = task.EmbedderOf(mock{})
	require.ErrorIs(t, err, task.ErrInternal)
	require.ErrorContains(t, err, "implementation has type string")
	_, declared := mock{}.Info().Decl(task.TextToVideo)
	require.False(t, declared)
}

// strip is a clip of given frames.
type strip []task.Frame

func (s strip) Info() task.VideoInfo { return task.VideoInfo{Frames: len(s)} }
func (s strip) Release()             {}
func (s strip) Frame(i int) (task.Frame, error) {
	if s[i].Pixels == nil {
		return task.Frame{}, task.ErrReleased
	}
	return s[i], nil
}

func TestCopiedFramesAreTheCallersOwn(t *testing.T) {
	frame := func(v float32) task.Frame {
		return task.Frame{Pixels: []float32{v, v}, Height: 1, Width: 2, Channels: 1}
	}
	clip := strip{frame(1), frame(2)}
	frames, err := task.CopyFrames(clip)
	require.NoError(t, err)
	require.Equal(t, []task.Frame(clip), frames)
	clip[0].Pixels[0] = 9
	require.EqualValues(t, 1, frames[0].Pixels[0])
	frames[0].Pixels = append(frames[0].Pixels, 7)
	require.EqualValues(t, 2, frames[1].Pixels[0], "frames do not run into one another")

	_, err = task.CopyFrames(strip{frame(1), {}})
	require.True(t, errors.Is(err, task.ErrReleased))
	frames, err = task.CopyFrames(strip{})
	require.NoError(t, err)
	require.Empty(t, frames)
}
