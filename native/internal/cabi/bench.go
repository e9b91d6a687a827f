package cabi

// The functions below serve benchmarks alone. They stand here because a test file may not import "C".

// #include <stdlib.h>
// #include "shim.h"
import "C"

import "unsafe"

// BenchPair prepares one text_pair_to_relevance call and returns a function that makes it with a bare crossing: no
// lane, no layout of the request, no clock, no conversion of the answer. It is the peer of ScorePair.
func (m *Model) BenchPair(query, document string) (func() int32, error) {
	f, err := m.begin("text_pair_to_relevance")
	if err != nil {
		return nil, err
	}
	f.pair_in.query, f.pair_in.document = m.arena.text(query), m.arena.text(document)
	return func() int32 {
		C.cabi_pair_run(f)
		return int32(f.status)
	}, nil
}

// BenchDocuments hands documents to C as Score does and returns a sum over them, which BenchStrings gives too.
func (m *Model) BenchDocuments(documents []string, backing string) uint64 {
	m.arena.reset()
	return uint64(C.cabi_bench_documents(m.frame, m.documentsIn(m.frame, documents, backing)))
}

// BenchStrings hands documents to C with one C.CString each, the usual way.
func BenchStrings(documents []string) uint64 {
	n := len(documents)
	list := C.malloc(C.size_t(n) * C.sizeof_trtmc_string_view)
	views := unsafe.Slice((*C.trtmc_string_view)(list), n)
	for i, d := range documents {
		views[i] = C.trtmc_string_view{data: C.CString(d), size: C.uint64_t(len(d))}
	}
	sum := uint64(C.cabi_bench_strings(&views[0], C.uint64_t(n)))
	for i := range views {
		C.free(unsafe.Pointer(views[i].data))
	}
	C.free(list)
	return sum
}
