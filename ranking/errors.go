package ranking

import "errors"

var (
	// ErrScores is returned when a Task's scores cannot be an answer: a wrong number of them, or one that is not finite.
	ErrScores = errors.New("invalid scores")
	// ErrIndex is returned when rankings name a passage that is not there, or one twice.
	ErrIndex = errors.New("invalid ranking index")
)

// Codes of refused requests; a [DecodeError] and an [Observation] carry them, and so does the error body.
const (
	CodeInvalid     = "invalid_request"
	CodeUnsupported = "unsupported_parameter"   // a field or value that this route or model does not have
	CodeTooLong     = "context_length_exceeded" // a passage or query passes a limit of length
	CodeTooLarge    = "content_too_large"       // the body passes its limit
	CodeEncoding    = "unsupported_encoding"
	CodeModel       = "model_not_found"
	CodeRoute       = "route_not_served"
)

// Codes of requests that were accepted and not completed.
const (
	CodeTaskInvalid  = "task_refused_input"
	CodeTaskBusy     = "task_busy"
	CodeTaskResource = "task_out_of_resources"
	CodeTaskResult   = "task_result_invalid"
	CodeTaskError    = "task_error"
	CodeDraining     = "draining"
	CodeDeadline     = "deadline_exceeded"
	CodeClientGone   = "client_gone"
)

// DecodeError says why a request body is refused. It is always the client's error.
type DecodeError struct {
	Path string // JSON path, e.g. passages[1].text; empty for the body as a whole
	Msg  string // what is wrong and what would be right
	Code string // CodeInvalid, CodeUnsupported, CodeTooLong or CodeTooLarge
}

// Error returns the path and the reason in one line.
func (e *DecodeError) Error() string {
	if e.Path == "" {
		return "body: " + e.Msg
	}
	return e.Path + ": " + e.Msg
}

// under returns err with path put before its own; other errors pass unchanged.
func under(path string, err error) error {
	if e, ok := err.(*DecodeError); ok {
		switch {
		case e.Path == "":
			e.Path = path
		case e.Path[0] == '[':
			e.Path = path + e.Path
		default:
			e.Path = path + "." + e.Path
		}
	}
	return err
}
