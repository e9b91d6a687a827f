package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/trtmc-go/trtmc/native/bundle"
	"github.com/trtmc-go/trtmc/native/reference"
	"github.com/trtmc-go/trtmc/native/task"
	"github.com/trtmc-go/trtmc/qual"
)

// served is one bundle that the server offers under a name.
type served struct {
	name    string
	path    string
	facts   qual.BundleFacts
	context int       // tokens; 0 unknown
	maximum int       // new tokens; 0 unknown
	tasks   []task.ID // that it declares; nil: not known
}

// referenceContext is the context of the text bundle that is written, in tokens. Scaling the largest row of the trace into
// 256 tokens, as the small models of pilots have, would leave nearly every row one token of output.
const referenceContext = 4096

// bundleFault is what the reference bundle of a workload does wrong.
type bundleFault struct {
	workload string
	fault    reference.Fault
}

// faults are the words of -fault.
func faults() map[string]bundleFault {
	return map[string]bundleFault{
		"slow":           {textTrace, reference.Fault{Kind: reference.FaultSlow}},
		"hang":           {textTrace, reference.Fault{Kind: reference.FaultHang}},
		"error":          {textTrace, reference.Fault{Kind: reference.FaultError}},
		"fail-every":     {textTrace, reference.Fault{Kind: reference.FaultFailEvery}},
		"mid-stream":     {textTrace, reference.Fault{Kind: reference.FaultErrorAfterTokens, AfterTokens: 1}},
		"out-of-memory":  {textTrace, reference.Fault{Kind: reference.FaultOutOfMemory}},
		"busy":           {textTrace, reference.Fault{Kind: reference.FaultBusy}},
		"delta-mismatch": {textTrace, reference.Fault{Kind: reference.FaultDeltaMismatch}},
		"load-error":     {textTrace, reference.Fault{Kind: reference.FaultLoad}},
		"ranking-error":  {qual.RankingWorkload, reference.Fault{Kind: reference.FaultError}},
		"nan-score":      {qual.RankingWorkload, reference.Fault{Kind: reference.FaultNaNScore}},
		"video-error":    {qual.VideoWorkload, reference.Fault{Kind: reference.FaultFailEvery, Every: 3}},
		"no-frames":      {qual.VideoWorkload, reference.Fault{Kind: reference.FaultZeroFrames}},
		"nan-frame":      {qual.VideoWorkload, reference.Fault{Kind: reference.FaultNaNFrame}},
		"short-scores":   {qual.RankingWorkload, reference.Fault{Kind: reference.FaultShortScores}},
	}
}

func faultNames() []string { return slices.Sorted(maps.Keys(faults())) }

// textParams is the reference bundle of the text workload.
func textParams(set *settings) reference.Params {
	p := reference.TextParams()
	p.Text.ContextTokens = referenceContext
	if set.context > 0 {
		p.Text.ContextTokens = set.context
	}
	return p
}

// describeBundle reads what a bundle file says of itself. A context of 0 is taken from the bundle when it is one of
// the reference runtime, the only kind that states it.
func describeBundle(name, path string, context int) (served, error) {
	b, err := bundle.Open(path)
	if err != nil {
		return served{}, err
	}
	info := b.Info()
	out := served{name: name, path: path, context: context, facts: qual.BundleFacts{
		Model: name, File: filepath.Base(path), Family: info.Family, Backend: info.Backend, Task: info.Task,
	}}
	if out.facts.SHA256, out.facts.Bytes, err = digest(path); err != nil {
		return served{}, fmt.Errorf("digest of bundle %q: %w", path, err)
	}
	if info.Backend != reference.Backend {
		return out, nil
	}
	p, err := reference.ReadBundle(path)
	if err != nil {
		return served{}, err
	}
	if p.Text != nil {
		out.maximum = p.Text.MaxNewTokens
		if out.context == 0 {
			out.context = p.Text.ContextTokens
		}
	}
	p.Fields = nil // the settings are listed by the bundle itself
	out.facts.Params, err = asMap(p)
	return out, err
}

// asMap turns a value into what encoding/json makes of it.
func asMap(v any) (map[string]any, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	return out, json.Unmarshal(data, &out)
}
