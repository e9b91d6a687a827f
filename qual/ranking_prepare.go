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
	"strings"

	"github.com/trtmc-go/trtmc/ranking"
	"github.com/trtmc-go/trtmc/trace"
)

// RankingOptions say how groups become a workload.
type RankingOptions struct {
	Model    string           // served name, in every body
	Count    int              // measured requests, at least 1; groups are repeated when there are fewer
	Warmup   int              // warm-up requests
	Truncate ranking.Truncate // in every body; absent by default
	Load     Load
	// Permuted is how many measured requests are scored again with their passages in another order; 0 means
	// DefaultPermuted, a negative number none.
	Permuted int
}

// DefaultPermuted is how many requests of a workload are scored with permuted passages as well.
const DefaultPermuted = 10

// PrepareRanking turns groups into workload.jsonl, warmup.jsonl, rows.jsonl and manifest.json in dir, which must
// exist. Files are in the form of [trace.Prepare], so that [trace.ReadWorkload] reads them and package aiperf converts
// them: timestamp, session_id, and as payload the literal body of /v1/ranking.
//
// Measured requests take the groups from the first on, warm-up requests go on behind them; both start again at the
// first group after the last. A request has its group's id, with -r1, -r2, ... when the group is taken again, and
// "warmup-" before it for warm-up. Equal groups and options give equal bytes.
func PrepareRanking(dir string, groups *RankingGroups, opts RankingOptions) (*RankingManifest, error) {
	p, err := newRankingPreparation(groups, opts)
	if err != nil {
		return nil, fmt.Errorf("prepare ranking from %s: %w", groups.Name, err)
	}
	if err := p.write(dir); err != nil {
		return nil, fmt.Errorf("prepare ranking from %s: %w", groups.Name, err)
	}
	return &p.m, nil
}

// rankingPreparation is one call of PrepareRanking.
type rankingPreparation struct {
	opts   RankingOptions
	groups []RankingGroup
	ids    map[string]bool
	m      RankingManifest
}

func newRankingPreparation(groups *RankingGroups, opts RankingOptions) (*rankingPreparation, error) {
	var err error
	if opts.Load, err = opts.Load.withDefaults(); err != nil {
		return nil, err
	}
	switch {
	case len(groups.Groups) == 0:
		return nil, errors.New("no groups")
	case opts.Model == "":
		return nil, errors.New("model is empty; want the name under which the bundle is served")
	case opts.Count < 1:
		return nil, fmt.Errorf("%d requests: want 1 or more", opts.Count)
	case opts.Warmup < 0:
		return nil, fmt.Errorf("%d warm-up requests: want 0 or more", opts.Warmup)
	case opts.Truncate != ranking.TruncateAbsent && opts.Truncate != ranking.TruncateNone && opts.Truncate != ranking.TruncateEnd:
		return nil, fmt.Errorf("truncate %q: want NONE, END or none", opts.Truncate)
	}
	if opts.Permuted == 0 {
		opts.Permuted = DefaultPermuted
	}
	p := &rankingPreparation{opts: opts, groups: groups.Groups, ids: map[string]bool{}}
	p.m = RankingManifest{
		Schema: trace.ManifestSchema, Workload: RankingWorkload,
		Source:  trace.ManifestSource{Name: groups.Name, SHA256: groups.SHA256, Format: RankingGroupsFormat, Rows: len(groups.Groups), BadLines: []trace.BadLine{}, FailedRows: []int{}},
		Request: trace.ManifestBody{Model: opts.Model, Endpoint: RankingEndpoint, Path: ranking.RouteRanking},
		Load:    opts.Load, Truncate: opts.Truncate, Permuted: []string{}, Files: map[string]trace.ManifestPart{},
	}
	return p, nil
}

func (p *rankingPreparation) write(dir string) error {
	measured, rows, err := p.lines("", 0, p.opts.Count)
	if err != nil {
		return err
	}
	warmup, _, err := p.lines("warmup-", p.opts.Count, p.opts.Warmup)
	if err != nil {
		return err
	}
	p.m.Requests, p.m.WarmupRequests = p.opts.Count, p.opts.Warmup
	p.m.Lengths = lengthsOf(rows)
	p.m.Permuted = samplePermuted(rows, p.opts.Permuted)
	pinned, err := jsonLines(rows)
	if err != nil {
		return err
	}
	for _, file := range []struct {
		name string
		data []byte
	}{{trace.WorkloadFile, measured}, {trace.WarmupFile, warmup}, {trace.RowsFile, pinned}} {
		sum := sha256.Sum256(file.data)
		p.m.Files[file.name] = trace.ManifestPart{SHA256: hex.EncodeToString(sum[:]), Lines: bytes.Count(file.data, []byte{'\n'}), Bytes: int64(len(file.data))}
		if err := os.WriteFile(filepath.Join(dir, file.name), file.data, 0o644); err != nil {
			return err
		}
	}
	data, err := encodeJSON(&p.m)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, trace.ManifestFile), data, 0o644)
}

// lines makes n workload lines and their pins from the groups behind the first skip.
func (p *rankingPreparation) lines(prefix string, skip, n int) ([]byte, []RankingRow, error) {
	var out bytes.Buffer
	var rows []RankingRow
	load := p.opts.Load
	if prefix != "" {
		load = Load{} // warm-up follows no schedule
	}
	for i, at := range load.offsets(n) {
		g := p.groups[(skip+i)%len(p.groups)]
		id := prefix + g.ID
		if round := (skip + i) / len(p.groups); round > 0 {
			id = fmt.Sprintf("%s-r%d", id, round)
		}
		if p.ids[id] {
			return nil, nil, fmt.Errorf("%s: two requests would have the id %q; name the group otherwise", g.Pos, id)
		}
		p.ids[id] = true
		body, err := ranking.Request{Model: p.opts.Model, Query: g.Query, Passages: g.Passages, Truncate: p.opts.Truncate}.MarshalJSON()
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", g.Pos, err)
		}
		line := struct {
			Timestamp json.Number     `json:"timestamp"` // ms
			SessionID string          `json:"session_id"`
			Payload   json.RawMessage `json:"payload"`
		}{decimalMS(at), id, body}
		if err := appendJSONLine(&out, line); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", g.Pos, err)
		}
		rows = append(rows, rankingRow(id, g, at))
	}
	return out.Bytes(), rows, nil
}

func jsonLines[T any](values []T) ([]byte, error) {
	var out bytes.Buffer
	for _, v := range values {
		if err := appendJSONLine(&out, v); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

// appendJSONLine appends one line, without HTML escapes: a body in it stays as it was made.
func appendJSONLine(out *bytes.Buffer, v any) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// wordsOf counts words as the server does: runs of bytes that are not ASCII white space.
func wordsOf(s string) int {
	return len(strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r >= '\t' && r <= '\r' }))
}
