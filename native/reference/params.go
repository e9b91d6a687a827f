package reference

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/trtmc-go/trtmc/native/bundle"
)

const (
	// Backend is the backend word in the header of every bundle of this runtime.
	Backend = "reference"
	// Section is the name of the bundle section that holds the parameters as JSON.
	Section = "reference.json"
)

// Params is what a bundle of the reference runtime carries: which Tasks it declares, with which settings and sizes,
// how long its work takes, and which fault it shows. The package comment describes every JSON key.
type Params struct {
	Family     string   `json:"family"`      // as in the bundle header
	BundleTask string   `json:"bundle_task"` // as in the bundle header
	Tasks      []string `json:"tasks"`       // semantic Task ids in the order they are listed; may be empty
	Fields     []Field  `json:"fields"`      // settings; a Task declares those of them that mean something to it
	Timing     Timing   `json:"timing"`

	Text      *Text      `json:"text,omitempty"`      // needed by the continuation and conversation Tasks
	Relevance *Relevance `json:"relevance,omitempty"` // optional
	Embedding *Embedding `json:"embedding,omitempty"` // needed by text_to_embedding
	Video     *Video     `json:"video,omitempty"`     // needed by the video Tasks
	Fault     *Fault     `json:"fault,omitempty"`     // nil: no fault
}

// Field declares one setting. Kind is one of i64, f64, bool, string, i64_list, f64_list, string_list.
//
// Default is a Go value of that kind: int64 (or int), float64, bool, string or a slice of them. Nil means: the value
// that Params holds elsewhere for max_new_tokens, width, height, num_frames, num_inference_steps, guidance_scale, fps
// and dimensions; for every other field that the model computes its default, so that none can be shown.
type Field struct {
	Name        string `json:"name"`
	Kind        string `json:"kind"`
	Default     any    `json:"default,omitempty"`
	Description string `json:"description,omitempty"`
}

// Timing is how long the modelled work takes. A call sleeps until its work would be done; what the CPU really needed
// counts into that. The zero value models no time at all.
type Timing struct {
	SetupMS           float64 `json:"setup_ms"`             // every call
	PrefillUSPerToken float64 `json:"prefill_us_per_token"` // text, per prompt token
	DecodeUSPerToken  float64 `json:"decode_us_per_token"`  // text, per new token
	DocumentUS        float64 `json:"document_us"`          // relevance, per document; embedding, per text
	StepMS            float64 `json:"step_ms"`              // video, per inference step
	FrameMS           float64 `json:"frame_ms"`             // video, per frame
}

// Text holds the limits of the language model. A call is refused when its prompt tokens and its max_new_tokens
// together pass ContextTokens, or when max_new_tokens passes MaxNewTokens.
type Text struct {
	ContextTokens       int `json:"context_tokens"`
	DefaultMaxNewTokens int `json:"default_max_new_tokens"`
	MaxNewTokens        int `json:"max_new_tokens"`
}

// Relevance holds the limits of the scorer. A document of more than MaxDocumentTokens tokens is refused unless the
// setting truncate is END; 0 means no limit.
type Relevance struct {
	MaxDocumentTokens int `json:"max_document_tokens"`
}

// Embedding holds the size of a vector.
type Embedding struct {
	Dimensions int `json:"dimensions"`
}

// Video holds the default size of a clip and its limits. FPS 0 means that the bundle declares no rate: clips then
// have no timestamps. MaxPixels limits width * height * frames of one clip; 0 means 2^28.
type Video struct {
	Width         int     `json:"width"`
	Height        int     `json:"height"`
	Frames        int     `json:"frames"`
	Steps         int     `json:"steps"`
	GuidanceScale float64 `json:"guidance_scale"`
	FPS           float64 `json:"fps"`
	MaxPixels     int     `json:"max_pixels,omitempty"`
}

