package qual

import (
	"cmp"
	"slices"

	"github.com/trtmc-go/trtmc/serving/record"
	"github.com/trtmc-go/trtmc/trace"
)

// Counts account for the requests of one phase: Offered = Completed + Rejected + Failed.
type Counts struct {
	Offered   int `json:"offered"`
	Completed int `json:"completed"`
	Rejected  int `json:"rejected"`
	Failed    int `json:"failed"`
}

func (c *Counts) take(o outcomeCode) {
	c.Offered++
	switch o {
	case completed:
		c.Completed++
	case rejected:
		c.Rejected++
	default:
		c.Failed++
	}
}

// Cause counts the rejected or failed requests of one cause.
type Cause struct {
	Outcome record.Outcome `json:"outcome"`
	Cause   string         `json:"cause"`
	Count   int            `json:"count"`
}

// StatusCount counts the measured requests that the client saw end with one HTTP status; 0 is no status at all.
type StatusCount struct {
	Status int `json:"status"`
	Count  int `json:"count"`
}

// Account is what a closed ledger says. Its Findings are sorted.
type Account struct {
	Workloads []Workload `json:"workloads"`
	Findings  []Finding  `json:"findings"`
	Records   int        `json:"records"`   // of offered requests
	Unoffered int        `json:"unoffered"` // records that nobody offered
}

// Close settles every request. The account is complete in any case; the error wraps ErrUnaccounted, as an
// [AccountingError], when a request lacks a side, has one twice, or was never offered.
func (l *Ledger) Close() (*Account, error) {
	account := &Account{Unoffered: l.unoffered}
	for i := range l.entries.n {
		l.settle(i)
		account.Records += int(l.entries.at(i).records)
	}
	l.checkLanes()
	for w := range l.names {
		l.placeClosed(uint8(w))
		l.checkSchedule(uint8(w))
		account.Workloads = append(account.Workloads, l.summarize(uint8(w)))
	}
	slices.SortFunc(account.Workloads, func(a, b Workload) int { return cmp.Compare(a.Name, b.Name) })
	l.samples = nil
	sortFindings(l.findings)
	account.Findings = l.findings
	return account, unaccounted(l.findings)
}

func (l *Ledger) settle(i int) {
	e := l.entries.at(i)
	name := l.names[e.workload]
	client := ClientSide{trace.Result(l.words.text(e.result)), int(e.clientStatus), l.words.text(e.errorCode)}
	s := Settle(ServerSide{e.serverOutcome.outcome(), record.Reason(l.words.text(e.reason)), int(e.serverStatus)}, client)
	e.outcome, e.cause = codeOf(s.Outcome), l.words.number(s.Cause)
	if e.rows == 0 {
		l.find(KindNoRow, name, l.ids.id(i), "offered, but the client wrote no row")
	}
	if e.records == 0 && e.rows > 0 && client.Result != trace.ResultNotSent {
		l.find(KindNoRecord, name, l.ids.id(i), "client: "+client.words()+"; the server has no record")
	}
	if s.Disagreement != "" && e.rows > 0 {
		l.find(KindDisagree, name, l.ids.id(i), s.Disagreement)
	}
	if s.Outcome == record.Failed {
		l.find(KindFailed, name, l.ids.id(i), s.Cause)
	}
	if s.Outcome == record.Completed && !e.badTiming && e.taskCall > e.lastByte {
		e.badTiming = true
		l.find(KindAfterTheFact, name, l.ids.id(i), "the Task call took longer than the client waited")
	}
}

// unaccounted returns nil, or an AccountingError with the ids whose accounting has a hole.
func unaccounted(findings []Finding) error {
	var ids []string
	for _, f := range findings {
		switch f.Kind {
		case KindDoubleOffer, KindNoRow, KindDoubleRow, KindUnknownRow, KindNoRecord, KindRetried, KindUnknownRec:
			ids = append(ids, f.RequestID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	slices.Sort(ids)
	return &AccountingError{IDs: slices.Compact(ids)}
}
