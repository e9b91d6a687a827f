package qual

import (
	"fmt"

	"github.com/trtmc-go/trtmc/serving/record"
	"github.com/trtmc-go/trtmc/trace"
)

// span is a duration in nanoseconds kept in 24 significant bits, which is exact to 0.6 microseconds of 10 seconds.
type span float32

// absent is the span whose start or end was not reached. No valid span is negative.
const absent span = -1

// between returns to-from, or absent when one of the instants was not reached.
func between(from, to int64) span {
	if from == 0 || to == 0 {
		return absent
	}
	return span(to - from)
}

// entry is all that the ledger keeps of one offered request. Millions are held at once, so it holds no pointer:
// texts are numbers in the ledger's word list.
type entry struct {
	offset    int64 // from the workload, nanoseconds
	scheduled int64 // instants; 0 when not reached
	sent      int64
	arrived   int64
	taskStart int64

	firstContent, lastContent, lastByte span // since sent
	queue, taskCall, handling           span
	tokens, chunks, queueDepth          int32 // tokens: -1 unknown

	result, errorCode, reason, cause uint16 // words
	lane                             uint16 // word: model and lane
	clientStatus, serverStatus       uint16
	rows, records                    uint8 // 255 stands for more
	workload                         uint8
	serverOutcome, outcome           outcomeCode
	warmup, streaming, badTiming     bool
}

// outcomeCode is a record.Outcome in one byte.
type outcomeCode uint8

const (
	noOutcome outcomeCode = iota
	completed
	rejected
	failed
)

func codeOf(o record.Outcome) outcomeCode {
	switch o {
	case record.Completed:
		return completed
	case record.Rejected:
		return rejected
	case record.Failed:
		return failed
	}
	return noOutcome
}

func (c outcomeCode) outcome() record.Outcome {
	return [...]record.Outcome{"", record.Completed, record.Rejected, record.Failed}[c]
}

// words numbers the few distinct texts that rows and records repeat.
type words struct {
	list  []string
	at    map[string]uint16
	lanes map[modelLane]uint16
}

// modelLane is a lane before it is put into words.
type modelLane struct {
	model string
	lane  int
}

// otherWord stands for everything after the first 65,534 distinct texts.
const otherWord = "(other)"

func (w *words) number(text string) uint16 {
	if w.at == nil {
		w.list, w.at = []string{""}, map[string]uint16{"": 0}
	}
	if n, ok := w.at[text]; ok {
		return n
	}
	if len(w.list) >= 1<<16-1 {
		text = otherWord
		if n, ok := w.at[text]; ok {
			return n
		}
	}
	n := uint16(len(w.list))
	w.list = append(w.list, text)
	w.at[text] = n
	return n
}

// lane numbers a lane of a model; beyond the first thousands it is put into words each time.
func (w *words) lane(model string, lane int) uint16 {
	key := modelLane{model, lane}
	n, ok := w.lanes[key]
	if !ok {
		n = w.number(fmt.Sprintf("lane %d of %s", lane, model))
		if w.lanes == nil {
			w.lanes = map[modelLane]uint16{}
		}
		if len(w.lanes) < 4096 {
			w.lanes[key] = n
		}
	}
	return n
}

func (w *words) text(n uint16) string {
	if n == 0 {
		return ""
	}
	return w.list[n]
}

// takeRow copies what the ledger keeps of a client row.
func (e *entry) takeRow(row *trace.Row, w *words) {
	e.scheduled, e.sent = row.ScheduledNS, row.SentNS
	e.firstContent = between(row.SentNS, row.FirstContentNS)
	e.lastContent = between(row.SentNS, row.LastContentNS)
	e.lastByte = between(row.SentNS, row.LastByteNS)
	e.chunks = int32(min(row.ContentChunks, 1<<31-1))
	if row.CompletionTokens != nil {
		e.tokens = int32(min(*row.CompletionTokens, 1<<31-1))
	}
	e.result, e.errorCode = w.number(string(row.Result)), w.number(row.ErrorCode)
	e.clientStatus = uint16(row.Status)
}

// takeRecord copies what the ledger keeps of a server record.
func (e *entry) takeRecord(rec *record.Record, w *words) {
	e.arrived = rec.ArrivedNS
	e.queue, e.taskCall, e.handling = absent, absent, span(rec.HandlingNS)
	if rec.EnqueuedNS != 0 {
		e.queue = span(rec.QueueNS)
	}
	if rec.TaskCallStartNS != 0 && rec.TaskCallEndNS != 0 {
		e.taskCall, e.taskStart = span(rec.TaskCallNS), rec.TaskCallStartNS
		e.lane = w.lane(rec.Model, rec.Lane)
	}
	e.queueDepth = int32(rec.QueueDepth)
	e.streaming = rec.Streaming
	e.reason = w.number(string(rec.Reason))
	e.serverStatus = uint16(rec.Status)
	e.serverOutcome = codeOf(rec.Outcome)
	if e.tokens < 0 && rec.Text != nil && rec.Text.CompletionTokens != nil {
		e.tokens = int32(min(*rec.Text.CompletionTokens, 1<<31-1))
	}
}
