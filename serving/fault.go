package serving

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/trtmc-go/trtmc/native/task"
	"github.com/trtmc-go/trtmc/serving/record"
)

// statusClientGone stands in records for a client that was gone before a status could be sent; nginx made it known.
const statusClientGone = 499

// codeContextLength is the code that clients of text models know; as the cause of a Task's own refusal it differs
// from the reason in the record.
const codeContextLength = string(record.ReasonContextLength)

// fault is the one form of everything that keeps a request from completing. Its message is constant for one cause, so
// that clients can count causes by text; identities travel in headers.
type fault struct {
	status int
	reason record.Reason
	code   string // in the body; empty means the reason
	param  string // JSON path of the field at fault, or header name; empty when there is none
	msg    string
	retry  time.Duration // 0: no Retry-After
	cause  error         // for the record and the log, not for the client
}

func (f *fault) Error() string { return f.msg }
func (f *fault) Unwrap() error { return f.cause }

// HTTPStatus, Code and RetryAfter are the form in which package ranking takes a refusal from behind its Scorer.
func (f *fault) HTTPStatus() int           { return f.status }
func (f *fault) RetryAfter() time.Duration { return f.retry }
func (f *fault) Code() string {
	if f.code != "" {
		return f.code
	}
	return string(f.reason)
}

// full is the message with its cause.
func (f *fault) full() string {
	if f.cause == nil || f.cause.Error() == f.msg {
		return f.msg
	}
	return f.msg + ": " + printable(f.cause.Error())
}

// invalid refuses a field of the request.
func invalid(param, format string, args ...any) *fault {
	f := &fault{status: http.StatusBadRequest, reason: record.ReasonInvalidRequest, param: param, msg: fmt.Sprintf(format, args...)}
	if param != "" {
		f.msg = param + ": " + f.msg
	}
	return f
}

// unsupported refuses a field that this model or route does not have.
func unsupported(param, format string, args ...any) *fault {
	f := invalid(param, format, args...)
	f.reason = record.ReasonUnsupported
	return f
}

// faultOf gives every error its HTTP form; no other place maps errors.
func faultOf(ctx context.Context, err error) *fault {
	var f *fault
	switch {
	case errors.As(err, &f):
		return f
	case errors.Is(err, errStopped):
		return &fault{status: http.StatusServiceUnavailable, reason: record.ReasonDraining, msg: "the server is shutting down", retry: time.Second, cause: err}
	case errors.Is(err, context.DeadlineExceeded):
		return &fault{status: http.StatusGatewayTimeout, reason: record.ReasonDeadline, msg: "the time for this request ran out", cause: err}
	case ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx))):
		return clientGone(err)
	}
	return taskFault(err)
}

func clientGone(cause error) *fault {
	return &fault{status: statusClientGone, reason: record.ReasonClientGone, msg: "the client was gone before the answer", cause: cause}
}

// taskFault maps the error vocabulary of package task. What the Task says of the client's input is shown to the
// client; other native text may hold paths and goes to the record alone.
func taskFault(err error) *fault {
	f := &fault{status: http.StatusInternalServerError, reason: record.ReasonTaskError, msg: "the model failed", cause: err}
	switch {
	case errors.Is(err, task.ErrInvalid):
		f.status, f.reason = http.StatusBadRequest, record.ReasonTaskInvalid
		detail := refusalText(err)
		if f.msg = "the model refuses this input: " + detail; aboutContext(detail) {
			f.code, f.msg = codeContextLength, "the prompt and the requested output do not fit the model's context"
		}
	case errors.Is(err, task.ErrUnsupported):
		f.status, f.reason, f.msg, f.param = http.StatusNotFound, record.ReasonRouteNotServed, "the model does not serve this route", "model"
	case errors.Is(err, task.ErrBusy):
		f.status, f.reason, f.msg, f.retry = http.StatusServiceUnavailable, record.ReasonTaskBusy, "the model is busy", time.Second
	case errors.Is(err, task.ErrResource):
		f.status, f.reason, f.msg, f.retry = http.StatusServiceUnavailable, record.ReasonTaskResource, "the model ran out of resources", time.Second
	case errors.Is(err, task.ErrClosed):
		f.status, f.reason, f.msg, f.retry = http.StatusServiceUnavailable, record.ReasonDraining, "the model is closed", time.Second
	}
	return f
}

func refusalText(err error) string {
	var te *task.Error
	if errors.As(err, &te) && te.Detail != "" {
		return printable(te.Detail)
	}
	return printable(err.Error())
}

// aboutContext reports whether a Task's refusal is about the length of its context: the native interface has no
// status of its own for that, only words.
func aboutContext(detail string) bool {
	d := strings.ToLower(detail)
	for _, words := range []string{"context", "sequence length", "sequence_length", "sequence limit"} {
		if strings.Contains(d, words) {
			return true
		}
	}
	return false
}

// outcomeOf is the one rule of outcomes: rejected is what the server refused before any Task call began.
func outcomeOf(reason record.Reason, began bool) record.Outcome {
	switch {
	case reason == "":
		return record.Completed
	case began:
		return record.Failed
	}
	switch reason {
	case record.ReasonClientGone, record.ReasonDeadline, record.ReasonCancelled, record.ReasonInternal,
		record.ReasonTaskInvalid, record.ReasonTaskError, record.ReasonTaskBusy, record.ReasonTaskResource,
		record.ReasonBadResult, record.ReasonArtifact, record.ReasonRestart:
		return record.Failed
	}
	return record.Rejected
}

type errorBody struct {
	Error struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    string  `json:"code"`
	} `json:"error"`
	Message string `json:"message"`
	Detail  string `json:"detail"`
}

// body is the JSON that clients of both families show: error for OpenAI's, message and detail for others.
func (f *fault) body() []byte {
	var b errorBody
	b.Error.Message, b.Error.Code, b.Error.Type = f.msg, f.Code(), f.kind()
	b.Message, b.Detail = f.msg, f.Code()
	if f.param != "" {
		b.Error.Param = &f.param
		b.Detail += ": " + f.param
	}
	out, err := json.Marshal(b)
	if err != nil {
		panic(err) // strings always encode
	}
	return out
}

func (f *fault) kind() string {
	switch {
	case f.status == http.StatusTooManyRequests:
		return "rate_limit_error"
	case f.status >= 500:
		return "server_error"
	}
	return "invalid_request_error"
}

// retryAfter is the header's value: whole seconds, at least 1.
func retryAfter(d time.Duration) string {
	return strconv.FormatInt(max(1, int64((d+time.Second-1)/time.Second)), 10)
}

// printable makes foreign text safe to show: one line, no control characters, bounded.
func printable(s string) string {
	const most = 400
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "..."
	}
	return s
}

// clip shortens text of a client for a message.
func clip(s string) string {
	const most = 64
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}
