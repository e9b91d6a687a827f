package cabi

// #include "shim.h"
import "C"

import "time"

// Embed makes one text_to_embedding call.
func (m *Model) Embed(text string, role uint32, settings []Setting) (EmbeddingResult, error) {
	const op = "run"
	f, err := m.begin("text_to_embedding")
	if err != nil {
		return EmbeddingResult{}, err
	}
	f.embedding_in.text, f.embedding_in.role = m.arena.text(text), C.uint32_t(role)
	f.config = m.arena.config(settings)
	start := time.Now()
	C.cabi_embedding_run(f)
	wall := time.Since(start)
	if err := m.status(op); err != nil {
		return EmbeddingResult{}, err
	}
	defer C.cabi_drop(f)
	v := &f.embedding_out
	res := EmbeddingResult{Span: Span{start, wall}}
	if res.Values, err = copyOut[float32](op, "values", v.values, v.count); err != nil {
		return EmbeddingResult{}, err
	}
	res.Space, res.Pooling, res.Normalization = nameOut(v.embedding_space), nameOut(v.pooling), nameOut(v.normalization)
	if res.Pooling == "" || res.Normalization == "" {
		return EmbeddingResult{}, broken(op, "pooling %q and normalization %q; neither may be empty", res.Pooling, res.Normalization)
	}
	return res, nil
}
