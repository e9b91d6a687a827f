package video

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"
)

// statusClientGone is the status for a client that was gone before the answer; nginx made the number known.
const statusClientGone = 499

// fault is a refusal in the form that a client sees. The text is the same for the same cause, so that clients which
// group by it can; what differs from job to job stays in cause.
type fault struct {
	status int
	code   string
	param  string
	msg    string
	retry  time.Duration
	cause  error
}

func (f *fault) Error() string {
	if f.cause != nil {
		return f.msg + ": " + f.cause.Error()
	}
	return f.msg
}

func (f *fault) Unwrap() error { return f.cause }

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
		switch refused.Code {
		case CodeTooLarge:
			status = http.StatusRequestEntityTooLarge
		case CodeModel:
			status = http.StatusNotFound
		}
		return &fault{status: status, code: refused.Code, param: refused.Param, msg: refused.Error()}
	case errors.As(err, &formed):
		return &fault{status: formed.HTTPStatus(), code: formed.Code(), msg: printable(err.Error()), retry: formed.RetryAfter()}
	case errors.Is(err, ErrQueueFull):
		return &fault{status: http.StatusTooManyRequests, code: CodeQueueFull, msg: "too many video jobs are waiting", retry: time.Second, cause: err}
	case errors.Is(err, ErrClosed):
		return &fault{status: http.StatusServiceUnavailable, code: CodeDraining, msg: "the server is shutting down", retry: time.Second, cause: err}
	case errors.Is(err, ErrNoJob):
		return &fault{status: http.StatusNotFound, code: CodeNoJob, msg: "no such video: it never existed, was deleted, or has expired", cause: err}
	// 404 rather than 409, which SDKs retry by themselves.
	case errors.Is(err, ErrNotReady):
		return &fault{status: http.StatusNotFound, code: CodeNotReady, msg: "the video is not ready yet", cause: err}
	case errors.Is(err, ErrJobFailed):
		return &fault{status: http.StatusNotFound, code: CodeJobFailed, msg: "the video failed, it has no content", cause: err}
	case errors.Is(err, ErrArtifactGone):
		return &fault{status: http.StatusNotFound, code: CodeArtifact, msg: "the file of the video is gone", cause: err}
	case ctx.Err() != nil:
		return &fault{status: statusClientGone, code: CodeCancelled, msg: "the client was gone before the answer", cause: err}
	}
	return &fault{status: http.StatusServiceUnavailable, code: CodeStore, msg: "the store of video jobs does not answer", retry: time.Second, cause: err}
}

// send answers with the fault.
func (f *fault) send(w http.ResponseWriter) {
	body := refusalJSON{Error: errorJSON{Message: f.msg, Code: f.code, Type: f.kind()}, Message: f.msg, Detail: f.code}
	if f.param != "" {
		body.Error.Param = &f.param
		body.Detail = f.code + ": " + f.param
	}
	if f.retry > 0 {
		w.Header().Set("Retry-After", strconv.FormatInt(int64((f.retry+time.Second-1)/time.Second), 10))
	}
	sendJSON(w, f.status, body)
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
