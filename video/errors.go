package video

import "errors"

// Sentinels of this package; use errors.Is.
var (
	// ErrNoJob is returned when no job has the id: it never existed, was deleted, or outlived its time.
	ErrNoJob = errors.New("no such video job")
	// ErrJobExists is returned by a store that is asked to create a job under an id it holds already.
	ErrJobExists = errors.New("video job exists already")
	// ErrNotReady is returned when the content of a job is asked for before the job is completed.
	ErrNotReady = errors.New("video is not ready")
	// ErrJobFailed is returned when the content of a failed job is asked for: there is none and never will be.
	ErrJobFailed = errors.New("video job failed")
	// ErrArtifactGone is returned when the file of a completed job is no longer on disk.
	ErrArtifactGone = errors.New("artifact is gone")
	// ErrTransition is returned when a job is asked to enter a state that its own does not lead to.
	ErrTransition = errors.New("illegal state transition")
	// ErrQueueFull is returned by Create when as many jobs wait as the queue takes.
	ErrQueueFull = errors.New("video queue is full")
	// ErrClosed is returned by Create once Shutdown or Close has begun.
	ErrClosed = errors.New("video service is closed")

	// ErrNoEncoder is returned where the H.264 encoder is not part of the build: it needs cgo and a platform that
	// pion/mediadevices ships OpenH264 for.
	ErrNoEncoder = errors.New("no H.264 encoder in this build: build with CGO_ENABLED=1 and a C++ compiler on linux, darwin or windows/amd64")
	// ErrFrames is returned when the frames of a clip cannot be encoded: none at all, unequal or odd sizes, a wrong
	// number of channels, or a sample that is not finite.
	ErrFrames = errors.New("invalid frames")
	// ErrRate is returned when a frame rate is unknown, contradictory or out of range.
	ErrRate = errors.New("invalid frame rate")
	// ErrMP4 is returned when a file is not a whole MP4 of the form that this package writes.
	ErrMP4 = errors.New("invalid mp4")
	// ErrEncode is returned when the encoder does not give one packet for each frame.
	ErrEncode = errors.New("encode failed")
)

// errDeleted is the cause with which the context of a running job ends when the job is deleted.
var errDeleted = errors.New("the job was deleted")

// Codes of refused requests and failed jobs.
const (
	CodeInvalid      = "invalid_request"
	CodeUnsupported  = "unsupported_parameter" // a field, value or variant that this route or model does not have
	CodeTooLarge     = "content_too_large"
	CodeEncoding     = "unsupported_encoding"
	CodeModel        = "model_not_found"
	CodeRoute        = "route_not_served"
	CodeRequestID    = "invalid_request_id"
	CodeNoJob        = "not_found"
	CodeNotReady     = "not_ready"
	CodeJobFailed    = "job_failed" // content of a failed job
	CodeQueueFull    = "queue_full"
	CodeDraining     = "draining"
	CodeStore        = "store_failed"
	CodeTaskInvalid  = "task_refused_input"
	CodeTaskBusy     = "task_busy"
	CodeTaskResource = "task_out_of_resources"
	CodeTaskResult   = "task_result_invalid"
	CodeTaskError    = "task_error"
	CodeArtifact     = "artifact_failed"
	CodeRestart      = "server_restarted"
	CodeCancelled    = "cancelled"
	CodeDeadline     = "deadline_exceeded"
	CodeInternal     = "internal_error"
)
