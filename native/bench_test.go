//go:build cgo

package native_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native"
	"github.com/trtmc-go/trtmc/native/reference"
	"github.com/trtmc-go/trtmc/native/task"
)

// compare runs peer and ours in turn and reports the median of the ratios of neighbouring batches.
func compare(b *testing.B, batch int, peer, ours func()) {
	b.Helper()
	run := func(f func()) time.Duration {
		start := time.Now()
		for range batch {
			f()
		}
		return time.Since(start)
	}
	run(peer)
	run(ours)
	var ratios, a, o []float64
	for b.Loop() {
		p, q := run(peer), run(ours)
		ratios = append(ratios, float64(q)/float64(p))
		a = append(a, float64(p.Nanoseconds())/float64(batch))
		o = append(o, float64(q.Nanoseconds())/float64(batch))
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(middle(a), "peer-ns")
	b.ReportMetric(middle(o), "ours-ns")
	b.ReportMetric(middle(ratios), "ours/peer")
}

func middle(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// BenchmarkCallOverBareCall compares a whole ScorePair with one bare crossing into the same native function with the
// request laid out before: goal 1.1, floor 1.3. The document is a passage of about 200 words.
func BenchmarkCallOverBareCall(b *testing.B) {
	m := load(b, embedded(b), fast(reference.RankingParams()))
	twin := load(b, embedded(b), fast(reference.RankingParams())) // a bare call keeps its model's frame
	document := strings.Repeat("in the course of human events it becomes necessary for one people ", 17)
	const query = "what becomes necessary in the course of human events"
	bare, err := native.BenchPair(twin, query, document)
	require.NoError(b, err)
	pair := must[task.PairScorer](b)(task.PairScorerOf(m))
	ctx := context.Background()
	req := task.PairRequest{Query: query, Document: document}
	compare(b, 50, func() {
		if bare() != 0 {
			b.Fatal("bare call failed")
		}
	}, func() {
		if _, err := pair.ScorePair(ctx, req); err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkShortestCallOverBareCall is the same with texts of one word, where what is not work weighs most.
func BenchmarkShortestCallOverBareCall(b *testing.B) {
	m := load(b, embedded(b), fast(reference.RankingParams()))
	twin := load(b, embedded(b), fast(reference.RankingParams()))
	bare, err := native.BenchPair(twin, "a", "a")
	require.NoError(b, err)
	pair := must[task.PairScorer](b)(task.PairScorerOf(m))
	ctx := context.Background()
	req := task.PairRequest{Query: "a", Document: "a"}
	compare(b, 200, func() {
		if bare() != 0 {
			b.Fatal("bare call failed")
		}
	}, func() {
		if _, err := pair.ScorePair(ctx, req); err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkFramesToFile writes a clip's borrowed frames, against a bare write of as many bytes: goal 1.05, floor 1.2.
func BenchmarkFramesToFile(b *testing.B) {
	p := fast(reference.VideoParams(640, 352, 24, 8, 1))
	m := load(b, embedded(b), p)
	v, err := clips(b, m).GenerateVideo(context.Background(), task.VideoRequest{Prompt: "a red ball"})
	require.NoError(b, err)
	defer v.Release()
	f, err := os.Create(filepath.Join(b.TempDir(), "frames"))
	require.NoError(b, err)
	defer f.Close()
	size := 640 * 352 * 3 * 4
	plain := make([]byte, size*v.Info().Frames)
	for i := range plain {
		plain[i] = byte(i)
	}
	write := func(data []byte, at int) {
		if _, err := f.WriteAt(data, int64(at)); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(len(plain)))
	compare(b, 1, func() {
		for i := range v.Info().Frames {
			write(plain[i*size:(i+1)*size], i*size)
		}
	}, func() {
		for i := range v.Info().Frames {
			frame, err := v.Frame(i)
			if err != nil {
				b.Fatal(err)
			}
			write(unsafe.Slice((*byte)(unsafe.Pointer(&frame.Pixels[0])), len(frame.Pixels)*4), i*size)
		}
	})
}
