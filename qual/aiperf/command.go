package aiperf

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Workload names what is measured; the words are those of the harness.
type Workload string

// The workloads.
const (
	TextTrace Workload = "text-trace"
	Ranking   Workload = "ranking"
	Video     Workload = "video"
)

// Spec describes one AIPerf run. The fields without a word on their default are required.
type Spec struct {
	Executable string
	Workload   Workload
	BaseURL    string // of the server, e.g. http://127.0.0.1:8000
	Model      string
	// InputFile is the prepared workload. TextTrace: literal rows {"timestamp","session_id","payload"}. Ranking and
	// Video: single_turn rows, see WriteSingleTurn.
	InputFile string
	// ArtifactDir receives the exports. It is created; a run refuses one that is not empty, so that files of two runs
	// are never taken for one.
	ArtifactDir string
	// LogDir receives stdout and stderr; "" is beside ArtifactDir.
	LogDir string
	// TiktokenCache is the folder prepared by install/make_tiktoken_cache.py.
	TiktokenCache string

	Chat      bool // TextTrace: /v1/chat/completions, else /v1/completions
	Streaming bool // TextTrace: must agree with the payloads, whose bytes are sent as they stand
	// FixedSchedule makes Ranking and Video rows go out at their timestamps, which every row must then have; Requests
	// and Concurrency are then not used. TextTrace is always sent at its timestamps.
	FixedSchedule bool
	Requests      int      // Ranking, Video: measured requests
	Concurrency   int      // Ranking, Video; 0 is 1
	Warmup        int      // requests before the measured ones, one after another, taken from the top of the file
	ExtraInputs   []string // name:value, added to bodies the client builds (not to literal payloads)
	WorkersMax    int      // 0 leaves the client's default
	// RequestTimeout is the client's limit for one request, in whole seconds; 0 leaves its default of six hours.
	RequestTimeout time.Duration
	// PollInterval is how long the client waits between polls of a video job: 1 ms to 10 s, 0 is 100 ms. It bounds
	// the resolution of video latencies.
	PollInterval time.Duration
	APIKey       string // sent as bearer token; never part of a Result
	HTTPTrace    bool   // export per-request connection times and response headers too

	// Deadline ends the whole run: SIGTERM to its process group, SIGKILL after Grace. 0 is none.
	Deadline time.Duration
	Grace    time.Duration // 0 is 10 s
}

// DefaultPollInterval is used for video jobs unless the Spec says otherwise.
const DefaultPollInterval = 100 * time.Millisecond

// Args returns the command line after the executable. Errors wrap ErrSpec and say which field is wrong.
func (s *Spec) Args() ([]string, error) {
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSpec, err)
	}
	args := []string{"profile", "--model", s.Model, "--url", s.BaseURL}
	switch s.Workload {
	case TextTrace:
		endpoint := "completions"
		if s.Chat {
			endpoint = "chat"
		}
		args = append(args, "--endpoint-type", endpoint)
		if s.Streaming {
			args = append(args, "--streaming")
		}
		args = append(args, "--input-file", s.InputFile, "--custom-dataset-type", "mooncake_trace", "--fixed-schedule")
	case Ranking:
		args = append(args, "--endpoint-type", "nim_rankings")
		args = append(args, s.singleTurn()...)
	case Video:
		args = append(args, "--endpoint-type", "video_generation", "--download-video-content")
		args = append(args, s.singleTurn()...)
	}
	args = append(args, "--tokenizer", "cl100k_base", "--use-server-token-count")
	if len(s.ExtraInputs) > 0 {
		args = append(append(args, "--extra-inputs"), s.ExtraInputs...)
	}
	args = s.optional(args)
	return append(args, "--export-level", "raw", "--artifact-dir", s.ArtifactDir, "--random-seed", "0",
		"--ui", "none", "--no-gpu-telemetry", "--no-server-metrics"), nil
}

func (s *Spec) singleTurn() []string {
	args := []string{"--input-file", s.InputFile, "--custom-dataset-type", "single_turn"}
	if s.FixedSchedule {
		return append(args, "--fixed-schedule")
	}
	return append(args, "--dataset-sampling-strategy", "sequential", "--request-count", strconv.Itoa(s.Requests),
		"--concurrency", strconv.Itoa(max(s.Concurrency, 1)))
}

func (s *Spec) optional(args []string) []string {
	if s.Warmup > 0 {
		args = append(args, "--warmup-request-count", strconv.Itoa(s.Warmup))
	}
	if s.WorkersMax > 0 {
		args = append(args, "--workers-max", strconv.Itoa(s.WorkersMax))
	}
	if s.RequestTimeout > 0 {
		args = append(args, "--request-timeout-seconds", strconv.Itoa(int(s.RequestTimeout/time.Second)))
	}
	if s.APIKey != "" {
		args = append(args, "--api-key", s.APIKey)
	}
	if s.HTTPTrace {
		args = append(args, "--export-http-trace")
	}
	return args
}

