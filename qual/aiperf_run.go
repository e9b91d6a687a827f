package qual

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/trtmc-go/trtmc/qual/aiperf"
	"github.com/trtmc-go/trtmc/ranking"
	"github.com/trtmc-go/trtmc/trace"
	"github.com/trtmc-go/trtmc/video"
)

// AIPerfClient is the value of [RunWorkload].Client for workloads that AIPerf sent.
const AIPerfClient = "aiperf"

// What a run by AIPerf leaves in the folder of the workload whose prepared files it sent.
const (
	AIPerfFile      = "aiperf.json" // AIPerfRun
	AIPerfDir       = "aiperf"      // its output, the file it was given, and below AIPerfArtifacts all exports
	AIPerfArtifacts = "artifacts"
	AIPerfInput     = "input.jsonl" // ranking and video: the prepared requests as single_turn rows
)

// AIPerfSchema is the version written into every aiperf.json. A reader refuses a higher one.
const AIPerfSchema = 1

// AIPerfRun is the evidence of one run by AIPerf beside its exports.
type AIPerfRun struct {
	Schema         int    `json:"schema"`
	Clock          string `json:"clock"` // of the harness; with CLOCK_MONOTONIC the client's instants compare with it
	WallBaseUnixNS int64  `json:"wall_base_unix_ns"`
	// FixedSchedule says that every request had an instant: those of a text trace, and of rankings in an open loop.
	FixedSchedule bool                 `json:"fixed_schedule"`
	Warmup        int                  `json:"warmup"` // requests before the measured ones
	Installation  *aiperf.Installation `json:"installation"`
	Result        aiperf.Result        `json:"result"`
}

// own are the workloads that this module's own client sent.
func (r *Run) own() []RunWorkload {
	return slices.DeleteFunc(slices.Clone(r.Workloads), func(w RunWorkload) bool { return w.Client == AIPerfClient })
}

// WriteAIPerfRun writes aiperf.json into the folder of a workload.
func WriteAIPerfRun(dir string, run *AIPerfRun) error {
	data, err := encodeJSON(run)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, AIPerfFile), data, 0o644)
}

// ReadAIPerfRun reads aiperf.json of the folder of a workload.
func ReadAIPerfRun(dir string) (*AIPerfRun, error) {
	data, err := os.ReadFile(filepath.Join(dir, AIPerfFile))
	if err != nil {
		return nil, err
	}
	run := new(AIPerfRun)
	if err := json.Unmarshal(data, run); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, AIPerfFile), err)
	}
	if run.Schema < 1 || run.Schema > AIPerfSchema || run.Installation == nil {
		return nil, fmt.Errorf("%s: schema %d with installation %t; this reader knows 1 to %d", filepath.Join(dir, AIPerfFile), run.Schema, run.Installation != nil, AIPerfSchema)
	}
	return run, nil
}

// AIPerfOptions say how AIPerf is to send a prepared workload.
type AIPerfOptions struct {
	Installation  *aiperf.Installation // verified
	TiktokenCache string               // folder made by qual/aiperf/install/make_tiktoken_cache.py
	BaseURL       string               // of the server
	Workload      RunWorkload          // as it was prepared and sent by our own client
	Timeout       time.Duration        // limit for one request; it is rounded up to whole seconds
	Deadline      time.Duration        // limit for the whole run
	TextWarmup    int                  // text-trace: warm-up requests, taken from the top of the workload
}

// AIPerfSpec turns a prepared workload of a run's folder into the specification of a run by AIPerf. Text is sent from
// workload.jsonl itself; for rankings and videos the same requests are written as single_turn rows, warm-up first,
// because the client takes its warm-up from the top of the file.
func AIPerfSpec(dir string, o AIPerfOptions) (aiperf.Spec, error) {
	folder := filepath.Join(dir, WorkloadDir, o.Workload.Name)
	spec := aiperf.Spec{
		Executable: o.Installation.Executable, BaseURL: o.BaseURL, Model: o.Workload.Model, TiktokenCache: o.TiktokenCache,
		InputFile: filepath.Join(folder, WorkloadFile), ArtifactDir: filepath.Join(folder, AIPerfDir, AIPerfArtifacts),
		RequestTimeout: (o.Timeout + time.Second - 1).Truncate(time.Second), Deadline: o.Deadline,
	}
	if kind := aiperfWorkload(o.Workload.Path); kind == aiperf.TextTrace {
		m, err := trace.ReadManifest(filepath.Join(folder, ManifestFile))
		if err != nil {
			return spec, err
		}
		spec.Workload, spec.Streaming, spec.Chat = kind, o.Workload.Streaming, m.Request.Endpoint == trace.EndpointChat
		spec.Warmup = min(o.TextWarmup, m.Requests)
		return spec, nil
	}
	return spec, singleTurnSpec(&spec, folder, aiperfWorkload(o.Workload.Path))
}

// singleTurnSpec completes the specification for rankings and videos and writes their input file.
func singleTurnSpec(spec *aiperf.Spec, folder string, kind aiperf.Workload) error {
	load, requests, warmup, poll, err := singleTurnLoad(folder, kind)
	if err != nil {
		return err
	}
	spec.Workload, spec.Requests, spec.Concurrency, spec.PollInterval = kind, requests, load.Concurrency, poll
	spec.FixedSchedule, spec.Warmup = load.Loop == OpenLoop, warmup
	input, err := aiperfInput(folder, kind, spec.FixedSchedule)
	if err != nil {
		return err
	}
	spec.InputFile = filepath.Join(folder, AIPerfDir, AIPerfInput)
	if err := os.MkdirAll(filepath.Dir(spec.InputFile), 0o755); err != nil {
		return err
	}
	return os.WriteFile(spec.InputFile, input, 0o644)
}

func singleTurnLoad(folder string, kind aiperf.Workload) (load Load, requests, warmup int, poll time.Duration, err error) {
	if kind == aiperf.Video {
		m, err := ReadVideoManifest(folder)
		if err != nil {
			return Load{}, 0, 0, 0, err
		}
		return m.Load, m.Requests, m.WarmupRequests, time.Duration(m.PollNS), nil
	}
	m, err := ReadRankingManifest(folder)
	if err != nil {
		return Load{}, 0, 0, 0, err
	}
	return m.Load, m.Requests, m.WarmupRequests, 0, nil
}

// aiperfInput makes the file of rankings or videos that AIPerf is given: warm-up and then measured requests, or, with a
// schedule, the measured requests alone.
func aiperfInput(folder string, kind aiperf.Workload, timed bool) ([]byte, error) {
	files := []string{WarmupFile, WorkloadFile}
	if timed {
		files = files[1:]
	}
	var out bytes.Buffer
	for _, name := range files {
		f, err := os.Open(filepath.Join(folder, name))
		if err != nil {
			return nil, err
		}
		_, err = aiperf.WriteSingleTurn(&out, io.Reader(f), name, kind, timed)
		if f.Close(); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

// aiperfWorkload is the client's kind of workload for a route.
func aiperfWorkload(path string) aiperf.Workload {
	switch path {
	case ranking.RouteRanking:
		return aiperf.Ranking
	case video.RouteVideos:
		return aiperf.Video
	}
	return aiperf.TextTrace
}
