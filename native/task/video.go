package task

import (
	"context"
	"time"
)

// VideoRequest asks for a clip. Size, frame count, steps, seed and guidance are settings that the model declares.
// InitialLatents, when not empty, replays given noise; the model checks its count.
type VideoRequest struct {
	Prompt         string
	InitialLatents []float32
	Settings       Settings
}

// VideoInfo describes a generated clip.
type VideoInfo struct {
	Frames            int             // 0 is legal: another rank of the run owns the output; never serve it as a clip
	ConditionedPrefix int             // leading frames that are context, not generated
	Timestamps        []time.Duration // one per frame, non-decreasing; nil when the model declares no rate: FPS is then unknown
	Timing            Timing
}

// Frame is one picture: rows of interleaved samples, top to bottom. len(Pixels) = Height*Width*Channels.
// Samples are float32, nominally 0..1; clamp and check for finiteness before use.
type Frame struct {
	Pixels   []float32
	Height   int
	Width    int
	Channels int
}

// Video is a clip whose frames are borrowed from the runtime, which may hold more than a gigabyte for it.
//
// Frame returns a view that is valid until Release: do not keep Pixels beyond it. After Release, Frame returns
// ErrReleased. Release is idempotent. A Video outlives its Model. Safe for concurrent use, except that Release must
// not run while Pixels of a frame are still being read.
type Video interface {
	Info() VideoInfo
	Frame(i int) (Frame, error)
	Release()
}

// CopyFrames returns copies of all frames of v, which the caller owns: they stay valid after Release. The copies lie in
// one block of Frames*Height*Width*Channels*4 bytes. It returns the error of the first frame that cannot be read.
func CopyFrames(v Video) ([]Frame, error) {
	frames := make([]Frame, v.Info().Frames)
	var block []float32
	for i := range frames {
		f, err := v.Frame(i)
		if err != nil {
			return nil, err
		}
		if block == nil {
			block = make([]float32, 0, len(frames)*len(f.Pixels))
		}
		from := len(block)
		block = append(block, f.Pixels...)
		f.Pixels = block[from:len(block):len(block)]
		frames[i] = f
	}
	return frames, nil
}

// VideoGenerator is the Task text_to_video.
type VideoGenerator interface {
	// GenerateVideo returns when the native call has ended. The caller must Release the result.
	GenerateVideo(ctx context.Context, req VideoRequest) (Video, error)
}

// BatchVideoGenerator is the Task batch_text_to_video: one native call for all requests, all or nothing.
type BatchVideoGenerator interface {
	// GenerateVideos returns one Video per request in order. The caller must Release each; the native memory is
	// given back when the last is released.
	GenerateVideos(ctx context.Context, reqs []VideoRequest) ([]Video, error)
}
