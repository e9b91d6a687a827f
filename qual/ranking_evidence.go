package qual

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"

	"github.com/trtmc-go/trtmc/ranking"
	"github.com/trtmc-go/trtmc/serving/record"
	"github.com/trtmc-go/trtmc/trace"
)

// rankedRequest is what the files of a run say of one ranking request.
type rankedRequest struct {
	id          string
	warmup      bool
	offered     RankingRow      // lengths, counted from the body that was offered
	sent, ended int64           // at the client; 0 when not reached
	lastByte    int64           // at the client; 0 when not reached
	answer      json.RawMessage // nil unless the client got a whole 2xx answer
	direct      *DirectScores
	record      *record.Record // the last of several
}

// rankingEvidence is all that the files of a run say of a ranking workload.
type rankingEvidence struct {
	j        *judge
	name     string
	m        *RankingManifest
	pinned   []RankingRow
	order    []*rankedRequest // measured as in the workload, then warm-up
	by       map[string]*rankedRequest
	words    []float64 // of each measured passage
	bytes    []float64 // of each measured passage
	findings []Finding
}

func (e *rankingEvidence) find(kind Kind, id, format string, args ...any) {
	e.findings = append(e.findings, Finding{Kind: kind, Workload: e.name, RequestID: id, Detail: fmt.Sprintf(format, args...)})
}

// gatherRanking reads the files of a ranking workload. What cannot be read is a finding or a failed check; only I/O
// errors are returned.
func (j *judge) gatherRanking(name string, m *RankingManifest) (*rankingEvidence, error) {
	e := &rankingEvidence{j: j, name: name, m: m, by: map[string]*rankedRequest{}}
	for _, step := range []func() error{
		func() error { return e.offers(WorkloadFile, false) },
		func() error { return e.offers(WarmupFile, true) },
		func() error { return e.lines(trace.RowsFile, e.takePinned) },
		func() error { return e.lines(DirectFile, e.takeDirect) },
		e.rows, e.records,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// offers counts what the offered bodies hold. A file that cannot be read is reported by the check of the workload.
func (e *rankingEvidence) offers(file string, warmup bool) error {
	items, err := trace.ReadWorkload(filepath.Join(e.j.dir, WorkloadDir, e.name, file))
	if err != nil {
		return nil
	}
	for _, item := range items {
		r := &rankedRequest{id: item.RequestID, warmup: warmup}
		e.order = append(e.order, r)
		e.by[r.id] = r
		req, err := ranking.Decode(item.Body, noLimits())
		if err != nil {
			e.find(KindLengths, r.id, "the offered body is no ranking request: %v", err)
			continue
		}
		r.offered = rankingRow(r.id, RankingGroup{Query: req.Query, Passages: req.Passages}, item.Offset)
		for _, p := range req.Passages {
			if !warmup {
				e.words, e.bytes = append(e.words, float64(wordsOf(p))), append(e.bytes, float64(len(p)))
			}
		}
	}
	return nil
}

// lines reads a file of the workload's folder line by line; a bad line is a finding.
func (e *rankingEvidence) lines(file string, take func(line []byte) error) error {
	if file == DirectFile && !e.directMade() {
		return nil
	}
	found, err := e.j.eachLine(e.name, file, take)
	e.findings = append(e.findings, found...)
	return err
}

func (e *rankingEvidence) takePinned(line []byte) error {
	var row RankingRow
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&row); err != nil {
		return fmt.Errorf("not a prepared row: %w", err)
	}
	e.pinned = append(e.pinned, row)
	return nil
}

func (e *rankingEvidence) takeDirect(line []byte) error {
	d, err := parseDirect(line)
	if err != nil {
		return err
	}
	r := e.by[d.RequestID]
	switch {
	case r == nil:
		e.find(KindDirect, d.RequestID, "scored directly, but nobody offered it")
	case r.direct != nil:
		e.find(KindDirect, d.RequestID, "scored directly more than once; the first is kept")
	default:
		r.direct = d
	}
	return nil
}

// rows takes the client's rows; the first of a request counts, as in the ledger.
func (e *rankingEvidence) rows() error {
	return e.j.eachRow(e.name, func(row *trace.Row) {
		r := e.by[row.RequestID]
		if r == nil || r.sent != 0 {
			return
		}
		r.sent, r.ended, r.lastByte = row.SentNS, row.EndedNS, row.LastByteNS
		if row.Result == trace.ResultOK {
			r.answer = row.Response
		}
	})
}

// records takes the server's records.
func (e *rankingEvidence) records() error {
	return e.j.eachRecord(func(rec *record.Record) {
		if r := e.by[rec.RequestID]; r != nil {
			r.record = rec
		}
	})
}

// bundle is the digest of the bundle that was served under the workload's model; empty when the run does not know it.
func (e *rankingEvidence) bundle() string { return e.j.bundleOf(e.m.Request.Model).SHA256 }

// directMade reports whether the run could make direct Task calls: without a bundle there is nothing to call.
func (e *rankingEvidence) directMade() bool { return e.bundle() != "" }

// completed reports whether both sides say that the request completed.
func (e *rankingEvidence) completed(r *rankedRequest) bool { return e.j.completed(r.id) }

// span is the time from the first sending to the last answer of the measured requests that completed, in seconds.
func (e *rankingEvidence) span() float64 {
	first, last := int64(math.MaxInt64), int64(0)
	for _, r := range e.order {
		if r.warmup || !e.completed(r) {
			continue
		}
		first, last = min(first, r.sent), max(last, r.lastByte)
	}
	return float64(max(last-first, 0)) / 1e9
}

// offerRanking reads the manifest of a ranking workload; nil for another workload, or when it cannot be read, which
// is a failed check.
func (j *judge) offerRanking(w RunWorkload) *RankingManifest {
	if w.Path != ranking.RouteRanking {
		return nil
	}
	m, err := ReadRankingManifest(filepath.Join(j.dir, WorkloadDir, w.Name))
	if err != nil {
		j.check("the ranking manifest is readable", w.Name, []string{relative(j.dir, err)}, "")
		return nil
	}
	if m.Load.Loop == ClosedLoop {
		j.ledger.ClosedLoop(w.Name)
	}
	return m
}
