package video

import (
	"fmt"
	"math"
	"strconv"

	"github.com/trtmc-go/trtmc/native/task"
)

// Spec is what a clip is asked to be. A zero field, or a nil pointer, was not asked for: the model decides it.
type Spec struct {
	Prompt         string   `json:"prompt"`
	NegativePrompt *string  `json:"negative_prompt,omitempty"`
	Width          int      `json:"width,omitempty"`
	Height         int      `json:"height,omitempty"`
	Frames         int      `json:"num_frames,omitempty"`
	Seconds        float64  `json:"seconds,omitempty"`
	FPS            Rate     `json:"fps,omitzero"`
	Steps          *int64   `json:"num_inference_steps,omitempty"`
	Guidance       *float64 `json:"guidance_scale,omitempty"`
	Seed           *int64   `json:"seed,omitempty"`
}

// Model is one served model. Each generator is one lane: the service runs one job at a time on it. A generator may be
// listed more than once when it is itself safe for that many calls at a time.
type Model struct {
	Name       string                // served name, compared exactly; empty serves every name
	Decl       task.Decl             // what the model declares for text_to_video
	Generators []task.VideoGenerator // at least one
}

// ModelOf returns what loaded models serve under name, one lane each; all are of one bundle, so the first one's
// declaration is that of all. The error is that of [task.VideoGeneratorOf].
func ModelOf(name string, lanes ...task.Model) (Model, error) {
	m := Model{Name: name}
	for i, lane := range lanes {
		g, err := task.VideoGeneratorOf(lane)
		if err != nil {
			return Model{}, fmt.Errorf("serve video of %q, lane %d: %w", name, i, err)
		}
		m.Generators = append(m.Generators, g)
		if i == 0 {
			m.Decl, _ = lane.Info().Decl(task.TextToVideo)
		}
	}
	return m, nil
}

// control is one row of the mapping from a request onto the model's declared settings.
type control struct {
	param string // field of the request
	field string // setting of the Task
	value task.Value
}

// controls lists what s asks for. frames is the number of frames, 0 when it is the model's choice.
func (s Spec) controls(frames int) []control {
	var list []control
	add := func(param, field string, v task.Value) { list = append(list, control{param, field, v}) }
	if s.Width > 0 {
		add("size", "width", task.Int(int64(s.Width)))
		add("size", "height", task.Int(int64(s.Height)))
	}
	if frames > 0 {
		param := "num_frames"
		if s.Frames == 0 {
			param = "seconds"
		}
		add(param, "num_frames", task.Int(int64(frames)))
	}
	if s.FPS.Known() {
		add("fps", "fps", task.Float(s.FPS.Float()))
	}
	if s.Steps != nil {
		add("num_inference_steps", "num_inference_steps", task.Int(*s.Steps))
	}
	if s.Guidance != nil {
		add("guidance_scale", "guidance_scale", task.Float(*s.Guidance))
	}
	if s.Seed != nil {
		add("seed", "seed", task.Int(*s.Seed))
	}
	if s.NegativePrompt != nil {
		add("negative_prompt", "negative_prompt", task.String(*s.NegativePrompt))
	}
	return list
}

// Settings returns the settings of a Task call for s. Only what s asks for is in them. The error is a [*DecodeError]
// that names the field of the request which the model declares no setting for, or whose value does not fit.
func (m Model) Settings(s Spec) (task.Settings, error) {
	frames, err := m.frames(s)
	if err != nil {
		return nil, err
	}
	var out task.Settings
	for _, c := range s.controls(frames) {
		f, ok := m.Decl.Field(c.field)
		if !ok {
			return nil, &DecodeError{Param: c.param, Code: CodeUnsupported, Msg: "the model declares no setting " + c.field + ", so it cannot be asked for this"}
		}
		v, ok := as(c.value, f.Kind)
		if !ok {
			return nil, &DecodeError{Param: c.param, Code: CodeInvalid, Msg: fmt.Sprintf("the model takes %s as %s, got %s", c.field, f.Kind, c.value)}
		}
		out = append(out, task.Setting{Name: c.field, Value: v})
	}
	return out, nil
}

// as converts a number to the declared kind where nothing is lost.
func as(v task.Value, kind task.Kind) (task.Value, bool) {
	switch {
	case v.Kind() == kind:
		return v, true
	case v.Kind() == task.KindInt && kind == task.KindFloat:
		return task.Float(float64(v.Int())), true
	case v.Kind() == task.KindFloat && kind == task.KindInt && v.Float() == math.Trunc(v.Float()) && math.Abs(v.Float()) < 1<<53:
		return task.Int(int64(v.Float())), true
	}
	return task.Value{}, false
}

// rate is the rate that s or the model's declaration states; unknown when neither does.
func (m Model) rate(s Spec) Rate {
	if s.FPS.Known() {
		return s.FPS
	}
	f, _ := m.Decl.Field("fps")
	v, ok := as(f.Default, task.KindFloat)
	if !ok {
		return Rate{}
	}
	r, err := ParseRate(strconv.FormatFloat(v.Float(), 'f', -1, 64))
	if err != nil {
		return Rate{}
	}
	return r
}

// frames applies the rule for seconds: without num_frames the clip has seconds * fps frames, rounded; with num_frames
// that many frames must last that long, where one frame more is allowed because clips often count both ends.
func (m Model) frames(s Spec) (int, error) {
	if s.Seconds == 0 {
		return s.Frames, nil
	}
	rate := m.rate(s)
	if !rate.Known() {
		return 0, &DecodeError{Param: "seconds", Code: CodeUnsupported, Msg: "no frame rate is known to turn this into frames, send num_frames"}
	}
	n := int(math.Round(s.Seconds * rate.Float()))
	switch {
	case n < 1:
		return 0, &DecodeError{Param: "seconds", Code: CodeInvalid, Msg: fmt.Sprintf("less than half a frame at %s frames per second", rate)}
	case s.Frames == 0:
		return n, nil
	case s.Frames != n && s.Frames != n+1:
		return 0, &DecodeError{Param: "seconds", Code: CodeInvalid, Msg: fmt.Sprintf("%d frames at %s frames per second do not last this long, send either num_frames or seconds", s.Frames, rate)}
	}
	return s.Frames, nil
}

// size returns the size as the wire has it, empty when it is the model's choice.
func (s Spec) size() string {
	if s.Width == 0 {
		return ""
	}
	return fmt.Sprintf("%dx%d", s.Width, s.Height)
}
