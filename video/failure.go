package video

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/trtmc-go/trtmc/native/task"
)

var (
	// errArtifact marks what went wrong after the Task had given a valid clip.
	errArtifact = errors.New("artifact failed")
	// errStore marks that the store refused a finished job.
	errStore = errors.New("the finished job could not be stored")
)

// httpError is an error that knows its own HTTP form, such as that of a full queue in front of the generator.
type httpError interface {
	HTTPStatus() int
	Code() string
	RetryAfter() time.Duration
}

// failureOf gives every error its one form in a failed job. What this package found itself is told in full; of what
// native code says only refusals of the client's own input are shown, the rest may hold paths and goes into Detail.
func failureOf(base context.Context, err error) Failure {
	f := Failure{Code: CodeTaskError, Message: "the model failed to make the clip", Detail: printable(err.Error())}
	var formed httpError
	var refused *DecodeError
	switch {
	case base.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(base))):
		f.Code, f.Message = CodeRestart, shutDown
	case errors.As(err, &formed):
		f.Code, f.Message = formed.Code(), printable(err.Error())
	case errors.As(err, &refused):
		f.Code, f.Message = refused.Code, refused.Error()
	case errors.Is(err, ErrFrames), errors.Is(err, ErrRate):
		f.Code, f.Message = CodeTaskResult, "the model gave an invalid clip: "+err.Error()
	case errors.Is(err, errStore):
		f.Code, f.Message = CodeStore, withoutPath(errStore.Error(), err)
	case errors.Is(err, errArtifact):
		f.Code, f.Message = CodeArtifact, withoutPath("the clip could not be written", err)
	case errors.Is(err, task.ErrInvalid):
		f.Code, f.Message = CodeTaskInvalid, "the model refuses this input: "+detail(err)
	case errors.Is(err, task.ErrResource):
		f.Code, f.Message = CodeTaskResource, "the model ran out of resources"
	case errors.Is(err, task.ErrBusy):
		f.Code, f.Message = CodeTaskBusy, "the model is busy"
	case errors.Is(err, context.DeadlineExceeded):
		f.Code, f.Message = CodeDeadline, "the time for this job ran out"
	}
	return f
}

// withoutPath says why a file operation failed, without the place, which is none of the client's business.
func withoutPath(what string, err error) string {
	var pathErr *fs.PathError
	var linkErr *os.LinkError
	switch {
	case errors.As(err, &pathErr):
		return fmt.Sprintf("%s: %s: %v", what, pathErr.Op, pathErr.Err)
	case errors.As(err, &linkErr):
		return fmt.Sprintf("%s: %s: %v", what, linkErr.Op, linkErr.Err)
	}
	return what + ": " + printable(err.Error())
}

// detail is what a Task says of its input.
func detail(err error) string {
	var te *task.Error
	if errors.As(err, &te) && te.Detail != "" {
		return printable(te.Detail)
	}
	return printable(err.Error())
}

// isTaskError reports whether an error came out of the model rather than out of the work on its result.
func isTaskError(err error) bool {
	var te *task.Error
	return errors.As(err, &te) || errors.Is(err, task.ErrReleased)
}
