package cabi

// #include "shim.h"
import "C"

import (
	"math"
	"sync"
	"time"
	"unsafe"
)

// clip is the native result that one or several videos borrow from.
type clip struct {
	core   *C.trtmc_core_api_v1
	result *C.trtmc_result
	mu     sync.Mutex
	users  int
}

func (c *clip) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.users--; c.users == 0 {
		C.cabi_result_release(c.core, c.result)
	}
}

// Video is a clip in native memory. It outlives its model. Safe for concurrent use.
type Video struct {
	clip   *clip
	info   VideoInfo
	mu     sync.RWMutex
	frames []*C.float // nil after Release
	done   bool
}

// Video makes one text_to_video call.
func (m *Model) Video(req VideoRequest) (*Video, error) {
	f, err := m.begin("text_to_video")
	if err != nil {
		return nil, err
	}
	f.video_in = m.videoIn(&req)
	f.config = m.arena.config(req.Settings)
	start := time.Now()
	C.cabi_video_run(f)
	wall := time.Since(start)
	if err := m.status("run"); err != nil {
		return nil, err
	}
	c := m.takeClip()
	v, err := c.video("run", &f.video_out)
	if err != nil {
		c.leave()
		return nil, err
	}
	v.info.Span = Span{start, wall}
	return v, nil
}

// Videos makes one batch_text_to_video call for all requests, all or nothing.
func (m *Model) Videos(reqs []VideoRequest) ([]*Video, error) {
	const op = "run"
	f, err := m.begin("batch_text_to_video")
	if err != nil {
		return nil, err
	}
	items := array[C.trtmc_batch_text_to_video_item_v1](&m.arena, len(reqs))
	for i := range reqs {
		items[i].input = m.videoIn(&reqs[i])
		items[i].config = m.arena.configView(reqs[i].Settings)
	}
	f.videos_in = C.trtmc_batch_text_to_video_request_v1{items: unsafe.SliceData(items), count: C.uint64_t(len(items))}
	start := time.Now()
	C.cabi_videos_run(f)
	span := Span{start, time.Since(start)}
	if err := m.status(op); err != nil {
		return nil, err
	}
	if uint64(f.count) != uint64(len(reqs)) {
		C.cabi_drop(f)
		return nil, broken(op, "%d clips for %d requests", uint64(f.count), len(reqs))
	}
	return m.items(len(reqs), span)
}

func (m *Model) items(n int, span Span) ([]*Video, error) {
	f := m.frame
	out := make([]*Video, n)
	views := make([]C.trtmc_video_result_view_v1, n)
	for i := range n {
		f.index = C.uint64_t(i)
		C.cabi_videos_item(f)
		if err := m.status("run"); err != nil {
			C.cabi_drop(f)
			return nil, err
		}
		views[i] = f.video_out
	}
	c := m.takeClip()
	defer c.leave()
	for i := range n {
		v, err := c.video("run", &views[i])
		if err != nil {
			for _, made := range out[:i] {
				made.Release()
			}
			return nil, err
		}
		v.info.Span = span
		c.users++
		out[i] = v
	}
	return out, nil
}

func (m *Model) videoIn(req *VideoRequest) C.trtmc_text_to_video_request_v1 {
	in := C.trtmc_text_to_video_request_v1{prompt: m.arena.text(req.Prompt)}
	p, n := copied(&m.arena, req.Latents)
	in.initial_latents = C.trtmc_f32_view{data: (*C.float)(p), size: n}
	return in
}

// takeClip moves the frame's result into a clip with one user.
func (m *Model) takeClip() *clip {
	c := &clip{core: m.lib.core, result: m.frame.result, users: 1}
	m.frame.result = nil
	return c
}

// video checks a view and makes a Video of it, which borrows from c without counting as a user.
func (c *clip) video(op string, v *C.trtmc_video_result_view_v1) (*Video, error) {
	frames, err := borrowed(op, "frames", v.frames, v.frame_count)
	if err != nil {
		return nil, err
	}
	out := &Video{clip: c, frames: make([]*C.float, len(frames))}
	out.info = VideoInfo{Frames: len(frames), SetupMS: float64(v.setup_ms), InferenceMS: float64(v.inference_ms)}
	for i := range frames {
		fr := &frames[i]
		if i == 0 {
			out.info.Height, out.info.Width, out.info.Channels = int(fr.height), int(fr.width), int(fr.channels)
		}
		if err := checkFrame(op, i, fr, &out.info); err != nil {
			return nil, err
		}
		out.frames[i] = fr.pixels
	}
	if uint64(v.conditioned_prefix_frames) > uint64(len(frames)) {
		return nil, broken(op, "%d conditioned frames of %d", uint64(v.conditioned_prefix_frames), len(frames))
	}
	out.info.Prefix = int(v.conditioned_prefix_frames)
	out.info.TimestampsSeconds, err = copyOut[float64](op, "timestamps_seconds", v.timestamps_seconds.data, v.timestamps_seconds.size)
	if err != nil {
		return nil, err
	}
	return out, checkTimestamps(op, out.info.TimestampsSeconds, len(frames))
}

func checkFrame(op string, i int, fr *C.trtmc_image_result_view_v1, want *VideoInfo) error {
	h, w, ch := uint64(fr.height), uint64(fr.width), uint64(fr.channels)
	if h != uint64(want.Height) || w != uint64(want.Width) || ch != uint64(want.Channels) {
		return broken(op, "frame %d is %dx%dx%d and frame 0 is %dx%dx%d (height x width x channels)", i, h, w, ch, want.Height, want.Width, want.Channels)
	}
	if h == 0 || w == 0 || ch == 0 || h*w > math.MaxInt/4/ch {
		return broken(op, "frame %d has the impossible size %dx%dx%d", i, h, w, ch)
	}
	if uint64(fr.pixel_count) != h*w*ch {
		return broken(op, "frame %d has %d samples; %dx%dx%d needs %d", i, uint64(fr.pixel_count), h, w, ch, h*w*ch)
	}
	if fr.pixels == nil {
		return broken(op, "frame %d has %d samples and no data", i, uint64(fr.pixel_count))
	}
	return nil
}

func checkTimestamps(op string, ts []float64, frames int) error {
	if len(ts) != 0 && len(ts) != frames {
		return broken(op, "%d timestamps for %d frames", len(ts), frames)
	}
	for i, t := range ts {
		if math.IsNaN(t) || math.IsInf(t, 0) || i > 0 && t < ts[i-1] {
			return broken(op, "timestamp %d is %v s; timestamps are finite and do not decrease", i, t)
		}
	}
	return nil
}

// Info describes the clip; it stays valid after Release.
func (v *Video) Info() VideoInfo { return v.info }

// Frame returns a view of frame i, which must be in range. The view is valid until Release.
func (v *Video) Frame(i int) ([]float32, error) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if v.done {
		return nil, ErrReleased
	}
	n := v.info.Height * v.info.Width * v.info.Channels
	return unsafe.Slice((*float32)(unsafe.Pointer(v.frames[i])), n), nil
}

// Release gives the native memory back when the last video of the call is released. A second Release does nothing.
func (v *Video) Release() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.done {
		return
	}
	v.done, v.frames = true, nil
	v.clip.leave()
}
