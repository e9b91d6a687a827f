package inventory

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/trtmc-go/trtmc/native/task"
)

// Reconciliation is a row held against what a loaded model declares. Each entry is one sentence.
type Reconciliation struct {
	Profile   string `json:"profile"`
	Runtime   string `json:"runtime"`
	Reference bool   `json:"reference"` // the model is one of the CPU reference runtime, which no checkpoint stands behind
	Family    string `json:"family"`
	// Controls are the settings that the model declares for the row's Tasks, by Task: these are the supported ones.
	Controls map[task.ID][]Control `json:"controls"`
	Agree    []string              `json:"agree"`
	Disagree []string              `json:"disagree"`
}

// Reconcile compares a row with a model: Tasks, family, pinned controls with kind and default, and the defaults that
// correspond to the row's shape, steps, guidance and seed. It changes neither.
func Reconcile(row Row, info task.Info) Reconciliation {
	r := Reconciliation{Profile: row.Profile, Runtime: info.Runtime, Reference: info.Reference, Family: info.Family,
		Controls: map[task.ID][]Control{}, Agree: []string{}, Disagree: []string{}}
	if row.Family != "" {
		r.note(row.Family == info.Family, "the family is "+row.Family, "the family is "+info.Family+", the row says "+row.Family)
	}
	for _, id := range row.Tasks {
		decl, ok := info.Decl(id)
		r.note(ok, "declares "+string(id), "does not declare "+string(id))
		if ok {
			r.declaration(row, decl)
		}
	}
	if row.ManifestTask != "" {
		_, ok := info.Decl(row.ManifestTask)
		r.note(ok, "declares "+string(row.ManifestTask)+", which this module does not call", "does not declare "+string(row.ManifestTask)+", which the manifest names")
	}
	return r
}

func (r *Reconciliation) note(agree bool, yes, no string) {
	if agree {
		r.Agree = append(r.Agree, yes)
	} else {
		r.Disagree = append(r.Disagree, no)
	}
}

func (r *Reconciliation) declaration(row Row, decl task.Decl) {
	list := make([]Control, len(decl.Fields))
	for i, f := range decl.Fields {
		list[i] = Control{Name: f.Name, Kind: f.Kind.String(), Default: f.Default.Any()}
	}
	r.Controls[decl.ID] = list
	for _, want := range row.Controls {
		name := fmt.Sprintf("%s.%s", decl.ID, want.Name)
		f, ok := decl.Field(want.Name)
		switch {
		case !ok:
			r.note(false, "", name+" is not declared")
		case f.Kind.String() != want.Kind:
			r.note(false, "", fmt.Sprintf("%s is of kind %s, pinned as %s", name, f.Kind, want.Kind))
		case want.Default != nil:
			r.equal(name, want.Default, f)
		default:
			r.note(true, name+" is declared", "")
		}
	}
	r.pins(row, decl)
}

// pins compares the model's defaults with the numbers of the row, for the settings that the model declares.
func (r *Reconciliation) pins(row Row, decl task.Decl) {
	pinned := map[string]any{}
	names := []string{"width", "height", "num_frames", "fps", "num_inference_steps", "guidance_scale", "seed"}
	if s := row.Shape; s != nil {
		pinned["width"], pinned["height"], pinned["num_frames"] = s.Width, s.Height, s.Frames
		if s.FPS > 0 {
			pinned["fps"] = s.FPS
		}
	}
	if row.Steps > 0 {
		pinned["num_inference_steps"] = row.Steps
	}
	if row.Guidance > 0 {
		pinned["guidance_scale"] = row.Guidance
	}
	if row.Seed != nil {
		pinned["seed"] = *row.Seed
	}
	for _, name := range names {
		if f, ok := decl.Field(name); ok && pinned[name] != nil && f.Default.Kind() != task.KindNone {
			r.equal(fmt.Sprintf("%s.%s", decl.ID, name), pinned[name], f)
		}
	}
}

func (r *Reconciliation) equal(name string, want any, f task.Field) {
	w, g := plain(want), plain(f.Default.Any())
	if f.Default.Kind() == task.KindNone {
		g = "computed by the model"
	}
	r.note(w == g, fmt.Sprintf("%s defaults to %s", name, w), fmt.Sprintf("%s defaults to %s, pinned as %s", name, g, w))
}

// plain writes a value so that equal numbers read alike whether they came as int, float or JSON.
func plain(v any) string {
	switch v := v.(type) {
	case int:
		return strconv.Itoa(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}
