package aiperf

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"
)

// entries reads everything from text.
func entries(t *testing.T, text string) []Entry {
	t.Helper()
	r := NewRowReader(strings.NewReader(text), "f")
	var out []Entry
	for r.Scan() {
		out = append(out, r.Entry())
	}
	require.NoError(t, r.Err())
	return out
}

func TestOnlyNewlineEndsALine(t *testing.T) {
	got := entries(t, `{"metadata":{"x_request_id":"a","conversation_id":"one`+"\u2028two\u0085three"+`"}}`+"\r\n"+`{"metadata":{"x_request_id":"b"}}`)
	require.Len(t, got, 2)
	require.Equal(t, "one\u2028two\u0085three", got[0].(*Row).ConversationID)
	require.Equal(t, Pos{"f", 2}, got[1].Position())
}

func TestBlankLinesCountAsLinesOnly(t *testing.T) {
	got := entries(t, "\n\n  \n{\"metadata\":{}}\n\n")
	require.Len(t, got, 1)
	require.Equal(t, 4, got[0].Position().Line)
}

func TestLastLineWithoutNewlineIsARowWhenWhole(t *testing.T) {
	require.IsType(t, &Row{}, entries(t, `{"metadata":{}}`)[0])
}

func TestTruncatedMeansTheLastLineStopsEarly(t *testing.T) {
	for text, truncated := range map[string]bool{
		`{"metadata":{"x`:                 true,
		`{"metadata":{"x_request_id":nul`: true,
		`{"metadata":{}`:                  true,
		`{"metadata":{}}}`:                false, // too much, not too little
		`{"metadata":{"x"`:                true,
		"{\"metadata\":{\"x\"\n":          false, // the line has its end
		`{"metadata":{]`:                  false,
		"\x00\x00\x00":                    false,
	} {
		e, ok := entries(t, text)[0].(*SyntaxError)
		require.True(t, ok, text)
		require.Equal(t, truncated, e.Truncated, "%s: %s", text, e.Msg)
	}
}

func TestUnknownFieldsAreIgnoredAndNullIsAbsent(t *testing.T) {
	row := entries(t, `{"schema":{"v":[1,{"a":null}]},"metadata":{"x_request_id":null,"new":{"deep":[true,false]},"turn_index":2.0,"was_cancelled":null,"benchmark_phase":"profiling"},"metrics":null,"error":null,"trace_data":{}}`)[0].(*Row)
	require.Equal(t, int64(2), row.TurnIndex, "later versions may write whole numbers as floats")
	require.Equal(t, []string{"x_request_id", "conversation_id", "credit_issued_ns", "request_start_ns", "request_end_ns"}, row.Missing)
	require.Equal(t, Unmeasured, row.Class())
}

func TestWhatIsReliedOnMustHaveItsKind(t *testing.T) {
	for name, text := range map[string]string{
		"id is a number":       `{"metadata":{"x_request_id":7}}`,
		"instant is a text":    `{"metadata":{"credit_issued_ns":"1"}}`,
		"instant is fractured": `{"metadata":{"credit_issued_ns":1.5}}`,
		"instant is negative":  `{"metadata":{"request_start_ns":-1}}`,
		"flag is a number":     `{"metadata":{"was_cancelled":0}}`,
		"unknown phase":        `{"metadata":{"benchmark_phase":"ramp"}}`,
		"id twice":             `{"metadata":{"x_request_id":"a","x_request_id":"b"}}`,
		"metadata twice":       `{"metadata":{"x_request_id":"a"},"metadata":{"x_request_id":"b"}}`,
		"metadata is a list":   `{"metadata":[]}`,
		"row is a list":        `[1]`,
		"code is a text":       `{"metadata":{},"error":{"code":"500"}}`,
	} {
		e, ok := entries(t, text+"\n")[0].(*SyntaxError)
		require.True(t, ok, name)
		require.False(t, e.Truncated)
		require.NotEmpty(t, e.Msg, name)
	}
}

func TestEscapedNamesAreTheSameNames(t *testing.T) {
	row := entries(t, `{"metadata":{"x_request\u005fid":"a\"b"}}`)[0].(*Row)
	require.Equal(t, `a"b`, row.RequestID)
}

