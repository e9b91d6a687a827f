//go:build !cgo

package reference

import "unsafe"

// Entry returns false: without cgo the runtime is not part of the program.
func Entry() (unsafe.Pointer, bool) { return nil, false }

// LiveHandles returns zeros: without cgo there are no native objects.
func LiveHandles() Counts { return Counts{} }
