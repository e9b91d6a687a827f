//go:build cgo

package cabi

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native/reference"
)

func linked(t testing.TB, p reference.Params) *Model {
	t.Helper()
	entry, ok := reference.Entry()
	require.True(t, ok)
	lib, err := OpenEntry(entry)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "a.bundle")
	require.NoError(t, reference.WriteBundle(path, p))
	m, err := lib.Load(path, LoadOptions{})
	require.NoError(t, err)
	t.Cleanup(m.Close)
	return m
}

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
	b.ReportMetric(median(a), "peer-ns")
	b.ReportMetric(median(o), "ours-ns")
	b.ReportMetric(median(ratios), "ours/peer")
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// passages makes 100 texts of about 1.2 kB in one string, and again apart.
func passages() (whole string, inside, apart []string) {
	var b strings.Builder
	for i := range 100 {
		b.WriteString(strings.Repeat("a passage of words ", 70)[i%7 : 1200+i%7*4])
	}
	whole = b.String()
	at := 0
	for i := range 100 {
		n := 1200 + i%7*4 - i%7
		inside = append(inside, whole[at:at+n])
		apart = append(apart, strings.Clone(whole[at:at+n]))
		at += n
	}
	return whole, inside, apart
}

func TestPassagesReachCEqually(t *testing.T) {
	m := linked(t, reference.RankingParams())
	whole, inside, apart := passages()
	want := BenchStrings(apart)
	require.Equal(t, want, m.BenchDocuments(apart, ""))
	require.Equal(t, want, m.BenchDocuments(inside, whole))
	require.Equal(t, want, m.BenchDocuments(apart, whole), "texts outside the backing memory are copied")
}

// BenchmarkPassagesInOneString: goal 1/40 of one C.CString each.
func BenchmarkPassagesInOneString(b *testing.B) {
	m := linked(b, reference.RankingParams())
	whole, inside, apart := passages()
	compare(b, 50, func() { BenchStrings(apart) }, func() { m.BenchDocuments(inside, whole) })
}

// BenchmarkPassagesApart: floor 1/4 of one C.CString each.
func BenchmarkPassagesApart(b *testing.B) {
	m := linked(b, reference.RankingParams())
	_, _, apart := passages()
	compare(b, 50, func() { BenchStrings(apart) }, func() { m.BenchDocuments(apart, "") })
}