// ParseParams reads the JSON of a bundle's section [Section]. Unknown keys, trailing data and defaults that do not
// fit their kind are refused.
func ParseParams(data []byte) (Params, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	dec.UseNumber()
	var p Params
	if err := dec.Decode(&p); err != nil {
		return Params{}, fmt.Errorf("parse reference parameters: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Params{}, errors.New("parse reference parameters: data after the JSON object")
	}
	for i := range p.Fields {
		v, err := convert(p.Fields[i].Kind, p.Fields[i].Default)
		if err != nil {
			return Params{}, fmt.Errorf("parse reference parameters: field %q: %w", p.Fields[i].Name, err)
		}
		p.Fields[i].Default = v
	}
	return p, nil
}

// WriteBundle checks p and writes it as a bundle at path, in the manner of [bundle.Write].
func WriteBundle(path string, p Params) error {
	data, err := p.encode()
	if err != nil {
		return fmt.Errorf("write reference bundle %q: %w", path, err)
	}
	return bundle.Write(path, bundle.Header{Family: p.Family, Task: p.BundleTask, Backend: Backend}, map[string][]byte{Section: data})
}

// ReadBundle returns the parameters of the reference bundle at path.
func ReadBundle(path string) (Params, error) {
	b, err := bundle.Open(path)
	if err != nil {
		return Params{}, err
	}
	if got := b.Info().Backend; got != Backend {
		return Params{}, fmt.Errorf("read reference bundle %q: it is for backend %q, not %q", path, got, Backend)
	}
	data, err := b.ReadSection(Section)
	if err != nil {
		return Params{}, err
	}
	return ParseParams(data)
}

func (p Params) encode() ([]byte, error) {
	if !isWord(p.Family) || !isWord(p.BundleTask) {
		return nil, fmt.Errorf("family %q and bundle task %q: each must be a lower-case letter, then lower-case letters, digits or underscores", p.Family, p.BundleTask)
	}
	p.Fields = slices.Clone(p.Fields)
	seen := map[string]bool{}
	for i, f := range p.Fields {
		if f.Name == "" || seen[f.Name] {
			return nil, fmt.Errorf("field %q: names must be given and differ", f.Name)
		}
		seen[f.Name] = true
		v, err := convert(f.Kind, f.Default)
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", f.Name, err)
		}
		p.Fields[i].Default = v
	}
	if p.Tasks == nil {
		p.Tasks = []string{}
	}
	if p.Fields == nil {
		p.Fields = []Field{}
	}
	return json.Marshal(p)
}

func isWord(s string) bool {
	for i, c := range []byte(s) {
		if (c < 'a' || c > 'z') && (i == 0 || c != '_' && (c < '0' || c > '9')) {
			return false
		}
	}
	return s != ""
}

// convert brings a default, as written in Go or as decoded from JSON, into the one Go type of its kind.
func convert(kind string, v any) (any, error) {
	if !slices.Contains([]string{"i64", "f64", "bool", "string", "i64_list", "f64_list", "string_list"}, kind) {
		return nil, fmt.Errorf("unknown kind %q; want i64, f64, bool, string, i64_list, f64_list or string_list", kind)
	}
	if v == nil {
		return nil, nil
	}
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var out any
	switch kind {
	case "i64":
		out, err = decode[int64](data)
	case "f64":
		out, err = decode[float64](data)
	case "bool":
		out, err = decode[bool](data)
	case "string":
		out, err = decode[string](data)
	case "i64_list":
		out, err = decode[[]int64](data)
	case "f64_list":
		out, err = decode[[]float64](data)
	case "string_list":
		out, err = decode[[]string](data)
	}
	if err != nil {
		return nil, fmt.Errorf("default %s is not of kind %s", data, kind)
	}
	if f, ok := out.(float64); ok && math.IsInf(f, 0) {
		return nil, errors.New("default is infinite")
	}
	return out, nil
}

func decode[T any](data []byte) (v T, err error) {
	err = json.Unmarshal(data, &v)
	return v, err
}
