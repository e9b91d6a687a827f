package qual

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/trtmc-go/trtmc/native/task"
	"github.com/trtmc-go/trtmc/ranking"
	"github.com/trtmc-go/trtmc/trace"
)

// DirectSchema is the version written into every line of direct.jsonl. A reader refuses a higher one.
const DirectSchema = 1

// DirectFile holds what direct Task calls gave for the requests of a ranking workload.
const DirectFile = "direct.jsonl"

// DirectScores is what one direct Task call gave: one line of direct.jsonl. Scores are in passage order, each the
// shortest decimal that reads back as the same float32.
type DirectScores struct {
	Schema       int             `json:"schema"`
	RequestID    string          `json:"request_id"`
	Scores       []float32       `json:"scores"`
	Kind         string          `json:"score_kind,omitempty"`
	TaskCallNS   int64           `json:"public_task_call_wall_ns"`
	Settings     map[string]any  `json:"settings,omitempty"` // as sent to the Task
	BundleSHA256 string          `json:"bundle_sha256"`
	Runtime      string          `json:"runtime"`
	Reference    bool            `json:"reference"`
	Permuted     *PermutedScores `json:"permuted,omitempty"`
	Error        string          `json:"error,omitempty"` // why there are no scores
}

// PermutedScores are the scores of the same passages in another order: passage i of this call is passage Order[i] of
// the request.
type PermutedScores struct {
	Order      []int     `json:"order"`
	Scores     []float32 `json:"scores"`
	TaskCallNS int64     `json:"public_task_call_wall_ns"`
	Error      string    `json:"error,omitempty"`
}

// DirectScorer scores the requests of a workload by direct Task calls, without HTTP. Its model handle should be its
// own, not one of a server's lanes.
type DirectScorer struct {
	Model        ranking.Model // gives the scorer and the settings, as serving uses them
	Info         task.Info     // of the loaded model
	BundleSHA256 string
	Permuted     []string // request ids to score with permuted passages too
}

// Run scores the items one after another and calls sink with each result. A Task call that fails is a result with an
// Error. Run returns an error when ctx ends, an item is not a ranking request, or sink fails.
func (d *DirectScorer) Run(ctx context.Context, items []trace.Item, sink func(DirectScores) error) error {
	for _, item := range items {
		req, err := ranking.Decode(item.Body, noLimits())
		if err != nil {
			return fmt.Errorf("score %q directly: %w", item.RequestID, err)
		}
		out, err := d.score(ctx, item.RequestID, req)
		if err == nil {
			err = sink(out)
		}
		if err != nil {
			return fmt.Errorf("score %q directly: %w", item.RequestID, err)
		}
	}
	return nil
}

// noLimits lets every length pass: limits are the server's, and it is not the subject here.
func noLimits() ranking.Limits {
	return ranking.Limits{BodyBytes: math.MaxInt64, Passages: math.MaxInt, QueryBytes: math.MaxInt, PassageBytes: math.MaxInt, PassagesBytes: math.MaxInt}
}

func (d *DirectScorer) score(ctx context.Context, id string, req *ranking.Request) (DirectScores, error) {
	out := DirectScores{
		Schema: DirectSchema, RequestID: id, Scores: []float32{},
		BundleSHA256: d.BundleSHA256, Runtime: d.Info.Runtime, Reference: d.Info.Reference,
	}
	settings, err := d.Model.Settings(req.Truncate)
	if err != nil {
		out.Error = err.Error()
		return out, nil
	}
	for _, s := range settings {
		if out.Settings == nil {
			out.Settings = map[string]any{}
		}
		out.Settings[s.Name] = s.Value.Any()
	}
	res, err := d.call(ctx, req.Query, req.Passages, settings)
	if err != nil {
		if ctx.Err() != nil {
			return out, context.Cause(ctx)
		}
		out.Error = err.Error()
		return out, nil
	}
	out.Scores, out.Kind, out.TaskCallNS = res.Scores, res.Kind.String(), int64(res.Timing.Call)
	if !slices.Contains(d.Permuted, id) {
		return out, nil
	}
	p := PermutedScores{Order: permutation(id, len(req.Passages)), Scores: []float32{}}
	passages := make([]string, len(p.Order))
	for i, from := range p.Order {
		passages[i] = req.Passages[from]
	}
	if res, err = d.call(ctx, req.Query, passages, settings); err != nil {
		p.Error = err.Error()
	} else {
		p.Scores, p.TaskCallNS = res.Scores, int64(res.Timing.Call)
	}
	out.Permuted = &p
	return out, ctx.Err()
}

// call makes one Task call and refuses scores that JSON cannot hold.
func (d *DirectScorer) call(ctx context.Context, query string, passages []string, settings task.Settings) (task.ScoreResult, error) {
	res, err := d.Model.Scorer.Score(ctx, task.ScoreRequest{Query: query, Documents: passages, Settings: settings})
	for i, s := range res.Scores {
		if f := float64(s); err == nil && (math.IsNaN(f) || math.IsInf(f, 0)) {
			err = fmt.Errorf("score %d is not finite: %v", i, s)
		}
	}
	return res, err
}

// permutation returns an order of n passages that is not the identity, for n of at least 2. It depends on the id alone.
func permutation(id string, n int) []int {
	h := fnv.New64a()
	io.WriteString(h, id) // a hash never fails
	order := rand.New(rand.NewPCG(h.Sum64(), 0)).Perm(n)
	if slices.IsSorted(order) {
		slices.Reverse(order)
	}
	return order
}

// WriteDirect writes one line of direct.jsonl in one Write.
func WriteDirect(w io.Writer, d DirectScores) error {
	var line bytes.Buffer
	if err := appendJSONLine(&line, d); err != nil {
		return fmt.Errorf("write direct scores of %q: %w", d.RequestID, err)
	}
	if _, err := w.Write(line.Bytes()); err != nil {
		return fmt.Errorf("write direct scores of %q: %w", d.RequestID, err)
	}
	return nil
}

// parseDirect reads one line of direct.jsonl.
func parseDirect(line []byte) (*DirectScores, error) {
	d := new(DirectScores)
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(d); err != nil {
		return nil, fmt.Errorf("not direct scores: %w", err)
	}
	switch _, more := dec.Token(); {
	case !errors.Is(more, io.EOF):
		return nil, errors.New("text after the scores; want one JSON object a line")
	case d.Schema != DirectSchema:
		return nil, fmt.Errorf("schema %d, want %d", d.Schema, DirectSchema)
	case d.RequestID == "":
		return nil, errors.New("no request_id")
	}
	return d, nil
}
