//go:build cgo

package native

// BenchPair returns a bare call of text_pair_to_relevance on the model, for the benchmarks of package native_test.
func BenchPair(m *Model, query, document string) (func() int32, error) {
	return m.h.native.BenchPair(query, document)
}
