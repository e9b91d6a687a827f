package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/trtmc-go/trtmc/internal/jsonscan"
)

// RowSchema is the version written into every row. A reader refuses a higher one.
const RowSchema = 1

// Result is what the client saw of one request. Every scheduled request has exactly one.
type Result string

// The results.
const (
	ResultOK              Result = "ok"               // a whole 2xx answer
	ResultHTTPError       Result = "http_error"       // a whole answer with another status
	ResultTransportError  Result = "transport_error"  // the connection broke after the request had begun to leave
	ResultTimeout         Result = "timeout"          // the request had begun to leave and the answer was not whole in time
	ResultCancelled       Result = "cancelled"        // the run was cancelled while the request was under way
	ResultStreamError     Result = "stream_error"     // a stream carried an error event
	ResultStreamTruncated Result = "stream_truncated" // a stream ended without [DONE]
	ResultNotSent         Result = "not_sent"         // no byte left; ErrorCode says why
	ResultBadResponse     Result = "bad_response"     // a 2xx answer that is not what was asked for
	ResultJobFailed       Result = "job_failed"       // the job that a 2xx answer promised failed, and says so
)

// The error codes of a row that the client itself gives; other codes are the server's.
const (
	CodeCancelled   = "cancelled"     // the run ended before the request was due or could leave
	CodeMaxInFlight = "max_in_flight" // too many requests were under way
	CodeDialFailed  = "dial_failed"   // no connection could be made
	CodeDialTimeout = "dial_timeout"  // no connection could be made in time
	CodeInvalidItem = "invalid_item"  // the item cannot be written as a request
	CodeUnfinished  = "unfinished"    // the job was not final when the client gave up
)

// Row is what the client says of one scheduled request.
//
// Instants are nanoseconds of the clock named by Clock, 0 when not reached; wall time = WallBaseUnixNS + instant.
// Those that were reached are in the order in which they are listed. Token counts are the server's, nil when it gave
// none.
type Row struct {
	Schema          int    `json:"schema"`
	RequestID       string `json:"request_id"`
	Phase           Phase  `json:"phase"`
	Workload        string `json:"workload,omitempty"`
	Clock           string `json:"clock"`
	WallBaseUnixNS  int64  `json:"wall_base_unix_ns"`
	OfferedOffsetNS int64  `json:"offered_offset_ns"` // the item's offset
	ScheduledNS     int64  `json:"scheduled_ns"`
	SentNS          int64  `json:"sent_ns,omitempty"`          // just before the first byte was written
	FirstByteNS     int64  `json:"first_byte_ns,omitempty"`    // of the answer
	FirstContentNS  int64  `json:"first_content_ns,omitempty"` // first non-empty text of a stream; 0 when not streamed
	LastContentNS   int64  `json:"last_content_ns,omitempty"`
	LastByteNS      int64  `json:"last_byte_ns,omitempty"` // last bytes of the answer, or of what came of it
	EndedNS         int64  `json:"ended_ns"`               // when the client was done with the request

	Status       int     `json:"status,omitempty"` // HTTP status, 0 when none came
	Result       Result  `json:"result"`
	Error        string  `json:"error,omitempty"`
	ErrorCode    string  `json:"error_code,omitempty"`
	RetryAfterMS float64 `json:"retry_after_ms,omitempty"` // the server's Retry-After

	BytesOut         int64           `json:"bytes_out"` // request head and body written
	BytesIn          int64           `json:"bytes_in"`  // body bytes of the answer
	PromptTokens     *int64          `json:"prompt_tokens,omitempty"`
	CompletionTokens *int64          `json:"completion_tokens,omitempty"`
	ContentChunks    int             `json:"content_chunks,omitempty"` // stream events with text
	FinishReason     string          `json:"finish_reason,omitempty"`
	NewConnection    bool            `json:"new_connection,omitempty"` // a connection was made for this request
	Response         json.RawMessage `json:"response,omitempty"`       // the answer, when asked to keep it
	ResponseSHA256   string          `json:"response_sha256,omitempty"`
	Video            *VideoRow       `json:"video,omitempty"` // of a video job
}

