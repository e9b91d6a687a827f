package native

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/trtmc-go/trtmc/native/internal/cabi"
	"github.com/trtmc-go/trtmc/native/task"
)

type videoGenerator struct{ h *handle }

func (g videoGenerator) GenerateVideo(ctx context.Context, req task.VideoRequest) (task.Video, error) {
	const id = task.TextToVideo
	if err := g.h.lane.enter(ctx, id); err != nil {
		return nil, err
	}
	defer g.h.lane.leave()
	v, err := g.h.native.Video(cabi.VideoRequest{
		Prompt: req.Prompt, Latents: req.InitialLatents, Settings: g.h.callSettings(req.Settings),
	})
	if err != nil {
		return nil, callError(id, err)
	}
	return videoOut(id, v), nil
}

type batchVideoGenerator struct{ h *handle }

func (g batchVideoGenerator) GenerateVideos(ctx context.Context, reqs []task.VideoRequest) ([]task.Video, error) {
	const id = task.BatchTextToVideo
	if err := g.h.lane.enter(ctx, id); err != nil {
		return nil, err
	}
	defer g.h.lane.leave()
	in := make([]cabi.VideoRequest, len(reqs))
	for i, r := range reqs {
		in[i] = cabi.VideoRequest{Prompt: r.Prompt, Latents: r.InitialLatents, Settings: settingsIn(nil, r.Settings)}
	}
	videos, err := g.h.native.Videos(in)
	if err != nil {
		return nil, callError(id, err)
	}
	out := make([]task.Video, len(videos))
	for i, v := range videos {
		out[i] = videoOut(id, v)
	}
	return out, nil
}

// video lends the frames of a native clip.
type video struct {
	id     task.ID
	native *cabi.Video
	info   task.VideoInfo
	frame  task.Frame // size of every frame
}

func videoOut(id task.ID, v *cabi.Video) *video {
	in := v.Info()
	out := &video{id: id, native: v, frame: task.Frame{Height: in.Height, Width: in.Width, Channels: in.Channels}}
	out.info = task.VideoInfo{Frames: in.Frames, ConditionedPrefix: in.Prefix, Timing: timing(in.Span, in.SetupMS, 0, 0)}
	out.info.Timing.Inference = phase(in.InferenceMS)
	for _, s := range in.TimestampsSeconds {
		out.info.Timestamps = append(out.info.Timestamps, time.Duration(s*float64(time.Second)))
	}
	return out
}

func (v *video) Info() task.VideoInfo { return v.info }

func (v *video) Frame(i int) (task.Frame, error) {
	if i < 0 || i >= v.info.Frames {
		return task.Frame{}, &task.Error{Op: "frame", Task: v.id, Detail: fmt.Sprintf("frame %d of %d", i, v.info.Frames), Err: task.ErrInvalid}
	}
	pixels, err := v.native.Frame(i)
	if errors.Is(err, cabi.ErrReleased) {
		return task.Frame{}, &task.Error{Op: "frame", Task: v.id, Detail: "the clip was given back", Err: task.ErrReleased}
	}
	if err != nil {
		return task.Frame{}, callError(v.id, err)
	}
	f := v.frame
	f.Pixels = pixels
	return f, nil
}

func (v *video) Release() { v.native.Release() }
