package qual

import (
	"errors"
	"fmt"
	"time"

	"github.com/trtmc-go/trtmc/serving/record"
)

// checkRecord checks a server record against itself: that its outcome, reason and stage fit, that its instants are in
// order, and that its durations are those of its instants.
func checkRecord(rec *record.Record) error {
	switch {
	case rec.Outcome != record.Completed && rec.Outcome != record.Rejected && rec.Outcome != record.Failed:
		return fmt.Errorf("outcome %q; want completed, rejected or failed", rec.Outcome)
	case rec.Outcome == record.Completed && (rec.Reason != "" || rec.Stage != record.StageDone):
		return fmt.Errorf("completed with reason %q at stage %q; want none and done", rec.Reason, rec.Stage)
	case rec.Outcome != record.Completed && rec.Reason == "":
		return fmt.Errorf("%s without a reason", rec.Outcome)
	case rec.Outcome == record.Rejected && rec.TaskCallStartNS != 0:
		return errors.New("rejected although a Task call had begun")
	case rec.Outcome == record.Completed && rec.TaskCallEndNS == 0:
		return errors.New("completed without a Task call")
	case rec.ArrivedNS <= 0:
		return errors.New("no instant of arrival")
	}
	if err := checkInstants(rec); err != nil {
		return err
	}
	return checkDurations(rec)
}

func checkInstants(rec *record.Record) error {
	last, name := rec.ArrivedNS, "arrived"
	for _, at := range []struct {
		name string
		ns   int64
	}{
		{"enqueued", rec.EnqueuedNS}, {"admitted", rec.AdmittedNS}, {"task call start", rec.TaskCallStartNS},
		{"task call end", rec.TaskCallEndNS},
	} {
		if at.ns == 0 {
			continue
		}
		if at.ns < last {
			return fmt.Errorf("%s is %v before %s", at.name, time.Duration(last-at.ns), name)
		}
		last, name = at.ns, at.name
	}
	// A stream's first byte leaves during the Task call, so the bytes are ordered among themselves and after arrival.
	switch {
	case rec.FirstByteNS != 0 && rec.FirstByteNS < rec.ArrivedNS:
		return errors.New("first byte before arrival")
	case rec.LastByteNS != 0 && rec.LastByteNS < max(rec.FirstByteNS, rec.ArrivedNS):
		return errors.New("last byte before the first")
	}
	return nil
}

func checkDurations(rec *record.Record) error {
	if rec.QueueNS < 0 || rec.TaskCallNS < 0 || rec.HandlingNS < 0 {
		return errors.New("a negative duration")
	}
	if whole := rec.TaskCallEndNS - rec.TaskCallStartNS; rec.TaskCallStartNS != 0 && rec.TaskCallEndNS != 0 && rec.TaskCallNS > whole {
		return fmt.Errorf("public_task_call_wall is %v, more than its instants span (%v)", time.Duration(rec.TaskCallNS), time.Duration(whole))
	}
	if rec.LastByteNS != 0 && rec.HandlingNS > rec.LastByteNS-rec.ArrivedNS {
		return fmt.Errorf("handling is %v, more than its instants span (%v)", time.Duration(rec.HandlingNS), time.Duration(rec.LastByteNS-rec.ArrivedNS))
	}
	return nil
}
