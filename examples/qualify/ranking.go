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

	"github.com/trtmc-go/trtmc/native/task"
	"github.com/trtmc-go/trtmc/qual"
	"github.com/trtmc-go/trtmc/ranking"
	"github.com/trtmc-go/trtmc/trace"
)

// rankingGroups are queries with passages, written for this repository; data/README.md says more.
//
//go:embed data/ranking-groups.jsonl
var rankingGroups []byte

const rankingGroupsName = "ranking-groups.jsonl"

// readGroups reads the groups of the flags, or the embedded ones.
func readGroups(path string) (*qual.RankingGroups, error) {
	if path == "" {
		return qual.ReadRankingGroups(bytes.NewReader(rankingGroups), rankingGroupsName)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return qual.ReadRankingGroups(f, filepath.Base(path))
}

// rankingLoad is a closed loop unless a rate is given.
func rankingLoad(set *settings) qual.Load {
	if set.rankingRate == 0 {
		return qual.Load{Loop: qual.ClosedLoop, Concurrency: set.rankingConcurrency}
	}
	return qual.Load{Loop: qual.OpenLoop, Rate: set.rankingRate, Spacing: qual.Spacing(set.rankingSpacing), Seed: set.seed}
}

// prepareRanking writes the workload files of the ranking workload.
func prepareRanking(s *session, m served) (drive, error) {
	groups, err := readGroups(s.set.rankingGroups)
	if err != nil {
		return drive{}, err
	}
	dir := filepath.Join(s.dir, qual.WorkloadDir, qual.RankingWorkload)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return drive{}, err
	}
	manifest, err := qual.PrepareRanking(dir, groups, qual.RankingOptions{
		Model: m.name, Count: s.set.rankingCount, Warmup: s.set.warmup, Load: rankingLoad(s.set),
	})
	if err != nil {
		return drive{}, err
	}
	fmt.Fprintf(s.out, "%s: %d requests with %d passages from %s, %s\n", qual.RankingWorkload, manifest.Requests, manifest.Lengths.Passages, manifest.Source.Name, manifest.Load.Words())
	settings, err := asMap(manifest.Load)
	if err != nil {
		return drive{}, err
	}
	d := drive{facts: qual.RunWorkload{
		Name: qual.RankingWorkload, Model: manifest.Request.Model, Path: manifest.Request.Path, SourceSHA256: manifest.Source.SHA256, Settings: settings,
	}}
	d.run = func(ctx context.Context) error { return s.rank(ctx, m, manifest) }
	return d, nil
}

// rank sends the workload and then scores the same requests by direct Task calls.
func (s *session) rank(ctx context.Context, m served, manifest *qual.RankingManifest) error {
	dir := filepath.Join(s.dir, qual.WorkloadDir, qual.RankingWorkload)
	sender := &trace.Sender{BaseURL: s.target.base, Workload: qual.RankingWorkload, Clock: s.clock, Timeout: s.set.timeout, KeepResponse: true}
	defer sender.Close()
	bar := newProgress(s.out, qual.RankingWorkload, manifest.Requests)
	client := &qual.RankingClient{Sender: sender, Progress: func(phase trace.Phase, _, _ int) {
		if phase == trace.PhaseMeasured {
			bar.step()
		}
	}}
	_, err := client.Run(ctx, dir)
	bar.finish()
	if err != nil || m.path == "" {
		return err
	}
	return s.scoreDirectly(ctx, m, manifest, dir)
}

// scoreDirectly loads a handle of its own and leaves its scores of every request in direct.jsonl.
func (s *session) scoreDirectly(ctx context.Context, m served, manifest *qual.RankingManifest, dir string) (err error) {
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
	return writeDirect(ctx, model, m, manifest, dir, out)
}

func writeDirect(ctx context.Context, model task.Model, m served, manifest *qual.RankingManifest, dir string, out io.Writer) error {
	ranker, err := ranking.ModelOf(m.name, model)
	if err != nil {
		return err
	}
	scorer := &qual.DirectScorer{Model: ranker, Info: model.Info(), BundleSHA256: m.facts.SHA256, Permuted: manifest.Permuted}
	for _, name := range []string{qual.WarmupFile, qual.WorkloadFile} {
		items, err := trace.ReadWorkload(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		if err := scorer.Run(ctx, items, func(d qual.DirectScores) error { return qual.WriteDirect(out, d) }); err != nil {
			return err
		}
	}
	return nil
}
