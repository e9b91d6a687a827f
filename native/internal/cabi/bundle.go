package cabi

// #include "shim.h"
import "C"

import (
	"sync"
	"unsafe"
)

// Bundle is a bundle that the runtime opened: its header, and its sections on demand. Safe for concurrent use.
type Bundle struct {
	lib   *Library
	info  BundleInfo
	mu    sync.Mutex
	frame *C.cabi_frame // nil after Close
	arena arena
}

// OpenBundle opens the bundle at path and takes a copy of its header.
func (l *Library) OpenBundle(path string) (*Bundle, error) {
	b := &Bundle{lib: l, frame: l.frame()}
	C.cabi_bundle_open(b.frame, b.arena.text(path))
	err := frameError(b.frame, "open bundle")
	if err == nil {
		C.cabi_bundle_info(b.frame)
		err = frameError(b.frame, "bundle info")
	}
	if err == nil {
		err = b.describe(&b.frame.bundle_info)
	}
	if err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

func (b *Bundle) describe(v *C.trtmc_bundle_info_v1) error {
	sections, err := borrowed("bundle info", "sections", v.sections, v.section_count)
	if err != nil {
		return err
	}
	b.info = BundleInfo{Format: int32(v.format), Family: nameOut(v.family), Task: nameOut(v.task), Backend: nameOut(v.backend)}
	for i := range sections {
		s := &sections[i]
		name, err := stringOut("bundle info", "section name", s.name)
		if err != nil {
			return err
		}
		b.info.Sections = append(b.info.Sections, Section{Name: name, Offset: uint64(s.offset), Length: uint64(s.length)})
	}
	return nil
}

// Info returns the header; it stays valid after Close. The caller must not change the slice.
func (b *Bundle) Info() BundleInfo { return b.info }

// ReadSection returns a copy of a section's bytes.
func (b *Bundle) ReadSection(name string) ([]byte, error) {
	const op = "read section"
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.frame == nil {
		return nil, ErrClosed
	}
	b.arena.reset()
	C.cabi_bundle_read_section(b.frame, b.arena.text(name))
	if err := frameError(b.frame, op); err != nil {
		return nil, err
	}
	defer C.cabi_drop(b.frame)
	return copyOut[byte](op, "section", b.frame.bytes.data, b.frame.bytes.size)
}

// Close releases the bundle. A second Close does nothing.
func (b *Bundle) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.frame == nil {
		return
	}
	if b.frame.handle != nil {
		C.cabi_bundle_release(b.lib.core, b.frame.handle)
	}
	b.arena.free()
	C.cabi_block_free(unsafe.Pointer(b.frame))
	b.frame = nil
}
