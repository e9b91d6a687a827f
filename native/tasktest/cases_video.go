package tasktest

import (
	"errors"
	"fmt"

	"github.com/trtmc-go/trtmc/native/task"
)

func videoChecks() []check {
	return []check{
		{Case{"video-frames-uniform", "All frames of a clip have one size and as many samples as it needs; timestamps are absent or one per frame and do not decrease."}, framesUniform},
		{Case{"video-release", "After Release a frame gives an error that is ErrReleased; Release may be called again; Info stays."}, videoRelease},
		{Case{"video-frame-range", "A frame outside the clip gives an error."}, frameRange},
		{Case{"video-outlives-model", "The frames of a clip can be read after the model is closed."}, videoOutlivesModel},
		{Case{"video-batch", "A batch gives one clip per request, each with its own Release; an empty batch is refused as ErrInvalid."}, videoBatch},
	}
}

func (p *probe) clip() (task.Video, error) {
	t, err := task.VideoGeneratorOf(p.model)
	if err != nil {
		return nil, err
	}
	return t.GenerateVideo(p.ctx, task.VideoRequest{Prompt: p.prompt(), Settings: p.settings(task.TextToVideo)})
}

func framesUniform(p *probe) error {
	if err := p.need(task.TextToVideo); err != nil {
		return err
	}
	v, err := p.clip()
	if err != nil {
		return err
	}
	defer v.Release()
	info := v.Info()
	if info.ConditionedPrefix < 0 || info.ConditionedPrefix > info.Frames {
		return fmt.Errorf("%d conditioned frames of %d", info.ConditionedPrefix, info.Frames)
	}
	if n := len(info.Timestamps); n != 0 && n != info.Frames {
		return fmt.Errorf("%d timestamps for %d frames", n, info.Frames)
	}
	for i := 1; i < len(info.Timestamps); i++ {
		if info.Timestamps[i] < info.Timestamps[i-1] {
			return fmt.Errorf("timestamp %d is %v after %v", i, info.Timestamps[i], info.Timestamps[i-1])
		}
	}
	var first task.Frame
	for i := range info.Frames {
		f, err := v.Frame(i)
		if err != nil {
			return err
		}
		if i == 0 {
			first = f
		}
		if f.Height != first.Height || f.Width != first.Width || f.Channels != first.Channels || len(f.Pixels) != f.Height*f.Width*f.Channels {
			return fmt.Errorf("frame %d is %dx%dx%d with %d samples, frame 0 %dx%dx%d", i, f.Height, f.Width, f.Channels, len(f.Pixels), first.Height, first.Width, first.Channels)
		}
	}
	return nil
}

func videoRelease(p *probe) error {
	if err := p.need(task.TextToVideo); err != nil {
		return err
	}
	v, err := p.clip()
	if err != nil {
		return err
	}
	before := fmt.Sprintf("%+v", v.Info())
	v.Release()
	v.Release()
	if v.Info().Frames > 0 {
		_, err = v.Frame(0)
		if err := is(err, task.ErrReleased); err != nil {
			return err
		}
	}
	if after := fmt.Sprintf("%+v", v.Info()); after != before {
		return fmt.Errorf("the Info was %s and is %s", before, after)
	}
	return nil
}

func frameRange(p *probe) error {
	if err := p.need(task.TextToVideo); err != nil {
		return err
	}
	v, err := p.clip()
	if err != nil {
		return err
	}
	defer v.Release()
	for _, i := range []int{-1, v.Info().Frames} {
		if _, err := v.Frame(i); err == nil {
			return fmt.Errorf("frame %d of %d gives no error", i, v.Info().Frames)
		}
	}
	return nil
}

func videoOutlivesModel(p *probe) error {
	if err := p.need(task.TextToVideo); err != nil {
		return err
	}
	v, err := p.clip()
	if err != nil {
		return err
	}
	defer v.Release()
	before, err := task.CopyFrames(v)
	if err != nil {
		return err
	}
	if err := p.model.Close(); err != nil {
		return err
	}
	after, err := task.CopyFrames(v)
	if err != nil {
		return fmt.Errorf("after Close: %w", err)
	}
	if !same(before, after) {
		return errors.New("the frames differ after Close")
	}
	return nil
}

func videoBatch(p *probe) error {
	if err := p.need(task.BatchTextToVideo); err != nil {
		return err
	}
	t, err := task.BatchVideoGeneratorOf(p.model)
	if err != nil {
		return err
	}
	if _, err := t.GenerateVideos(p.ctx, nil); isInvalid(err) != nil {
		return fmt.Errorf("empty batch: %w", isInvalid(err))
	}
	s := p.settings(task.BatchTextToVideo)
	reqs := []task.VideoRequest{{Prompt: "one", Settings: s}, {Prompt: "two", Settings: s}, {Prompt: "three", Settings: s}}
	vs, err := t.GenerateVideos(p.ctx, reqs)
	if err != nil {
		return err
	}
	for _, v := range vs {
		defer v.Release()
	}
	if len(vs) != len(reqs) {
		return fmt.Errorf("%d clips for %d requests", len(vs), len(reqs))
	}
	before, err := task.CopyFrames(vs[2])
	if err != nil {
		return err
	}
	vs[0].Release()
	vs[1].Release()
	after, err := task.CopyFrames(vs[2])
	if err != nil || !same(before, after) {
		return fmt.Errorf("the last clip changed when the others were released (error: %v)", err)
	}
	return nil
}
