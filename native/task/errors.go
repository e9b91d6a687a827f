package task

import (
	"errors"
	"fmt"
	"strings"
)

// The error vocabulary of every Task call; use errors.Is.
var (
	// ErrInvalid is returned when the caller's input or settings are refused (native INVALID_ARGUMENT, INVALID_CONFIG).
	ErrInvalid = errors.New("invalid input")
	// ErrUnsupported is returned when the model does not declare the Task (native UNSUPPORTED).
	ErrUnsupported = errors.New("unsupported")
	// ErrBusy is returned when a live stream owns the model (native BUSY).
	ErrBusy = errors.New("model busy")
	// ErrResource is returned when memory ran out (native OUT_OF_MEMORY).
	ErrResource = errors.New("out of resources")
	// ErrInternal is returned for every other native failure, results that break the contract, and unknown codes.
	ErrInternal = errors.New("internal error")
	// ErrClosed is returned by a call on a closed model or runtime; the call never reached the native side.
	ErrClosed = errors.New("closed")
	// ErrReleased is returned when a borrowed view is used after Release.
	ErrReleased = errors.New("released")
)

// Error says which operation of which Task failed and what the native side said of it.
//
// Detail is text from native code or from checks on what it answered: treat it as untrusted when showing it.
type Error struct {
	Op     string // operation, e.g. "run", "start stream", "load"
	Task   ID     // empty when no Task is concerned
	Status int32  // native status; 0 when the failure was found on the Go side
	Detail string // native message, or what was expected and seen
	Err    error  // one of the sentinels of this package
}

// Error returns one line: task, operation, class, native status, detail.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Task != "" {
		b.WriteString(string(e.Task) + ": ")
	}
	b.WriteString(e.Op)
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	if e.Status != 0 {
		fmt.Fprintf(&b, " (native status %d)", e.Status)
	}
	if e.Detail != "" {
		b.WriteString(": " + e.Detail)
	}
	return b.String()
}

// Unwrap returns the sentinel.
func (e *Error) Unwrap() error { return e.Err }
