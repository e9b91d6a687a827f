package video

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Config configures a [Service]. Dir and Models are needed; every other zero field has the default named.
type Config struct {
	// Dir holds artifacts/ and, unless Store is set, jobs.db. It belongs to one service at a time.
	Dir    string
	Models []Model
	// Store keeps the jobs; the caller closes it after the service. Nil: a [BoltStore] in Dir.
	Store Store
	// Queue is how many jobs of one model may wait for a lane: 64. Jobs that wait at a restart are not counted.
	Queue int
	// TTL is how long a finished job and its artifact are kept: 24 hours. Negative: for ever.
	TTL time.Duration
	// DiskBytes is how much all artifacts together may take before the oldest are removed: 16 GiB. The one that
	// finished last stays even when it is larger alone. Negative: no budget.
	DiskBytes int64
	// SweepEvery is how often jobs that outlived their time are looked for: once a minute. They are not shown in
	// between either.
	SweepEvery time.Duration
	// BitRate is the target of the encoder in bits per second; 0 as in [EncoderConfig].
	BitRate int
	// Observe, when set, is given every [Event].
	Observe func(Event)
	// Logger gets what no caller can be told, such as a file that cannot be removed. Nil: nothing is logged.
	Logger *slog.Logger

	crash func(point string) // set by the test that kills the process between two steps
}

func (c Config) withDefaults() Config {
	if c.Queue == 0 {
		c.Queue = 64
	}
	if c.TTL == 0 {
		c.TTL = 24 * time.Hour
	}
	if c.DiskBytes == 0 {
		c.DiskBytes = 16 << 30
	}
	if c.SweepEvery == 0 {
		c.SweepEvery = time.Minute
	}
	if c.Observe == nil {
		c.Observe = func(Event) {}
	}
	if c.crash == nil {
		c.crash = func(string) {}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	c.Models = slices.Clone(c.Models)
	return c
}

// Service owns jobs: it queues them, runs each on a lane, writes and checks its artifact, and removes it in time. Make
// one with [Open] and end it with Close. All methods are safe for concurrent use.
type Service struct {
	cfg   Config
	store Store
	files *files
	own   *BoltStore // closed by Close; nil when the store is the caller's

	base   context.Context // of all calls; ends when a shutdown no longer waits
	cancel context.CancelCauseFunc
	stop   chan struct{} // ends the janitor
	nudge  chan struct{} // wakes the janitor early
	work   sync.WaitGroup
	keeper sync.WaitGroup

	sweeping sync.Mutex // one sweep at a time, so that no two count the same artifacts

	mu       sync.Mutex
	arrived  *sync.Cond // a queue grew, or the service closed
	queues   [][]string // ids that wait, for each model
	reserved []int      // places taken by jobs that are being stored, for each model
	lastID   uint64
	live     map[string]*run
	unsaved  map[string]Job // final states that the store has refused so far
	closed   bool
}

// run is a job on a lane.
type run struct {
	model    string
	cancel   context.CancelCauseFunc
	progress int
}

// Open starts a service. Jobs that were in progress when the last process ended become failed, with CodeRestart; jobs
// that were queued are queued again; files that belong to no completed job are removed. The error is [ErrNoEncoder] in
// a build that cannot encode.
func Open(cfg Config) (*Service, error) {
	if !HasEncoder {
		return nil, ErrNoEncoder
	}
	s, err := open(cfg)
	if err != nil {
		return nil, fmt.Errorf("open video service in %q: %w", cfg.Dir, err)
	}
	return s, nil
}

func open(cfg Config) (*Service, error) {
	cfg = cfg.withDefaults()
	if err := checkModels(cfg.Models); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, err
	}
	s := &Service{
		cfg: cfg, store: cfg.Store,
		stop: make(chan struct{}), nudge: make(chan struct{}, 1),
		queues: make([][]string, len(cfg.Models)), reserved: make([]int, len(cfg.Models)),
		live: map[string]*run{}, unsaved: map[string]Job{},
	}
	s.arrived = sync.NewCond(&s.mu)
	s.base, s.cancel = context.WithCancelCause(context.Background())
	var err error
	if s.files, err = openFiles(filepath.Join(cfg.Dir, "artifacts"), cfg.crash); err != nil {
		return nil, err
	}
	if s.store == nil {
		if s.own, err = OpenBolt(filepath.Join(cfg.Dir, "jobs.db")); err != nil {
			return nil, err
		}
		s.store = s.own
	}
	if err := s.recover(); err != nil {
		return nil, errors.Join(err, s.closeStore())
	}
	s.begin()
	return s, nil
}

func checkModels(models []Model) error {
	if len(models) == 0 {
		return errors.New("no models")
	}
	names := map[string]bool{}
	for _, m := range models {
		if len(m.Generators) == 0 {
			return fmt.Errorf("model %q has no generators", m.Name)
		}
		if names[m.Name] || m.Name == "" && len(models) > 1 {
			return fmt.Errorf("model name %q: among several, names must be given and differ", m.Name)
		}
		names[m.Name] = true
	}
	return nil
}

// begin starts the workers and the janitor.
func (s *Service) begin() {
	for i, m := range s.cfg.Models {
		for _, g := range m.Generators {
			s.work.Go(func() { s.lane(i, g) })
		}
	}
	s.keeper.Go(s.janitor)
}

func (s *Service) closeStore() error {
	if s.own == nil {
		return nil
	}
	return s.own.Close()
}

func (s *Service) emit(e Event) {
	e.At = time.Now()
	s.cfg.Observe(e)
}

// Shutdown stops accepting jobs and waits for the jobs on lanes to finish; jobs that wait stay queued for the next
// start. When ctx ends first, the contexts of the running calls end as well, those jobs become failed with
// CodeRestart, and the error names them; a Task call that cannot be cancelled goes on, and Close waits for it.
func (s *Service) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.arrived.Broadcast()
	s.mu.Unlock()
	idle := make(chan struct{})
	go func() {
		s.work.Wait()
		close(idle)
	}()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
	}
	ids := s.running()
	s.cancel(context.Cause(ctx))
	for _, id := range ids {
		// A job that is gone by now was deleted; its lane accounts for it.
		_ = s.fail(id, Failure{Code: CodeRestart, Message: shutDown}, Times{})
	}
	if len(ids) == 0 {
		return nil
	}
	return fmt.Errorf("shut down video service: jobs %v were still running: %w", ids, context.Cause(ctx))
}

// shutDown and restarted are why a job failed that the end of the process interrupted.
const (
	shutDown  = "the server was shut down before the job was finished"
	restarted = "the server was restarted before the job was finished"
)

// running lists the jobs on lanes.
func (s *Service) running() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.live))
}

// Close ends the service: running calls are cancelled and waited for, in so far as the Task allows, and their jobs
// become failed with CodeRestart, as after [Service.Shutdown] with a context that has ended. It is idempotent.
func (s *Service) Close() error {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	// Which jobs were interrupted is in their records and no reason for Close to fail.
	_ = s.Shutdown(ended)
	s.work.Wait()
	s.mu.Lock()
	select {
	case <-s.stop:
		s.mu.Unlock()
		return nil
	default:
		close(s.stop)
	}
	s.mu.Unlock()
	s.keeper.Wait()
	s.cancel(ErrClosed)
	return s.closeStore()
}
