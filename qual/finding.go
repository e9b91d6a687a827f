package qual

import (
	"cmp"
	"slices"
)

// Kind classes what the ledger found; each kind fails one check.
type Kind string

// The kinds of finding.
const (
	KindDoubleOffer  Kind = "offered_twice"       // an id stands twice in the workload
	KindNoRow        Kind = "client_row_missing"  // offered, but the client wrote no row
	KindDoubleRow    Kind = "client_row_twice"    // two client rows with one id
	KindUnknownRow   Kind = "client_row_unknown"  // a client row that nobody offered
	KindNoRecord     Kind = "record_missing"      // the client sent it, the server has no record
	KindRetried      Kind = "record_twice"        // more than one record with one id: somebody retried
	KindUnknownRec   Kind = "record_unknown"      // a server record that nobody offered
	KindWrongPhase   Kind = "phase_wrong"         // a warm-up request called measured, or the reverse
	KindWrongPlace   Kind = "schedule_wrong"      // sent for another instant than the workload says
	KindInvalid      Kind = "record_invalid"      // the record breaks its own rules
	KindTiming       Kind = "timing_invalid"      // instants out of order; kept out of statistics
	KindBadLine      Kind = "line_unreadable"     // a line that cannot be read; its position is the subject
	KindTornLine     Kind = "line_torn"           // an unfinished last line
	KindDisagree     Kind = "sides_disagree"      // client and server tell different stories
	KindFailed       Kind = "failed"              // the request ended as failed
	KindRefMark      Kind = "reference_mark"      // the record's reference mark is not the run's
	KindLaneShared   Kind = "lane_shared"         // two Task calls at one time on one lane
	KindAfterTheFact Kind = "server_after_client" // the server says it took longer than the client waited
)

// Finding is one thing that the ledger found. RequestID is empty when a line could not be read.
type Finding struct {
	Kind      Kind   `json:"kind"`
	Workload  string `json:"workload,omitempty"`
	RequestID string `json:"request_id,omitempty"`
	Detail    string `json:"detail"`
}

func sortFindings(all []Finding) {
	slices.SortFunc(all, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Workload, b.Workload), cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.RequestID, b.RequestID), cmp.Compare(a.Detail, b.Detail))
	})
}
