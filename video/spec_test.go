package video

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/trtmc-go/trtmc/native/task"
)

func ptr[T any](v T) *T { return &v }

func TestEveryControlReachesTheTask(t *testing.T) {
	m := Model{Decl: declared()}
	got, err := m.Settings(Spec{Width: 832, Height: 480, Frames: 17, FPS: Rate{16, 1}, Steps: ptr(int64(30)), Guidance: ptr(0.0),
		Seed: ptr(int64(0)), NegativePrompt: ptr("")})
	require.NoError(t, err)
	require.Equal(t, task.Settings{
		{Name: "width", Value: task.Int(832)}, {Name: "height", Value: task.Int(480)}, {Name: "num_frames", Value: task.Int(17)},
		{Name: "fps", Value: task.Float(16)}, {Name: "num_inference_steps", Value: task.Int(30)}, {Name: "guidance_scale", Value: task.Float(0)},
		{Name: "seed", Value: task.Int(0)}, {Name: "negative_prompt", Value: task.String("")},
	}, got, "zero is not absent")
	got, err = m.Settings(Spec{Prompt: "p"})
	require.NoError(t, err)
	require.Empty(t, got, "what is not asked for is left to the model")
}

func TestUndeclaredControlsAreRefusedByName(t *testing.T) {
	for param, spec := range map[string]Spec{
		"size": {Width: 64, Height: 48}, "num_frames": {Frames: 4}, "fps": {FPS: Rate{8, 1}}, "num_inference_steps": {Steps: ptr(int64(1))},
		"guidance_scale": {Guidance: ptr(1.0)}, "seed": {Seed: ptr(int64(1))}, "negative_prompt": {NegativePrompt: ptr("x")}, "seconds": {Seconds: 2},
	} {
		_, err := Model{}.Settings(spec)
		var refused *DecodeError
		require.ErrorAs(t, err, &refused, param)
		require.Equal(t, param, refused.Param)
		require.Equal(t, CodeUnsupported, refused.Code)
	}
}

func TestValuesFitTheDeclaredKind(t *testing.T) {
	m := Model{Decl: task.Decl{Fields: []task.Field{{Name: "fps", Kind: task.KindInt}, {Name: "seed", Kind: task.KindString}}}}
	got, err := m.Settings(Spec{FPS: Rate{16, 1}})
	require.NoError(t, err)
	require.Equal(t, task.Settings{{Name: "fps", Value: task.Int(16)}}, got)
	_, err = m.Settings(Spec{FPS: Rate{25, 2}})
	require.ErrorContains(t, err, "fps: the model takes fps as int, got 12.5")
	_, err = m.Settings(Spec{Seed: ptr(int64(1))})
	require.ErrorContains(t, err, "seed: the model takes seed as string")
}

func TestSecondsBecomeFrames(t *testing.T) {
	m := Model{Decl: declared()} // its default is 8 fps
	for name, tt := range map[string]struct {
		spec Spec
		want int64
		err  string
	}{
		"default rate":             {Spec{Seconds: 2}, 16, ""},
		"asked rate":               {Spec{Seconds: 2, FPS: Rate{24, 1}}, 48, ""},
		"rounded":                  {Spec{Seconds: 1.1}, 9, ""},
		"agree":                    {Spec{Seconds: 5, FPS: Rate{24, 1}, Frames: 120}, 120, ""},
		"agree, both ends counted": {Spec{Seconds: 5, FPS: Rate{24, 1}, Frames: 121}, 121, ""},
		"disagree":                 {Spec{Seconds: 5, FPS: Rate{24, 1}, Frames: 81}, 0, "81 frames at 24/1 frames per second do not last this long"},
		"less than a frame":        {Spec{Seconds: 0.01}, 0, "less than half a frame"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := m.Settings(tt.spec)
			if tt.err != "" {
				require.ErrorContains(t, err, "seconds: "+tt.err)
				return
			}
			require.NoError(t, err)
			v, ok := got.Get("num_frames")
			require.True(t, ok)
			require.Equal(t, tt.want, v.Int())
		})
	}
	noRate := Model{Decl: task.Decl{Fields: []task.Field{{Name: "num_frames", Kind: task.KindInt}}}}
	_, err := noRate.Settings(Spec{Seconds: 2})
	require.ErrorContains(t, err, "seconds: no frame rate is known")
}

func TestJSONAndFormGiveTheSameRequest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fields := map[string]any{"prompt": rapid.StringMatching(`[a-zA-Z "\\é☃]{0,20}x`).Draw(t, "prompt")}
		for name, values := range map[string][]any{
			"size": {"64x48", "832x480"}, "seconds": {"2", "0.5"}, "fps": {"8", "23.976"}, "num_frames": {"9"}, "seed": {"-1", "7"},
			"num_inference_steps": {"4"}, "guidance_scale": {"5.5", "0"}, "negative_prompt": {"", "blur"}, "model": {"m"}, "user": {"u"},
		} {
			if rapid.Bool().Draw(t, name) {
				fields[name] = rapid.SampledFrom(values).Draw(t, name+" value")
			}
		}
		var pairs []string
		numbers := map[string]any{}
		for name, v := range fields {
			pairs = append(pairs, name, v.(string))
			numbers[name] = v
			switch name {
			case "seconds", "fps", "num_frames", "seed", "num_inference_steps", "guidance_scale":
				numbers[name] = json.Number(v.(string))
			}
		}
		var got []*Request
		for _, in := range []any{fields, numbers, map[string]any{"prompt": fields["prompt"], "extra_body": without(numbers, "prompt")}} {
			body, err := json.Marshal(in)
			if err != nil {
				t.Fatal(err)
			}
			r, err := DecodeJSON(body, Limits{})
			if err != nil {
				t.Fatalf("%s: %v", body, err)
			}
			got = append(got, r)
		}
		body, kind := formOf(t, pairs)
		r, err := DecodeForm(body, kind, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range got {
			require.Equal(t, r, other)
		}
	})
}

func without(m map[string]any, name string) map[string]any {
	out := map[string]any{}
	for k, v := range m {
		if k != name {
			out[k] = v
		}
	}
	return out
}
