package trace

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// write makes the files.
func (p *preparation) write(dir string) error {
	extra, err := json.Marshal(p.opts.Extra)
	if err != nil {
		return fmt.Errorf("extra members: %w", err)
	}
	if len(p.opts.Extra) == 0 {
		extra = nil
	}
	f := p.opts.Fit
	p.m.Schema, p.m.Workload = ManifestSchema, p.opts.Workload
	p.m.Request = ManifestBody{p.opts.Model, p.opts.Endpoint, p.bodies.path, p.opts.Streaming, p.opts.ForceLength, extra}
	p.m.Fit = ManifestFit{Policy: f.Policy, ContextTokens: f.ContextTokens, MaxOutputTokens: f.MaxOutputTokens, ReserveTokens: f.ReserveTokens, Dropped: []BadLine{}}
	if f.Policy == FitScale {
		p.m.Fit.Factor = p.by.String()
	}
	p.m.Prompts = ManifestPrompt{Synthesis: PromptSynthesis, Seed: p.opts.Seed}
	p.m.Files = map[string]ManifestPart{}
	if err := p.writeWorkload(dir); err != nil {
		return err
	}
	if p.plan.Len() == 0 {
		return fmt.Errorf("shard %d of %d: %w", p.opts.Plan.Shard, p.opts.Plan.Shards, ErrNoRows)
	}
	if p.m.Requests == 0 {
		return fmt.Errorf("fit %q dropped all %d rows: %w", f.Policy, p.plan.Len(), ErrNoRows)
	}
	if err := p.writeWarmup(dir); err != nil {
		return err
	}
	return writeJSON(filepath.Join(dir, ManifestFile), &p.m)
}

// String returns "num/den", or "1".
func (r ratio) String() string {
	if r.den == 0 {
		return "1"
	}
	return fmt.Sprintf("%d/%d", r.num, r.den)
}

func (p *preparation) writeWorkload(dir string) (err error) {
	workload, err := createPart(dir, WorkloadFile)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, workload.finish(err, p.m.Files)) }()
	rows, err := createPart(dir, RowsFile)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.finish(err, p.m.Files)) }()
	for i := range p.plan.Len() {
		req := p.rows[p.plan.Row(i)]
		row, line, err := p.line(req, fmt.Sprintf("%s-%06d", p.prefix, req.Line), p.plan.At(i), false)
		if err != nil {
			return err
		}
		if line == nil {
			continue
		}
		if err := workload.line(line); err != nil {
			return err
		}
		about, err := json.Marshal(row)
		if err != nil {
			return err
		}
		if err := rows.line(about); err != nil {
			return err
		}
		p.count(req, row)
	}
	return nil
}

func (p *preparation) count(req *Request, row PreparedRow) {
	p.m.Requests++
	p.m.Prompts.OutputTokens += int64(row.FittedOutput)
	if req.Kind != LiteralNone {
		p.m.Prompts.LiteralRows++
		return
	}
	p.m.Prompts.Words += int64(row.FittedInput)
	if row.FittedInput != row.InputTokens {
		p.m.Fit.InputChanged++
	}
	if row.FittedOutput != row.OutputTokens {
		p.m.Fit.OutputChanged++
	}
}

// line makes a workload line. A dropped row has none and is listed, unless it is for warm-up.
func (p *preparation) line(req *Request, id string, at time.Duration, warmup bool) (PreparedRow, []byte, error) {
	row := PreparedRow{
		RequestID: id, Line: req.Line, RecordedNS: int64(req.Offset), OffsetNS: int64(at),
		InputTokens: req.InputTokens, OutputTokens: req.OutputTokens, FittedOutput: req.OutputTokens,
	}
	if req.Failed {
		row.FittedOutput = 1
	}
	if req.Kind != LiteralNone {
		row.Literal = req.Kind.String()
	} else {
		var dropped string
		row.FittedInput, row.FittedOutput, dropped = p.opts.Fit.row(req.InputTokens, row.FittedOutput, p.by)
		if dropped != "" {
			if !warmup {
				p.m.Fit.Dropped = append(p.m.Fit.Dropped, BadLine{req.Line, dropped})
			}
			return row, nil, nil
		}
	}
	line := appendMS([]byte(`{"timestamp":`), at)
	line = append(append(append(line, `,"session_id":"`...), id...), `","payload":`...)
	line, err := p.appendBody(line, req, row, warmup)
	if err != nil {
		return row, nil, fmt.Errorf("%s: %w", req.Pos, err)
	}
	return row, append(line, '}'), nil
}

func (p *preparation) appendBody(b []byte, req *Request, row PreparedRow, warmup bool) ([]byte, error) {
	var text []byte
	switch req.Kind {
	case LiteralPayload:
		return append(b, req.Literal...), nil
	case LiteralNone:
		text = append(text, '"')
		text = p.prompts.appendPrompt(text, req, row.FittedInput, positive(p.m.Source.BlockSize, DefaultBlockSize), p.by, warmup)
		text = append(text, '"') // the words need no escapes
	default:
		text = req.Literal
	}
	return p.bodies.append(b, req, text, row.FittedOutput)
}

func (p *preparation) writeWarmup(dir string) (err error) {
	warmup, err := createPart(dir, WarmupFile)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, warmup.finish(err, p.m.Files)) }()
	prefix := "warmup-" + p.prefix
	if p.opts.Plan.Shards > 1 {
		prefix += fmt.Sprintf("-s%d", p.opts.Plan.Shard)
	}
	for i := 0; p.m.WarmupRequests < p.opts.Warmup; i++ {
		req := p.rows[p.plan.Row(i%p.plan.Len())]
		_, line, err := p.line(req, fmt.Sprintf("%s-%06d", prefix, p.m.WarmupRequests+1), 0, true)
		if err != nil {
			return err
		}
		if line == nil {
			continue // dropped; there are others, since the workload is not empty
		}
		if err := warmup.line(line); err != nil {
			return err
		}
		p.m.WarmupRequests++
	}
	return nil
}
