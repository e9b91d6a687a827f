package qual

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
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
	rel := workloadPath(e.name, file)
	if file == DirectFile && !e.directMade() {
		return nil
	}
	f, err := e.j.open(rel)
	if f == nil {
		return err
	}
	defer f.Close()
	scan := bufio.NewScanner(f)
	scan.Buffer(nil, trace.MaxLine)
	n := 0
	for scan.Scan() {
		n++
		if err := take(scan.Bytes()); err != nil {
			e.findings = append(e.findings, Finding{Kind: KindBadLine, Workload: e.name, Detail: fmt.Sprintf("%s:%d: %v", rel, n, err)})
		}
	}
	if err := scan.Err(); errors.Is(err, bufio.ErrTooLong) {
		e.findings = append(e.findings, Finding{Kind: KindBadLine, Workload: e.name, Detail: fmt.Sprintf("%s:%d: longer than %d bytes", rel, n+1, trace.MaxLine)})
	} else if err != nil {
		return fmt.Errorf("read %s: %w", rel, err)
	}
	return nil
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

// rows takes the client's rows. Bad lines are the ledger's findings already.
func (e *rankingEvidence) rows() error {
	return e.read(workloadPath(e.name, ClientFile), func(f *os.File) error {
		rows := trace.NewRowReader(f, ClientFile)
		for rows.Scan() {
			row, _ := rows.Row()
			if row == nil || e.by[row.RequestID] == nil || e.by[row.RequestID].sent != 0 {
				continue
			}
			r := e.by[row.RequestID]
			r.sent, r.ended, r.lastByte = row.SentNS, row.EndedNS, row.LastByteNS
			if row.Result == trace.ResultOK {
				r.answer = row.Response
			}
		}
		return rows.Err()
	})
}

// records takes the server's records. Bad lines are the ledger's findings already.
func (e *rankingEvidence) records() error {
	return e.read(RecordsFile, func(f *os.File) error {
		records := record.NewReader(f, RecordsFile)
		for records.Scan() {
			rec, _ := records.Entry()
			if rec == nil || e.by[rec.RequestID] == nil {
				continue
			}
			e.by[rec.RequestID].record = rec
		}
		return records.Err()
	})
}

// read opens a file that the ledger has read before; that it is missing has been said then.
func (e *rankingEvidence) read(rel string, from func(*os.File) error) error {
	f, err := os.Open(filepath.Join(e.j.dir, filepath.FromSlash(rel)))
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	return from(f)
}

// bundle is the digest of the bundle that was served under the workload's model; empty when the run does not know it.
func (e *rankingEvidence) bundle() string {
	for _, b := range e.j.run.Bundles {
		if b.Model == e.m.Request.Model {
			return b.SHA256
		}
	}
	return ""
}

// directMade reports whether the run could make direct Task calls: without a bundle there is nothing to call.
func (e *rankingEvidence) directMade() bool { return e.bundle() != "" }

// completed reports whether both sides say that the request completed.
func (e *rankingEvidence) completed(r *rankedRequest) bool {
	i := e.j.ledger.ids.find(r.id)
	return i >= 0 && e.j.ledger.entries.at(i).outcome == completed
}

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
