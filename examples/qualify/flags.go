package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/trtmc-go/trtmc/qual"
	"github.com/trtmc-go/trtmc/qual/inventory"
)

// settings is the parsed command line.
type settings struct {
	args []string // as given, the program's name first

	out   string
	force bool
	judge string
	folderFlags

	runtime string
	root    string
	models  []modelSpec
	fault   string
	context int

	workloads []string
	insist    bool // the workloads were named, so that none may be left out
	trace     string
	start     time.Duration
	window    time.Duration
	scale     float64
	fit       string
	endpoint  string
	stream    bool
	warmup    int
	seed      uint64

	rankingGroups      string
	rankingCount       int
	rankingConcurrency int
	rankingRate        float64
	rankingSpacing     string
	rankingLanes       int

	videoPrompts     string
	videoCount       int
	videoWarmup      int
	videoConcurrency int
	videoLanes       int
	videoPoll        time.Duration
	videoTimeout     time.Duration

	lanes      int
	queue      int
	queueBytes int64
	queueWait  time.Duration

	timeout     time.Duration
	maxLateness time.Duration

	url     string
	records string

	aiperf   string
	tiktoken string
	claim    string
	plan     string
	planned  *plan // of -plan
}

// modelSpec is one -model NAME=BUNDLE.
type modelSpec struct{ name, bundle string }

// fits and endpoints are the words that -fit and -endpoint take.
func fits() []string      { return []string{"none", "drop", "clamp", "scale"} }
func endpoints() []string { return []string{"completions", "chat"} }

// spacings are the words of -ranking-spacing.
func spacings() []string {
	return []string{string(qual.ConstantSpacing), string(qual.PoissonSpacing)}
}

// statusNames are the words of -claim.
func statusNames() []string {
	return []string{string(inventory.Planned), string(inventory.Implemented), string(inventory.FamilyValidated), string(inventory.AIPerfQualified)}
}

// chosen are the workloads of the flags, in the order in which they run.
func (s *settings) chosen() []workload {
	var out []workload
	for _, w := range allWorkloads() {
		if slices.Contains(s.workloads, w.name) {
			out = append(out, w)
		}
	}
	return out
}

// defaultOut is the output folder unless -out names another.
const defaultOut = "out"

// parseFlags reads the command line. Help goes to stdout and gives flag.ErrHelp; every other error is one line.
func parseFlags(args []string, stdout io.Writer) (*settings, error) {
	set := &settings{args: slices.Clone(args)}
	set.args[0] = filepath.Base(args[0])
	fs := flag.NewFlagSet("qualify", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	var workloads string
	set.define(fs, &workloads)
	if err := fs.Parse(args[1:]); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fs.SetOutput(stdout)
			fmt.Fprintln(stdout, "Usage: qualify [flags]\nReplays a trace against a served bundle and accounts for every request. Without flags it needs nothing else.")
			fs.PrintDefaults()
		}
		return nil, err
	}
	if err := set.takeArguments(fs.Args()); err != nil {
		return nil, err
	}
	if set.plan != "" {
		if err := set.applyPlan(fs, &workloads); err != nil {
			return nil, err
		}
	}
	set.workloads = strings.Split(workloads, ",")
	fs.Visit(func(f *flag.Flag) { set.insist = set.insist || f.Name == "workloads" })
	return set, set.check()
}