// RowWriter writes rows as JSON lines. It is not safe for concurrent use.
type RowWriter struct {
	w   io.Writer
	buf bytes.Buffer
}

// NewRowWriter returns a writer that hands each row to w in one Write.
func NewRowWriter(w io.Writer) *RowWriter { return &RowWriter{w: w} }

// Append writes one row; a zero Schema becomes [RowSchema].
func (w *RowWriter) Append(row Row) error {
	if row.Schema == 0 {
		row.Schema = RowSchema
	}
	w.buf.Reset()
	enc := json.NewEncoder(&w.buf)
	enc.SetEscapeHTML(false)
	if row.Phase == "" || row.Result == "" {
		return fmt.Errorf("write row %q: phase or result is missing", row.RequestID)
	}
	if err := enc.Encode(&row); err != nil {
		return fmt.Errorf("encode row %q: %w", row.RequestID, err)
	}
	if _, err := w.w.Write(w.buf.Bytes()); err != nil {
		return fmt.Errorf("write row %q: %w", row.RequestID, err)
	}
	return nil
}

// RowReader reads rows. A bad line is reported with its position and does not end the reading. Names that it does not
// know are passed over; a known name that stands twice makes a line bad. It is not safe for concurrent use.
type RowReader struct {
	// Reuse lets every row take the place of the one before, so that reading costs hardly any memory. The row and its
	// texts are then valid until the next Scan only: copy what is to be kept. Set it before the first Scan.
	Reuse bool

	lines   *lineReader
	row     *Row
	bad     *SyntaxError
	scanner jsonscan.Scanner
	fields  *jsonscan.Object
	room    rowRoom
}

// NewRowReader returns a reader of r; name is used in positions. Lines may be as long as [MaxLine].
func NewRowReader(r io.Reader, name string) *RowReader {
	reader := &RowReader{lines: newLineReader(r, name, MaxLine)}
	reader.fields = rowFields(&reader.room)
	return reader
}

// Scan advances to the next line that is not blank and reports whether there is one.
func (r *RowReader) Scan() bool {
	r.row, r.bad = nil, nil
	line, bad := r.lines.next()
	switch {
	case bad != nil:
		r.bad = bad
	case line == nil:
		return false
	default:
		r.row, r.bad = r.parse(line)
	}
	return true
}

// Row returns the row of the current line, or what is wrong with the line: exactly one is not nil. Both are the
// caller's, unless Reuse is set.
func (r *RowReader) Row() (*Row, *SyntaxError) { return r.row, r.bad }

// Err returns the I/O error that ended the reading, or nil.
func (r *RowReader) Err() error { return r.lines.err }

func (r *RowReader) parse(line []byte) (*Row, *SyntaxError) {
	if !utf8.Valid(line) {
		return nil, r.lines.bad("not a client row: invalid UTF-8")
	}
	row := &r.room.Row
	*row = Row{}
	r.scanner.Borrow = r.Reuse
	r.scanner.Reset(line)
	found := r.fields.Scan(&r.scanner)
	switch err := r.scanner.Err(); {
	case err != nil:
		return nil, r.lines.bad("not a client row: " + err.Error())
	case !found:
		return nil, r.lines.bad("not a client row: null")
	case !r.scanner.AtEnd():
		return nil, r.lines.bad("text after the row; want one JSON object a line")
	case row.Schema < 1 || row.Schema > RowSchema:
		return nil, r.lines.bad(fmt.Sprintf("row schema %d; this reader knows 1 to %d", row.Schema, RowSchema))
	case row.RequestID == "":
		return nil, r.lines.bad("row without request_id")
	case row.Result == "":
		return nil, r.lines.bad("row without result")
	case r.Reuse:
		return row, nil
	}
	return row.clone(), nil
}