func (s *Spec) check() error {
	base, err := url.Parse(s.BaseURL)
	switch {
	case err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https":
		return fmt.Errorf("field BaseURL is %q, want http://host:port", s.BaseURL)
	case !slices.Contains([]Workload{TextTrace, Ranking, Video}, s.Workload):
		return fmt.Errorf("field Workload is %q, want %s, %s or %s", s.Workload, TextTrace, Ranking, Video)
	case s.Executable == "" || s.Model == "" || s.InputFile == "" || s.ArtifactDir == "" || s.TiktokenCache == "":
		return fmt.Errorf("fields Executable, Model, InputFile, ArtifactDir and TiktokenCache are all needed")
	case s.Workload != TextTrace && !s.FixedSchedule && s.Requests < 1:
		return fmt.Errorf("field Requests is %d, want at least 1", s.Requests)
	case s.Workload != TextTrace && (s.Streaming || s.Chat):
		return fmt.Errorf("fields Streaming and Chat are for %s only", TextTrace)
	case s.Warmup < 0 || s.Concurrency < 0 || s.WorkersMax < 0 || s.RequestTimeout < 0 || s.Deadline < 0 || s.Grace < 0:
		return fmt.Errorf("a count or duration is negative")
	case s.RequestTimeout%time.Second != 0:
		return fmt.Errorf("field RequestTimeout is %v, want whole seconds", s.RequestTimeout)
	case s.PollInterval != 0 && (s.PollInterval < time.Millisecond || s.PollInterval > 10*time.Second):
		return fmt.Errorf("field PollInterval is %v, want 1ms to 10s", s.PollInterval)
	}
	for _, x := range s.ExtraInputs {
		if name, _, ok := strings.Cut(x, ":"); !ok || name == "" || strings.HasPrefix(x, "-") {
			return fmt.Errorf("field ExtraInputs has %q, want name:value", x)
		}
	}
	return nil
}

// env returns the run's own variables: time stamps in UTC (the summary's have no zone), no cached data set from an
// earlier run, the tokenizer's table, and the polling cadence.
func (s *Spec) env() []string {
	env := []string{"TZ=UTC", "AIPERF_DATASET_MMAP_CACHE_ENABLED=false", "TIKTOKEN_CACHE_DIR=" + s.TiktokenCache}
	if s.Workload == Video {
		poll := s.PollInterval
		if poll == 0 {
			poll = DefaultPollInterval
		}
		env = append(env, "AIPERF_HTTP_VIDEO_POLL_INTERVAL="+strconv.FormatFloat(poll.Seconds(), 'f', -1, 64))
	}
	return env
}

// Environ returns base without what could change the client unseen, with the run's own variables added, and the names
// that were taken out: tokenizer hub switches (with which local tokenizers fail), settings of the client itself, and
// paths from which Python would load other code.
func (s *Spec) Environ(base []string) (env, removed []string) {
	own := s.env()
	for _, v := range base {
		name, _, _ := strings.Cut(v, "=")
		switch {
		case slices.ContainsFunc(own, func(o string) bool { return strings.HasPrefix(o, name+"=") }):
		case strings.HasPrefix(name, "HF_"), strings.HasPrefix(name, "AIPERF_"), name == "TRANSFORMERS_OFFLINE",
			name == "PYTHONPATH", name == "PYTHONHOME", name == "PYTHONSTARTUP":
			removed = append(removed, name)
		default:
			env = append(env, v)
		}
	}
	slices.Sort(removed)
	return append(env, own...), removed
}

// absolute makes the paths of the Spec absolute and the folders exist.
func (s *Spec) absolute() error {
	if s.LogDir == "" {
		s.LogDir = filepath.Dir(filepath.Clean(s.ArtifactDir))
	}
	for _, p := range []*string{&s.Executable, &s.InputFile, &s.ArtifactDir, &s.LogDir, &s.TiktokenCache} {
		abs, err := filepath.Abs(*p)
		if err != nil {
			return err
		}
		*p = abs
	}
	for _, dir := range []string{s.ArtifactDir, s.LogDir} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	old, err := os.ReadDir(s.ArtifactDir)
	if err != nil {
		return err
	}
	if len(old) > 0 {
		return fmt.Errorf("%w: ArtifactDir %s is not empty", ErrSpec, s.ArtifactDir)
	}
	if _, err := os.Stat(s.InputFile); err != nil {
		return fmt.Errorf("%w: InputFile: %w", ErrSpec, err)
	}
	return nil
}
