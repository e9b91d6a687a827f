package qual

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/trtmc-go/trtmc/ranking"
	"github.com/trtmc-go/trtmc/trace"
)

// RankingWorkload is the name of the ranking workload in folders, rows and reports.
const RankingWorkload = "ranking"

// RankingGroupsFormat is the source format in the manifest of a ranking workload.
const RankingGroupsFormat trace.Format = "ranking-groups"

// RankingEndpoint is the endpoint in the manifest of a ranking workload.
const RankingEndpoint trace.Endpoint = "ranking"

// RankingManifest is the manifest of a ranking workload. [trace.ReadManifest] reads what it shares with other
// workloads. It holds no time of making, so equal inputs give equal bytes.
type RankingManifest struct {
	Schema         int                           `json:"schema"`
	Workload       string                        `json:"workload"`
	Source         trace.ManifestSource          `json:"source"`
	Request        trace.ManifestBody            `json:"request"`
	Load           Load                          `json:"load"`
	Truncate       ranking.Truncate              `json:"truncate"` // "" when the bodies have none
	Lengths        RankingLengths                `json:"lengths"`  // of the measured requests
	Permuted       []string                      `json:"permuted"` // request ids that are scored with permuted passages too
	Requests       int                           `json:"requests"`
	WarmupRequests int                           `json:"warmup_requests"`
	Files          map[string]trace.ManifestPart `json:"files"`
}

// RankingRow pins what one measured request holds: one line of rows.jsonl, in the order of the workload. Words are
// runs of bytes that are not ASCII white space; bytes are those of the text in UTF-8.
type RankingRow struct {
	RequestID    string `json:"request_id"`
	Group        string `json:"group"` // session_id in the source
	Line         int    `json:"line"`  // of the source
	OffsetNS     int64  `json:"offset_ns"`
	Passages     int    `json:"passages"`
	QueryWords   int    `json:"query_words"`
	QueryBytes   int    `json:"query_bytes"`
	PassageWords int    `json:"passage_words"` // all passages together
	PassageBytes int    `json:"passage_bytes"` // all passages together
}

// RankingLengths sums up what the requests of a workload hold.
type RankingLengths struct {
	Passages     int64 `json:"passages"`
	QueryWords   int64 `json:"query_words"`
	QueryBytes   int64 `json:"query_bytes"`
	PassageWords int64 `json:"passage_words"`
	PassageBytes int64 `json:"passage_bytes"`
}

func rankingRow(id string, g RankingGroup, at time.Duration) RankingRow {
	r := RankingRow{RequestID: id, Group: g.ID, Line: g.Line, OffsetNS: int64(at), Passages: len(g.Passages)}
	r.QueryWords, r.QueryBytes = wordsOf(g.Query), len(g.Query)
	for _, p := range g.Passages {
		r.PassageWords += wordsOf(p)
		r.PassageBytes += len(p)
	}
	return r
}

func lengthsOf(rows []RankingRow) RankingLengths {
	var l RankingLengths
	for _, r := range rows {
		l.Passages += int64(r.Passages)
		l.QueryWords += int64(r.QueryWords)
		l.QueryBytes += int64(r.QueryBytes)
		l.PassageWords += int64(r.PassageWords)
		l.PassageBytes += int64(r.PassageBytes)
	}
	return l
}

// samplePermuted picks n requests, evenly spread over those that have an order to change.
func samplePermuted(rows []RankingRow, n int) []string {
	var able []string
	for _, r := range rows {
		if r.Passages > 1 {
			able = append(able, r.RequestID)
		}
	}
	n = max(min(n, len(able)), 0)
	out := make([]string, n)
	for i := range out {
		out[i] = able[i*len(able)/n]
	}
	return out
}

// decimalMS is a duration of whole microseconds in milliseconds, exact.
func decimalMS(d time.Duration) json.Number {
	us := d.Microseconds()
	text := strconv.FormatInt(us/1000, 10)
	if us%1000 != 0 {
		text += strings.TrimRight(fmt.Sprintf(".%03d", us%1000), "0")
	}
	return json.Number(text)
}

// ReadRankingManifest reads the manifest of a folder that [PrepareRanking] filled.
func ReadRankingManifest(dir string) (*RankingManifest, error) {
	path := filepath.Join(dir, trace.ManifestFile)
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read ranking manifest: %w", err)
	}
	m := new(RankingManifest)
	if err := json.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("read ranking manifest %q: %w", path, err)
	}
	switch {
	case m.Schema < 1 || m.Schema > trace.ManifestSchema:
		return nil, fmt.Errorf("read ranking manifest %q: schema %d; this reader knows 1 to %d", path, m.Schema, trace.ManifestSchema)
	case m.Source.Format != RankingGroupsFormat:
		return nil, fmt.Errorf("read ranking manifest %q: source format %q, want %q", path, m.Source.Format, RankingGroupsFormat)
	}
	return m, nil
}
