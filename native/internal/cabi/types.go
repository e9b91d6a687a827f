package cabi

import "time"

// Value is one setting's value or default. Kind is the native number, 1 to 7; 0 means none.
type Value struct {
	Kind    uint32
	Int     int64
	Float   float64
	Bool    bool
	String  string
	Ints    []int64
	Floats  []float64
	Strings []string
}

// The native kinds of a Value.
const (
	KindInt uint32 = iota + 1
	KindFloat
	KindBool
	KindString
	KindInts
	KindFloats
	KindStrings
)

// Setting is one named value of a request.
type Setting struct {
	Name  string
	Value Value
}

// Field describes one setting that a Task declares. Default.Kind 0: the model computes the default.
type Field struct {
	Name        string
	Kind        uint32
	Default     Value
	Description string
}

// TaskInfo is one Task that a model declares.
type TaskInfo struct {
	ID     string
	Major  uint32
	Minor  uint32
	Fields []Field
}

// ModelInfo is what a model says of itself; all of it is copied.
type ModelInfo struct {
	Family     string
	Backend    string
	BundleTask string
	Tasks      []TaskInfo
}

// LoadOptions are the options of one model load; the zero value is the runtime's default.
type LoadOptions struct {
	RuntimeRoot      string
	KVCacheBytes     uint64
	RuntimeCachePath string
	CUDAGraphs       bool
}

// Span is when a call into C began and how long it took.
type Span struct {
	Start time.Time
	Wall  time.Duration
}

// TextRequest is a prefix to continue: TokenIDs when Tokens is set, else Text.
type TextRequest struct {
	Text     string
	Tokens   bool
	TokenIDs []int32
	Settings []Setting
}

// TextResult is a finished continuation; the phases are milliseconds as the model reports them.
type TextResult struct {
	Text                         string
	TokenIDs                     []int32
	SetupMS, PrefillMS, DecodeMS float64
	Span                         Span
}

// Part is one piece of a message or of an answer: kind 1 text, 2 reasoning, 3 tool call, 4 tool result.
type Part struct {
	Kind      uint32
	Text      string // text, reasoning, content of a tool result
	CallID    string
	Name      string
	Arguments string
	State     uint32
	IsError   bool
}

// Message is one turn.
type Message struct {
	Role  uint32
	Parts []Part
}

// Tool is a function the model may call.
type Tool struct {
	Name, Description, Schema string
}

// ConversationRequest asks for the next turn.
type ConversationRequest struct {
	Messages []Message
	Tools    []Tool
	Settings []Setting
}

// ConversationResult is a finished turn. The counts are nil when the model does not report them.
type ConversationResult struct {
	Parts                        []Part
	TokenIDs                     []int32
	Finish                       uint32
	OtherFinish                  string
	Input, Output, Total         *uint64
	SetupMS, PrefillMS, DecodeMS float64
	Span                         Span
}

// EventKind is what a stream's Next brought.
type EventKind int

// The kinds of an event. Again: nothing came in time. End: the stream is over.
const (
	EventAgain EventKind = iota
	EventEnd
	EventDelta
	EventComplete
	EventCancelled
)

// TextEvent is one event of a text stream. Final is set for EventComplete.
type TextEvent struct {
	Kind     EventKind
	Text     string
	TokenIDs []int32
	Final    TextResult
}

// ConversationEvent is one event of a conversation stream. For EventDelta, Native is the native kind (1 text,
// 2 reasoning, 3 tool fragment, 4 end of a tool call, 5 tokens) and says which fields hold something.
type ConversationEvent struct {
	Kind      EventKind
	Native    uint32
	PartIndex uint64
	Text      string
	CallID    string
	Name      string
	Arguments string
	State     uint32
	TokenIDs  []int32
	Final     ConversationResult
}

// ScoreResult is one score per document in document order.
type ScoreResult struct {
	Scores []float32
	Kind   uint32
	Span   Span
}

// EmbeddingResult is a vector and what it is comparable with.
type EmbeddingResult struct {
	Values                        []float32
	Space, Pooling, Normalization string
	Span                          Span
}

// VideoRequest asks for one clip.
type VideoRequest struct {
	Prompt   string
	Latents  []float32
	Settings []Setting
}

// VideoInfo describes a clip; TimestampsSeconds is empty or has one entry per frame.
type VideoInfo struct {
	Frames                  int
	Height, Width, Channels int
	Prefix                  int
	TimestampsSeconds       []float64
	SetupMS, InferenceMS    float64
	Span                    Span
}

// Section is one section of a bundle.
type Section struct {
	Name           string
	Offset, Length uint64
}

// BundleInfo is a bundle's header as the runtime read it.
type BundleInfo struct {
	Format                int32
	Family, Task, Backend string
	Sections              []Section
}

// Counts is the number of live native handles and of blocks of C memory that this package holds.
type Counts struct {
	Models, Results, Streams, Bundles, Blocks int
}
