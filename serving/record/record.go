package record

// Schema is the version written into every record. A reader refuses a higher one: it would not know what it misses.
const Schema = 1

// Outcome is how an offered request ended. Every request ends as exactly one.
type Outcome string

// The outcomes.
const (
	Completed Outcome = "completed" // the full result was delivered
	Rejected  Outcome = "rejected"  // refused before any Task call began
	Failed    Outcome = "failed"    // everything else, with reason and stage
)

// Stage is how far a request had come when it ended.
type Stage string

// The stages, in order.
const (
	StageReceived   Stage = "received"   // being read and checked
	StageQueued     Stage = "queued"     // waiting for a lane
	StageRunning    Stage = "running"    // inside the Task call
	StageDelivering Stage = "delivering" // the Task call had ended, the answer was being sent
	StageDone       Stage = "done"
)

// Reason is the cause of a rejection or failure, from a closed vocabulary, so that counts by cause stay bounded.
// It is empty when the outcome is completed.
type Reason string

// The reasons.
const (
	ReasonInvalidRequest Reason = "invalid_request"
	ReasonUnsupported    Reason = "unsupported_parameter"
	ReasonContextLength  Reason = "context_length_exceeded"
	ReasonModelNotFound  Reason = "model_not_found"
	ReasonRouteNotServed Reason = "route_not_served"
	ReasonTooLarge       Reason = "content_too_large"
	ReasonEncoding       Reason = "unsupported_encoding"
	ReasonRequestID      Reason = "invalid_request_id"
	ReasonDuplicateID    Reason = "duplicate_request_id"
	ReasonUnauthorized   Reason = "unauthorized"
	ReasonQueueFull      Reason = "queue_full"
	ReasonQueueBytes     Reason = "queue_bytes_full"
	ReasonQueueWait      Reason = "queue_wait_exceeded"
	ReasonDraining       Reason = "draining"
	ReasonClientGone     Reason = "client_gone"
	ReasonDeadline       Reason = "deadline_exceeded"
	ReasonTaskInvalid    Reason = "task_refused_input"
	ReasonTaskError      Reason = "task_error"
	ReasonTaskBusy       Reason = "task_busy"
	ReasonTaskResource   Reason = "task_out_of_resources"
	ReasonBadResult      Reason = "task_result_invalid"
	ReasonArtifact       Reason = "artifact_failed"
	ReasonRestart        Reason = "server_restarted"
	ReasonCancelled      Reason = "cancelled"
	ReasonInternal       Reason = "internal_error"
)

// Record is what the server says of one offered request. It holds no prompt and no output text.
//
// Instants are nanoseconds of the clock named by Clock; 0 means that the instant was not reached. With
// CLOCK_MONOTONIC they compare with any other process of the host; wall time = WallBaseUnixNS + instant.
// Three durations have one meaning each on every route: QueueNS from the end of reading and checking to the lane
// (or to giving up), TaskCallNS round the native call alone (public_task_call_wall), HandlingNS from arrival to the
// last byte handed to the connection. The result of a video job is fetched by later requests, which have no records:
// its FirstByteNS and LastByteNS are 0, and HandlingNS runs to the instant at which the job was final.
type Record struct {
	Schema          int     `json:"schema"`
	RequestID       string  `json:"request_id"`
	RequestIDSource string  `json:"request_id_source"` // "client", or "generated" when the client sent none or a refused one
	Route           string  `json:"route"`             // the route's pattern, e.g. /v1/completions
	Model           string  `json:"model,omitempty"`   // served name; empty when it was not known
	Runtime         string  `json:"runtime,omitempty"`
	Reference       bool    `json:"reference"` // the CPU reference runtime: this record can qualify nothing
	Lane            int     `json:"lane"`      // -1: no lane was taken
	Streaming       bool    `json:"streaming"`
	Outcome         Outcome `json:"outcome"`
	Reason          Reason  `json:"reason,omitempty"`
	Stage           Stage   `json:"stage"`  // done when completed, else where it ended
	Status          int     `json:"status"` // HTTP status sent; 499 when the client was gone before one could be sent
	Error           string  `json:"error,omitempty"`

	Clock           string `json:"clock"`
	WallBaseUnixNS  int64  `json:"wall_base_unix_ns"`
	ArrivedNS       int64  `json:"arrived_ns"`
	EnqueuedNS      int64  `json:"enqueued_ns,omitempty"`
	AdmittedNS      int64  `json:"admitted_ns,omitempty"`
	TaskCallStartNS int64  `json:"task_call_start_ns,omitempty"`
	TaskCallEndNS   int64  `json:"task_call_end_ns,omitempty"`
	FirstByteNS     int64  `json:"first_byte_ns,omitempty"`
	LastByteNS      int64  `json:"last_byte_ns,omitempty"`

	QueueNS    int64 `json:"queue_ns,omitempty"`
	TaskCallNS int64 `json:"public_task_call_wall_ns,omitempty"`
	HandlingNS int64 `json:"handling_ns"`
	QueueDepth int   `json:"queue_depth"` // requests waiting before this one when it arrived at the queue

	BytesIn  int64          `json:"bytes_in"`
	BytesOut int64          `json:"bytes_out"`
	Settings map[string]any `json:"settings,omitempty"` // as sent to the Task

	Task    string   `json:"task,omitempty"` // native Task that was called
	Text    *Text    `json:"text,omitempty"`
	Ranking *Ranking `json:"ranking,omitempty"`
	Video   *Video   `json:"video,omitempty"`
}

