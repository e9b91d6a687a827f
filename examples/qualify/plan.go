package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/trtmc-go/trtmc/qual"
)

// plan is a plan file: what flags say, and what only a plan can say of bundles. Flags are the built-in plan; a flag on
// the command line wins over the file. README.md documents every key.
type plan struct {
	Runtime     scalar           `yaml:"runtime"`
	RuntimeRoot scalar           `yaml:"runtime_root"`
	Bundles     []planBundle     `yaml:"bundles"`
	Validations []planValidation `yaml:"validations"`
	Lanes       struct {
		Text    scalar `yaml:"text-trace"`
		Ranking scalar `yaml:"ranking"`
		Video   scalar `yaml:"video"`
	} `yaml:"lanes"`
	Queue struct {
		Count scalar `yaml:"count"`
		Bytes scalar `yaml:"bytes"`
		Wait  scalar `yaml:"wait"`
	} `yaml:"queue"`
	Workloads struct {
		Text    *planText    `yaml:"text-trace"`
		Ranking *planRanking `yaml:"ranking"`
		Video   *planVideo   `yaml:"video"`
	} `yaml:"workloads"`
	AIPerf        scalar `yaml:"aiperf"`
	TiktokenCache scalar `yaml:"tiktoken_cache"`
	Out           scalar `yaml:"out"`
	Seed          scalar `yaml:"seed"`
	Warmup        scalar `yaml:"warmup"`
	Timeout       scalar `yaml:"timeout"`
	MaxLateness   scalar `yaml:"max_lateness"`
}

// planBundle is one bundle to serve and what it is said to be.
type planBundle struct {
	Name       string `yaml:"name"`
	Path       string `yaml:"path"`
	Checkpoint string `yaml:"checkpoint"`
	Revision   string `yaml:"revision"`
	Profile    string `yaml:"profile"` // row of the inventory
}

// planValidation is one command of the checkpoint's owner that tells whether a bundle computes what it should.
type planValidation struct {
	Bundle  string            `yaml:"bundle"` // name of a bundle
	Command []string          `yaml:"command"`
	Env     map[string]string `yaml:"env"`
	Timeout time.Duration     `yaml:"timeout"`
}

type planText struct {
	Trace    scalar `yaml:"trace"`
	Start    scalar `yaml:"start"`
	Window   scalar `yaml:"window"`
	Scale    scalar `yaml:"scale"`
	Fit      scalar `yaml:"fit"`
	Endpoint scalar `yaml:"endpoint"`
	Stream   scalar `yaml:"stream"`
	Context  scalar `yaml:"context"`
}

type planRanking struct {
	Groups      scalar `yaml:"groups"`
	Count       scalar `yaml:"count"`
	Concurrency scalar `yaml:"concurrency"`
	Rate        scalar `yaml:"rate"`
	Spacing     scalar `yaml:"spacing"`
}

type planVideo struct {
	Prompts     scalar `yaml:"prompts"`
	Count       scalar `yaml:"count"`
	Warmup      scalar `yaml:"warmup"`
	Concurrency scalar `yaml:"concurrency"`
	Poll        scalar `yaml:"poll"`
	Timeout     scalar `yaml:"timeout"`
}

// scalar is one value with the line it stands in; line 0 means that the plan does not have it.
type scalar struct {
	text string
	line int
}

// UnmarshalYAML takes any scalar as it is written.
func (s *scalar) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.ScalarNode {
		return fmt.Errorf("line %d: want one value", n.Line)
	}
	s.text, s.line = n.Value, n.Line
	return nil
}

// planFlag is a value of the plan and the flag that it sets. A path is one of a file beside the plan.
type planFlag struct {
	flag  string
	value scalar
	path  bool
}