func TestALineThatIsTooLongIsSkipped(t *testing.T) {
	long := io.MultiReader(strings.NewReader(`{"metadata":{"x_request_id":"`), io.LimitReader(zeros{}, MaxLine), strings.NewReader("\"}}\n{\"metadata\":{\"x_request_id\":\"b\"}}\n"))
	r := NewRowReader(long, "f")
	require.True(t, r.Scan())
	require.Contains(t, r.Entry().(*SyntaxError).Msg, "longer than")
	require.True(t, r.Scan())
	require.Equal(t, "b", r.Entry().(*Row).RequestID)
	require.False(t, r.Scan())
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

func TestReadErrorEndsReadingAndIsNotALine(t *testing.T) {
	broken := errors.New("disk gone")
	r := NewRowReader(io.MultiReader(strings.NewReader("{\"metadata\":{}}\n{\"meta"), iotest.ErrReader(broken)), "f")
	require.True(t, r.Scan())
	require.False(t, r.Scan())
	require.ErrorIs(t, r.Err(), broken)
}

func TestRowsAgreeWithEncodingJSON(t *testing.T) {
	type plain struct {
		Metadata struct {
			ID       string `json:"x_request_id"`
			Conv     string `json:"conversation_id"`
			Phase    Phase  `json:"benchmark_phase"`
			Credit   int64  `json:"credit_issued_ns"`
			Start    int64  `json:"request_start_ns"`
			Ack      int64  `json:"request_ack_ns"`
			End      int64  `json:"request_end_ns"`
			Session  int64  `json:"session_num"`
			Worker   string `json:"worker_id"`
			Canceled bool   `json:"was_cancelled"`
		} `json:"metadata"`
		Metrics map[string]struct {
			Value any    `json:"value"`
			Unit  string `json:"unit"`
		} `json:"metrics"`
		Error *RowError `json:"error"`
	}
	for _, sample := range samples {
		path := filepath.Join("testdata", sample, RowsFile)
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		got := entries(t, string(text))
		require.Len(t, got, len(lines))
		for i, line := range lines {
			var want plain
			require.NoError(t, json.Unmarshal([]byte(line), &want))
			row, m := got[i].(*Row), want.Metadata
			require.Equal(t, Meta{RequestID: m.ID, ConversationID: m.Conv, Phase: m.Phase, CreditIssuedNS: m.Credit, RequestStartNS: m.Start, RequestAckNS: m.Ack,
				RequestEndNS: m.End, SessionNum: m.Session, WorkerID: m.Worker, WasCancelled: m.Canceled, CorrelationID: row.CorrelationID, PhaseIndex: row.PhaseIndex}, row.Meta)
			require.Equal(t, want.Error, row.Error)
			scalars := 0
			for tag, v := range want.Metrics {
				number, scalar := v.Value.(float64)
				have, ok := row.Metric(tag)
				require.Equal(t, scalar, ok, tag)
				if scalar {
					scalars++
					require.Equal(t, number, have, tag)
				}
			}
			require.Len(t, row.Metrics, scalars)
		}
	}
}

func TestLatencyIsOfSuccessesInMilliseconds(t *testing.T) {
	row := entries(t, rowLine("a", Measured, 12, ""))[0].(*Row)
	d, ok := row.Latency()
	require.True(t, ok)
	require.Equal(t, 12*time.Millisecond, d)
	row.Metrics[0].Unit = "s"
	_, ok = row.Latency()
	require.False(t, ok, "a unit that is not the documented one is no latency")
}

func TestClassesOfErrors(t *testing.T) {
	for fault, want := range map[string]Class{
		`{"code":429,"type":"Too Many Requests","message":"m"}`:        HTTPError,
		`{"code":502,"type":"SSEResponseError","message":"m"}`:         Failed,
		`{"code":504,"type":"TimeoutError","message":"m"}`:             Failed,
		`{"type":"ClientPayloadError","message":"m"}`:                  Failed,
		`{"code":499,"type":"RequestCancellationError","message":"m"}`: Cancelled,
	} {
		require.Equal(t, want, entries(t, rowLine("a", Measured, 3, fault))[0].(*Row).Class(), fault)
	}
	require.Equal(t, HTTPError, entries(t, rowLine("a", Measured, 0, `{"code":418,"type":"Odd","message":"m"}`))[0].(*Row).Class())
}

func TestRawRowShowsHowAStreamEnded(t *testing.T) {
	stream := func(values ...string) *RawRow {
		r := &RawRow{}
		for _, v := range values {
			r.Responses = append(r.Responses, Response{Packets: []Packet{{"data", v}}})
		}
		return r
	}
	content := `{"choices":[{"delta":{"content":"a"},"finish_reason":null}]}`
	require.False(t, stream(content, content).Ending().Whole())
	require.True(t, stream(content, "[DONE]").Ending().Whole())
	require.True(t, stream(content, `{"choices":[],"usage":{"total_tokens":3}}`).Ending().Whole())
	require.Equal(t, "length", stream(content, `{"choices":[{"finish_reason":"length"}]}`).Ending().Finish)
	failed := stream(content, `{"error":{"message":"task failed"}}`, "[DONE]").Ending()
	require.False(t, failed.Whole())
	require.Contains(t, failed.Error, "task failed")
}

func TestRawRowsKeepPayloadStatusAndMonotonicTime(t *testing.T) {
	e, err := Open("testdata/video")
	require.NoError(t, err)
	n := 0
	require.NoError(t, e.EachRaw(func(entry Entry) error {
		r := entry.(*RawRow)
		n++
		require.Equal(t, int64(200), r.Status)
		require.Contains(t, string(r.Payload), `"num_inference_steps":4`)
		d, ok := r.SinceStart()
		require.True(t, ok)
		require.InDelta(t, 0.41, d.Seconds(), 0.03)
		require.False(t, r.Streamed())
		return nil
	}))
	require.Equal(t, 4, n)
}

func ExampleRowReader() {
	rows := `{"metadata":{"x_request_id":"r1","conversation_id":"row-0","benchmark_phase":"profiling","credit_issued_ns":10,"request_start_ns":20,"request_end_ns":20},"metrics":{},"error":{"code":429,"type":"Too Many Requests","message":"full"}}
{"summary":{"total":1}}
{"metadata":{"x_requ`
	r := NewRowReader(strings.NewReader(rows), "profile_export.jsonl")
	for r.Scan() {
		switch e := r.Entry().(type) {
		case *Row:
			fmt.Println(e.RequestID, e.ConversationID, e.Class(), e.Refused())
		case *Unknown:
			fmt.Println("no request:", e.Keys)
		case *SyntaxError:
			fmt.Println(e)
		}
	}
	fmt.Println(r.Err())
	// Output:
	// r1 row-0 http_error true
	// no request: [summary]
	// profile_export.jsonl:3: truncated line: unexpected end of the line
	// <nil>
}
