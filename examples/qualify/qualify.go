package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/trtmc-go/trtmc/internal/monotime"
	"github.com/trtmc-go/trtmc/native/reference"
	"github.com/trtmc-go/trtmc/native/task"
	"github.com/trtmc-go/trtmc/qual"
)

// session is one run under way, as the workloads see it.
type session struct {
	set    *settings
	dir    string
	clock  monotime.Clock
	target *target
	aiperf *acceptance // nil: our own client alone
	out    io.Writer   // progress
}

// workload is one kind of load.
type workload struct {
	name string
	// tasks are those of which a bundle must declare one.
	tasks []task.ID
	// lanes is how many handles it asks for.
	lanes func(set *settings) int
	// model, bundle and reference are the served name, the file's base name and the content of the bundle that is
	// written when there is no -model.
	model     string
	bundle    string
	reference func(set *settings) reference.Params
	// prepare writes its files and returns what drive then sends.
	prepare func(s *session, m served) (drive, error)
}

// drive sends a prepared workload: warm-up first, then the measured requests.
type drive struct {
	facts qual.RunWorkload
	run   func(ctx context.Context) error
}

// allWorkloads are the workloads in the order in which they run.
func allWorkloads() []workload {
	return []workload{
		{
			name: textTrace, tasks: textTasks(), lanes: func(set *settings) int { return set.lanes },
			model: "reference", bundle: "reference-text", reference: textParams, prepare: prepareText,
		},
		{
			name: qual.RankingWorkload, tasks: []task.ID{task.TextQueryDocumentsToRelevance}, lanes: func(set *settings) int { return set.rankingLanes },
			model: "reference-ranker", bundle: "reference-ranking", reference: func(*settings) reference.Params { return reference.RankingParams() }, prepare: prepareRanking,
		},
		{
			name: qual.VideoWorkload, tasks: []task.ID{task.TextToVideo}, lanes: func(set *settings) int { return set.videoLanes },
			model: "reference-video", bundle: "reference-video", reference: videoParams, prepare: prepareVideo,
		},
	}
}

func textTasks() []task.ID {
	return []task.ID{task.TextContinuation, task.StreamingTextContinuation, task.TextConversation, task.StreamingTextConversation}
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
	client, err := findAIPerf(ctx, set)
	if err != nil {
		return err
	}
	if err := prepareFolder(set.out, set.force); err != nil {
		return err
	}
	run := newRun(set)
	s := &session{set: set, dir: set.out, clock: monotime.New(), aiperf: client, out: out}
	run.Clock = s.clock.Name()
	if err := s.validate(ctx); err != nil {
		return err
	}
	if err := s.open(ctx); err != nil {
		return err
	}
	run.Stack = stackFacts(ctx)
	drives, err := s.prepare(run)
	if err == nil {
		fmt.Fprintf(out, "runtime %s, bundles %s, server %s\n", s.target.runtime.Version, bundleFiles(s.target.models), s.target.base)
		run.Exit.ClientError = s.drive(ctx, drives)
	}
	exit := s.target.stop()
	if err != nil {
		return err
	}
	exit.ClientError, exit.Interrupted = run.Exit.ClientError, ctx.Err() != nil
	run.Exit = exit
	run.EndedAt = time.Now().UTC()
	run.WallStepNS = run.EndedAt.UnixNano() - int64(s.clock.Now()) - s.clock.WallBase()
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
	for _, m := range s.target.models {
		run.Bundles = append(run.Bundles, s.set.stated(m.facts))
	}
	var drives []drive
	for _, w := range s.set.chosen() {
		m, err := chooseModel(s.target.models, w)
		if err != nil && !s.set.insist {
			run.Notes = append(run.Notes, fmt.Sprintf("%s was left out: %v", w.name, err))
			fmt.Fprintf(s.out, "%s is left out: %v\n", w.name, err)
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("prepare %s: %w", w.name, err)
		}
		d, err := w.prepare(s, m)
		if err != nil {
			return nil, fmt.Errorf("prepare %s: %w", w.name, err)
		}
		run.Workloads = append(run.Workloads, d.facts)
		drives = append(drives, d)
		if s.aiperf != nil {
			again := s.aiperfDrive(d)
			run.Workloads = append(run.Workloads, again.facts)
			drives = append(drives, again)
		}
	}
	if len(drives) == 0 {
		return nil, errors.New("no workload can run: " + strings.Join(run.Notes, "; "))
	}
	return drives, nil
}

func bundleFiles(models []served) string {
	files := make([]string, len(models))
	for i, m := range models {
		files[i] = m.facts.File
	}
	return strings.Join(files, " and ")
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
