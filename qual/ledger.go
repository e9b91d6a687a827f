package qual

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trtmc-go/trtmc/serving/record"
	"github.com/trtmc-go/trtmc/trace"
)

// Ledger accounts for every offered request of a run. Offer the whole workload first; then add client rows and server
// records in any order; then Close. The zero value is ready. It keeps about 150 bytes a request, never bodies or
// texts. It is not safe for concurrent use.
type Ledger struct {
	// Reference is the mark that every record must carry.
	Reference bool
	// SharedProcess says that client and server instants compare whatever their clock is called.
	SharedProcess bool
	// WallStep is how far the client's wall clock moved against its monotonic clock during the run.
	WallStep time.Duration

	ids       idIndex
	entries   list[entry]
	names     []string   // of workloads
	attempts  []Attempts // of workloads
	words     words
	samples   []float64 // room for one quantity of all requests
	findings  []Finding
	clocks    clocks
	unoffered int
	closed    []string // workloads that were sent in a closed loop
}

// maxWorkloads bounds the workloads of one ledger.
const maxWorkloads = 255

// Offer adds one request of a workload file: what nobody offers is unknown later. The offset counts from the start
// of the schedule. An id that is offered twice is a finding. It returns an error only when the ledger is full.
func (l *Ledger) Offer(workload string, phase trace.Phase, id string, offset time.Duration) error {
	w, err := l.workload(workload)
	if err != nil {
		return err
	}
	i, fresh := l.ids.add(id)
	if i < 0 {
		return errors.New("ledger is full: request ids exceed 4 GiB")
	}
	if !fresh {
		l.find(KindDoubleOffer, workload, id, "the workload holds this id more than once")
		return nil
	}
	l.entries.add(entry{
		offset: int64(offset), workload: w, warmup: phase == trace.PhaseWarmup, tokens: -1,
		firstContent: absent, lastContent: absent, lastByte: absent,
		queue: absent, taskCall: absent, handling: absent,
	})
	return nil
}

func (l *Ledger) workload(name string) (uint8, error) {
	if i := slices.Index(l.names, name); i >= 0 {
		return uint8(i), nil
	}
	if len(l.names) == maxWorkloads {
		return 0, fmt.Errorf("ledger is full: more than %d workloads", maxWorkloads)
	}
	l.names, l.attempts = append(l.names, name), append(l.attempts, Attempts{})
	return uint8(len(l.names) - 1), nil
}

func (l *Ledger) find(kind Kind, workload, id, detail string) {
	// The id may lie in memory that the next row takes over.
	l.findings = append(l.findings, Finding{Kind: kind, Workload: workload, RequestID: strings.Clone(id), Detail: detail})
}

// AddRow adds a client row, of which the ledger copies what it keeps.
func (l *Ledger) AddRow(row *trace.Row) {
	i := l.ids.find(row.RequestID)
	if i < 0 {
		l.find(KindUnknownRow, row.Workload, row.RequestID, "a client row of a request that the workload does not hold")
		return
	}
	e := l.entries.at(i)
	name := l.names[e.workload]
	if e.rows < 255 {
		e.rows++
	}
	if e.rows > 1 {
		l.find(KindDoubleRow, name, row.RequestID, "the client wrote more than one row; the first is kept")
		return
	}
	if row.Workload != "" && row.Workload != name {
		l.find(KindWrongPhase, name, row.RequestID, fmt.Sprintf("the client row names workload %q", row.Workload))
	}
	if want := phaseOf(e.warmup); row.Phase != want {
		l.find(KindWrongPhase, name, row.RequestID, fmt.Sprintf("the client row says %q, the workload says %q", row.Phase, want))
	}
	if !e.warmup && row.OfferedOffsetNS != e.offset {
		l.find(KindWrongPlace, name, row.RequestID, fmt.Sprintf("the client row says offset %v, the workload says %v",
			time.Duration(row.OfferedOffsetNS), time.Duration(e.offset)))
	}
	if err := checkRow(row); err != nil {
		e.badTiming = true
		l.find(KindTiming, name, row.RequestID, "client row: "+err.Error())
	}
	l.clocks.client.take(row.Clock, row.WallBaseUnixNS)
	e.takeRow(row, &l.words)
}

// AddRecord adds a server record, of which the ledger copies what it keeps. A second record of one id is an attempt
// more than offered; the one that arrived last decides.
func (l *Ledger) AddRecord(rec *record.Record) {
	i := l.ids.find(rec.RequestID)
	if i < 0 {
		l.unoffered++
		l.find(KindUnknownRec, "", rec.RequestID, fmt.Sprintf("%s, status %d: nobody offered this id", rec.Route, rec.Status))
		return
	}
	e := l.entries.at(i)
	name := l.names[e.workload]
	if e.records < 255 {
		e.records++
	}
	if err := rec.Validate(); err != nil {
		e.badTiming = true
		l.find(KindInvalid, name, rec.RequestID, err.Error())
	}
	if rec.Reference != l.Reference {
		l.find(KindRefMark, name, rec.RequestID, fmt.Sprintf("the record says reference %t, the run says %t", rec.Reference, l.Reference))
	}
	l.clocks.server.take(rec.Clock, rec.WallBaseUnixNS)
	if !e.warmup {
		l.attempts[e.workload].take(rec.Outcome, e.records)
	}
	if e.records > 1 {
		l.find(KindRetried, name, rec.RequestID, fmt.Sprintf("attempt %d: %s with status %d", e.records, rec.Outcome, rec.Status))
		if rec.ArrivedNS < e.arrived {
			return
		}
	}
	e.takeRecord(rec, &l.words)
}

// take counts the nth record of a request.
func (a *Attempts) take(outcome record.Outcome, nth uint8) {
	a.Records++
	if outcome == record.Rejected {
		a.Rejected++
	}
	if nth == 2 {
		a.Retried++
	}
}

// AddBadLine adds a line of a row or record file that could not be read. Torn says that it is an unfinished last
// line, which a killed writer leaves, rather than damage.
func (l *Ledger) AddBadLine(workload, position, msg string, torn bool) {
	kind := KindBadLine
	if torn {
		kind = KindTornLine
	}
	l.find(kind, workload, "", position+": "+msg)
}

func phaseOf(warmup bool) trace.Phase {
	if warmup {
		return trace.PhaseWarmup
	}
	return trace.PhaseMeasured
}

// checkRow checks the instants of a client row against each other.
func checkRow(row *trace.Row) error {
	if row.SentNS == 0 {
		if row.Result != trace.ResultNotSent {
			return fmt.Errorf("result %q without an instant of sending", row.Result)
		}
		return nil
	}
	last, name := row.SentNS, "sent"
	for _, at := range []struct {
		name string
		ns   int64
	}{
		{"first byte", row.FirstByteNS}, {"first content", row.FirstContentNS},
		{"last content", row.LastContentNS}, {"last byte", row.LastByteNS}, {"ended", row.EndedNS},
	} {
		if at.ns == 0 {
			continue
		}
		if at.ns < last {
			return fmt.Errorf("%s is %v before %s", at.name, time.Duration(last-at.ns), name)
		}
		last, name = at.ns, at.name
	}
	if row.Result == trace.ResultOK && row.LastByteNS == 0 {
		return errors.New("result ok without an instant of the last byte")
	}
	return nil
}
