package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/trtmc-go/trtmc/qual"
	"github.com/trtmc-go/trtmc/trace"
)

// textTrace is the workload of text requests at the recorded times of a production trace.
const textTrace = "text-trace"

// The part of the embedded trace that is replayed unless flags say otherwise: its busiest minute of the first five.
const (
	defaultStart  = 2 * time.Minute
	defaultWindow = time.Minute
)

// excerpt is the first 15 minutes of the Mooncake conversation trace; data/README.md says where it comes from.
//
//go:embed data/mooncake-conversation-900s.jsonl.gz
var excerpt []byte

const excerptName = "mooncake-conversation-900s.jsonl.gz"

// openTrace opens the trace of the flags, or the embedded one.
func openTrace(path string) (*trace.Source, error) {
	if path == "" {
		return trace.NewSource(bytes.NewReader(excerpt), excerptName)
	}
	return trace.Open(path)
}

// prepareText writes the workload files of the text trace.
func prepareText(s *session, model served) (drive, error) {
	src, err := openTrace(s.set.trace)
	if err != nil {
		return drive{}, err
	}
	defer src.Close()
	dir := filepath.Join(s.dir, qual.WorkloadDir, textTrace)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return drive{}, err
	}
	m, err := trace.Prepare(dir, src, s.textOptions(model))
	if err != nil {
		return drive{}, err
	}
	digest, err := src.SHA256()
	if err != nil {
		return drive{}, err
	}
	fmt.Fprintf(s.out, "%s: %d requests over %v from %s, speed %g, fit %s\n", textTrace, m.Requests, time.Duration(m.Schedule.SpanNS).Round(time.Millisecond), m.Source.Name, m.Schedule.Speed, m.Fit.Policy)
	d := drive{facts: qual.RunWorkload{
		Name: textTrace, Model: m.Request.Model, Path: m.Request.Path, Streaming: m.Request.Streaming, SourceSHA256: digest,
		Settings: map[string]any{"temperature": 0},
	}}
	d.run = func(ctx context.Context) error { return s.replay(ctx, textTrace) }
	return d, nil
}

func (s *session) textOptions(model served) trace.PrepareOptions {
	set := s.set
	o := trace.PrepareOptions{
		Workload: textTrace, Plan: trace.Plan{Speed: set.scale, Window: trace.Window{Start: &set.start}}, Seed: set.seed,
		Fit:   trace.Fit{Policy: trace.FitPolicy(set.fit), ContextTokens: model.context, MaxOutputTokens: model.maximum},
		Model: model.name, Endpoint: trace.Endpoint(set.endpoint), Streaming: set.stream, Warmup: set.warmup,
		Extra: map[string]any{"temperature": 0},
	}
	if set.window > 0 {
		end := set.start + set.window
		o.Plan.Window.End = &end
	}
	if set.fit != string(trace.FitNone) {
		// A chat template and words of more than one token need room that the word count does not show.
		o.Fit.ReserveTokens = o.Fit.ContextTokens / 8
	}
	return o
}

// replay sends a prepared workload: the warm-up as fast as the lanes take it, then every request at its instant. Every
// request leaves one row.
func (s *session) replay(ctx context.Context, name string) (err error) {
	dir := filepath.Join(s.dir, qual.WorkloadDir, name)
	warmup, err := trace.ReadWorkload(filepath.Join(dir, trace.WarmupFile))
	if err != nil {
		return err
	}
	items, err := trace.ReadWorkload(filepath.Join(dir, trace.WorkloadFile))
	if err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, qual.ClientFile))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	rows := trace.NewRowWriter(f)
	sender := &trace.Sender{BaseURL: s.target.base, Workload: name, Clock: s.clock, Timeout: s.set.timeout}
	defer sender.Close()
	replayer := &trace.Replayer{Sender: sender}
	if _, err := replayer.RunClosed(ctx, warmup, trace.PhaseWarmup, s.set.lanes, rows.Append); err != nil {
		return err
	}
	bar := newProgress(s.out, name, len(items))
	replayer.Progress = func(int, int) { bar.step() }
	_, err = replayer.Run(ctx, items, trace.PhaseMeasured, rows.Append)
	bar.finish()
	return err
}
