package serving

import (
	"slices"

	"github.com/trtmc-go/trtmc/serving/record"
)

// foreignFault is the fault that the handler of another package has answered with already. Its codes are the reasons
// of records, but for what the admission gave it, which comes back as it went.
func foreignFault(status int, code string, err error) *fault {
	reason := reasonOf(code)
	if status == statusClientGone {
		reason = record.ReasonClientGone
	}
	return &fault{status: status, reason: reason, msg: err.Error()}
}

// reasonOf returns the reason of that name, internal_error for a name that is none.
func reasonOf(code string) record.Reason {
	known := []record.Reason{
		record.ReasonInvalidRequest, record.ReasonUnsupported, record.ReasonContextLength, record.ReasonModelNotFound,
		record.ReasonRouteNotServed, record.ReasonTooLarge, record.ReasonEncoding, record.ReasonQueueFull, record.ReasonQueueBytes,
		record.ReasonQueueWait, record.ReasonDraining, record.ReasonClientGone, record.ReasonDeadline, record.ReasonTaskInvalid,
		record.ReasonTaskError, record.ReasonTaskBusy, record.ReasonTaskResource, record.ReasonBadResult, record.ReasonArtifact,
		record.ReasonRestart, record.ReasonCancelled,
	}
	if r := record.Reason(code); slices.Contains(known, r) {
		return r
	}
	return record.ReasonInternal
}
