// Package native loads a TensorRT-Model-Connect runtime and its bundles, and implements package task over them.
//
// [Open] gives a [Runtime], [Runtime.Load] a [Model] for one bundle, and the functions of package task look up what the
// model can do:
//
//	rt, err := native.Open(native.Options{})               // the CPU reference runtime that is linked in
//	m, err := rt.Load("/models/qwen3.bundle", native.LoadOptions{})
//	text, err := task.TextContinuerOf(m)                   // wraps task.ErrUnsupported when the bundle cannot
//	res, err := text.ContinueText(ctx, task.TextRequest{Text: "When in the course of"})
//
// # Platforms and cgo
//
// The binding calls the published C ABI, version 1.0, on 64-bit Linux (x86-64, AArch64) and needs cgo and a C compiler.
// Built with CGO_ENABLED=0 the package compiles, and Open returns [ErrNoCgo].
//
// # Which library
//
// Options.Library names a shared library by its absolute path. It is opened with RTLD_NOW and RTLD_LOCAL; there is no
// search, no environment variable and no fallback. The backend and family libraries are looked for in
// Options.RuntimeRoot, which is the directory of the library unless set. A library stays mapped until the process ends:
// runtimes keep threads and state. An empty Library is the reference runtime of package native/reference, which is
// marked as such ([Runtime.Reference], task.Info.Reference): nothing it produces can be called qualified.
//
// # Ownership
//
// Results are copies that the caller owns, except the frames of a video, which stay in native memory until Release.
// Inputs are read only during a call. Results outlive their model, and a model outlives nothing: Close waits for calls
// in flight and may be called again. Runtime.Close closes what was loaded through it. There are no finalizers: what is
// not closed stays.
//
// # Threads
//
// All methods are safe for concurrent use. Calls on one model run one after another, in no particular order; a caller
// that waits for its turn gives up when its context ends. Calls on different models run side by side. A one-shot call
// cannot be stopped and holds an OS thread until the native side returns. A stream holds the model until it returns: a
// receiver must not call the same model, nor close it, from inside.
//
// A call that waits inside the native side holds its slot of the Go scheduler for up to 10 ms. A server with few CPUs
// should raise GOMAXPROCS by its number of lanes, as examples/serve does, or arrivals wait for those slots.
//
// A runtime that lets an exception or a signal out of a call ends the process; no Go code can prevent that.
package native
