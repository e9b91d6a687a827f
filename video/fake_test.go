package video

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trtmc-go/trtmc/native/task"
)

// scene is a clip of a moving gradient with a moving square: every frame differs from every other one.
type scene struct {
	width, height, frames int
	fps                   float64 // 0: no timestamps
	seed                  uint64
	noise                 float32 // amplitude of white noise
}

func (s scene) frame(i int) task.Frame {
	px := make([]float32, s.width*s.height*3)
	at := float64(i) / 24
	left := int(float64(s.width)*(0.5+0.4*math.Sin(3*at))) - s.width/8
	red := make([]float32, s.width)
	for x := range red {
		red[x] = float32(0.5 + 0.4*math.Sin(4*float64(x)/float64(s.width)+2*at+float64(s.seed)))
	}
	state := uint32(s.seed)*2654435761 + uint32(i) + 1
	for y := range s.height {
		v := float32(y) / float32(s.height)
		green, blue := float32(0.5+0.4*math.Cos(3*float64(v)-at)), v/2+float32(math.Mod(at, 1))/4
		row := px[y*s.width*3 : (y+1)*s.width*3]
		square := y > s.height/3 && y < s.height*2/3
		for x, r := range red {
			p := row[3*x : 3*x+3]
			p[0], p[1], p[2] = r, green, blue+r/4
			if square && x >= left && x < left+s.width/4 {
				p[0], p[1], p[2] = 1-r, 0.9, 0.1
			}
			if s.noise > 0 { // one xorshift step a pixel
				state ^= state << 13
				state ^= state >> 17
				state ^= state << 5
				for c := range p {
					p[c] = min(1, max(0, p[c]+s.noise*(float32(state>>(8*c)&0xff)/255-0.5)))
				}
			}
		}
	}
	return task.Frame{Pixels: px, Width: s.width, Height: s.height, Channels: 3}
}

// fakeVideo is a clip whose frames are made when they are asked for; edit may spoil one.
type fakeVideo struct {
	scene
	info     task.VideoInfo
	edit     func(i int, f *task.Frame)
	released atomic.Bool
}

func (s scene) video() *fakeVideo {
	v := &fakeVideo{scene: s}
	v.info.Frames = s.frames
	if s.fps > 0 {
		for i := range s.frames {
			v.info.Timestamps = append(v.info.Timestamps, time.Duration(math.Round(float64(i)/s.fps*1e9)))
		}
	}
	return v
}

func (v *fakeVideo) Info() task.VideoInfo { return v.info }

func (v *fakeVideo) Frame(i int) (task.Frame, error) {
	if v.released.Load() {
		return task.Frame{}, task.ErrReleased
	}
	f := v.frame(i)
	if v.edit != nil {
		v.edit(i, &f)
	}
	return f, nil
}

func (v *fakeVideo) Release() { v.released.Store(true) }

// fakeGenerator paints the scene that the settings ask for. do, when set, replaces the result.
type fakeGenerator struct {
	defaults scene
	do       func(ctx context.Context, req task.VideoRequest) (task.Video, error)

	mu    sync.Mutex
	calls []task.VideoRequest
}

func (g *fakeGenerator) GenerateVideo(ctx context.Context, req task.VideoRequest) (task.Video, error) {
	g.mu.Lock()
	g.calls = append(g.calls, req)
	g.mu.Unlock()
	if g.do != nil {
		return g.do(ctx, req)
	}
	start := time.Now()
	v := g.paint(req)
	v.info.Timing = task.Timing{Start: start, Call: time.Since(start)}
	return v, nil
}

func (g *fakeGenerator) paint(req task.VideoRequest) *fakeVideo {
	s := g.defaults
	for _, set := range req.Settings {
		switch set.Name {
		case "width":
			s.width = int(set.Value.Int())
		case "height":
			s.height = int(set.Value.Int())
		case "num_frames":
			s.frames = int(set.Value.Int())
		case "fps":
			s.fps = set.Value.Float()
		case "seed":
			s.seed = uint64(set.Value.Int())
		}
	}
	return s.video()
}

func (g *fakeGenerator) called() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.calls)
}

// declared is what the fake generator declares: every control of this package.
func declared() task.Decl {
	return task.Decl{ID: task.TextToVideo, Major: 1, Fields: []task.Field{
		{Name: "width", Kind: task.KindInt, Default: task.Int(64)},
		{Name: "height", Kind: task.KindInt, Default: task.Int(48)},
		{Name: "num_frames", Kind: task.KindInt, Default: task.Int(4)},
		{Name: "fps", Kind: task.KindFloat, Default: task.Float(8)},
		{Name: "num_inference_steps", Kind: task.KindInt, Default: task.Int(4)},
		{Name: "guidance_scale", Kind: task.KindFloat, Default: task.Float(5)},
		{Name: "seed", Kind: task.KindInt, Default: task.Int(0)},
		{Name: "negative_prompt", Kind: task.KindString, Default: task.String("")},
	}}
}

func nan() float32 { return float32(math.NaN()) }
