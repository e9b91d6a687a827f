package aiperf

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// The files of an artifact folder that are read here.
const (
	RowsFile     = "profile_export.jsonl"
	RawFile      = "profile_export_raw.jsonl"
	RawFolder    = "raw_records"
	SummaryFile  = "profile_export_aiperf.json"
	ManifestFile = "phase_manifest.json"
	InputsFile   = "inputs.json"
	ReadyFile    = ".aiperf_results_ready.json"
	MetricsFile  = "server_metrics_export.json"
	LogFile      = "logs/aiperf.log"
)

// Export is an artifact folder after one pass over its files. It keeps counts and ids (about 150 bytes a row), not
// the rows: stream them again with EachRow and EachRaw.
type Export struct {
	Dir     string
	Missing []string // files that a complete run leaves and this one did not, in the order of the constants above
	Broken  []string // JSON documents that could not be read, with the reason

	Summary  *Summary  // nil when missing or broken, as are the following
	Manifest *Manifest // also nil when there was no warm-up phase
	Inputs   *Inputs   // also nil for trace data sets
	Ready    *Ready

	Rows     Tally
	Raw      Tally
	RawFiles []string // below Dir: RawFile, else the files of RawFolder

	SilentEnd   []string // successes of streams whose answer shows no end: no [DONE], usage or finish reason
	ErrorInside []string // successes whose answer holds an error object
}

// Open reads an artifact folder. Missing and unreadable files are listed, not errors: after a run in which every
// request failed there is no summary, no manifest, and raw rows lie in raw_records. It returns an error when dir
// cannot be listed or a file cannot be read to its end.
func Open(dir string) (*Export, error) {
	if _, err := os.ReadDir(dir); err != nil {
		return nil, fmt.Errorf("open export: %w", err)
	}
	e := &Export{Dir: dir}
	if err := e.documents(); err != nil {
		return nil, fmt.Errorf("open export: %w", err)
	}
	if err := e.rows(); err != nil {
		return nil, fmt.Errorf("open export: %w", err)
	}
	if err := e.raw(); err != nil {
		return nil, fmt.Errorf("open export: %w", err)
	}
	e.missing()
	return e, nil
}

// exists reports whether a file of the folder is there.
func (e *Export) exists(name string) bool {
	_, err := os.Stat(filepath.Join(e.Dir, filepath.FromSlash(name)))
	return err == nil
}

func (e *Export) missing() {
	for _, name := range []string{RowsFile, RawFile, SummaryFile, ManifestFile, ReadyFile} {
		if e.exists(name) || name == ManifestFile && e.Rows.Warmup.Rows == 0 {
			continue
		}
		e.Missing = append(e.Missing, name)
	}
}

func (e *Export) documents() error {
	var summary Summary
	for _, d := range []struct {
		name  string
		parse func([]byte) error
	}{
		{SummaryFile, func(b []byte) error {
			s, err := ParseSummary(b)
			if err == nil {
				summary = *s
				e.Summary = &summary
			}
			return err
		}},
		{ManifestFile, func(b []byte) error { return unmarshal(b, &e.Manifest) }},
		{InputsFile, func(b []byte) error { return unmarshal(b, &e.Inputs) }},
		{ReadyFile, func(b []byte) error { return unmarshal(b, &e.Ready) }},
	} {
		data, err := os.ReadFile(filepath.Join(e.Dir, d.name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := d.parse(data); err != nil {
			e.Broken = append(e.Broken, d.name+": "+err.Error())
		}
	}
	return nil
}

// unmarshal sets *to only when the whole document could be read.
func unmarshal[T any](data []byte, to **T) error {
	var v T
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	*to = &v
	return nil
}

// Endpoint returns the client's word for what was measured: chat, completions, nim_rankings or video_generation; ""
// when neither the summary nor the rows tell.
func (e *Export) Endpoint() string {
	if e.Summary != nil && e.Summary.Endpoint != "" {
		return e.Summary.Endpoint
	}
	if e.Inputs != nil && len(e.Inputs.Data) > 0 && len(e.Inputs.Data[0].Payloads) > 0 {
		return endpointOf(e.Inputs.Data[0].Payloads[0])
	}
	return ""
}

// endpointOf tells the kind of a request from the names in its body.
func endpointOf(payload []byte) string {
	var body map[string]json.RawMessage
	if json.Unmarshal(payload, &body) != nil {
		return ""
	}
	switch {
	case body["passages"] != nil:
		return "nim_rankings"
	case body["messages"] != nil:
		return "chat"
	case body["prompt"] != nil && body["stream"] != nil:
		return "completions"
	case body["prompt"] != nil:
		return "video_generation"
	}
	return ""
}

// EachRow calls visit for every entry of profile_export.jsonl, none when the file is missing. It stops at the first
// error visit returns.
func (e *Export) EachRow(visit func(Entry) error) error {
	f, err := os.Open(filepath.Join(e.Dir, RowsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	r := NewRowReader(f, RowsFile)
	for r.Scan() {
		if err := visit(r.Entry()); err != nil {
			return err
		}
	}
	return r.Err()
}

// EachRaw calls visit for every entry of the raw rows, wherever this run left them.
func (e *Export) EachRaw(visit func(Entry) error) error {
	for _, name := range e.rawFiles() {
		if err := e.eachRawOf(name, visit); err != nil {
			return err
		}
	}
	return nil
}

func (e *Export) rawFiles() []string {
	if e.exists(RawFile) {
		return []string{RawFile}
	}
	list, err := os.ReadDir(filepath.Join(e.Dir, RawFolder)) // sorted by name
	if err != nil {
		return nil // no such folder: findings report the missing rows
	}
	var found []string
	for _, f := range list {
		if f.Type().IsRegular() && strings.HasSuffix(f.Name(), ".jsonl") {
			found = append(found, RawFolder+"/"+f.Name())
		}
	}
	return found
}

func (e *Export) eachRawOf(name string, visit func(Entry) error) error {
	f, err := os.Open(filepath.Join(e.Dir, filepath.FromSlash(name)))
	if err != nil {
		return err
	}
	defer f.Close()
	r := NewRawReader(f, name)
	for r.Scan() {
		if err := visit(r.Entry()); err != nil {
			return err
		}
	}
	return r.Err()
}

func (e *Export) rows() error {
	video := e.Endpoint() == "video_generation"
	return e.EachRow(func(entry Entry) error {
		if r, ok := entry.(*Row); ok {
			e.Rows.row(r, video)
		} else {
			e.Rows.other(entry)
		}
		return nil
	})
}

func (e *Export) raw() error {
	e.RawFiles = e.rawFiles()
	text := !strings.Contains(e.Endpoint(), "video") && !strings.Contains(e.Endpoint(), "ranking")
	return e.EachRaw(func(entry Entry) error {
		r, ok := entry.(*RawRow)
		if !ok {
			e.Raw.other(entry)
			return nil
		}
		name, class := e.Raw.identify(r.Pos, &r.Meta), r.Class()
		e.Raw.phase(&r.Meta).add(class, refused(class, r.Error))
		if class != Success || !text {
			return nil
		}
		switch end := r.Ending(); {
		case end.Error != "":
			e.ErrorInside = append(e.ErrorInside, name)
		case !end.Whole() && r.Streamed():
			e.SilentEnd = append(e.SilentEnd, name)
		}
		return nil
	})
}
