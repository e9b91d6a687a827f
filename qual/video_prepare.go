package qual

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/trtmc-go/trtmc/trace"
	"github.com/trtmc-go/trtmc/video"
)

// VideoOptions say how prompts become a workload.
type VideoOptions struct {
	Model       string        // served name, in every body
	Count       int           // measured clips, at least 1; prompts are repeated when there are fewer
	Warmup      int           // warm-up clips
	Concurrency int           // jobs under way at a time; 0 means 1
	Poll        time.Duration // between two questions about a job; 0 means DefaultVideoPoll
}

// PrepareVideo turns prompts into workload.jsonl, warmup.jsonl and manifest.json in dir, which must exist. Files are
// in the form of [trace.Prepare], so that [trace.ReadWorkload] reads them and package aiperf converts them: timestamp,
// session_id, and as payload the JSON body of a creation.
//
// Measured requests take the prompts from the first on, warm-up requests go on behind them; both start again at the
// first prompt after the last. Ids are made as in [PrepareRanking]. Equal prompts and options give equal bytes.
func PrepareVideo(dir string, prompts *VideoPrompts, opts VideoOptions) (*VideoManifest, error) {
	m, err := prepareVideo(dir, prompts, opts)
	if err != nil {
		return nil, fmt.Errorf("prepare video from %s: %w", prompts.Name, err)
	}
	return m, nil
}

func prepareVideo(dir string, prompts *VideoPrompts, opts VideoOptions) (*VideoManifest, error) {
	load, err := Load{Loop: ClosedLoop, Concurrency: opts.Concurrency}.withDefaults()
	switch {
	case err != nil:
		return nil, err
	case len(prompts.Prompts) == 0:
		return nil, errors.New("no prompts")
	case opts.Model == "":
		return nil, errors.New("model is empty; want the name under which the bundle is served")
	case opts.Count < 1:
		return nil, fmt.Errorf("%d clips: want 1 or more", opts.Count)
	case opts.Warmup < 0:
		return nil, fmt.Errorf("%d warm-up clips: want 0 or more", opts.Warmup)
	case opts.Poll < 0:
		return nil, fmt.Errorf("poll every %v: want a time above 0", opts.Poll)
	case opts.Poll == 0:
		opts.Poll = DefaultVideoPoll
	}
	m := &VideoManifest{
		Schema: trace.ManifestSchema, Workload: VideoWorkload,
		Source:  trace.ManifestSource{Name: prompts.Name, SHA256: prompts.SHA256, Format: VideoPromptsFormat, Rows: len(prompts.Prompts), BadLines: []trace.BadLine{}, FailedRows: []int{}},
		Request: trace.ManifestBody{Model: opts.Model, Endpoint: VideoEndpoint, Path: video.RouteVideos},
		Load:    load, PollNS: int64(opts.Poll), Requests: opts.Count, WarmupRequests: opts.Warmup, Files: map[string]trace.ManifestPart{},
	}
	ids := map[string]bool{}
	for _, f := range []struct {
		name, prefix string
		skip, n      int
	}{{trace.WorkloadFile, "", 0, opts.Count}, {trace.WarmupFile, "warmup-", opts.Count, opts.Warmup}} {
		lines, err := videoLines(prompts.Prompts, opts.Model, f.prefix, f.skip, f.n, ids)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(lines)
		m.Files[f.name] = trace.ManifestPart{SHA256: hex.EncodeToString(sum[:]), Lines: f.n, Bytes: int64(len(lines))}
		if err := os.WriteFile(filepath.Join(dir, f.name), lines, 0o644); err != nil {
			return nil, err
		}
	}
	data, err := encodeJSON(m)
	if err != nil {
		return nil, err
	}
	return m, os.WriteFile(filepath.Join(dir, trace.ManifestFile), data, 0o644)
}

// videoLines makes n workload lines from the prompts behind the first skip. ids holds those that are taken.
func videoLines(prompts []VideoPrompt, model, prefix string, skip, n int, ids map[string]bool) ([]byte, error) {
	var out bytes.Buffer
	for i := range n {
		p := prompts[(skip+i)%len(prompts)]
		id := prefix + p.ID
		if round := (skip + i) / len(prompts); round > 0 {
			id = fmt.Sprintf("%s-r%d", id, round)
		}
		if ids[id] {
			return nil, fmt.Errorf("%s: two requests would have the id %q; name the prompt otherwise", p.Pos, id)
		}
		ids[id] = true
		body, err := p.body(model)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Pos, err)
		}
		line := struct {
			Timestamp int             `json:"timestamp"` // ms; a closed loop has none
			SessionID string          `json:"session_id"`
			Payload   json.RawMessage `json:"payload"`
		}{0, id, body}
		if err := appendJSONLine(&out, line); err != nil {
			return nil, fmt.Errorf("%s: %w", p.Pos, err)
		}
	}
	return out.Bytes(), nil
}
