package qual

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrUnaccounted is returned when some offered request is not backed by exactly one client row and, where the
	// server must have seen it, one server record. The error is an [AccountingError], which lists the ids.
	ErrUnaccounted = errors.New("requests not accounted for")
	// ErrNoRun is returned when a folder holds no run.json of this program.
	ErrNoRun = errors.New("not an output folder of a run")
)

// AccountingError lists the requests of a ledger that are not accounted for, sorted, each once.
type AccountingError struct {
	IDs []string
}

// Error names at most ten of the ids.
func (e *AccountingError) Error() string {
	shown, more := e.IDs, ""
	if len(shown) > 10 {
		shown, more = shown[:10], fmt.Sprintf(" and %d more", len(e.IDs)-10)
	}
	return fmt.Sprintf("%v: %d (%s%s)", ErrUnaccounted, len(e.IDs), strings.Join(shown, ", "), more)
}

// Unwrap returns ErrUnaccounted.
func (e *AccountingError) Unwrap() error { return ErrUnaccounted }
