package record

import (
	"errors"
	"fmt"
)

// ErrClosed is returned by a call on a closed Writer.
var ErrClosed = errors.New("record writer is closed")

// SyntaxError is a line that is not a record.
type SyntaxError struct {
	File string // name given to the reader
	Line int    // from 1
	Msg  string // what is wrong
	Torn bool   // the line is the input's last and has no line end, as a killed writer leaves it
}

// Error returns "file:line: message".
func (e *SyntaxError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Msg) }
