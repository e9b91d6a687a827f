package serving_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native/task"
	"github.com/trtmc-go/trtmc/serving"
	"github.com/trtmc-go/trtmc/serving/record"
)

// discard is the cheapest answer writer.
type discard struct{ h http.Header }

func (d discard) Header() http.Header         { return d.h }
func (d discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) WriteHeader(int)               {}

// BenchmarkRequest is everything that serving adds to a Task call: identity, decode, admission, answer, metrics and
// the record on its way to a file.
func BenchmarkRequest(b *testing.B) {
	m := &fake{fields: textFields, text: func(context.Context, task.TextRequest) (task.TextResult, error) {
		return task.TextResult{Text: "x", TokenIDs: []int32{1}}, nil
	}}
	w, err := record.OpenWriter(filepath.Join(b.TempDir(), "records.jsonl"))
	require.NoError(b, err)
	s, err := serving.New(serving.Config{Models: model(m), Records: w})
	require.NoError(b, err)
	h := s.Handler()
	body := `{"model":"m","prompt":"` + strings.Repeat("word ", 200) + `","max_tokens":16,"temperature":0}`
	b.ReportAllocs()
	b.ResetTimer()
	for b.Loop() {
		h.ServeHTTP(discard{http.Header{}}, httptest.NewRequest("POST", "/v1/completions", strings.NewReader(body)))
	}
	b.StopTimer()
	require.NoError(b, w.Close())
}

// BenchmarkStreamedDelta is the cost of one delta of a stream.
func BenchmarkStreamedDelta(b *testing.B) {
	m := &fake{fields: textFields, stream: func(_ context.Context, _ task.TextRequest, emit func(task.TextDelta) error) (task.TextResult, error) {
		var all strings.Builder
		for b.Loop() {
			all.WriteString("word ")
			if err := emit(task.TextDelta{Text: "word "}); err != nil {
				return task.TextResult{}, err
			}
		}
		return task.TextResult{Text: all.String()}, nil
	}}
	s, err := serving.New(serving.Config{Models: model(m)})
	require.NoError(b, err)
	b.ReportAllocs()
	s.Handler().ServeHTTP(discard{http.Header{}}, httptest.NewRequest("POST", "/v1/completions", strings.NewReader(`{"model":"m","prompt":"p","stream":true}`)))
}
