// Package task is the vocabulary of trtmc: what a loaded model can be asked to do, what it answers, and how it fails.
//
// It holds no cgo and imports nothing but the standard library, so that a service can be written and tested against
// it on any machine. Three parties implement it: package native over a TensorRT-Model-Connect runtime, the fakes of
// tests, and whoever embeds another engine. Package native/tasktest judges implementations.
//
// # Capability
//
// A [Model] is one model handle, which is one execution lane: calls on one handle run one after another. What it can
// do is looked up and may be missing; it is never learned by a type assertion on the model:
//
//	scorer, err := task.ScorerOf(model) // err wraps ErrUnsupported when the Task is not declared
//
// # Calls
//
// Every call takes a context first. A context that has ended before the call keeps it from starting. The native
// interface cannot stop a one-shot call, so such a call returns when the native side returns, whatever became of the
// context; streamed calls are cancelled and joined. Results are owned by the caller (frames of a [Video] are the one
// borrowed view and say so). Implementations are safe for concurrent use.
//
// # Absent is not zero
//
// [Settings] lists only what the caller set. A setting that is not listed is left to the model, whose defaults are
// described by [Field]. An unknown, doubled or wrongly typed setting fails the call with [ErrInvalid].
package task
