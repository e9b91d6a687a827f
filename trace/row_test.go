package trace_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/trace"
)

func TestRowsRoundTrip(t *testing.T) {
	n := int64(3)
	want := trace.Row{
		Schema: trace.RowSchema, RequestID: "row-1", Phase: trace.PhaseMeasured, Workload: "w", Clock: "CLOCK_MONOTONIC", WallBaseUnixNS: 1,
		OfferedOffsetNS: 2, ScheduledNS: 3, SentNS: 4, FirstByteNS: 5, FirstContentNS: 6, LastContentNS: 7, LastByteNS: 8, EndedNS: 9,
		Status: 200, Result: trace.ResultOK, Error: "a <b> \u2028", ErrorCode: "c", RetryAfterMS: 1.5, BytesOut: 10, BytesIn: 11,
		PromptTokens: &n, CompletionTokens: &n, ContentChunks: 2, FinishReason: "stop", NewConnection: true,
		Response: json.RawMessage(`{"a":1}`), ResponseSHA256: "00", Video: &trace.VideoRow{JobID: "j", State: "completed", Polls: 2},
	}
	for i := range reflect.ValueOf(want).NumField() {
		require.False(t, reflect.ValueOf(want).Field(i).IsZero(), "field %d is not covered", i)
	}
	var file bytes.Buffer
	w := trace.NewRowWriter(&file)
	require.NoError(t, w.Append(want))
	require.NoError(t, w.Append(trace.Row{RequestID: "row-2", Phase: trace.PhaseWarmup, Result: trace.ResultNotSent}))
	require.Equal(t, 2, strings.Count(file.String(), "\n"))
	require.ErrorContains(t, w.Append(trace.Row{RequestID: "row-3", Result: trace.ResultOK}), "phase or result is missing")

	r := trace.NewRowReader(&file, "client.jsonl")
	require.True(t, r.Scan())
	got, bad := r.Row()
	require.Nil(t, bad)
	require.Equal(t, want, *got)
	require.True(t, r.Scan())
	got, bad = r.Row()
	require.Nil(t, bad)
	require.Equal(t, trace.RowSchema, got.Schema)
	require.False(t, r.Scan())
	require.NoError(t, r.Err())
}

func TestBadRowsAreEntries(t *testing.T) {
	good := `{"schema":1,"request_id":"a","phase":"measured","result":"ok"}` + "\n"
	text := good + "{\n" + `{"schema":2,"request_id":"a","result":"ok"}` + "\n" + `{"schema":1,"result":"ok"}` + "\n" +
		`{"schema":1,"request_id":"a"}` + "\n" + strings.TrimSpace(good) + good + good + good[:20]
	r := trace.NewRowReader(strings.NewReader(text), "client.jsonl")
	var bads []*trace.SyntaxError
	rows := 0
	for r.Scan() {
		row, bad := r.Row()
		require.NotEqual(t, row == nil, bad == nil)
		if bad != nil {
			bads = append(bads, bad)
			continue
		}
		rows++
	}
	require.NoError(t, r.Err())
	require.Equal(t, 2, rows)
	require.Len(t, bads, 6)
	for i, want := range []string{"not a client row", "schema 2", "without request_id", "without result", "text after the row", "not a client row"} {
		require.Contains(t, bads[i].Msg, want)
		require.Equal(t, i == 5, bads[i].Torn, "only the last line is torn")
	}
	require.Equal(t, "client.jsonl:2", bads[0].Pos.String())
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestRowWriteErrorNamesTheRow(t *testing.T) {
	err := trace.NewRowWriter(brokenWriter{}).Append(trace.Row{RequestID: "row-1", Phase: trace.PhaseMeasured, Result: trace.ResultOK})
	require.ErrorContains(t, err, `write row "row-1": disk full`)
}
