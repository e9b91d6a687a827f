package cabi

// #include "shim.h"
import "C"

import (
	"time"
	"unsafe"
)

// Score makes one text_query_documents_to_relevance call.
//
// Backing, when not empty, is memory that the documents are substrings of: when all of them lie in it, C reads them
// there during the call and nothing is copied. Otherwise they are copied into the arena.
func (m *Model) Score(query string, documents []string, backing string, settings []Setting) (ScoreResult, error) {
	const op = "run"
	f, err := m.begin("text_query_documents_to_relevance")
	if err != nil {
		return ScoreResult{}, err
	}
	base := m.documentsIn(f, documents, backing)
	f.documents_in.query = m.arena.text(query)
	f.config = m.arena.config(settings)
	scores := array[float32](&m.arena, len(documents))
	f.scores, f.scores_room = (*C.float)(unsafe.SliceData(scores)), C.uint64_t(len(scores))
	start := time.Now()
	C.cabi_documents_run(f, base)
	wall := time.Since(start)
	if err := m.status(op); err != nil {
		return ScoreResult{}, err
	}
	out := &f.documents_out
	if uint64(out.count) != uint64(len(documents)) {
		return ScoreResult{}, broken(op, "%d scores for %d documents", uint64(out.count), len(documents))
	}
	if out.count > 0 && out.scores == nil {
		return ScoreResult{}, broken(op, "scores has %d entries and no data", uint64(out.count))
	}
	if err := checkScoreKind(op, uint32(out.kind)); err != nil {
		return ScoreResult{}, err
	}
	res := ScoreResult{Scores: make([]float32, len(scores)), Kind: uint32(out.kind), Span: Span{start, wall}}
	copy(res.Scores, scores)
	return res, nil
}

// span is a view whose data is still an offset; the C side makes the pointer of it.
type span struct{ offset, size uint64 }

// documentsIn lays the documents out. It returns the base of the backing memory when they are offsets into that.
func (m *Model) documentsIn(f *C.cabi_frame, documents []string, backing string) *C.char {
	views := array[C.trtmc_string_view](&m.arena, len(documents))
	f.documents_in.documents = C.trtmc_strings_view{data: unsafe.SliceData(views), size: C.uint64_t(len(views))}
	if len(views) == 0 {
		return nil
	}
	if backing != "" && within(backing, documents, unsafe.Slice((*span)(unsafe.Pointer(&views[0])), len(views))) {
		return (*C.char)(unsafe.Pointer(unsafe.StringData(backing)))
	}
	m.arena.fill(views, documents)
	return nil
}

// within finds each document in the backing memory by its address; false when one lies outside.
func within(backing string, documents []string, out []span) bool {
	base, size := uintptr(unsafe.Pointer(unsafe.StringData(backing))), uintptr(len(backing))
	for i, d := range documents {
		n := uintptr(len(d))
		at := uintptr(unsafe.Pointer(unsafe.StringData(d))) - base
		if n == 0 {
			at = 0
		}
		if at > size || n > size-at {
			return false
		}
		out[i] = span{uint64(at), uint64(n)}
	}
	return true
}

// ScorePair makes one text_pair_to_relevance call.
func (m *Model) ScorePair(query, document string, settings []Setting) (score float32, kind uint32, span Span, err error) {
	const op = "run"
	f, err := m.begin("text_pair_to_relevance")
	if err != nil {
		return 0, 0, Span{}, err
	}
	f.pair_in.query, f.pair_in.document = m.arena.text(query), m.arena.text(document)
	f.config = m.arena.config(settings)
	start := time.Now()
	C.cabi_pair_run(f)
	wall := time.Since(start)
	if err := m.status(op); err != nil {
		return 0, 0, Span{}, err
	}
	kind = uint32(f.pair_out.kind)
	return float32(f.pair_out.score), kind, Span{start, wall}, checkScoreKind(op, kind)
}

func checkScoreKind(op string, kind uint32) error {
	if kind < C.TRTMC_SCORE_LOGIT || kind > C.TRTMC_SCORE_UNBOUNDED {
		return broken(op, "score kind %d; it is 1, 2 or 3", kind)
	}
	return nil
}
