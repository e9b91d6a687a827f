package cabi

// #cgo CFLAGS: -O2 -Wall -Wextra
// #cgo linux LDFLAGS: -ldl
// #include <stdlib.h>
// #include "shim.h"
import "C"

import (
	"fmt"
	"unsafe"
)

const wantVersion = "version 1.0"

// Library is a runtime whose core table was checked. It stays loaded until the process ends. Safe for concurrent use.
type Library struct {
	core    *C.trtmc_core_api_v1
	version string
}

// OpenLibrary opens the shared library at an absolute path and takes its core table.
func OpenLibrary(path string) (*Library, error) {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	out := (*C.cabi_opened)(block(C.sizeof_cabi_opened))
	defer C.cabi_block_free(unsafe.Pointer(out))
	C.cabi_open_library(name, out)
	switch out.outcome {
	case C.CABI_NO_LIBRARY, C.CABI_NO_SYMBOL:
		return nil, &LoadError{Path: path, Text: clean(C.GoString(&out.text[0]), maxName)}
	}
	return opened(out)
}

// OpenEntry takes the core table from the address of a trtmc_get_api function that is linked into the program.
func OpenEntry(entry unsafe.Pointer) (*Library, error) {
	out := (*C.cabi_opened)(block(C.sizeof_cabi_opened))
	defer C.cabi_block_free(unsafe.Pointer(out))
	C.cabi_open_entry(entry, out)
	return opened(out)
}

func opened(out *C.cabi_opened) (*Library, error) {
	switch out.outcome {
	case C.CABI_REFUSED:
		if out.status == C.TRTMC_VERSION_MISMATCH {
			got := "a refusal (native status 5)"
			if out.offered_major != 0 {
				got = fmt.Sprintf("version %d.%d", out.offered_major, out.offered_minor)
			}
			return nil, &VersionError{What: "core table", Want: wantVersion, Got: got}
		}
		return nil, &CallError{Op: "trtmc_get_api", Status: int32(out.status)}
	case C.CABI_NO_TABLE:
		return nil, &VersionError{What: "core table", Want: wantVersion, Got: "no table at all"}
	}
	if err := checkTable("core table", &out.core.header, C.sizeof_trtmc_core_api_v1); err != nil {
		return nil, err
	}
	return &Library{core: out.core, version: nameOut(C.cabi_runtime_version(out.core))}, nil
}

// checkTable wants version 1.0 and at least the bytes that are known here; a longer table is fine.
func checkTable(what string, h *C.trtmc_api_header, size C.uint64_t) error {
	if h.major != 1 || h.minor != 0 {
		return &VersionError{What: what, Want: wantVersion, Got: fmt.Sprintf("version %d.%d", h.major, h.minor)}
	}
	if h.byte_size < size {
		return &VersionError{What: what, Want: fmt.Sprintf("at least %d bytes", size), Got: fmt.Sprintf("%d bytes", h.byte_size)}
	}
	return nil
}

// Version returns the runtime's version text.
func (l *Library) Version() string { return l.version }
