package serving

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrQueueFull is returned when a request finds its model's queue full, by count or by bytes.
	ErrQueueFull = errors.New("queue full")
	// ErrQueueWait is returned when a request has waited for a lane as long as it may.
	ErrQueueWait = errors.New("queue wait exceeded")
	// ErrDraining is returned when the server takes no more work because it is shutting down.
	ErrDraining = errors.New("server is draining")
	// ErrOpenAddress is returned by Serve for an address beyond loopback without an API key.
	ErrOpenAddress = errors.New("serving beyond loopback needs an API key")
)

// errStopped is the cause of a request's context when a shutdown no longer waits for it.
var errStopped = errors.New("server stopped")

// ShutdownError says which requests were still inside a Task call when a shutdown gave up waiting. Their records say
// failed; their lanes cannot be closed before the calls return.
type ShutdownError struct {
	RequestIDs []string // sorted
}

// Error names the requests.
func (e *ShutdownError) Error() string {
	return fmt.Sprintf("%d requests still inside a task call: %s", len(e.RequestIDs), strings.Join(e.RequestIDs, ", "))
}
