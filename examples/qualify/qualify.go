package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/trtmc-go/trtmc/internal/monotime"
	"github.com/trtmc-go/trtmc/qual"
)

// session is one run under way, as the workloads see it.
type session struct {
	set    *settings
	dir    string
	clock  monotime.Clock
	target *target
	out    io.Writer // progress
}

// workload is one kind of load. prepare writes its files and returns what drive then sends.
type workload struct {
	name    string
	prepare func(s *session) (drive, error)
}

// drive sends a prepared workload: warm-up first, then the measured requests.
type drive struct {
	facts qual.RunWorkload
	run   func(ctx context.Context) error
}

// allWorkloads are the workloads in the order in which they run.
func allWorkloads() []workload {
	return []workload{
		{textTrace, prepareText},
	}
}

func workloadNames() []string {
	var names []string
	for _, w := range allWorkloads() {
		names = append(names, w.name)
	}
	return names
}

// qualify makes one run and leaves its evidence in the output folder. An error means that no run could be made; what
// goes wrong once requests are sent is evidence.
func qualify(ctx context.Context, set *settings, out io.Writer) error {
	if err := prepareFolder(set.out, set.force); err != nil {
		return err
	}
	run := newRun(set)
	s := &session{set: set, dir: set.out, clock: monotime.New(), out: out}
	run.Clock = s.clock.Name()
	if err := s.open(ctx); err != nil {
		return err
	}
	drives, err := s.prepare(run)
	if err == nil {
		fmt.Fprintf(out, "runtime %s, bundle %s, server %s\n", s.target.runtime.Version, s.target.model.facts.File, s.target.base)
		run.Exit.ClientError = s.drive(ctx, drives)
	}
	exit := s.target.stop()
	if err != nil {
		return err
	}
	exit.ClientError, exit.Interrupted = run.Exit.ClientError, ctx.Err() != nil
	run.Exit = exit
	run.EndedAt = time.Now().UTC()
	if run.Sealed, err = qual.Seal(set.out); err != nil {
		return err
	}
	return qual.WriteRun(set.out, run)
}

func newRun(set *settings) *qual.Run {
	return &qual.Run{
		Schema: qual.RunSchema, Command: set.args, StartedAt: time.Now().UTC(), Host: hostFacts(), Program: programFacts(),
		Client:        qual.ClientFacts{Name: "trtmc replayer", TimeoutMS: milliseconds(set.timeout)},
		MaxLatenessMS: milliseconds(set.maxLateness),
	}
}

// open starts the server or finds the foreign one.
func (s *session) open(ctx context.Context) (err error) {
	if s.set.url != "" {
		s.target, err = foreignServer(ctx, s.set, s.dir)
	} else {
		s.target, err = ownServer(s.set, s.dir, s.clock)
	}
	return err
}

// prepare makes the files of every workload and completes what the run says of the server.
func (s *session) prepare(run *qual.Run) ([]drive, error) {
	run.Runtime, run.Server, run.SharedProcess = s.target.runtime, s.target.facts, s.target.shared
	run.Bundles = []qual.BundleFacts{s.target.model.facts}
	var drives []drive
	for _, w := range allWorkloads() {
		if !slices.Contains(s.set.workloads, w.name) {
			continue
		}
		d, err := w.prepare(s)
		if err != nil {
			return nil, fmt.Errorf("prepare %s: %w", w.name, err)
		}
		run.Workloads = append(run.Workloads, d.facts)
		drives = append(drives, d)
	}
	return drives, nil
}

// drive sends the workloads one after another. What goes wrong is returned in words: it is evidence, not an abort.
func (s *session) drive(ctx context.Context, drives []drive) string {
	var errs []error
	for _, d := range drives {
		if err := d.run(ctx); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", d.facts.Name, err))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	return ""
}
