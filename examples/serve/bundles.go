package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/trtmc-go/trtmc/native"
	"github.com/trtmc-go/trtmc/native/bundle"
	"github.com/trtmc-go/trtmc/native/reference"
	"github.com/trtmc-go/trtmc/serving"
)

// referenceModel is the served name of the bundle that is written when no -model is given.
const referenceModel = "reference"

// ownFiles is the temporary folder of the bundle that is written when no -model is given; the zero value is none.
type ownFiles struct{ dir string }

func (o ownFiles) remove() {
	if o.dir != "" {
		_ = os.RemoveAll(o.dir)
	}
}

// withReference returns the models to serve, and writes a bundle with every Task of the reference runtime when none
// is given.
func withReference(models []named) ([]named, ownFiles, error) {
	if len(models) > 0 {
		return models, ownFiles{}, nil
	}
	dir, err := os.MkdirTemp("", "trtmc-serve")
	if err != nil {
		return nil, ownFiles{}, err
	}
	own := ownFiles{dir}
	path := filepath.Join(dir, referenceModel+".bundle")
	if err := reference.WriteBundle(path, reference.AllParams()); err != nil {
		own.remove()
		return nil, ownFiles{}, err
	}
	return []named{{referenceModel, path}}, own, nil
}

// load opens the handles of one model. What a reference bundle says of its context and output holds where the command
// line says nothing; other bundles do not say it.
func load(rt *native.Runtime, m named, set *settings) (serving.Model, error) {
	out := serving.Model{Name: m.name, ContextTokens: set.context, MaxOutputTokens: set.maxOutput}
	b, err := bundle.Open(m.path)
	if err != nil {
		return out, err
	}
	if b.Info().Backend == reference.Backend {
		p, err := reference.ReadBundle(m.path)
		if err != nil {
			return out, err
		}
		if p.Text != nil && out.ContextTokens == 0 {
			out.ContextTokens = p.Text.ContextTokens
		}
		if p.Text != nil && out.MaxOutputTokens == 0 {
			out.MaxOutputTokens = p.Text.MaxNewTokens
		}
	}
	for i := range set.lanes {
		lane, err := rt.Load(m.path, native.LoadOptions{})
		if err != nil {
			return out, fmt.Errorf("lane %d of model %q: %w", i, m.name, err)
		}
		out.Lanes = append(out.Lanes, lane)
	}
	return out, nil
}