func (s *settings) define(fs *flag.FlagSet, workloads *string) {
	fs.StringVar(&s.out, "out", defaultOut, "output `folder`; an earlier run in the default folder is replaced")
	fs.BoolVar(&s.force, "force", false, "replace an earlier run in the folder of -out")
	fs.StringVar(&s.judge, "judge", "", "judge the finished output `folder` again and run nothing")
	s.defineFolders(fs)
	fs.StringVar(&s.runtime, "runtime", "", "absolute path of libtrtmc_c.so.1; empty: the reference runtime that is linked in")
	fs.StringVar(&s.root, "runtime-root", "", "`folder` of the runtime's backend libraries (default: that of -runtime)")
	fs.Func("model", "`NAME=BUNDLE` to serve; a workload takes the first that declares its Task (default: reference bundles that are written into the output folder)", s.addModel)
	fs.StringVar(&s.fault, "fault", "", "give a bundle that is written a `fault`: "+strings.Join(faultNames(), ", "))
	fs.IntVar(&s.context, "context", 0, "context of the text bundle in `tokens`; for the bundle that is written its size, else what the bundle does not state")
	fs.StringVar(workloads, "workloads", strings.Join(workloadNames(), ","), "comma separated `list` of workloads to run")
	fs.StringVar(&s.trace, "trace", "", "Mooncake trace `file`, plain, gzip or zstd (default: the embedded excerpt)")
	fs.DurationVar(&s.start, "start", defaultStart, "first recorded time of the window")
	fs.DurationVar(&s.window, "window", defaultWindow, "length of the window in recorded time; 0: to the end of the trace")
	fs.Float64Var(&s.scale, "scale", 1, "speed: 2 replays twice as fast as recorded")
	fs.StringVar(&s.fit, "fit", "scale", "rows beyond the bundle's context: "+strings.Join(fits(), ", "))
	fs.StringVar(&s.endpoint, "endpoint", "completions", "text route: "+strings.Join(endpoints(), ", "))
	fs.BoolVar(&s.stream, "stream", true, "ask for streamed answers")
	fs.IntVar(&s.warmup, "warmup", 5, "warm-up requests of each workload; counted apart")
	fs.Uint64Var(&s.seed, "seed", 1, "seed of prompts and of random gaps")
	fs.IntVar(&s.lanes, "lanes", 16, "model handles for text, each of which is one execution lane")
	fs.StringVar(&s.rankingGroups, "ranking-groups", "", "`file` of queries with passages (default: the embedded groups)")
	fs.IntVar(&s.rankingCount, "ranking-count", 60, "ranking requests; groups are repeated when there are fewer")
	fs.IntVar(&s.rankingConcurrency, "ranking-concurrency", 2, "ranking requests under way in a closed loop")
	fs.Float64Var(&s.rankingRate, "ranking-rate", 0, "ranking requests per second in an open loop; 0: closed loop")
	fs.StringVar(&s.rankingSpacing, "ranking-spacing", "poisson", "gaps of the open ranking loop: "+strings.Join(spacings(), ", "))
	fs.IntVar(&s.rankingLanes, "ranking-lanes", 2, "model handles for ranking")
	fs.StringVar(&s.videoPrompts, "video-prompts", "", "`file` of prompts with settings (default: the embedded prompts)")
	fs.IntVar(&s.videoCount, "video-count", 6, "clips to make; prompts are repeated when there are fewer")
	fs.IntVar(&s.videoWarmup, "video-warmup", 1, "clips before them; counted apart")
	fs.IntVar(&s.videoConcurrency, "video-concurrency", 2, "video jobs under way in a closed loop")
	fs.IntVar(&s.videoLanes, "video-lanes", 1, "model handles for videos")
	fs.DurationVar(&s.videoPoll, "video-poll", qual.DefaultVideoPoll, "time from an answer about a job to the next question")
	fs.DurationVar(&s.videoTimeout, "video-timeout", qual.DefaultVideoTimeout, "client's limit for one job")
	fs.IntVar(&s.queue, "queue", 256, "requests that may wait for a lane")
	fs.Int64Var(&s.queueBytes, "queue-bytes", 64<<20, "bytes of waiting requests")
	fs.DurationVar(&s.queueWait, "queue-wait", 10*time.Second, "longest wait for a lane")
	fs.DurationVar(&s.timeout, "timeout", 20*time.Second, "client's limit for one request")
	fs.DurationVar(&s.maxLateness, "max-lateness", 250*time.Millisecond, "limit of the replay check: p99 of lateness at sending")
	fs.StringVar(&s.url, "url", "", "drive the running server at this `URL` instead of one of our own; needs -records and -model NAME")
	fs.StringVar(&s.records, "records", "", "records `file` of the server of -url")
	fs.StringVar(&s.aiperf, "aiperf", "", "send every workload once more by the published AIPerf at this `path`; auto looks on $PATH and where "+installAIPerf+" puts it")
	fs.StringVar(&s.plan, "plan", "", "YAML `file` that names runtime, bundles, validation commands and settings; flags win over it")
	fs.StringVar(&s.claim, "claim", "", "refuse, with exit code 1, unless the evidence carries this `status`: "+strings.Join(statusNames(), ", "))
	fs.StringVar(&s.tiktoken, "tiktoken-cache", "", "`folder` of AIPerf's tokenizer table (default: tiktoken beside its environment)")
}

func (s *settings) addModel(text string) error {
	name, bundle, ok := strings.Cut(text, "=")
	if name == "" || ok && bundle == "" {
		return errors.New("want NAME=BUNDLE")
	}
	if slices.ContainsFunc(s.models, func(m modelSpec) bool { return m.name == name }) {
		return fmt.Errorf("model %q is named twice", name)
	}
	s.models = append(s.models, modelSpec{name, bundle})
	return nil
}

