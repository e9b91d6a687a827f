package inventory

import (
	"bytes"
	_ "embed" // for inventory.json
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/trtmc-go/trtmc/native/task"
)

//go:embed inventory.json
var data []byte

// Scope says why a row is listed.
type Scope string

// The scopes.
const (
	InScope Scope = "in scope" // to be qualified
	Gap     Scope = "gap"      // known, and known not to be qualifiable; Row.Gap says why
	Variant Scope = "variant"  // a named variant of another row, never counted as that row
)

// Inventory is the whole list.
type Inventory struct {
	Schema int   `json:"schema"` // 1
	Rows   []Row `json:"rows"`
}

// Row is one checkpoint for one workload. Empty fields are not pinned by any source.
type Row struct {
	Profile      string    `json:"profile"` // unique
	Scope        Scope     `json:"scope"`
	Of           string    `json:"of,omitempty"`         // for a variant: the profile it is a variant of
	Workload     string    `json:"workload"`             // text-trace, ranking or video
	Checkpoint   string    `json:"checkpoint,omitempty"` // owner/name at its public source
	Revision     string    `json:"revision,omitempty"`
	RevisionNote string    `json:"revision_note,omitempty"`
	Family       string    `json:"family,omitempty"` // the native family, where it is known by name
	Precision    string    `json:"precision,omitempty"`
	Shape        *Shape    `json:"shape,omitempty"`
	MaxTokens    int       `json:"max_sequence_tokens,omitempty"` // prompt and output together
	Steps        int       `json:"steps,omitempty"`
	Guidance     float64   `json:"guidance,omitempty"`
	Seed         *int64    `json:"seed,omitempty"`
	Tasks        []task.ID `json:"tasks"`                   // native Tasks that this module calls for it
	ManifestTask task.ID   `json:"manifest_task,omitempty"` // where the manifest names another one
	Conditions   string    `json:"conditions,omitempty"`
	Gap          string    `json:"gap,omitempty"` // what is missing or not delivered
	Controls     []Control `json:"controls"`
	ControlsNote string    `json:"controls_note,omitempty"`
	Sources      []string  `json:"sources"` // upstream file names and pull requests
}

// Shape is the size of a clip. FPS 0 means that no rate is pinned; it is never inferred.
type Shape struct {
	Width  int     `json:"width"`
	Height int     `json:"height"`
	Frames int     `json:"frames"`
	FPS    float64 `json:"fps,omitempty"`
}

// Control is one setting of a Task as the pinned sources state it. What a bundle declares is in a Reconciliation.
type Control struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"`              // int, float, bool, string, ints, floats, strings
	Default any    `json:"default,omitempty"` // nil: computed by the model, or not known
}

// Load returns the embedded inventory. The error wraps ErrData; with the data of a release it is nil.
func Load() (Inventory, error) { return Parse(data) }

// Parse reads inventory data and checks it. Unknown fields are refused. Errors wrap ErrData.
func Parse(text []byte) (Inventory, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	var inv Inventory
	if err := dec.Decode(&inv); err != nil {
		return Inventory{}, fmt.Errorf("%w: %w", ErrData, err)
	}
	if inv.Schema != 1 {
		return Inventory{}, fmt.Errorf("%w: schema %d, want 1", ErrData, inv.Schema)
	}
	seen := make(map[string]bool)
	var errs []error
	for _, r := range inv.Rows {
		if err := r.check(seen); err != nil {
			errs = append(errs, fmt.Errorf("%w: row %q: %w", ErrData, r.Profile, err))
		}
		seen[r.Profile] = true
	}
	return inv, errors.Join(errs...)
}

func (r *Row) check(seen map[string]bool) error {
	switch {
	case r.Profile == "" || r.Checkpoint == "" && r.Scope != Variant:
		return errors.New("profile and checkpoint are both needed")
	case seen[r.Profile]:
		return errors.New("the profile is listed twice")
	case !slices.Contains([]Scope{InScope, Gap, Variant}, r.Scope):
		return fmt.Errorf("scope %q, want %s, %s or %s", r.Scope, InScope, Gap, Variant)
	case !slices.Contains([]string{"text-trace", "ranking", "video"}, r.Workload):
		return fmt.Errorf("workload %q, want text-trace, ranking or video", r.Workload)
	case r.Scope == InScope && len(r.Revision) != 40:
		return fmt.Errorf("revision %q, want 40 hexadecimal digits", r.Revision)
	case r.Scope != InScope && r.Gap == "":
		return errors.New("the gap is not said")
	case r.Scope == Variant && !seen[r.Of]:
		return fmt.Errorf("variant of %q, want a profile listed above", r.Of)
	case len(r.Tasks) == 0 || len(r.Sources) == 0:
		return errors.New("tasks and sources are both needed")
	}
	return nil
}

// Row returns the row of a profile; the error wraps ErrNoRow.
func (inv Inventory) Row(profile string) (Row, error) {
	for _, r := range inv.Rows {
		if r.Profile == profile {
			return r, nil
		}
	}
	return Row{}, fmt.Errorf("%w: %q", ErrNoRow, profile)
}
