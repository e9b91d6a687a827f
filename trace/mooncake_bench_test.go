package trace_test

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"
	"time"

	"github.com/trtmc-go/trtmc/trace"
)

// jsonRow is the published row as encoding/json takes it.
type jsonRow struct {
	Timestamp    float64  `json:"timestamp"`
	InputLength  int      `json:"input_length"`
	OutputLength int      `json:"output_length"`
	HashIDs      []uint32 `json:"hash_ids"`
}

// BenchmarkMooncakeReader reads real rows and, in turn with it, the same rows with encoding/json into a fresh struct
// each, so that both see the same machine. It reports both speeds and their ratio.
func BenchmarkMooncakeReader(b *testing.B) {
	src, err := trace.Open(conversation)
	if err != nil {
		b.Fatal(err)
	}
	defer src.Close()
	data, err := io.ReadAll(src)
	if err != nil {
		b.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSpace(data), []byte{'\n'})
	r := trace.NewMooncakeReader(&loop{text: data}, "in.jsonl", trace.MooncakeOptions{Reuse: true})
	var ours, theirs time.Duration
	b.ReportAllocs()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		start := time.Now()
		for range lines {
			if !r.Scan() {
				b.Fatal(r.Err())
			}
		}
		ours += time.Since(start)
		b.StopTimer()
		start = time.Now()
		for _, line := range lines {
			var row jsonRow
			if err := json.Unmarshal(line, &row); err != nil {
				b.Fatal(err)
			}
		}
		theirs += time.Since(start)
		b.StartTimer()
	}
	speed := func(d time.Duration) float64 { return float64(b.N) * float64(len(data)) / 1e6 / d.Seconds() }
	b.ReportMetric(speed(ours), "MB/s-ours")
	b.ReportMetric(speed(theirs), "MB/s-encoding/json")
	b.ReportMetric(theirs.Seconds()/ours.Seconds(), "ratio")
}
