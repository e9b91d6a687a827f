//go:build cgo

package reference

// #cgo CFLAGS: -O2 -Wall -Wextra
// #cgo LDFLAGS: -lm -lpthread
// #include "trtmc_reference.h"
import "C"

import "unsafe"

// Entry returns the address of the runtime's trtmc_get_api, as dlsym would for a shared library. It is a C function
// of type trtmc_get_api_fn and lives as long as the process; false without cgo.
func Entry() (unsafe.Pointer, bool) {
	return unsafe.Pointer(C.trtmc_reference_get_api), true
}

// LiveHandles returns how many native objects of this runtime exist at the moment. Safe for concurrent use.
func LiveHandles() Counts {
	var c C.trtmc_reference_counts
	C.trtmc_reference_live(&c)
	return Counts{
		Models: int(c.models), Results: int(c.results), Errors: int(c.errors), Bundles: int(c.bundles), Streams: int(c.streams),
	}
}
