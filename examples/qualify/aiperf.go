package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/trtmc-go/trtmc/qual"
	"github.com/trtmc-go/trtmc/qual/aiperf"
	"github.com/trtmc-go/trtmc/trace"
)

// installAIPerf is the command that installs the client and prints its path.
const installAIPerf = ".ci/aiperf"

// aiperfHint says how to add the acceptance client to a run that was made without it.
const aiperfHint = "AIPerf did not run; add it with: go run ./examples/qualify -aiperf \"$(" + installAIPerf + " | tail -n1)\""

// acceptance is the verified AIPerf of a run.
type acceptance struct {
	installation *aiperf.Installation
	tiktoken     string
}

// findAIPerf finds and verifies the client of -aiperf; nil when there is none. Nothing of it is executed.
func findAIPerf(ctx context.Context, set *settings) (*acceptance, error) {
	if set.aiperf == "" {
		return nil, nil
	}
	in, err := aiperf.Find(set.aiperf, filepath.Join(cacheFolder(), "aiperf"))
	if err == nil {
		err = in.Verify(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("-aiperf %s: %w; install the published release with: %s", set.aiperf, err, installAIPerf)
	}
	a := &acceptance{installation: in, tiktoken: set.tiktoken}
	if a.tiktoken == "" {
		a.tiktoken = filepath.Join(filepath.Dir(filepath.Dir(filepath.Dir(in.Executable))), "tiktoken")
	}
	if files, err := os.ReadDir(a.tiktoken); err != nil || len(files) == 0 {
		return nil, fmt.Errorf("-tiktoken-cache %s: no tokenizer table there; make it with: %s", a.tiktoken, installAIPerf)
	}
	return a, nil
}

// cacheFolder is where the installation script keeps things.
func cacheFolder() string {
	if dir := os.Getenv("TRTMC_CACHE"); dir != "" {
		return dir
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "trtmc"
	}
	return filepath.Join(dir, "trtmc")
}

// aiperfDrive sends a prepared workload once more, by AIPerf.
func (s *session) aiperfDrive(own drive) drive {
	facts := own.facts
	facts.Name, facts.Of, facts.Client = own.facts.Name+"-"+qual.AIPerfClient, own.facts.Name, qual.AIPerfClient
	return drive{facts: facts, run: func(ctx context.Context) error { return s.runAIPerf(ctx, own.facts) }}
}

// runAIPerf runs the client and leaves its evidence in the folder of the workload. How it fared is in the evidence.
func (s *session) runAIPerf(ctx context.Context, w qual.RunWorkload) error {
	folder := filepath.Join(s.dir, qual.WorkloadDir, w.Name)
	limit := s.set.timeout
	if w.Name == qual.VideoWorkload {
		limit = s.set.videoTimeout
	}
	deadline, err := aiperfDeadline(folder, limit)
	if err != nil {
		return err
	}
	spec, err := qual.AIPerfSpec(s.dir, qual.AIPerfOptions{
		Installation: s.aiperf.installation, TiktokenCache: s.aiperf.tiktoken, BaseURL: s.target.base, Workload: w,
		Timeout: limit, Deadline: deadline, TextWarmup: s.set.warmup,
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "%s-%s: AIPerf %s sends the same requests\n", w.Name, qual.AIPerfClient, s.aiperf.installation.Version)
	evidence := &qual.AIPerfRun{
		Schema: qual.AIPerfSchema, Clock: s.clock.Name(), WallBaseUnixNS: s.clock.WallBase(), Warmup: spec.Warmup,
		FixedSchedule: spec.FixedSchedule || spec.Workload == aiperf.TextTrace, Installation: s.aiperf.installation,
	}
	evidence.Result, err = aiperf.Run(ctx, spec)
	if err != nil {
		return err
	}
	return qual.WriteAIPerfRun(folder, evidence)
}

// aiperfSlack is how long the client may take to start and to write its exports on a busy machine.
const aiperfSlack = 3 * time.Minute

// aiperfDeadline bounds a run by AIPerf: its schedule, or every request after another, and what it needs itself.
func aiperfDeadline(folder string, limit time.Duration) (time.Duration, error) {
	items, err := trace.ReadWorkload(filepath.Join(folder, qual.WorkloadFile))
	if err != nil {
		return 0, err
	}
	if len(items) == 0 {
		return 0, errors.New("the prepared workload is empty")
	}
	last := time.Duration(0)
	for _, item := range items {
		last = max(last, item.Offset)
	}
	if last == 0 {
		last = time.Duration(len(items)) * limit // a closed loop in which every request times out
	}
	return last + limit + aiperfSlack, nil
}
