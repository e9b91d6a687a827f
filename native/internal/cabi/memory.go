package cabi

// #include "shim.h"
import "C"

import (
	"math"
	"unsafe"
)

// Live returns how many native handles and blocks exist in this process at the moment. Safe for concurrent use.
func Live() Counts {
	var c C.cabi_counts
	C.cabi_live(&c)
	return Counts{
		Models: int(c.models), Results: int(c.results), Streams: int(c.streams), Bundles: int(c.bundles), Blocks: int(c.blocks),
	}
}

// block returns zeroed C memory; like Go's own allocation it does not return when there is none left.
func block(size uintptr) unsafe.Pointer {
	p := C.cabi_block(C.size_t(size))
	if p == nil {
		panic("cabi: out of C memory")
	}
	return p
}

const (
	firstChunk = 16 << 10
	keepChunk  = 1 << 20 // more than this is given back after the call that needed it
)

// arena is C memory that the inputs of one call are laid out in, one copy and no malloc each. The zero value works.
// What it returned is valid until reset. Pointers in it point into it, so it may hold the ABI's nested views.
type arena struct {
	chunks []chunk
	used   uintptr // of the last chunk
}

type chunk struct {
	base unsafe.Pointer
	size uintptr
}

// alloc returns size bytes aligned to 8, not zeroed; nil for 0.
func (a *arena) alloc(size uintptr) unsafe.Pointer {
	if size == 0 {
		return nil
	}
	size = (size + 7) &^ 7
	if n := len(a.chunks); n > 0 && size <= a.chunks[n-1].size-a.used {
		p := unsafe.Add(a.chunks[n-1].base, a.used)
		a.used += size
		return p
	}
	c := chunk{size: max(size, firstChunk)}
	if n := len(a.chunks); n > 0 {
		c.size = max(size, 2*a.chunks[n-1].size)
	}
	c.base = block(c.size)
	a.chunks = append(a.chunks, c)
	a.used = size
	return c.base
}

// reset forgets what was laid out. It keeps the last chunk, the largest, unless that is larger than a call usually
// needs.
func (a *arena) reset() {
	a.used = 0
	n := len(a.chunks)
	if n == 0 || n == 1 && a.chunks[0].size <= keepChunk {
		return
	}
	keep := a.chunks[n-1]
	if keep.size > keepChunk {
		keep = chunk{}
	}
	for _, c := range a.chunks {
		if c.base != keep.base {
			C.cabi_block_free(c.base)
		}
	}
	a.chunks = a.chunks[:0]
	if keep.base != nil {
		a.chunks = append(a.chunks, keep)
	}
}

func (a *arena) free() {
	for _, c := range a.chunks {
		C.cabi_block_free(c.base)
	}
	*a = arena{}
}

// array returns room for n values of T in the arena; nil for 0. T holds no Go pointers.
func array[T any](a *arena, n int) []T {
	var t T
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(a.alloc(unsafe.Sizeof(t)*uintptr(n))), n)
}

// copied returns a copy of s in the arena as pointer and count; nil and 0 for an empty one.
func copied[T any](a *arena, s []T) (*T, C.uint64_t) {
	if len(s) == 0 {
		return nil, 0
	}
	c := array[T](a, len(s))
	copy(c, s)
	return &c[0], C.uint64_t(len(s))
}

func (a *arena) text(s string) C.trtmc_string_view {
	if len(s) == 0 {
		return C.trtmc_string_view{}
	}
	p := a.alloc(uintptr(len(s)))
	copy(unsafe.Slice((*byte)(p), len(s)), s)
	return C.trtmc_string_view{data: (*C.char)(p), size: C.uint64_t(len(s))}
}

func (a *arena) texts(s []string) C.trtmc_strings_view {
	if len(s) == 0 {
		return C.trtmc_strings_view{}
	}
	views := array[C.trtmc_string_view](a, len(s))
	a.fill(views, s)
	return C.trtmc_strings_view{data: &views[0], size: C.uint64_t(len(s))}
}

// fill copies the texts one behind the other into one piece of the arena.
func (a *arena) fill(views []C.trtmc_string_view, s []string) {
	total := 0
	for _, x := range s {
		total += len(x)
	}
	p := a.alloc(uintptr(total))
	for i, x := range s {
		views[i] = C.trtmc_string_view{}
		if len(x) > 0 {
			copy(unsafe.Slice((*byte)(p), len(x)), x)
			views[i] = C.trtmc_string_view{data: (*C.char)(p), size: C.uint64_t(len(x))}
			p = unsafe.Add(p, len(x))
		}
	}
}

// borrowed returns n values of T at p without a copy. It refuses what no memory can be: nil with a count, or a count
// past the address space.
func borrowed[T any](op, what string, p *T, n C.uint64_t) ([]T, error) {
	var t T
	if n == 0 {
		return nil, nil
	}
	if p == nil {
		return nil, broken(op, "%s has %d entries and no data", what, uint64(n))
	}
	if uint64(n) > math.MaxInt/uint64(unsafe.Sizeof(t)) {
		return nil, broken(op, "%s has the impossible count %d", what, uint64(n))
	}
	return unsafe.Slice(p, int(n)), nil
}

// copyOut is borrowed with a copy that Go owns.
func copyOut[T, C2 any](op, what string, p *C2, n C.uint64_t) ([]T, error) {
	view, err := borrowed(op, what, (*T)(unsafe.Pointer(p)), n)
	if len(view) == 0 {
		return nil, err
	}
	out := make([]T, len(view))
	copy(out, view)
	return out, nil
}

func stringOut(op, what string, v C.trtmc_string_view) (string, error) {
	b, err := borrowed(op, what, (*byte)(unsafe.Pointer(v.data)), v.size)
	return string(b), err
}

// nameOut copies a text that a runtime reports of itself, made printable and short.
func nameOut(v C.trtmc_string_view) string {
	if v.data == nil {
		return ""
	}
	n := min(uint64(v.size), maxName+4)
	return clean(string(unsafe.Slice((*byte)(unsafe.Pointer(v.data)), int(n))), maxName)
}
