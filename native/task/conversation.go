package task

import "context"

// Role is who speaks in a message; the numbers are the native ones.
type Role uint32

// The roles of a conversation.
const (
	RoleSystem Role = iota + 1
	RoleDeveloper
	RoleUser
	RoleAssistant
	RoleTool
)

// PartKind is what a part of a message holds; the numbers are the native ones.
type PartKind uint32

// The kinds of a message part.
const (
	PartText PartKind = iota + 1
	PartReasoning
	PartToolCall
	PartToolResult
)

// ToolState says whether a tool call is whole; the numbers are the native ones.
type ToolState uint32

// The states of a tool call.
const (
	ToolUnknown ToolState = iota
	ToolComplete
	ToolIncomplete
	ToolMalformed
)

// ToolCall is a call that the model asks for. Arguments is JSON text as the model wrote it, valid only when complete.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string
	State     ToolState
}

// ToolResult answers a tool call.
type ToolResult struct {
	CallID  string
	Text    string
	IsError bool
}

// Part is one piece of a message: Text for PartText and PartReasoning, Call or Result for the other kinds.
type Part struct {
	Kind   PartKind
	Text   string
	Call   ToolCall
	Result ToolResult
}

// Message is one turn. Tool results stand only in RoleTool messages, reasoning and tool calls only in RoleAssistant.
type Message struct {
	Role  Role
	Parts []Part
}

// Tool is a function the model may call. Schema is a JSON Schema text for its parameters.
type Tool struct {
	Name        string
	Description string
	Schema      string
}

// ConversationRequest asks for the next assistant turn.
type ConversationRequest struct {
	Messages []Message
	Tools    []Tool
	Settings Settings
}

// FinishReason is why a conversation turn ended; the numbers are the native ones.
type FinishReason uint32

// The finish reasons.
const (
	FinishUnknown FinishReason = iota
	FinishStop
	FinishLength
	FinishToolCalls
	FinishContentFilter
	FinishOther
)

// Usage holds token counts; nil is unknown, which differs from 0.
type Usage struct {
	Input  *uint64
	Output *uint64
	Total  *uint64
}

// ConversationResult is a finished assistant turn. OtherFinish is non-empty exactly when Finish is FinishOther.
type ConversationResult struct {
	Parts       []Part
	TokenIDs    []int32
	Finish      FinishReason
	OtherFinish string
	Usage       Usage
	Timing      Timing
}

// ConversationDelta is one piece of a streamed turn.
type ConversationDelta struct {
	Kind      PartKind // PartText, PartReasoning or PartToolCall; 0 for a piece that holds only TokenIDs
	PartIndex int      // position in the final list of parts
	Text      string   // PartText, PartReasoning
	// For PartToolCall: CallID is set once known, Name and Arguments are fragments to append.
	CallID    string
	Name      string
	Arguments string
	ToolEnd   bool      // the tool call at PartIndex has ended, with State
	State     ToolState // meaningful when ToolEnd
	TokenIDs  []int32
}

// Converser is the Task text_conversation.
type Converser interface {
	// Converse returns when the native call has ended; a context that ends meanwhile does not shorten it.
	Converse(ctx context.Context, req ConversationRequest) (ConversationResult, error)
}

// ConversationStreamer is the Task streaming_text_conversation.
type ConversationStreamer interface {
	// StreamConversation follows the rules of TextStreamer.StreamText.
	StreamConversation(ctx context.Context, req ConversationRequest, emit func(ConversationDelta) error) (ConversationResult, error)
}
