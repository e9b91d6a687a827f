package aiperf

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkRows reads rows of a real streamed run with RowReader and with encoding/json into maps, in turn, and
// reports how many times faster the reader is.
func BenchmarkRows(b *testing.B) {
	sample, err := os.ReadFile("testdata/text-fixed-schedule/" + RowsFile)
	require.NoError(b, err)
	text := bytes.Repeat(sample, 125) // 1000 rows
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	var ours, theirs time.Duration
	for b.Loop() {
		start := time.Now()
		n := 0
		for r := NewRowReader(bytes.NewReader(text), "f"); r.Scan(); n++ {
			if row, ok := r.Entry().(*Row); !ok || row.RequestID == "" {
				b.Fatal("not a row")
			}
		}
		middle := time.Now()
		m := 0
		for line := range bytes.Lines(text) {
			var row map[string]any
			if err := json.Unmarshal(line, &row); err != nil || row["metadata"] == nil {
				b.Fatal("not a row")
			}
			m++
		}
		ours, theirs = ours+middle.Sub(start), theirs+time.Since(middle)
		if n != m {
			b.Fatalf("%d rows, want %d", n, m)
		}
	}
	b.ReportMetric(float64(theirs)/float64(ours), "x-faster")
	b.ReportMetric(float64(ours.Nanoseconds())/float64(b.N)/1000, "ns/row")
}
