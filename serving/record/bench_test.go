package record_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/serving/record"
)

// ratio runs two things in turns, so that both meet the same moods of the machine, and reports the median time of the
// second over the first.
func ratio(b *testing.B, name string, first, second func()) {
	b.Helper()
	var quotients []float64
	timed := func(f func()) time.Duration {
		start := time.Now()
		f()
		return time.Since(start)
	}
	for b.Loop() {
		quotients = append(quotients, float64(timed(second))/float64(timed(first)))
	}
	slices.Sort(quotients)
	b.ReportMetric(quotients[len(quotients)/2], name)
}

// BenchmarkAppendAgainstEncodingJSON compares handing records to a file with only formatting them by encoding/json.
func BenchmarkAppendAgainstEncodingJSON(b *testing.B) {
	w, err := record.OpenWriter(filepath.Join(b.TempDir(), "r.jsonl"))
	require.NoError(b, err)
	const n = 1000
	r := completed("2318c9ab-2685-431b-85db-97459e0bf4a4")
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	ratio(b, "json/append", func() {
		for range n {
			if err := w.Append(r); err != nil {
				b.Fatal(err)
			}
		}
	}, func() {
		for range n {
			buf.Reset()
			if err := enc.Encode(&r); err != nil {
				b.Fatal(err)
			}
		}
	})
	require.NoError(b, w.Close())
}

// BenchmarkGroupCommitAgainstFsync compares 64 appenders that each wait until their record is in stable storage with
// one write and fsync for each record.
func BenchmarkGroupCommitAgainstFsync(b *testing.B) {
	dir := b.TempDir()
	w, err := record.OpenWriter(filepath.Join(dir, "group.jsonl"))
	require.NoError(b, err)
	f, err := os.Create(filepath.Join(dir, "single.jsonl"))
	require.NoError(b, err)
	r := completed("2318c9ab-2685-431b-85db-97459e0bf4a4")
	line, err := record.AppendRecord(nil, &r)
	require.NoError(b, err)
	const n = 256
	ratio(b, "fsync/group", func() {
		var wg sync.WaitGroup
		for range n {
			wg.Go(func() {
				if err := w.Append(r); err != nil {
					b.Error(err)
				}
				if err := w.Flush(); err != nil {
					b.Error(err)
				}
			})
		}
		wg.Wait()
	}, func() {
		for range n {
			if _, err := f.Write(line); err != nil {
				b.Fatal(err)
			}
			if err := f.Sync(); err != nil {
				b.Fatal(err)
			}
		}
	})
	require.NoError(b, w.Close())
	require.NoError(b, f.Close())
}
