package aiperf

import (
	"errors"
	"fmt"
)

var (
	// ErrNotFound is returned when no AIPerf executable or no installed package behind it could be found.
	ErrNotFound = errors.New("aiperf not found")
	// ErrVersion is returned when the installed package is not the published release named by Version.
	ErrVersion = errors.New("not the published aiperf " + Version)
	// ErrSpec is returned when a Spec cannot be turned into a command.
	ErrSpec = errors.New("invalid run specification")
	// ErrNoZero is returned when no source in the exports gives the instant from which a schedule is counted.
	ErrNoZero = errors.New("schedule zero unknown")
)

// Pos is where an entry stands: the file's name as given to the reader and its line, counted from 1.
type Pos struct {
	File string
	Line int
}

// Position returns the place itself, so that whatever embeds a Pos is an Entry.
func (p Pos) Position() Pos { return p }

// Entry is one line of a JSONL export: *Row, *RawRow, *Unknown or *SyntaxError.
type Entry interface{ Position() Pos }

// Unknown is a line that is valid JSON but no request, such as a summary. It is never counted as a request.
type Unknown struct {
	Pos
	Keys []string // its top-level names in file order, at most ten
}

// SyntaxError is a line that could not be read. It is an entry: reading goes on with the next line.
type SyntaxError struct {
	Pos
	Msg string
	// Truncated is true for a last line that stops before its end, as a writer leaves it that was killed or could
	// not flush; anything else that cannot be read is corruption.
	Truncated bool
}

// Error returns file, line and message.
func (e *SyntaxError) Error() string {
	kind := "corrupt"
	if e.Truncated {
		kind = "truncated"
	}
	return fmt.Sprintf("%s:%d: %s line: %s", e.File, e.Line, kind, e.Msg)
}

// String returns file:line.
func (p Pos) String() string { return fmt.Sprintf("%s:%d", p.File, p.Line) }
