package native

import (
	"errors"
	"fmt"

	"github.com/trtmc-go/trtmc/native/internal/cabi"
	"github.com/trtmc-go/trtmc/native/task"
)

var (
	// ErrNoCgo is returned by Open in a program built without cgo.
	ErrNoCgo = errors.New("built without cgo (CGO_ENABLED=0): no native runtime can be opened")
	// ErrNotFound is returned by Open when the library cannot be opened or has no symbol trtmc_get_api. The text holds
	// the path and what the loader said.
	ErrNotFound = errors.New("runtime library not found")
	// ErrVersion is returned when a table is not of version 1.0 or is shorter than known. It comes as a VersionError.
	ErrVersion = errors.New("runtime version mismatch")
)

// VersionError says which table does not fit, what was wanted and what the runtime has. It matches ErrVersion.
type VersionError struct {
	Table string // e.g. "core table", "table of task text_continuation"
	Want  string // e.g. "version 1.0", "at least 176 bytes"
	Got   string
}

// Error returns one line with both sides.
func (e *VersionError) Error() string {
	return fmt.Sprintf("%v: %s: want %s, got %s", ErrVersion, e.Table, e.Want, e.Got)
}

// Unwrap returns ErrVersion.
func (e *VersionError) Unwrap() error { return ErrVersion }

// sentinel maps a native status to the vocabulary of package task.
func sentinel(status int32) error {
	switch status {
	case cabi.StatusInvalidArgument, cabi.StatusInvalidConfig:
		return task.ErrInvalid
	case cabi.StatusUnsupported, cabi.StatusVersionMismatch:
		return task.ErrUnsupported
	case cabi.StatusOutOfMemory:
		return task.ErrResource
	case cabi.StatusBusy:
		return task.ErrBusy
	}
	return task.ErrInternal
}

// callError turns what package cabi returned into a *task.Error. id is empty when no Task is concerned.
func callError(id task.ID, err error) error {
	var (
		call     *cabi.CallError
		missing  *cabi.MissingError
		contract *cabi.ContractError
		version  *cabi.VersionError
	)
	switch {
	case errors.As(err, &call):
		return &task.Error{Op: call.Op, Task: id, Status: call.Status, Detail: call.Message, Err: sentinel(call.Status)}
	case errors.As(err, &missing):
		return &task.Error{Op: missing.Op, Task: id, Detail: "the runtime's table lacks the function " + missing.Function, Err: task.ErrUnsupported}
	case errors.As(err, &contract):
		return &task.Error{Op: contract.Op, Task: id, Detail: contract.Detail, Err: task.ErrInternal}
	case errors.As(err, &version):
		return &task.Error{Op: "get task table", Task: id, Err: fmt.Errorf("%w: %w", task.ErrUnsupported, versionError(version))}
	case errors.Is(err, cabi.ErrNoCgo):
		return ErrNoCgo
	}
	return &task.Error{Op: "call", Task: id, Detail: err.Error(), Err: task.ErrInternal}
}

func versionError(e *cabi.VersionError) error {
	return &VersionError{Table: e.What, Want: e.Want, Got: e.Got}
}

// openError turns a failure to take the core table of the named runtime into the errors of Open.
func openError(name string, err error) error {
	var (
		load    *cabi.LoadError
		version *cabi.VersionError
	)
	switch {
	case errors.Is(err, cabi.ErrNoCgo):
		return ErrNoCgo
	case errors.As(err, &load):
		return fmt.Errorf("open runtime %q: %w: %s", load.Path, ErrNotFound, load.Text)
	case errors.As(err, &version):
		return fmt.Errorf("open runtime %s: %w", name, versionError(version))
	}
	return fmt.Errorf("open runtime %s: %w", name, callError("", err))
}
