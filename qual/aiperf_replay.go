package qual

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/trtmc-go/trtmc/qual/aiperf"
	"github.com/trtmc-go/trtmc/serving/record"
	"github.com/trtmc-go/trtmc/trace"
)

// foreignClock is what the rows of a client on another clock carry, so that nobody compares their instants.
const foreignClock = "the client's own"

// aiperfReplay is one workload as AIPerf sent it. It joins
//
//	prepared row (session_id) - client row (conversation_id, benchmark_phase) - x_request_id - server record - Task call
//
// and is judged with a ledger of its own, under the ids of the prepared rows: one request of the workload is sent by
// both clients. Never joined by order or by time.
type aiperfReplay struct {
	main     *judge
	w, of    RunWorkload // as it is reported, and as it was prepared
	kind     aiperf.Workload
	evidence *AIPerfRun
	export   *aiperf.Export
	fixed    bool // the requests had instants
	items    map[string]trace.Item
	offered  []string // measured ids, in the order of the file
	zero     aiperf.Zero
	first    int64 // smallest offset
	clock    string
	base     int64

	raw      map[string]rawFacts
	rows     []*trace.Row
	requests map[string]string // x_request_id: id of the prepared row
	places   []place
	arrivals map[string]int64 // at the server, Unix nanoseconds, by id
	findings []Finding
	problems []string // of the evidence
}

// place is where AIPerf says that a scheduled request was, in Unix nanoseconds.
type place struct {
	id                 string
	due, credit, start int64
}

// fromTop reports whether the client takes its warm-up from the top of the file and then sends all of it, so that some
// rows are sent in both phases.
func (a *aiperfReplay) fromTop() bool { return a.kind == aiperf.TextTrace || a.fixed }

// ledgerID is the id under which a request is accounted for: that of its prepared row, which stands in two phases when
// the warm-up comes from the top of the file.
func (a *aiperfReplay) ledgerID(phase aiperf.Phase, conversation string) string {
	if phase == aiperf.Warmup && a.fromTop() {
		return "warmup/" + conversation
	}
	return conversation
}

func (a *aiperfReplay) due(offset int64) int64 { return a.zero.At(time.Duration(offset - a.first)) }

// openReplays reads what AIPerf left of each workload that it sent.
func (j *judge) openReplays() error {
	for _, w := range j.run.Workloads {
		if w.Client != AIPerfClient {
			continue
		}
		i := slices.IndexFunc(j.run.Workloads, func(o RunWorkload) bool { return o.Name == w.Of && o.Client == "" })
		if i < 0 {
			j.check("evidence is complete", w.Name, []string{fmt.Sprintf("run.json does not have the workload %q that it was prepared as", w.Of)}, "")
			continue
		}
		a := &aiperfReplay{main: j, w: w, of: j.run.Workloads[i], kind: aiperfWorkload(w.Path), evidence: &AIPerfRun{Installation: &aiperf.Installation{}},
			items: map[string]trace.Item{}, raw: map[string]rawFacts{}, requests: map[string]string{}, arrivals: map[string]int64{}, clock: foreignClock}
		if err := a.open(); err != nil {
			return fmt.Errorf("%s: %w", w.Name, err)
		}
		j.replays = append(j.replays, a)
	}
	return nil
}

func (a *aiperfReplay) open() error {
	folder := filepath.Join(a.main.dir, WorkloadDir, a.of.Name)
	run, err := ReadAIPerfRun(folder)
	if err != nil {
		a.problems = append(a.problems, relative(a.main.dir, err))
	} else {
		a.evidence = run
	}
	if a.fixed = a.evidence.FixedSchedule; a.evidence.Clock == sharedClock {
		a.clock = sharedClock
	}
	a.readItems(folder)
	a.export, err = aiperf.Open(filepath.Join(folder, AIPerfDir, AIPerfArtifacts))
	if errors.Is(err, fs.ErrNotExist) {
		a.export, a.problems = nil, append(a.problems, workloadPath(a.of.Name, AIPerfDir+"/"+AIPerfArtifacts)+" is missing")
		return nil
	}
	if err != nil {
		return err
	}
	if a.zero, _, err = a.export.ScheduleZero(); err != nil && !errors.Is(err, aiperf.ErrNoZero) {
		return err
	}
	return a.readRows()
}

