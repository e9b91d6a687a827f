// Package cabi calls the published TensorRT-Model-Connect C ABI v1. Together with native/reference it is the only place
// that imports "C"; no C type leaves it.
//
// A [Library] is reached through one symbol, either of a shared library (dlopen) or of a runtime linked into the
// program; everything after that symbol is the same code. Tables are checked once, before any of their functions is
// called: version 1.0, and at least as many bytes as this package knows. A function that a table leaves out gives an
// error when it is needed.
//
// # Memory
//
// Each [Model] owns one C frame and one C arena. A call lays its request out in the arena, crosses into C once, and
// copies what it needs out of the native result. The C side takes and releases every error object in the same
// crossing, so that no text can belong to another call or thread. Go memory is handed to C only as a pointer to plain
// bytes and only for the time of one call.
//
// # Concurrency
//
// A Model and its streams serve one call at a time: package native serialises them. Cancel of a stream may run beside
// Next. A [Video] and a [Bundle] are safe for concurrent use.
package cabi
