package trace

import (
	"fmt"
	"strings"
	"time"
)

// Format is the form of a trace.
type Format string

// The formats.
const (
	FormatMooncake Format = "mooncake"
	FormatAzure    Format = "azure"
	FormatBurstGPT Format = "burstgpt"
)

// Endpoint is the kind of route that requests go to.
type Endpoint string

// The endpoints.
const (
	EndpointCompletions Endpoint = "completions" // /v1/completions
	EndpointChat        Endpoint = "chat"        // /v1/chat/completions
)

// FailedPolicy is what is done with rows whose recorded answer had no tokens.
type FailedPolicy string

// The policies. A request for 0 tokens is never made.
const (
	FailedSkip FailedPolicy = "skip" // left out, listed in the manifest
	FailedKeep FailedPolicy = "keep" // asked for one token
)

// ForceLength says which fields make the server produce exactly the recorded number of tokens. Set what the served
// Task declares, nothing else.
type ForceLength struct {
	IgnoreEOS bool `json:"ignore_eos"` // "ignore_eos": true
	MinTokens bool `json:"min_tokens"` // "min_tokens": the length asked for
}

// PrepareOptions say how a trace becomes a workload.
type PrepareOptions struct {
	// Workload is the name in manifest and report, and Prefix begins every request id; "" means the source's name
	// without its endings. A request id is the prefix and the line number in the trace.
	Workload, Prefix string

	Format    Format // "" means FormatMooncake
	Unit      Unit   // of Mooncake timestamps
	BlockSize int    // of Mooncake block ids
	// SkipBad goes on without the bad lines, which are then listed in the manifest; otherwise they are an error.
	SkipBad bool
	Failed  FailedPolicy // "" means FailedSkip

	Plan Plan
	Fit  Fit
	// Seed decides the words of the prompts.
	Seed uint64

	Model       string   // of the request bodies
	Endpoint    Endpoint // "" means EndpointCompletions
	Streaming   bool     // asks for a stream with usage
	ForceLength ForceLength
	// Extra are further members of every body, such as temperature. A row's own extra members win.
	Extra map[string]any
	// Warmup is how many warm-up requests are made. They have the lengths of the first rows and words of their own, so
	// that they cannot fill a prefix cache for the measurement; literal rows are repeated as they are.
	Warmup int
}

// BadLinesError lists the bad lines of a trace.
type BadLinesError struct{ Lines []*SyntaxError }

// Error names the first three.
func (e *BadLinesError) Error() string {
	const show = 3
	var b strings.Builder
	fmt.Fprintf(&b, "%d bad lines", len(e.Lines))
	if len(e.Lines) == 1 {
		b.Reset()
		b.WriteString("1 bad line")
	}
	for i, l := range e.Lines[:min(len(e.Lines), show)] {
		b.WriteString(map[bool]string{true: ": ", false: "; "}[i == 0])
		b.WriteString(l.Error())
	}
	if len(e.Lines) > show {
		b.WriteString("; ...")
	}
	return b.String()
}

// Prepare turns the trace into workload.jsonl, warmup.jsonl, rows.jsonl and manifest.json in dir, which must exist.
// Files are written beside their place and renamed, the manifest last. It fails with a [*BadLinesError] when the trace
// has bad lines and SkipBad is not set, and with an error that wraps [ErrNoRows] when nothing is left to send.
func Prepare(dir string, src *Source, opts PrepareOptions) (*Manifest, error) {
	p, err := newPreparation(src, opts)
	if err != nil {
		return nil, fmt.Errorf("prepare %s: %w", src.Name(), err)
	}
	if err := p.read(src); err != nil {
		return nil, fmt.Errorf("prepare %s: %w", src.Name(), err)
	}
	if err := p.write(dir); err != nil {
		return nil, fmt.Errorf("prepare %s: %w", src.Name(), err)
	}
	return &p.m, nil
}

// preparation is one call of Prepare.
type preparation struct {
	opts    PrepareOptions
	prefix  string
	prompts *prompter
	bodies  bodies
	by      ratio
	rows    []*Request
	plan    Schedule
	m       Manifest
}

