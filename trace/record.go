package trace

import (
	"encoding/json"
	"fmt"
	"time"
)

// Pos is a place in an input: a name and a line number that starts at 1.
type Pos struct {
	File string
	Line int
}

// Position returns p, so that whatever embeds a Pos is a [Record].
func (p Pos) Position() Pos { return p }

// String returns "file:line".
func (p Pos) String() string { return fmt.Sprintf("%s:%d", p.File, p.Line) }

// Record is one line of a trace that is not blank: a [*Request] or a [*SyntaxError].
type Record interface{ Position() Pos }

// Request is one row of a trace: what was asked when, by size or literally.
type Request struct {
	Pos
	// Offset is the recorded timestamp, exact to the nanosecond (further digits are rounded to the nearest). Where the
	// trace records wall times it is the time since the first good row.
	Offset time.Duration
	// InputTokens is the recorded prompt length, at least 1, or 0 for a literal row.
	InputTokens int
	// OutputTokens is the recorded answer length, or 0 when the row records none.
	OutputTokens int
	// Failed says that the row records an answer of no tokens, which is how traces record a failed request.
	Failed bool
	// BlockIDs names the blocks of the prompt in order; equal ids stand for equal text. All blocks are full but the last.
	BlockIDs []uint32
	// SessionID is the trace's own grouping, if any. It is no request identity.
	SessionID string
	// Kind says which member of a literal row Literal holds; it is LiteralNone when the row gives lengths.
	Kind LiteralKind
	// Literal is the value of that member as it stands in the file.
	Literal json.RawMessage
	// Tools and Extra are the members of these names as they stand in the file, nil when absent.
	Tools, Extra json.RawMessage
}

// LiteralKind is how a row gives its prompt.
type LiteralKind uint8

// The kinds.
const (
	LiteralNone     LiteralKind = iota // by length
	LiteralText                        // text_input: a JSON string
	LiteralMessages                    // messages: a JSON array
	LiteralPayload                     // payload: a JSON object, the whole request body
)

// String returns the member's name in a Mooncake row.
func (k LiteralKind) String() string {
	switch k {
	case LiteralText:
		return "text_input"
	case LiteralMessages:
		return "messages"
	case LiteralPayload:
		return "payload"
	}
	return "input_length"
}

// SyntaxError is a line that is not what the format wants. It is a [Record] and an error.
type SyntaxError struct {
	Pos
	// Msg says what is wrong and what would be right.
	Msg string
	// Torn says that the line is the last of its input and has no line end, as an interrupted writer leaves it.
	Torn bool
}

// Error returns "file:line: message".
func (e *SyntaxError) Error() string { return e.Pos.String() + ": " + e.Msg }