func (p *plan) flags() []planFlag {
	out := []planFlag{
		{"runtime", p.Runtime, false}, {"runtime-root", p.RuntimeRoot, true}, {"lanes", p.Lanes.Text, false},
		{"ranking-lanes", p.Lanes.Ranking, false}, {"video-lanes", p.Lanes.Video, false}, {"queue", p.Queue.Count, false},
		{"queue-bytes", p.Queue.Bytes, false}, {"queue-wait", p.Queue.Wait, false}, {"aiperf", p.AIPerf, p.AIPerf.text != "auto"},
		{"tiktoken-cache", p.TiktokenCache, true}, {"out", p.Out, true}, {"seed", p.Seed, false}, {"warmup", p.Warmup, false},
		{"timeout", p.Timeout, false}, {"max-lateness", p.MaxLateness, false},
	}
	if t := p.Workloads.Text; t != nil {
		out = append(out, planFlag{"trace", t.Trace, true}, planFlag{"start", t.Start, false}, planFlag{"window", t.Window, false},
			planFlag{"scale", t.Scale, false}, planFlag{"fit", t.Fit, false}, planFlag{"endpoint", t.Endpoint, false},
			planFlag{"stream", t.Stream, false}, planFlag{"context", t.Context, false})
	}
	if r := p.Workloads.Ranking; r != nil {
		out = append(out, planFlag{"ranking-groups", r.Groups, true}, planFlag{"ranking-count", r.Count, false},
			planFlag{"ranking-concurrency", r.Concurrency, false}, planFlag{"ranking-rate", r.Rate, false}, planFlag{"ranking-spacing", r.Spacing, false})
	}
	if v := p.Workloads.Video; v != nil {
		out = append(out, planFlag{"video-prompts", v.Prompts, true}, planFlag{"video-count", v.Count, false}, planFlag{"video-warmup", v.Warmup, false},
			planFlag{"video-concurrency", v.Concurrency, false}, planFlag{"video-poll", v.Poll, false}, planFlag{"video-timeout", v.Timeout, false})
	}
	return out
}

// readPlan reads a plan file strictly: a key that is not known is an error with its line.
func readPlan(path string) (*plan, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	p := new(plan)
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(p); err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.New(strings.ReplaceAll(err.Error(), "\n ", ""))
	}
	if err := dec.Decode(new(plan)); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one document")
	}
	return p, p.check()
}

func (p *plan) check() error {
	names := map[string]bool{}
	for i, b := range p.Bundles {
		switch {
		case b.Name == "" || b.Path == "":
			return fmt.Errorf("bundles[%d]: name and path are both needed", i)
		case names[b.Name]:
			return fmt.Errorf("bundles[%d]: the name %q stands twice", i, b.Name)
		}
		names[b.Name] = true
	}
	for i, v := range p.Validations {
		switch {
		case !names[v.Bundle]:
			return fmt.Errorf("validations[%d]: bundle %q is none of the plan's bundles", i, v.Bundle)
		case len(v.Command) == 0 || v.Command[0] == "":
			return fmt.Errorf("validations[%d]: command is missing", i)
		case v.Timeout < 0:
			return fmt.Errorf("validations[%d]: timeout %v, want more than 0", i, v.Timeout)
		}
	}
	return nil
}

// applyPlan sets what the plan says and the command line does not.
func (s *settings) applyPlan(fs *flag.FlagSet, workloads *string) error {
	p, err := readPlan(s.plan)
	if err != nil {
		return fmt.Errorf("-plan %s: %w", s.plan, err)
	}
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	folder := filepath.Dir(s.plan)
	beside := func(path string) string {
		if path == "" || filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(folder, path)
	}
	for _, f := range p.flags() {
		if f.value.line == 0 || given[f.flag] {
			continue
		}
		value := f.value.text
		if f.path {
			value = beside(value)
		}
		if err := fs.Set(f.flag, value); err != nil {
			return fmt.Errorf("-plan %s: line %d: %q: %w", s.plan, f.value.line, f.value.text, err)
		}
	}
	if !given["model"] {
		for _, b := range p.Bundles {
			s.models = append(s.models, modelSpec{b.Name, beside(b.Path)})
		}
	}
	if names := p.workloads(); len(names) > 0 && !given["workloads"] {
		*workloads = strings.Join(names, ",")
		s.insist = true
	}
	s.planned = p
	return nil
}

// workloads are those that the plan names.
func (p *plan) workloads() []string {
	var out []string
	for _, w := range []struct {
		name  string
		named bool
	}{{textTrace, p.Workloads.Text != nil}, {qual.RankingWorkload, p.Workloads.Ranking != nil}, {qual.VideoWorkload, p.Workloads.Video != nil}} {
		if w.named {
			out = append(out, w.name)
		}
	}
	return out
}

// stated adds what the plan says of a bundle.
func (s *settings) stated(b qual.BundleFacts) qual.BundleFacts {
	if s.planned == nil {
		return b
	}
	i := slices.IndexFunc(s.planned.Bundles, func(p planBundle) bool { return p.Name == b.Model })
	if i >= 0 {
		p := s.planned.Bundles[i]
		b.Profile, b.Checkpoint, b.Revision = p.Profile, p.Checkpoint, p.Revision
	}
	return b
}
