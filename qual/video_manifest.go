package qual

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/trtmc-go/trtmc/trace"
)

// VideoWorkload is the name of the video workload in folders, rows and reports.
const VideoWorkload = "video"

// VideoPromptsFormat is the source format in the manifest of a video workload.
const VideoPromptsFormat trace.Format = "video-prompts"

// VideoEndpoint is the endpoint in the manifest of a video workload.
const VideoEndpoint trace.Endpoint = "video"

// ArtifactDir is the folder, in that of a video workload, that the client saves clips and posters into: REQUEST.mp4
// and REQUEST.jpg.
const ArtifactDir = "artifacts"

// DefaultVideoPoll is the time between two questions about a job, the same as AIPerf's.
const DefaultVideoPoll = 100 * time.Millisecond

// VideoManifest is the manifest of a video workload. [trace.ReadManifest] reads what it shares with other workloads.
// It holds no time of making, so equal inputs give equal bytes.
type VideoManifest struct {
	Schema         int                           `json:"schema"`
	Workload       string                        `json:"workload"`
	Source         trace.ManifestSource          `json:"source"`
	Request        trace.ManifestBody            `json:"request"`
	Load           Load                          `json:"load"`    // a closed loop
	PollNS         int64                         `json:"poll_ns"` // from an answer about a job to the next question
	Requests       int                           `json:"requests"`
	WarmupRequests int                           `json:"warmup_requests"`
	Files          map[string]trace.ManifestPart `json:"files"`
}

// ReadVideoManifest reads the manifest of a folder that [PrepareVideo] filled.
func ReadVideoManifest(dir string) (*VideoManifest, error) {
	path := filepath.Join(dir, trace.ManifestFile)
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read video manifest: %w", err)
	}
	m := new(VideoManifest)
	if err := json.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("read video manifest %q: %w", path, err)
	}
	switch {
	case m.Schema < 1 || m.Schema > trace.ManifestSchema:
		return nil, fmt.Errorf("read video manifest %q: schema %d; this reader knows 1 to %d", path, m.Schema, trace.ManifestSchema)
	case m.Source.Format != VideoPromptsFormat:
		return nil, fmt.Errorf("read video manifest %q: source format %q, want %q", path, m.Source.Format, VideoPromptsFormat)
	case m.PollNS <= 0:
		return nil, fmt.Errorf("read video manifest %q: poll_ns %d, want a time above 0", path, m.PollNS)
	}
	return m, nil
}
