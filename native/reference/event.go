package reference

// Phase says which end of a Task call an Event reports.
type Phase uint32

// The phases. At both ends the model is locked, or reserved by the stream: two calls on one model never overlap.
const (
	Begin Phase = iota + 1
	Finish
)

// Event is what a hook learns of a Task call.
type Event struct {
	Task   string // Task id
	Phase  Phase
	Status int32  // at Finish: the native status of the call; 1 (END) for a cancelled stream
	Model  uint64 // identity of the model
	Thread uint64 // identity of the thread the hook runs on
}

// Action is what a hook asks for. The zero value lets the call go on; a Status other than 0 makes the call fail with
// it and with Message, of which 512 bytes are kept.
type Action struct {
	Status  int32
	Message string
}
