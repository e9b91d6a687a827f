package qual

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/trtmc-go/trtmc/qual/aiperf"
	"github.com/trtmc-go/trtmc/trace"
)

// rawFacts is what is kept of a raw row: the exact instants, which the other export has not, and what the answer shows.
type rawFacts struct {
	start, firstByte, firstContent, lastContent, lastByte int64 // perf_ns
	chunks                                                int
	status                                                int
	ending                                                aiperf.Ending
	streamed                                              bool
	tokens                                                *int64
	answer                                                json.RawMessage
	jobID                                                 string
}

func factsOfRaw(r *aiperf.RawRow, kind aiperf.Workload) rawFacts {
	f := rawFacts{start: r.StartPerfNS, status: int(r.Status), streamed: r.Streamed()}
	if kind == aiperf.TextTrace {
		f.ending = r.Ending()
	}
	for i := range r.Responses {
		resp := &r.Responses[i]
		if f.lastByte = resp.PerfNS; f.firstByte == 0 {
			f.firstByte = resp.PerfNS
		}
		f.look(resp.PerfNS, resp.Text, false)
		for _, p := range resp.Packets {
			if p.Name == "data" {
				f.look(resp.PerfNS, p.Value, true)
			}
		}
		if kind == aiperf.Ranking && json.Valid([]byte(resp.Text)) {
			f.answer = json.RawMessage(resp.Text)
		}
	}
	return f
}

// look takes content, usage and the id of a job out of one event or body.
func (f *rawFacts) look(at int64, text string, event bool) {
	var part struct {
		ID      string `json:"id"`
		Choices []struct {
			Text  string `json:"text"`
			Delta struct {
				Content string `json:"content"`
			} `json:"delta"`
		} `json:"choices"`
		Usage *struct {
			Completion *int64 `json:"completion_tokens"`
		} `json:"usage"`
	}
	if text == "" || json.Unmarshal([]byte(text), &part) != nil {
		return
	}
	if part.Usage != nil && part.Usage.Completion != nil {
		f.tokens = part.Usage.Completion
	}
	if part.ID != "" {
		f.jobID = part.ID
	}
	if event && len(part.Choices) > 0 && part.Choices[0].Text+part.Choices[0].Delta.Content != "" {
		f.chunks++
		if f.lastContent = at; f.firstContent == 0 {
			f.firstContent = at
		}
	}
}

// canonical is a JSON text in one form, so that the order of keys and the spelling of numbers do not matter.
func canonical(text []byte) string {
	var v any
	if json.Unmarshal(text, &v) != nil {
		return string(text)
	}
	return compactJSON(v)
}

// rowOf turns what AIPerf exported of one request into a client row.
func (a *aiperfReplay) rowOf(r *aiperf.Row) *trace.Row {
	raw, exact := a.raw[r.RequestID] // a row without an id joins nothing
	row := &trace.Row{
		Schema: trace.RowSchema, RequestID: a.ledgerID(r.Phase, r.ConversationID), Phase: phaseOf(r.Phase == aiperf.Warmup),
		Workload: a.of.Name, Clock: a.clock, WallBaseUnixNS: a.base,
	}
	if item, ok := a.items[row.RequestID]; ok {
		row.OfferedOffsetNS = int64(item.Offset)
	}
	row.ScheduledNS = r.CreditIssuedNS - a.base
	if a.fixed && r.Phase == aiperf.Measured && a.zero.UnixNS != 0 {
		row.ScheduledNS = a.due(row.OfferedOffsetNS) - a.base
	}
	switch {
	case exact:
		row.SentNS, row.FirstByteNS, row.FirstContentNS, row.LastContentNS, row.LastByteNS = raw.start, raw.firstByte, raw.firstContent, raw.lastContent, raw.lastByte
		row.ContentChunks, row.CompletionTokens, row.FinishReason = raw.chunks, raw.tokens, raw.ending.Finish
	case !r.Shifted() && r.RequestStartNS != 0:
		row.SentNS = r.RequestStartNS - a.base
		if d, ok := r.Latency(); ok {
			row.LastByteNS = row.SentNS + int64(d)
		}
	}
	row.EndedNS = max(row.SentNS, row.LastByteNS)
	a.result(row, r, raw)
	if row.Result == trace.ResultOK {
		row.Response = raw.answer
	}
	if a.kind == aiperf.Video && raw.jobID != "" {
		row.Video = &trace.VideoRow{JobID: raw.jobID, PollNS: a.evidence.Result.PollNS}
	}
	return row
}

