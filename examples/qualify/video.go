package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/trtmc-go/trtmc/native/reference"
	"github.com/trtmc-go/trtmc/native/task"
	"github.com/trtmc-go/trtmc/qual"
	"github.com/trtmc-go/trtmc/trace"
	"github.com/trtmc-go/trtmc/video"
)

// videoPrompts are prompts with pinned settings, written for this repository; data/README.md says more.
//
//go:embed data/video-prompts.jsonl
var videoPrompts []byte

const videoPromptsName = "video-prompts.jsonl"

// videoParams is the reference bundle of the video workload.
func videoParams(*settings) reference.Params { return reference.VideoParams(832, 480, 17, 16, 8) }

// readPrompts reads the prompts of the flags, or the embedded ones.
func readPrompts(path string) (*qual.VideoPrompts, error) {
	if path == "" {
		return qual.ReadVideoPrompts(bytes.NewReader(videoPrompts), videoPromptsName)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return qual.ReadVideoPrompts(f, filepath.Base(path))
}

// prepareVideo writes the workload files of the video workload.
func prepareVideo(s *session, m served) (drive, error) {
	prompts, err := readPrompts(s.set.videoPrompts)
	if err != nil {
		return drive{}, err
	}
	dir := filepath.Join(s.dir, qual.WorkloadDir, qual.VideoWorkload)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return drive{}, err
	}
	manifest, err := qual.PrepareVideo(dir, prompts, qual.VideoOptions{
		Model: m.name, Count: s.set.videoCount, Warmup: s.set.videoWarmup, Concurrency: s.set.videoConcurrency, Poll: s.set.videoPoll,
	})
	if err != nil {
		return drive{}, err
	}
	fmt.Fprintf(s.out, "%s: %d clips from %s, %s, asked about every %v\n", qual.VideoWorkload, manifest.Requests, manifest.Source.Name, manifest.Load.Words(), s.set.videoPoll)
	d := drive{facts: qual.RunWorkload{
		Name: qual.VideoWorkload, Model: manifest.Request.Model, Path: manifest.Request.Path, SourceSHA256: manifest.Source.SHA256,
		Settings: map[string]any{"poll_ms": milliseconds(s.set.videoPoll), "timeout_ms": milliseconds(s.set.videoTimeout), "concurrency": manifest.Load.Concurrency},
	}}
	d.run = func(ctx context.Context) error { return s.film(ctx, m, manifest) }
	return d, nil
}

// film makes the clips over HTTP and then the same ones by direct Task calls.
func (s *session) film(ctx context.Context, m served, manifest *qual.VideoManifest) error {
	dir := filepath.Join(s.dir, qual.WorkloadDir, qual.VideoWorkload)
	bar := newProgress(s.out, qual.VideoWorkload, manifest.Requests)
	client := &qual.VideoClient{
		BaseURL: s.target.base, Clock: s.clock, Timeout: s.set.videoTimeout,
		Progress: func(phase trace.Phase, _, _ int) {
			if phase == trace.PhaseMeasured {
				bar.step()
			}
		},
	}
	err := client.Run(ctx, dir)
	bar.finish()
	if err != nil || m.path == "" {
		return err
	}
	return s.filmDirectly(ctx, m, dir)
}

// filmDirectly loads a handle of its own and leaves what it gives for every request in direct.jsonl.
func (s *session) filmDirectly(ctx context.Context, m served, dir string) (err error) {
	model, free, err := s.target.direct(m)
	if err != nil {
		return fmt.Errorf("load a handle for direct Task calls: %w", err)
	}
	defer func() { err = errors.Join(err, free()) }()
	out, err := os.Create(filepath.Join(dir, qual.DirectFile))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	return writeDirectFrames(ctx, model, m, dir, out)
}

func writeDirectFrames(ctx context.Context, model task.Model, m served, dir string, out io.Writer) error {
	generators, err := video.ModelOf(m.name, model)
	if err != nil {
		return err
	}
	direct := &qual.DirectGenerator{Model: generators, Info: model.Info(), BundleSHA256: m.facts.SHA256}
	for _, name := range []string{qual.WarmupFile, qual.WorkloadFile} {
		items, err := trace.ReadWorkload(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		if err := direct.Run(ctx, items, func(d qual.DirectFrames) error { return qual.WriteDirectFrames(out, d) }); err != nil {
			return err
		}
	}
	return nil
}
