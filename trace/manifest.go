package trace

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// ManifestSchema is the version written into every manifest. A reader refuses a higher one.
const ManifestSchema = 1

// The files that [Prepare] writes into a folder.
const (
	WorkloadFile = "workload.jsonl" // the requests to measure
	WarmupFile   = "warmup.jsonl"   // the requests before them
	RowsFile     = "rows.jsonl"     // one [PreparedRow] for each line of the workload
	ManifestFile = "manifest.json"  // written last
)

// Manifest says where a workload comes from and what was done on the way. It holds no time of making, so equal inputs
// give equal bytes.
type Manifest struct {
	Schema   int            `json:"schema"`
	Workload string         `json:"workload"` // name
	Source   ManifestSource `json:"source"`
	Schedule ManifestPlan   `json:"schedule"`
	Request  ManifestBody   `json:"request"`
	Fit      ManifestFit    `json:"fit"`
	Prompts  ManifestPrompt `json:"prompts"`
	// Requests and WarmupRequests are the lines of the two files.
	Requests       int                     `json:"requests"`
	WarmupRequests int                     `json:"warmup_requests"`
	Files          map[string]ManifestPart `json:"files"`
}

// ManifestSource is the trace that was read.
type ManifestSource struct {
	Name      string    `json:"name"`
	SHA256    string    `json:"sha256"` // of the stored bytes
	Format    Format    `json:"format"`
	Unit      Unit      `json:"unit,omitempty"`       // of the timestamps, where the format leaves a choice
	BlockSize int       `json:"block_size,omitempty"` // tokens, where the format has blocks
	Rows      int       `json:"rows"`                 // good ones
	BadLines  []BadLine `json:"bad_lines"`            // skipped, because that was asked for
	// FailedRows are the lines whose recorded answer had no tokens; FailedPolicy is what was done with them.
	FailedRows   []int        `json:"failed_rows"`
	FailedPolicy FailedPolicy `json:"failed_policy"`
}

// BadLine is a line that is not what the format wants.
type BadLine struct {
	Line int    `json:"line"`
	What string `json:"what"`
}

// ManifestPlan is the part of the trace that was taken and its speed.
type ManifestPlan struct {
	Window Window  `json:"window"`
	Speed  float64 `json:"speed"`
	Shard  int     `json:"shard"`
	Shards int     `json:"shards"`
	ZeroNS int64   `json:"zero_ns"` // recorded time that is offset 0
	SpanNS int64   `json:"span_ns"` // offset of the last request
	// WindowRows counts the rows in the window, of all shards.
	WindowRows int `json:"window_rows"`
}

// ManifestBody is what every request asks for.
type ManifestBody struct {
	Model       string          `json:"model"`
	Endpoint    Endpoint        `json:"endpoint"`
	Path        string          `json:"path"`
	Streaming   bool            `json:"streaming"`
	ForceLength ForceLength     `json:"force_length"`
	Extra       json.RawMessage `json:"extra,omitempty"`
}

// ManifestFit is what was done to make rows fit.
type ManifestFit struct {
	Policy          FitPolicy `json:"policy"`
	ContextTokens   int       `json:"context_tokens,omitempty"`
	MaxOutputTokens int       `json:"max_output_tokens,omitempty"`
	ReserveTokens   int       `json:"reserve_tokens,omitempty"`
	// Factor is FitScale's, as a fraction such as "2048/123392"; "1" when nothing had to be scaled.
	Factor        string    `json:"factor,omitempty"`
	InputChanged  int       `json:"input_changed"`  // rows whose input became another
	OutputChanged int       `json:"output_changed"` // rows whose output became another
	Dropped       []BadLine `json:"dropped"`        // rows left out, with the reason
}

// ManifestPrompt is how prompts were made.
type ManifestPrompt struct {
	Synthesis string `json:"synthesis"`
	Seed      uint64 `json:"seed"`
	// Words is how many words were made for the workload; a word is about a token.
	Words int64 `json:"words"`
	// LiteralRows counts the rows whose prompt stands in the trace.
	LiteralRows int `json:"literal_rows"`
	// OutputTokens is how many tokens the workload asks for, over the rows that ask for a number.
	OutputTokens int64 `json:"output_tokens"`
}

// ManifestPart is one written file.
type ManifestPart struct {
	SHA256 string `json:"sha256"`
	Lines  int    `json:"lines"`
	Bytes  int64  `json:"bytes"`
}

// PreparedRow says what became of one row: one line of rows.jsonl, in the order of the workload. Lengths are recorded
// tokens before and words (input) and tokens (output) after fitting; 0 is unknown.
type PreparedRow struct {
	RequestID    string `json:"request_id"`
	Line         int    `json:"line"` // of the trace
	RecordedNS   int64  `json:"recorded_ns"`
	OffsetNS     int64  `json:"offset_ns"`
	InputTokens  int    `json:"input_tokens"`
	OutputTokens int    `json:"output_tokens"`
	FittedInput  int    `json:"fitted_input"`
	FittedOutput int    `json:"fitted_output"`
	Literal      string `json:"literal,omitempty"` // the member that held the prompt
}

// ErrDigest is returned when a prepared file is not the one its manifest names.
var ErrDigest = errors.New("file does not match its manifest")

// ReadManifest reads a manifest.
func ReadManifest(path string) (*Manifest, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	m := new(Manifest)
	if err := json.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("read manifest %q: %w", path, err)
	}
	if m.Schema < 1 || m.Schema > ManifestSchema {
		return nil, fmt.Errorf("read manifest %q: schema %d; this reader knows 1 to %d", path, m.Schema, ManifestSchema)
	}
	return m, nil
}

// ReadWorkload reads a prepared workload or warm-up file whole, after checking it against the manifest beside it.
func ReadWorkload(path string) ([]Item, error) {
	m, err := ReadManifest(filepath.Join(filepath.Dir(path), ManifestFile))
	if err != nil {
		return nil, err
	}
	part, ok := m.Files[filepath.Base(path)]
	if !ok {
		return nil, fmt.Errorf("read workload %q: its manifest does not name it", path)
	}
	src, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	items, err := readItems(src, m)
	if err != nil {
		return nil, err
	}
	sum, err := src.SHA256()
	switch {
	case err != nil:
		return nil, err
	case sum != part.SHA256:
		return nil, fmt.Errorf("read workload %q: %w: sha256 is %s, want %s", path, ErrDigest, sum, part.SHA256)
	}
	return items, nil
}

func readItems(src *Source, m *Manifest) ([]Item, error) {
	var items []Item
	r := NewMooncakeReader(src, src.Name(), MooncakeOptions{})
	for rec := range r.All() {
		req, ok := rec.(*Request)
		if !ok {
			return nil, fmt.Errorf("read workload: %w", rec.(*SyntaxError))
		}
		if req.Kind != LiteralPayload || !validID(req.SessionID) {
			return nil, fmt.Errorf("read workload: %s: want a payload, and a session_id that is a request id", req.Pos)
		}
		item := Item{RequestID: req.SessionID, Offset: req.Offset, Path: m.Request.Path, Body: req.Literal, Streaming: m.Request.Streaming}
		if m.Prompts.LiteralRows > 0 {
			var body struct {
				Stream bool `json:"stream"`
			}
			if json.Unmarshal(req.Literal, &body) == nil {
				item.Streaming = body.Stream
			}
		}
		items = append(items, item)
	}
	return items, r.Err()
}