// result says how a request ended. The client's own word is not enough: a stream that just stops and one that ends in
// an error object are successes to it.
func (a *aiperfReplay) result(row *trace.Row, r *aiperf.Row, raw rawFacts) {
	row.Status = raw.status
	if r.Error != nil {
		row.Error, row.ErrorCode = r.Error.Type+": "+r.Error.Message, r.Error.Type
		if row.Status == 0 {
			row.Status = int(r.Error.Code)
		}
	}
	switch class := r.Class(); {
	case class == aiperf.Success && raw.ending.Error != "":
		row.Result, row.Error = trace.ResultStreamError, "counted as a success by the client: "+raw.ending.Error
	case class == aiperf.Success && raw.streamed && !raw.ending.Whole():
		row.Result, row.Error = trace.ResultStreamTruncated, "counted as a success by the client: the stream shows no end"
	case class == aiperf.Success:
		if row.Result = trace.ResultOK; row.Status == 0 {
			row.Status = 200
		}
	case class == aiperf.HTTPError:
		row.Result = trace.ResultHTTPError
	case class == aiperf.Cancelled:
		row.Result = trace.ResultCancelled
	case class == aiperf.Skipped:
		row.Result, row.SentNS = trace.ResultNotSent, 0
	case class == aiperf.Unmeasured:
		row.Result = trace.ResultBadResponse
	default:
		row.Result = failureOf(r.Error)
	}
	if row.SentNS == 0 && row.Result != trace.ResultNotSent {
		row.SentNS = max(r.CreditIssuedNS-a.base, 1) // nothing better is known
		row.EndedNS = max(row.EndedNS, row.SentNS)
	}
}

// failureOf classes the names that the client gives to failures.
func failureOf(e *aiperf.RowError) trace.Result {
	switch {
	case e == nil:
		return trace.ResultBadResponse
	case e.Type == "TimeoutError":
		return trace.ResultTimeout
	case e.Type == "SSEResponseError":
		return trace.ResultStreamError
	case e.Type == "ClientPayloadError":
		return trace.ResultStreamTruncated
	case e.Type == "InvalidInferenceResultError", e.Type == "AttributeError":
		return trace.ResultBadResponse
	case strings.HasPrefix(e.Type, "VideoGeneration"):
		return trace.ResultJobFailed
	case e.Type == "VideoDownloadError":
		return trace.ResultBadResponse
	}
	return trace.ResultTransportError
}

// wallBase is the wall time of the client's monotonic clock: the median of what its rows say, which their rounding to
// a microsecond and one late reading cannot move. Without such rows it is what the harness noted.
func (a *aiperfReplay) wallBase() (int64, error) {
	var all []int64
	err := a.export.EachRow(func(entry aiperf.Entry) error {
		if r, ok := entry.(*aiperf.Row); ok && a.kind != aiperf.Video && !r.Shifted() && r.RequestStartNS != 0 && a.raw[r.RequestID].start != 0 {
			all = append(all, r.RequestStartNS-a.raw[r.RequestID].start)
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", aiperf.RowsFile, err)
	}
	if len(all) == 0 {
		return a.evidence.WallBaseUnixNS, nil
	}
	slices.Sort(all)
	return all[len(all)/2], nil
}