func newPreparation(src *Source, opts PrepareOptions) (*preparation, error) {
	opts.Format = orElse(opts.Format, FormatMooncake)
	opts.Endpoint = orElse(opts.Endpoint, EndpointCompletions)
	opts.Failed = orElse(opts.Failed, FailedSkip)
	opts.Fit.Policy = orElse(opts.Fit.Policy, FitNone)
	opts.Workload = orElse(opts.Workload, baseName(src.Name()))
	opts.Plan.Shards = max(opts.Plan.Shards, 1)
	p := &preparation{opts: opts, prefix: orElse(opts.Prefix, baseName(src.Name())), prompts: newPrompter(opts.Seed)}
	switch {
	case opts.Failed != FailedSkip && opts.Failed != FailedKeep:
		return nil, fmt.Errorf("failed rows %q: want skip or keep", opts.Failed)
	case opts.Warmup < 0:
		return nil, fmt.Errorf("%d warm-up requests: want 0 or more", opts.Warmup)
	case !validID(p.prefix) || len(p.prefix) > 90:
		return nil, fmt.Errorf("request id prefix %q: want 1 to 90 of A-Z a-z 0-9 . _ -", p.prefix)
	}
	if err := opts.Fit.check(); err != nil {
		return nil, err
	}
	var err error
	p.bodies, err = newBodies(opts)
	return p, err
}

func orElse[T ~string](v, def T) T {
	if v == "" {
		return def
	}
	return v
}

// baseName returns a file's name without the endings of formats and with '_' for what an id cannot hold.
func baseName(name string) string {
	for _, ending := range []string{".gz", ".zst", ".zstd", ".jsonl", ".csv"} {
		name = strings.TrimSuffix(name, ending)
	}
	return strings.Map(func(r rune) rune {
		if r < 0x80 && validID(string(r)) {
			return r
		}
		return '_'
	}, name)
}

// traceReader is what the readers of all formats have.
type traceReader interface {
	Scan() bool
	Record() Record
	Err() error
}

func (p *preparation) reader(src *Source) (traceReader, error) {
	s := &p.m.Source
	s.Name, s.Format = src.Name(), p.opts.Format
	switch p.opts.Format {
	case FormatMooncake:
		s.Unit, s.BlockSize = orElse(p.opts.Unit, Milliseconds), positive(p.opts.BlockSize, DefaultBlockSize)
		return NewMooncakeReader(src, src.Name(), MooncakeOptions{Unit: p.opts.Unit, BlockSize: p.opts.BlockSize}), nil
	case FormatAzure:
		return NewAzureReader(src, src.Name()), nil
	case FormatBurstGPT:
		s.Unit = Seconds
		return NewBurstGPTReader(src, src.Name()), nil
	}
	return nil, fmt.Errorf("format %q: want mooncake, azure or burstgpt", p.opts.Format)
}

// read takes the trace whole and plans it.
func (p *preparation) read(src *Source) error {
	r, err := p.reader(src)
	if err != nil {
		return err
	}
	var bad []*SyntaxError
	p.m.Source.BadLines, p.m.Source.FailedRows = []BadLine{}, []int{}
	for r.Scan() {
		switch rec := r.Record().(type) {
		case *SyntaxError:
			bad = append(bad, rec)
			p.m.Source.BadLines = append(p.m.Source.BadLines, BadLine{rec.Line, rec.Msg})
		case *Request:
			p.take(rec)
		}
	}
	if err := r.Err(); err != nil {
		return err
	}
	if len(bad) > 0 && !p.opts.SkipBad {
		return &BadLinesError{bad}
	}
	p.m.Source.FailedPolicy = p.opts.Failed
	if p.m.Source.SHA256, err = src.SHA256(); err != nil {
		return err
	}
	return p.schedule()
}

func (p *preparation) take(req *Request) {
	p.m.Source.Rows++
	if req.Failed {
		p.m.Source.FailedRows = append(p.m.Source.FailedRows, req.Line)
		if p.opts.Failed == FailedSkip {
			return
		}
	}
	p.rows = append(p.rows, req)
}

// schedule plans the rows. What is common to all shards, zero and factor, is worked out over the whole window.
func (p *preparation) schedule() error {
	if p.m.Source.Rows == 0 {
		return fmt.Errorf("the trace is empty: %w", ErrNoRows)
	}
	recorded := make([]time.Duration, len(p.rows))
	for i, r := range p.rows {
		recorded[i] = r.Offset
	}
	everything := p.opts.Plan
	everything.Shard, everything.Shards = 0, 1
	whole, err := NewSchedule(recorded, everything)
	if err != nil {
		return err
	}
	if p.plan, err = NewSchedule(recorded, p.opts.Plan); err != nil {
		return err
	}
	window := make([]*Request, whole.Len())
	for i := range window {
		window[i] = p.rows[whole.Row(i)]
	}
	p.by = p.opts.Fit.factor(window)
	p.m.Schedule = ManifestPlan{
		Window: p.opts.Plan.Window, Speed: p.opts.Plan.Speed, Shard: p.opts.Plan.Shard, Shards: p.opts.Plan.Shards,
		ZeroNS: int64(p.plan.Zero()), SpanNS: int64(p.plan.Span()), WindowRows: whole.Len(),
	}
	return nil
}
