package trace

import "time"

// Item is one request of a prepared workload, ready to send.
type Item struct {
	// RequestID is the identity of the request, unique in its workload, 1 to 128 of [A-Za-z0-9._-].
	RequestID string
	// Offset is the time from the start of the schedule to the instant of sending, 0 or more.
	Offset time.Duration
	// Path is the path of the URL, such as /v1/completions.
	Path string
	// Body is the literal JSON body. It is shared, never changed.
	Body []byte
	// Streaming says that the body asks for a stream of events.
	Streaming bool
}

// Phase tells warm-up from measurement. It is written into every row; position in a file decides nothing.
type Phase string

// The phases.
const (
	PhaseWarmup   Phase = "warmup"
	PhaseMeasured Phase = "measured"
)
