package cabi

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// The native statuses that callers tell apart.
const (
	StatusInvalidArgument = 2
	StatusInvalidConfig   = 3
	StatusUnsupported     = 4
	StatusVersionMismatch = 5
	StatusOutOfMemory     = 6
	StatusInternal        = 7
	StatusBusy            = 9
)

var (
	// ErrNoCgo is returned by everything in a program built without cgo.
	ErrNoCgo = errors.New("built without cgo")
	// ErrReleased is returned when a borrowed view is used after Release.
	ErrReleased = errors.New("released")
	// ErrClosed is returned by a call on a closed bundle.
	ErrClosed = errors.New("closed")
)

// CallError is a call that failed in native code: the status and what the error object said, which may be nothing.
type CallError struct {
	Op      string
	Status  int32
	Message string
}

func (e *CallError) Error() string {
	return fmt.Sprintf("%s: native status %d: %s", e.Op, e.Status, e.Message)
}

// MissingError is a call that was not made because a table lacks a function it needs.
type MissingError struct {
	Op       string
	Function string
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("%s: the runtime's table lacks the function %s", e.Op, e.Function)
}

// ContractError is an answer that breaks the rules of the ABI; nothing of it is used.
type ContractError struct {
	Op     string
	Detail string
}

func (e *ContractError) Error() string { return e.Op + ": " + e.Detail }

func broken(op, format string, args ...any) error {
	return &ContractError{Op: op, Detail: fmt.Sprintf(format, args...)}
}

// VersionError is a table of another version or size than this package was written for.
type VersionError struct {
	What string // which table
	Want string
	Got  string
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("%s: want %s, got %s", e.What, e.Want, e.Got)
}

// LoadError is a library that could not be opened or that lacks the entry symbol; Text is the loader's own.
type LoadError struct {
	Path string
	Text string
}

func (e *LoadError) Error() string { return fmt.Sprintf("library %q: %s", e.Path, e.Text) }

// maxName bounds names and descriptions that a runtime reports of itself, in bytes.
const maxName = 4096

// clean makes untrusted text printable: valid UTF-8, at most limit bytes.
func clean(s string, limit int) string {
	if len(s) > limit {
		cut := limit
		for cut > limit-utf8.UTFMax && !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut]
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
