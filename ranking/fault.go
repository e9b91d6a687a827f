package ranking

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
)

// statusClientGone is the status for a client that was gone before the answer; nginx made the number known.
const statusClientGone = 499

// fault is a refusal or failure in the form that a client sees.
type fault struct {
	status int
	code   string
	param  string // JSON path, empty when no field is at fault
	msg    string
	retry  time.Duration
	cause  error // what only the observer sees; nil when msg says it all
}

func (f *fault) Error() string {
	if f.cause != nil {
		return f.msg + ": " + f.cause.Error()
	}
	return f.msg
}

func (f *fault) Unwrap() error { return f.cause }

// httpError is an error that knows its own HTTP form, such as that of a full queue before the Scorer.
type httpError interface {
	HTTPStatus() int
	Code() string
	RetryAfter() time.Duration
}

// faultOf gives every error its one HTTP form.
func faultOf(ctx context.Context, err error) *fault {
	var own *fault
	var refused *DecodeError
	var formed httpError
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &refused):
		status := http.StatusBadRequest
		if refused.Code == CodeTooLarge {
			status = http.StatusRequestEntityTooLarge
		}
		return &fault{status: status, code: refused.Code, param: refused.Path, msg: refused.Error()}
	case errors.As(err, &formed):
		return &fault{status: formed.HTTPStatus(), code: formed.Code(), msg: printable(err.Error()), retry: formed.RetryAfter()}
	case errors.Is(err, context.DeadlineExceeded):
		return &fault{status: http.StatusGatewayTimeout, code: CodeDeadline, msg: "the time for this request ran out", cause: err}
	case ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx))):
		return &fault{status: statusClientGone, code: CodeClientGone, msg: "the client was gone before the answer", cause: err}
	}
	return taskFault(err)
}

// taskFault maps the error vocabulary of package task. Only what the Task says of the client's own input is shown to
// the client; the rest is native text that may hold paths, and goes to the observer alone.
func taskFault(err error) *fault {
	switch {
	case errors.Is(err, ErrScores):
		return &fault{status: http.StatusBadGateway, code: CodeTaskResult, msg: "the model gave an invalid result: " + err.Error()}
	case errors.Is(err, task.ErrInvalid):
		param, msg := inputAtFault(err)
		return &fault{status: http.StatusBadRequest, code: CodeTaskInvalid, param: param, msg: msg, cause: err}
	case errors.Is(err, task.ErrUnsupported):
		return &fault{status: http.StatusNotFound, code: CodeRoute, param: "model", msg: "the model does not rank passages", cause: err}
	case errors.Is(err, task.ErrBusy):
		return &fault{status: http.StatusServiceUnavailable, code: CodeTaskBusy, msg: "the model is busy", retry: time.Second, cause: err}
	case errors.Is(err, task.ErrResource):
		return &fault{status: http.StatusServiceUnavailable, code: CodeTaskResource, msg: "the model ran out of resources", retry: time.Second, cause: err}
	case errors.Is(err, task.ErrClosed):
		return &fault{status: http.StatusServiceUnavailable, code: CodeDraining, msg: "the model is closed", cause: err}
	}
	var te *task.Error
	if errors.As(err, &te) && te.Status == 0 && errors.Is(te, task.ErrInternal) {
		// The native side said success, and the check of what it gave said otherwise: a wrong count is found there first.
		return &fault{status: http.StatusBadGateway, code: CodeTaskResult, msg: "the model gave an invalid result", cause: err}
	}
	return &fault{status: http.StatusInternalServerError, code: CodeTaskError, msg: "the model failed to score the passages", cause: err}
}

// inputAtFault turns what a Task says of documents[i] or of the query into the client's words for them.
func inputAtFault(err error) (param, msg string) {
	detail := err.Error()
	var te *task.Error
	if errors.As(err, &te) && te.Detail != "" {
		detail = te.Detail
	}
	detail = printable(detail)
	if _, rest, ok := strings.Cut(detail, "documents["); ok {
		digits, _, closed := strings.Cut(rest, "]")
		if i, err := strconv.Atoi(digits); closed && err == nil && i >= 0 {
			param = fmt.Sprintf("passages[%d].text", i)
			return param, param + ": the model refuses this passage: " + detail
		}
	}
	return "", "the model refuses this input: " + detail
}

// printable makes native text safe to show: one line, no control characters, bounded.
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

// write sends the fault: error in the form of OpenAI's clients, message and detail for those that read the top level.
func (f *fault) write(w http.ResponseWriter) error {
	var body errorBody
	body.Error.Message, body.Error.Code, body.Error.Type = f.msg, f.code, f.kind()
	body.Message, body.Detail = f.msg, f.code
	if f.param != "" {
		body.Error.Param = &f.param
		body.Detail = f.code + ": " + f.param
	}
	b, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encode error body: %w", err)
	}
	if f.retry > 0 {
		w.Header().Set("Retry-After", strconv.FormatInt(int64((f.retry+time.Second-1)/time.Second), 10))
	}
	return send(w, f.status, b)
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

func send(w http.ResponseWriter, status int, body []byte) error {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, err := w.Write(body)
	return err
}