// readItems takes the offered requests. Files that cannot be read are reported by the check of the workload.
func (a *aiperfReplay) readItems(folder string) {
	measured, err := trace.ReadWorkload(filepath.Join(folder, WorkloadFile))
	if err != nil {
		return
	}
	for i, item := range measured {
		a.items[item.RequestID] = item
		a.offered = append(a.offered, item.RequestID)
		if a.fromTop() && i < a.evidence.Warmup {
			a.items[a.ledgerID(aiperf.Warmup, item.RequestID)] = item
		}
		if i == 0 || int64(item.Offset) < a.first {
			a.first = int64(item.Offset)
		}
	}
	if a.fromTop() {
		return
	}
	warmup, err := trace.ReadWorkload(filepath.Join(folder, WarmupFile))
	if err != nil {
		return
	}
	for _, item := range warmup {
		a.items[item.RequestID] = item
	}
}

// readRows makes client rows of the exports: exact instants and the answer from the raw rows, the client's verdict from
// the others.
func (a *aiperfReplay) readRows() error {
	err := a.export.EachRaw(func(entry aiperf.Entry) error {
		r, ok := entry.(*aiperf.RawRow)
		if !ok {
			return nil
		}
		if r.RequestID != "" {
			a.raw[r.RequestID] = factsOfRaw(r, a.kind)
		}
		id := a.ledgerID(r.Phase, r.ConversationID)
		if item, ok := a.items[id]; ok && len(r.Payload) > 0 && canonical(item.Body) != canonical(r.Payload) {
			a.find(KindBody, id, "the client sent another body than was prepared")
		}
		return nil
	})
	if err != nil {
		return err
	}
	if a.base, err = a.wallBase(); err != nil {
		return err
	}
	return a.export.EachRow(func(entry aiperf.Entry) error {
		r, ok := entry.(*aiperf.Row)
		if !ok {
			return nil
		}
		row := a.rowOf(r)
		a.rows = append(a.rows, row)
		if r.RequestID != "" {
			a.requests[r.RequestID] = row.RequestID
		}
		if a.fixed && r.Phase == aiperf.Measured && a.zero.UnixNS != 0 {
			p := place{id: row.RequestID, due: a.due(row.OfferedOffsetNS), credit: r.CreditIssuedNS}
			if !r.Shifted() {
				p.start = r.RequestStartNS
			}
			a.places = append(a.places, p)
		}
		return nil
	})
}

func (a *aiperfReplay) find(kind Kind, id, format string, args ...any) {
	a.findings = append(a.findings, Finding{Kind: kind, Workload: a.w.Name, RequestID: id, Detail: fmt.Sprintf(format, args...)})
}

func (a *aiperfReplay) eachRow(take func(*trace.Row)) {
	for _, row := range a.rows {
		take(row)
	}
}

// offerRequest offers one line of a workload file to the ledger, as the client under judgement sends it.
func (j *judge) offerRequest(workload string, phase trace.Phase, id string, offset time.Duration) error {
	a := j.replay
	if a == nil || !a.fromTop() {
		return j.ledger.Offer(workload, phase, id, offset)
	}
	if phase == trace.PhaseWarmup {
		return nil // this client takes its warm-up from the measured file
	}
	if j.ledger.ids.len() < 2*a.evidence.Warmup {
		if err := j.ledger.Offer(workload, trace.PhaseWarmup, a.ledgerID(aiperf.Warmup, id), offset); err != nil {
			return err
		}
	}
	return j.ledger.Offer(workload, phase, id, offset)
}

// mine returns the record as the client under judgement knows it, nil when it belongs to another client. A record that
// no export names, but that arrived while AIPerf ran, is AIPerf's: a request in flight when it stopped leaves no row.
func (j *judge) mine(rec *record.Record) *record.Record {
	if j.replay == nil {
		for _, a := range j.replays {
			if a.owns(rec) {
				return nil
			}
		}
		return rec
	}
	if !j.replay.owns(rec) {
		return nil
	}
	if id, ok := j.replay.requests[rec.RequestID]; ok {
		own := *rec
		own.RequestID = id
		return &own
	}
	return rec
}

func (a *aiperfReplay) owns(rec *record.Record) bool {
	if _, ok := a.requests[rec.RequestID]; ok {
		return true
	}
	if a.main.ledger.ids.find(rec.RequestID) >= 0 {
		return false
	}
	for _, other := range a.main.replays {
		if _, ok := other.requests[rec.RequestID]; ok {
			return false
		}
	}
	began := a.evidence.Result.Started.UnixNano()
	at := rec.WallBaseUnixNS + rec.ArrivedNS
	return a.evidence.Result.WallNS > 0 && at >= began && at <= began+a.evidence.Result.WallNS
}
