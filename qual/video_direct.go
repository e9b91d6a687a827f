package qual

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/trtmc-go/trtmc/native/task"
	"github.com/trtmc-go/trtmc/trace"
	"github.com/trtmc-go/trtmc/video"
)

// DirectFrames is what one direct Task call gave: one line of direct.jsonl of a video workload.
type DirectFrames struct {
	Schema       int            `json:"schema"`
	RequestID    string         `json:"request_id"`
	Frames       int            `json:"frames"`
	Width        int            `json:"width"`
	Height       int            `json:"height"`
	FramesSHA256 string         `json:"frames_sha256,omitempty"` // as in video.Artifact
	TaskCallNS   int64          `json:"public_task_call_wall_ns"`
	Settings     map[string]any `json:"settings,omitempty"` // as sent to the Task
	BundleSHA256 string         `json:"bundle_sha256"`
	Runtime      string         `json:"runtime"`
	Reference    bool           `json:"reference"`
	Error        string         `json:"error,omitempty"` // why there are no frames
}

// DirectGenerator makes the clips of a workload by direct Task calls, without HTTP. Its model handle should be its
// own, not one of a server's lanes.
type DirectGenerator struct {
	Model        video.Model // gives the generator and the settings, as serving uses them
	Info         task.Info   // of the loaded model
	BundleSHA256 string
}

// Run makes the clips one after another and calls sink with what each came to; the frames themselves are released. A
// Task call that fails is a result with an Error. Run returns an error when ctx ends, an item is not a request for a
// video, or sink fails.
func (d *DirectGenerator) Run(ctx context.Context, items []trace.Item, sink func(DirectFrames) error) error {
	for _, item := range items {
		req, err := video.DecodeJSON(item.Body, video.Limits{})
		if err != nil {
			return fmt.Errorf("generate %q directly: %w", item.RequestID, err)
		}
		out := d.generate(ctx, item.RequestID, req.Spec)
		if err = context.Cause(ctx); err == nil {
			err = sink(out)
		}
		if err != nil {
			return fmt.Errorf("generate %q directly: %w", item.RequestID, err)
		}
	}
	return nil
}

func (d *DirectGenerator) generate(ctx context.Context, id string, spec video.Spec) DirectFrames {
	out := DirectFrames{Schema: DirectSchema, RequestID: id, BundleSHA256: d.BundleSHA256, Runtime: d.Info.Runtime, Reference: d.Info.Reference}
	if err := d.fill(ctx, spec, &out); err != nil {
		out.Error = err.Error()
	}
	return out
}

func (d *DirectGenerator) fill(ctx context.Context, spec video.Spec, out *DirectFrames) error {
	settings, err := d.Model.Settings(spec)
	if err != nil {
		return err
	}
	for _, s := range settings {
		if out.Settings == nil {
			out.Settings = map[string]any{}
		}
		out.Settings[s.Name] = s.Value.Any()
	}
	clip, err := d.Model.Generators[0].GenerateVideo(ctx, task.VideoRequest{Prompt: spec.Prompt, Settings: settings})
	if err != nil {
		return err
	}
	defer clip.Release()
	info := clip.Info()
	out.Frames, out.TaskCallNS = info.Frames, int64(info.Timing.Call)
	if info.Frames == 0 {
		return errors.New("the clip has no frames")
	}
	first, err := clip.Frame(0)
	if err != nil {
		return err
	}
	out.Width, out.Height = first.Width, first.Height
	out.FramesSHA256, err = video.FramesSHA256(clip)
	return err
}

// WriteDirectFrames writes one line of direct.jsonl in one Write.
func WriteDirectFrames(w io.Writer, d DirectFrames) error {
	var line bytes.Buffer
	if err := appendJSONLine(&line, d); err != nil {
		return fmt.Errorf("write direct frames of %q: %w", d.RequestID, err)
	}
	if _, err := w.Write(line.Bytes()); err != nil {
		return fmt.Errorf("write direct frames of %q: %w", d.RequestID, err)
	}
	return nil
}

// parseDirectFrames reads one line of direct.jsonl of a video workload.
func parseDirectFrames(line []byte) (*DirectFrames, error) {
	d := new(DirectFrames)
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(d); err != nil {
		return nil, fmt.Errorf("no frames of a direct call: %w", err)
	}
	switch _, more := dec.Token(); {
	case !errors.Is(more, io.EOF):
		return nil, errors.New("text after the frames; want one JSON object a line")
	case d.Schema != DirectSchema:
		return nil, fmt.Errorf("schema %d, want %d", d.Schema, DirectSchema)
	case d.RequestID == "":
		return nil, errors.New("no request_id")
	}
	return d, nil
}
