package qual

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/trtmc-go/trtmc/trace"
)

// RunSchema is the version written into every run.json. A reader refuses any other.
const RunSchema = 1

// The names of the files of an output folder.
const (
	RunFile     = "run.json"
	RecordsFile = "records.jsonl"
	ReportJSON  = "report.json"
	ReportMD    = "report.md"
	WorkloadDir = "workloads"
	LogDir      = "logs"
	BundleDir   = "bundles"

	WorkloadFile = trace.WorkloadFile
	ManifestFile = trace.ManifestFile
	WarmupFile   = trace.WarmupFile
	ClientFile   = "client.jsonl"
)

// Run is run.json: what a judge must know of a run that the other files of its folder do not say. It holds no host
// name, user name or absolute path, except in Command, which is kept as it was given.
type Run struct {
	Schema    int       `json:"schema"`
	Command   []string  `json:"command"`    // exact arguments, the program's name first
	StartedAt time.Time `json:"started_at"` // UTC
	EndedAt   time.Time `json:"ended_at"`   // UTC, before judging
	Clock     string    `json:"clock"`      // clock of all instants, e.g. CLOCK_MONOTONIC
	// SharedProcess says that client and server ran in one process with one clock, so that their instants compare
	// whatever the clock is called.
	SharedProcess bool          `json:"shared_process"`
	WallStepNS    int64         `json:"wall_step_ns"` // how far the wall clock moved against Clock between start and end
	Host          Host          `json:"host"`
	Program       Program       `json:"program"`
	Runtime       RuntimeFacts  `json:"runtime"`
	Bundles       []BundleFacts `json:"bundles"`
	Server        ServerFacts   `json:"server"`
	Client        ClientFacts   `json:"client"`
	Workloads     []RunWorkload `json:"workloads"`
	MaxLatenessMS float64       `json:"max_lateness_ms"` // limit of the replay fidelity check
	Exit          ExitFacts     `json:"exit"`
	Sealed        []FileDigest  `json:"sealed"` // evidence files as they were when the run ended
	Notes         []string      `json:"notes,omitempty"`
	Stack         *Stack        `json:"stack,omitempty"`
	Redacted      *Redaction    `json:"redacted,omitempty"` // of a copy for publication; see [Publish]
}

// Host describes the machine without naming it.
type Host struct {
	OS          string `json:"os"`
	Arch        string `json:"arch"`
	Kernel      string `json:"kernel,omitempty"`
	CPU         string `json:"cpu,omitempty"`
	CPUs        int    `json:"cpus"` // that this process may use
	MemoryBytes int64  `json:"memory_bytes,omitempty"`
}

// Program describes the executable.
type Program struct {
	GoVersion     string `json:"go_version"`
	Module        string `json:"module"`
	ModuleVersion string `json:"module_version,omitempty"`
	Revision      string `json:"revision,omitempty"` // VCS revision, with "+dirty" when the tree was changed
	CGO           bool   `json:"cgo"`
	SHA256        string `json:"sha256,omitempty"` // of the executable file
}

// RuntimeFacts describes the native runtime.
type RuntimeFacts struct {
	Version   string `json:"version"`
	Reference bool   `json:"reference"`
	// Library is the base name of the shared library, or "linked in".
	Library string `json:"library"`
	SHA256  string `json:"sha256,omitempty"` // of the library file
}

// BundleFacts describes one bundle that was served.
type BundleFacts struct {
	Model      string         `json:"model"` // served name
	File       string         `json:"file"`  // base name
	SHA256     string         `json:"sha256"`
	Bytes      int64          `json:"bytes"`
	Family     string         `json:"family,omitempty"`
	Backend    string         `json:"backend,omitempty"`
	Task       string         `json:"task,omitempty"` // the bundle's own word
	Tasks      []string       `json:"tasks,omitempty"`
	Params     map[string]any `json:"params,omitempty"`  // of a reference bundle
	Profile    string         `json:"profile,omitempty"` // row of the inventory that it is said to be, as the next two by the plan
	Checkpoint string         `json:"checkpoint,omitempty"`
	Revision   string         `json:"revision,omitempty"`
	Lanes      int            `json:"lanes,omitempty"` // handles that were loaded
	LoadMS     float64        `json:"load_ms"`         // all of them together
}

// ServerFacts are the settings of the server.
type ServerFacts struct {
	InProcess   bool    `json:"in_process"`
	Lanes       int     `json:"lanes,omitempty"` // of all bundles together
	QueueCount  int     `json:"queue_count,omitempty"`
	QueueBytes  int64   `json:"queue_bytes,omitempty"`
	QueueWaitMS float64 `json:"queue_wait_ms,omitempty"`
	StartupMS   float64 `json:"startup_ms"` // loading all lanes until the server listens; in no other figure
}

// ClientFacts are the settings of the client.
type ClientFacts struct {
	Name      string  `json:"name"` // "trtmc replayer"
	Retries   int     `json:"retries"`
	TimeoutMS float64 `json:"timeout_ms"`
}

// RunWorkload says how one workload was made and sent.
type RunWorkload struct {
	Name      string `json:"name"`
	Model     string `json:"model"`
	Path      string `json:"path"` // of the URL
	Streaming bool   `json:"streaming"`
	// SourceSHA256 is the digest of the stored trace or data set that was opened.
	SourceSHA256 string `json:"source_sha256"`
	// Client is AIPerfClient, or empty for this module's own client. Of then names the workload whose prepared files it
	// sent; Name is that with "-" and the client behind it.
	Client   string         `json:"client,omitempty"`
	Of       string         `json:"of,omitempty"`
	Settings map[string]any `json:"settings,omitempty"`
}

// ExitFacts say how the run ended. A run that did not drain, or that was interrupted, fails its checks.
type ExitFacts struct {
	Interrupted  bool   `json:"interrupted"`
	ServerError  string `json:"server_error,omitempty"`
	ClientError  string `json:"client_error,omitempty"`
	DrainMS      int64  `json:"drain_ms"`
	Drained      bool   `json:"drained"` // the server ended all requests before its deadline; true for a foreign server
	RecordErrors int64  `json:"record_errors"`
}

// FileDigest pins one file of the folder.
type FileDigest struct {
	Path   string `json:"path"` // relative to the folder, with forward slashes
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// ReadRun reads run.json of a folder. It returns an error that wraps ErrNoRun when there is none of this schema.
func ReadRun(dir string) (*Run, error) {
	data, err := os.ReadFile(filepath.Join(dir, RunFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w: it has no %s", dir, ErrNoRun, RunFile)
	}
	if err != nil {
		return nil, err
	}
	var run Run
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&run); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", filepath.Join(dir, RunFile), ErrNoRun, err)
	}
	if run.Schema != RunSchema {
		return nil, fmt.Errorf("%s: %w: schema %d, want %d", filepath.Join(dir, RunFile), ErrNoRun, run.Schema, RunSchema)
	}
	return &run, nil
}

// WriteRun writes run.json of a folder.
func WriteRun(dir string, run *Run) error {
	data, err := encodeJSON(run)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, RunFile), data, 0o644)
}

// encodeJSON is the one form in which this package writes JSON: two spaces, a final newline, no HTML escapes.
func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