// TokenSource says where token counts come from.
type TokenSource string

// The sources of token counts.
const (
	TokensFromTaskIDs   TokenSource = "task_token_ids" // counted from the token ids the Task returned
	TokensFromTaskUsage TokenSource = "task_usage"     // reported by a conversation Task
	TokensUnknown       TokenSource = "unavailable"
)

// Text is what a text route adds. Token counts are nil when unknown.
type Text struct {
	PromptBytes      int         `json:"prompt_bytes"`
	PromptWords      int         `json:"prompt_words"`
	PromptTokens     *int64      `json:"prompt_tokens,omitempty"`
	CompletionTokens *int64      `json:"completion_tokens,omitempty"`
	TokenSource      TokenSource `json:"token_source"`
	MaxTokens        *int64      `json:"max_tokens,omitempty"` // asked for, else the Task's declared default
	FinishReason     string      `json:"finish_reason,omitempty"`
	Deltas           int         `json:"deltas,omitempty"` // non-empty streamed pieces sent
	SetupMS          float64     `json:"setup_ms,omitempty"`
	PrefillMS        float64     `json:"prefill_ms,omitempty"`
	DecodeMS         float64     `json:"decode_ms,omitempty"`
	ForcedLength     bool        `json:"forced_length"` // ignore_eos or min_tokens reached the Task as a declared setting
}

// Ranking is what a ranking route adds.
type Ranking struct {
	Passages     int    `json:"passages"`
	QueryBytes   int    `json:"query_bytes"`
	QueryWords   int    `json:"query_words"`
	PassageBytes int    `json:"passage_bytes"` // all passages together
	PassageWords int    `json:"passage_words"`
	Tokens       *int64 `json:"tokens,omitempty"`
	ScoreKind    string `json:"score_kind,omitempty"`
}

// Video is what a video job adds. Frames, size and rate are those of the checked artifact, 0 when there is none.
type Video struct {
	JobID           string  `json:"job_id"`
	Frames          int     `json:"frames,omitempty"`
	Width           int     `json:"width,omitempty"`
	Height          int     `json:"height,omitempty"`
	FPSNum          int     `json:"fps_num,omitempty"`
	FPSDen          int     `json:"fps_den,omitempty"`
	DurationSeconds float64 `json:"duration_seconds,omitempty"`
	Steps           *int64  `json:"steps,omitempty"`
	Seed            *int64  `json:"seed,omitempty"`
	SetupMS         float64 `json:"setup_ms,omitempty"`
	InferenceMS     float64 `json:"inference_ms,omitempty"`
	EncodeNS        int64   `json:"encode_ns,omitempty"`
	FramesSHA256    string  `json:"frames_sha256,omitempty"`
	PlanesSHA256    string  `json:"planes_sha256,omitempty"`
	FileSHA256      string  `json:"file_sha256,omitempty"`
	FileBytes       int64   `json:"file_bytes,omitempty"`
	Polls           int     `json:"polls,omitempty"`       // questions about the job that were answered before it ended
	AnsweredNS      int64   `json:"answered_ns,omitempty"` // instant of the last byte of the answer that says there is a job
	FinishedNS      int64   `json:"finished_ns,omitempty"` // instant at which the job was made final, with its checked file when it is completed; clients can see it just after
}
