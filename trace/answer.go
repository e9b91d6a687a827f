package trace

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/trtmc-go/trtmc/internal/monotime"
)

// maxAnswerBody bounds an answer that is no stream, in bytes. A stream is bounded by event.
const maxAnswerBody = 64 << 20

// usage is the usage object of completions answers.
type usage struct {
	PromptTokens     *int64 `json:"prompt_tokens"`
	CompletionTokens *int64 `json:"completion_tokens"`
}

// completion is what rows take from a completions or chat answer, whole or a chunk of a stream.
type completion struct {
	Choices []struct {
		Text  string `json:"text"`
		Delta struct {
			Content          string `json:"content"`
			ReasoningContent string `json:"reasoning_content"`
		} `json:"delta"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage *usage          `json:"usage"`
	Error json.RawMessage `json:"error"`
}

func (c *completion) hasError() bool { return len(c.Error) > 0 && string(c.Error) != "null" }

func (c *completion) hasText() bool {
	for _, choice := range c.Choices {
		if choice.Text != "" || choice.Delta.Content != "" || choice.Delta.ReasoningContent != "" {
			return true
		}
	}
	return false
}

// take notes usage and finish reason; the last word counts.
func (row *Row) take(c *completion) {
	if c.Usage != nil {
		row.PromptTokens, row.CompletionTokens = c.Usage.PromptTokens, c.Usage.CompletionTokens
	}
	for _, choice := range c.Choices {
		if choice.FinishReason != "" {
			row.FinishReason = choice.FinishReason
		}
	}
}

func (row *Row) settleBad(format string, args ...any) {
	row.Result, row.Error = ResultBadResponse, bounded(fmt.Sprintf(format, args...))
}

// body counts and digests what it passes on.
type body struct {
	r   io.Reader
	sum hash.Hash
	n   int64
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	b.n += int64(n)
	b.sum.Write(p[:n])
	return n, err
}

// readBody reads the answer's body into the row and gives the row its result. It reports whether the body was read to
// its end; an error means that the connection broke.
func (c *conn) readBody(x *exchange, resp *http.Response) (whole bool, err error) {
	b := &body{r: resp.Body, sum: sha256.New()}
	defer func() {
		x.row.BytesIn = b.n
		if whole {
			x.row.ResponseSHA256 = hex.EncodeToString(b.sum.Sum(nil))
		}
	}()
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	encoding := resp.Header.Get("Content-Encoding")
	success := resp.StatusCode >= 200 && resp.StatusCode < 300
	if success && media == "text/event-stream" && x.item.Streaming && encoding == "" {
		return c.readStream(x, b)
	}
	data, err := io.ReadAll(io.LimitReader(b, maxAnswerBody+1))
	if err != nil {
		return false, err
	}
	if len(data) > maxAnswerBody {
		x.row.settleBad("answer is longer than %d bytes", maxAnswerBody)
		return false, nil
	}
	switch {
	case !success:
		x.row.takeRefusal(resp.Header, data)
	case encoding != "" && !strings.EqualFold(encoding, "identity"):
		x.row.settleBad("content encoding %q was not asked for", encoding)
	case x.item.Streaming:
		x.row.settleBad("asked for text/event-stream, got %q", media)
	case media != "application/json":
		x.row.settleBad("asked for application/json, got %q", media)
	default:
		x.row.takeJSON(data, x.s.KeepResponse)
	}
	return true, nil
}

// takeJSON takes a whole 2xx answer.
func (row *Row) takeJSON(data []byte, keep bool) {
	var answer completion
	var wrongType *json.UnmarshalTypeError
	// Another schema than completions is no fault: it only has nothing to take.
	if err := json.Unmarshal(data, &answer); err != nil && !errors.As(err, &wrongType) {
		row.settleBad("answer is not JSON: %v", err)
		return
	}
	row.take(&answer)
	if answer.hasError() {
		row.ErrorCode, row.Error = refusal(data)
		row.Result = ResultBadResponse
		return
	}
	row.Result = ResultOK
	if keep {
		row.Response = data
	}
}

// takeRefusal takes an answer whose status is not 2xx.
func (row *Row) takeRefusal(header http.Header, data []byte) {
	row.Result = ResultHTTPError
	row.RetryAfterMS = retryAfter(header)
	row.ErrorCode, row.Error = refusal(data)
	if row.Error == "" {
		row.Error = bounded(fmt.Sprintf("status %d: %s", row.Status, data))
	}
}

// readStream reads server-sent events to the end of the body.
func (c *conn) readStream(x *exchange, b *body) (whole bool, err error) {
	events := NewSSEScanner(b)
	done := false
	for events.Scan() {
		ev := events.Event()
		switch {
		case done: // nothing after [DONE] counts
		case ev.Name == "error":
			x.row.Result = ResultStreamError
			x.row.takeStreamError(ev)
		case string(ev.Data) == "[DONE]":
			done = true
		case x.row.Result == "":
			x.row.takeChunk(ev, c.readAt)
		}
	}
	if err := events.Err(); errors.Is(err, ErrEventTooLong) {
		x.row.settleBad("%v", err)
		return false, nil
	} else if err != nil {
		x.row.Result = ""
		return false, err
	}
	switch {
	case x.row.Result != "":
	case done:
		x.row.Result = ResultOK
	default:
		x.row.Result, x.row.Error = ResultStreamTruncated, "the stream ended without data: [DONE]"
	}
	return true, nil
}

func (row *Row) takeStreamError(ev SSEEvent) {
	row.ErrorCode, row.Error = refusal(ev.Data)
	if row.Error == "" {
		row.Error = bounded(string(ev.Comment))
	}
	if row.Error == "" {
		row.Error = "error event without a message"
	}
}

// takeChunk takes one event of a stream that came at the instant.
func (row *Row) takeChunk(ev SSEEvent, at monotime.Instant) {
	var chunk completion
	if err := json.Unmarshal(ev.Data, &chunk); err != nil {
		row.settleBad("event data is not a completions chunk: %v", err)
		return
	}
	row.take(&chunk)
	if chunk.hasError() {
		row.Result = ResultStreamError
		row.takeStreamError(ev)
		return
	}
	if chunk.hasText() {
		row.ContentChunks++
		if row.FirstContentNS == 0 {
			row.FirstContentNS = int64(at)
		}
		row.LastContentNS = int64(at)
	}
}

// refusal finds code and message in the body of a refusal: {"error":{"code","message","type"}}, {"error":"..."},
// {"detail":"..."} or {"message":"..."}, the forms that servers of these routes use.
func refusal(data []byte) (code, message string) {
	var outer struct {
		Error   json.RawMessage `json:"error"`
		Detail  json.RawMessage `json:"detail"`
		Message json.RawMessage `json:"message"`
	}
	if json.Unmarshal(data, &outer) != nil {
		return "", ""
	}
	var inner struct {
		Code    json.RawMessage `json:"code"`
		Type    json.RawMessage `json:"type"`
		Message json.RawMessage `json:"message"`
	}
	if json.Unmarshal(outer.Error, &inner) == nil {
		code = plain(inner.Code)
		if code == "" {
			code = plain(inner.Type)
		}
		message = plain(inner.Message)
	}
	for _, other := range []json.RawMessage{outer.Error, outer.Message, outer.Detail} {
		if message == "" {
			message = plain(other)
		}
	}
	return bounded(code), bounded(message)
}

// plain returns a JSON value as text: a string without its quotes, nothing for null.
func plain(v json.RawMessage) string {
	var s string
	if len(v) == 0 || string(v) == "null" {
		return ""
	}
	if json.Unmarshal(v, &s) == nil {
		return s
	}
	return string(v)
}

// bounded makes text fit for a row: valid UTF-8 of at most maxErrorText bytes.
func bounded(s string) string {
	s = strings.TrimSpace(strings.ToValidUTF8(s, "\uFFFD"))
	if len(s) <= maxErrorText {
		return s
	}
	cut := maxErrorText
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut]
}

// retryAfter returns the Retry-After of an answer in milliseconds, 0 when there is none. A date counts from the
// answer's own Date.
func retryAfter(header http.Header) float64 {
	v := header.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(v, 64); err == nil && seconds >= 0 && seconds < 1e9 {
		return seconds * 1000
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(header.Get("Date"))
	if err != nil || at.Before(now) {
		return 0
	}
	return float64(at.Sub(now) / time.Millisecond)
}