// check refuses what no run can be made of.
func (s *settings) check() error {
	for _, c := range []struct {
		bad   bool
		words string
	}{
		{s.out == "", "-out: want a folder"},
		{math.IsNaN(s.scale) || math.IsInf(s.scale, 0) || s.scale <= 0, fmt.Sprintf("-scale %g: want a speed above 0, such as 1 or 2.5", s.scale)},
		{s.start < 0, fmt.Sprintf("-start %v: want 0 or more", s.start)},
		{s.window < 0, fmt.Sprintf("-window %v: want a length above 0, or 0 for the rest of the trace", s.window)},
		{!slices.Contains(fits(), s.fit), fmt.Sprintf("-fit %q: want one of %s", s.fit, strings.Join(fits(), ", "))},
		{!slices.Contains(endpoints(), s.endpoint), fmt.Sprintf("-endpoint %q: want one of %s", s.endpoint, strings.Join(endpoints(), ", "))},
		{s.warmup < 0, fmt.Sprintf("-warmup %d: want 0 or more", s.warmup)},
		{s.context < 0, fmt.Sprintf("-context %d: want 0 or more", s.context)},
		{s.lanes < 1, fmt.Sprintf("-lanes %d: want 1 or more", s.lanes)},
		{s.rankingCount < 1, fmt.Sprintf("-ranking-count %d: want 1 or more", s.rankingCount)},
		{s.rankingConcurrency < 1, fmt.Sprintf("-ranking-concurrency %d: want 1 or more", s.rankingConcurrency)},
		{math.IsNaN(s.rankingRate) || s.rankingRate < 0 || s.rankingRate > 1e6, fmt.Sprintf("-ranking-rate %g: want requests per second, or 0 for a closed loop", s.rankingRate)},
		{!slices.Contains(spacings(), s.rankingSpacing), fmt.Sprintf("-ranking-spacing %q: want one of %s", s.rankingSpacing, strings.Join(spacings(), ", "))},
		{s.rankingLanes < 1, fmt.Sprintf("-ranking-lanes %d: want 1 or more", s.rankingLanes)},
		{s.videoCount < 1, fmt.Sprintf("-video-count %d: want 1 or more", s.videoCount)},
		{s.videoWarmup < 0, fmt.Sprintf("-video-warmup %d: want 0 or more", s.videoWarmup)},
		{s.videoConcurrency < 1, fmt.Sprintf("-video-concurrency %d: want 1 or more", s.videoConcurrency)},
		{s.videoLanes < 1, fmt.Sprintf("-video-lanes %d: want 1 or more", s.videoLanes)},
		{s.videoPoll <= 0, fmt.Sprintf("-video-poll %v: want a time above 0", s.videoPoll)},
		{s.videoTimeout <= 0, fmt.Sprintf("-video-timeout %v: want a time above 0", s.videoTimeout)},
		{s.queue < 0, fmt.Sprintf("-queue %d: want 0 or more", s.queue)},
		{s.queueBytes < 0, fmt.Sprintf("-queue-bytes %d: want 0 or more", s.queueBytes)},
		{s.queueWait <= 0, fmt.Sprintf("-queue-wait %v: want a time above 0", s.queueWait)},
		{s.timeout <= 0, fmt.Sprintf("-timeout %v: want a time above 0", s.timeout)},
		{s.maxLateness <= 0, fmt.Sprintf("-max-lateness %v: want a time above 0", s.maxLateness)},
		{s.runtime != "" && !filepath.IsAbs(s.runtime), fmt.Sprintf("-runtime %q: want an absolute path", s.runtime)},
		{s.root != "" && s.runtime == "", "-runtime-root: it belongs to -runtime"},
		{s.fault != "" && len(s.models) > 0, "-fault: it belongs to the bundle that is written when there is no -model"},
		{s.fault != "" && slices.Contains(faultNames(), s.fault) && !slices.Contains(s.workloads, faults()[s.fault].workload), fmt.Sprintf("-fault %s: it belongs to the workload %s, which does not run", s.fault, faults()[s.fault].workload)},
		{s.fault != "" && !slices.Contains(faultNames(), s.fault), fmt.Sprintf("-fault %q: want one of %s", s.fault, strings.Join(faultNames(), ", "))},
		{s.claim != "" && !slices.Contains(statusNames(), s.claim), fmt.Sprintf("-claim %q: want one of %s", s.claim, strings.Join(statusNames(), ", "))},
		{(s.url == "") != (s.records == ""), "-url and -records: want both or neither"},
	} {
		if c.bad {
			return errors.New(c.words)
		}
	}
	for _, name := range s.workloads {
		if !slices.Contains(workloadNames(), name) {
			return fmt.Errorf("-workloads %q: want some of %s", name, strings.Join(workloadNames(), ", "))
		}
	}
	return s.checkModels()
}

// checkModels wants bundles for our own server and just a name for a foreign one.
func (s *settings) checkModels() error {
	if s.url != "" {
		if u, err := url.Parse(s.url); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return fmt.Errorf("-url %q: want http://HOST:PORT", s.url)
		}
		if len(s.models) == 0 {
			return errors.New("-url: want -model NAME, as the server calls it")
		}
		return nil
	}
	for _, m := range s.models {
		if m.bundle == "" {
			return fmt.Errorf("-model %q: want NAME=BUNDLE", m.name)
		}
	}
	return nil
}
