package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/trtmc-go/trtmc/internal/monotime"
	"github.com/trtmc-go/trtmc/native"
	"github.com/trtmc-go/trtmc/native/task"
	"github.com/trtmc-go/trtmc/qual"
	"github.com/trtmc-go/trtmc/serving"
	"github.com/trtmc-go/trtmc/serving/record"
)

// target is the server that is driven: one of our own in this process, or a foreign one.
type target struct {
	base    string // URL
	models  []served
	runtime qual.RuntimeFacts
	facts   qual.ServerFacts
	shared  bool // it runs in this process
	// direct loads a handle of its own for direct Task calls and returns what gives it back.
	direct func(m served) (task.Model, func() error, error)
	// stop ends it, or stops watching it, and says how it ended.
	stop func() qual.ExitFacts
}

// grace is how long the server may drain once the client is done.
const grace = 30 * time.Second

// ownServer loads each bundle once per lane and serves them on a free loopback port. Records go into dir.
func ownServer(set *settings, dir string, clock monotime.Clock) (*target, error) {
	began := time.Now()
	rt, err := native.Open(native.Options{Library: set.runtime, RuntimeRoot: set.root})
	if err != nil {
		return nil, err
	}
	s := &inProcess{runtime: rt, procs: runtime.GOMAXPROCS(0)}
	t, err := s.start(set, dir, clock)
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	t.facts.StartupMS = milliseconds(time.Since(began))
	return t, nil
}

// inProcess holds what a server of our own must give back.
type inProcess struct {
	runtime *native.Runtime
	procs   int // GOMAXPROCS as it was
	records *countingSink
	log     *os.File
	videos  string // folder of jobs; empty: none
	cancel  context.CancelFunc
	served  chan error
}

func (s *inProcess) start(set *settings, dir string, clock monotime.Clock) (*target, error) {
	t := &target{shared: true, stop: s.stop, direct: s.direct}
	var err error
	if t.models, err = bundlesOf(set, filepath.Join(dir, qual.BundleDir)); err != nil {
		return nil, err
	}
	if t.runtime, err = runtimeFacts(s.runtime.Version(), s.runtime.Reference(), set.runtime); err != nil {
		return nil, fmt.Errorf("digest of the runtime library: %w", err)
	}
	models, all, err := s.loadAll(t.models, set)
	if err != nil {
		return nil, err
	}
	if s.log, err = os.Create(filepath.Join(dir, qual.LogDir, "server.log")); err != nil {
		return nil, err
	}
	writer, err := record.OpenWriter(filepath.Join(dir, qual.RecordsFile))
	if err != nil {
		return nil, err
	}
	s.records = &countingSink{Writer: writer}
	queue := serving.Queue{Count: set.queue, Bytes: set.queueBytes, Wait: set.queueWait}
	if queue.Count == 0 {
		queue.Count = -1 // no queue at all; 0 would be the default length
	}
	jobs, err := s.videoOptions(t.models)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	srv, err := serving.New(serving.Config{
		Models: models, Records: s.records, Queue: queue, Video: jobs, Grace: grace, Clock: clock,
		Logger: slog.New(slog.NewJSONHandler(s.log, nil)),
	})
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	t.base = "http://" + listener.Addr().String()
	t.facts = qual.ServerFacts{InProcess: true, Lanes: all, QueueCount: set.queue, QueueBytes: set.queueBytes, QueueWaitMS: milliseconds(set.queueWait)}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel, s.served = cancel, make(chan error, 1)
	go func() { s.served <- srv.Serve(ctx, listener) }()
	return t, nil
}

// videoOptions gives the jobs of a video bundle a folder of their own, which lives as long as the server: the evidence
// is what the client downloads.
func (s *inProcess) videoOptions(bundles []served) (o serving.VideoOptions, err error) {
	if slices.ContainsFunc(bundles, func(b served) bool { return b.serves([]task.ID{task.TextToVideo}) }) {
		s.videos, err = os.MkdirTemp("", "qualify-videos-")
		o.Dir = s.videos
	}
	return o, err
}

// loadAll loads every bundle and returns how many handles there are in all.
func (s *inProcess) loadAll(bundles []served, set *settings) (models []serving.Model, all int, err error) {
	for i := range bundles {
		b := &bundles[i]
		lanes, err := s.load(b, set)
		if err != nil {
			return nil, 0, err
		}
		models = append(models, serving.Model{Name: b.name, Lanes: lanes, ContextTokens: b.context, MaxOutputTokens: b.maximum})
		all += len(lanes)
	}
	// A native call keeps its slot of the Go scheduler until the runtime's monitor takes it back, which can last 10 ms.
	// With one more slot for each lane, calls that wait do not keep requests from being taken.
	runtime.GOMAXPROCS(s.procs + all)
	return models, all, nil
}

// load opens one model handle per lane and notes what the first says of itself, which decides how many there are.
func (s *inProcess) load(b *served, set *settings) ([]task.Model, error) {
	began := time.Now()
	var out []task.Model
	for len(out) == 0 || len(out) < lanesOf(set, *b) {
		m, err := s.runtime.Load(b.path, native.LoadOptions{})
		if err != nil {
			return nil, err
		}
		if out = append(out, m); len(out) > 1 {
			continue
		}
		b.tasks = []task.ID{}
		for _, d := range m.Info().Tasks {
			b.tasks = append(b.tasks, d.ID)
			b.facts.Tasks = append(b.facts.Tasks, string(d.ID))
		}
	}
	b.facts.LoadMS, b.facts.Lanes = milliseconds(time.Since(began)), len(out)
	return out, nil
}

// direct loads one more handle, which no lane of the server has.
func (s *inProcess) direct(m served) (task.Model, func() error, error) {
	model, err := s.runtime.Load(m.path, native.LoadOptions{})
	if err != nil {
		return nil, nil, err
	}
	return model, model.Close, nil
}

// stop drains the server and closes what it held.
func (s *inProcess) stop() qual.ExitFacts {
	began := time.Now()
	s.cancel()
	err := <-s.served
	exit := qual.ExitFacts{Drained: true, DrainMS: time.Since(began).Milliseconds()}
	var stuck *serving.ShutdownError
	switch {
	case errors.As(err, &stuck):
		exit.Drained, exit.ServerError = false, stuck.Error()
	case err != nil:
		exit.ServerError = err.Error()
	}
	if err := s.close(); err != nil && exit.ServerError == "" {
		exit.ServerError = err.Error()
	}
	exit.RecordErrors = s.records.errors.Load()
	return exit
}

// close gives back what start took, as far as it came.
func (s *inProcess) close() error {
	var errs []error
	if s.records != nil {
		errs = append(errs, s.records.Close())
	}
	errs = append(errs, s.runtime.Close())
	if s.videos != "" {
		errs = append(errs, os.RemoveAll(s.videos))
	}
	runtime.GOMAXPROCS(s.procs)
	if s.log != nil {
		errs = append(errs, s.log.Close())
	}
	return errors.Join(errs...)
}

// countingSink counts the records that could not be taken.
type countingSink struct {
	*record.Writer
	errors atomic.Int64
}

// Append implements serving.RecordSink.
func (c *countingSink) Append(r record.Record) error {
	err := c.Writer.Append(r)
	if err != nil {
		c.errors.Add(1)
	}
	return err
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
