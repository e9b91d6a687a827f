package qual_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/qual"
	"github.com/trtmc-go/trtmc/serving/record"
	"github.com/trtmc-go/trtmc/trace"
)

func TestSettleDecidesFromBothSides(t *testing.T) {
	none := qual.ServerSide{}
	done := qual.ServerSide{Outcome: record.Completed, Status: 200}
	full := qual.ServerSide{Outcome: record.Rejected, Reason: record.ReasonQueueFull, Status: 429}
	taskError := qual.ServerSide{Outcome: record.Failed, Reason: record.ReasonTaskError, Status: 500}
	gone := qual.ServerSide{Outcome: record.Failed, Reason: record.ReasonClientGone, Status: 499}
	client := func(r trace.Result) qual.ClientSide { return qual.ClientSide{Result: r, Status: 200} }
	status := func(n int) qual.ClientSide { return qual.ClientSide{Result: trace.ResultHTTPError, Status: n} }
	for _, c := range []struct {
		name     string
		server   qual.ServerSide
		client   qual.ClientSide
		outcome  record.Outcome
		cause    string
		disagree string
	}{
		{"both fine", done, client(trace.ResultOK), record.Completed, "", ""},
		{"broken at the client", done, client(trace.ResultTransportError), record.Failed, "client: transport_error", "completed at the server, transport_error at the client"},
		{"cut stream", done, client(trace.ResultStreamTruncated), record.Failed, "client: stream_truncated", "completed at the server, stream_truncated at the client"},
		{"client timed out", done, client(trace.ResultTimeout), record.Failed, "client: timeout", "completed at the server, timeout at the client"},
		{"client left", done, client(trace.ResultCancelled), record.Failed, "client: cancelled", "completed at the server, cancelled at the client"},
		{"error event in a completed stream", done, client(trace.ResultStreamError), record.Failed, "client: stream_error", "completed at the server, stream_error at the client"},
		{"unreadable answer", done, client(trace.ResultBadResponse), record.Failed, "client: bad_response", "completed at the server, bad_response at the client"},
		{"other status", done, status(502), record.Failed, "client: http_error", "completed at the server, status 502 at the client"},
		{"never sent yet served", done, client(trace.ResultNotSent), record.Failed, "client: not_sent", "completed at the server, not sent at the client"},
		{"no row", done, qual.ClientSide{}, record.Failed, qual.CauseNoRow, "completed at the server, no client row"},

		{"refused and heard", full, status(429), record.Rejected, "queue_full", ""},
		{"refused, other status heard", full, status(503), record.Failed, qual.CauseContradict, "rejected (429 queue_full) at the server, status 503 at the client"},
		{"refused yet fine", full, client(trace.ResultOK), record.Failed, qual.CauseContradict, "rejected (429 queue_full) at the server, ok at the client"},
		{"refusal not heard", full, client(trace.ResultTransportError), record.Failed, "client: transport_error", "rejected (429 queue_full) at the server, transport_error at the client"},
		{"refused, no row", full, qual.ClientSide{}, record.Failed, qual.CauseNoRow, "rejected (429 queue_full) at the server, no client row"},

		{"failed and heard", taskError, status(500), record.Failed, "task_error", ""},
		{"failed in the stream", taskError, client(trace.ResultStreamError), record.Failed, "task_error", ""},
		{"failed yet fine", taskError, client(trace.ResultOK), record.Failed, "task_error", "failed (500 task_error) at the server, ok at the client"},
		{"failed, other status heard", taskError, status(502), record.Failed, "task_error", "failed (500 task_error) at the server, status 502 at the client"},
		{"client gone on both sides", gone, client(trace.ResultTimeout), record.Failed, "client_gone", ""},
		{"never sent yet failed", taskError, client(trace.ResultNotSent), record.Failed, "task_error", "failed (500 task_error) at the server, not sent at the client"},

		{"fine without record", none, client(trace.ResultOK), record.Failed, qual.CauseNoRecord, "ok at the client, no server record"},
		{"answered without record", none, status(429), record.Failed, qual.CauseNoRecord, "status 429 at the client, no server record"},
		{"connection broke without record", none, client(trace.ResultTransportError), record.Failed, qual.CauseNoRecord, ""},
		{"not sent", none, qual.ClientSide{Result: trace.ResultNotSent, ErrorCode: trace.CodeDialFailed}, record.Failed, "not sent: dial_failed", ""},
		{"neither side", none, qual.ClientSide{}, record.Failed, qual.CauseNeither, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, qual.Settlement{Outcome: c.outcome, Cause: c.cause, Disagreement: c.disagree}, qual.Settle(c.server, c.client))
		})
	}
}
