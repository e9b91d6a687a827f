package qual

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestPercentilesNeedEnoughSamples(t *testing.T) {
	for _, c := range []struct {
		samples       int
		p50, p90, p99 bool
	}{{0, false, false, false}, {1, false, false, false}, {2, true, false, false}, {9, true, false, false}, {10, true, true, false}, {99, true, true, false}, {100, true, true, true}} {
		values := make([]float64, c.samples)
		d := distribution(values)
		require.Equal(t, []bool{c.p50, c.p90, c.p99}, []bool{d.P50.Known(), d.P90.Known(), d.P99.Known()}, "%d samples", c.samples)
		require.Equal(t, c.samples > 0, d.Max.Known())
	}
}

func TestFailuresAreSlowerThanAnyLatency(t *testing.T) {
	values := make([]float64, 95)
	for i := range values {
		values[i] = float64(i + 1)
	}
	d := distribution(values)
	d.ofAll(values, 5)
	require.Equal(t, 100, d.OfAll.Samples)
	require.True(t, d.OfAll.P90.Known())
	require.Greater(t, float64(d.OfAll.P90), float64(d.P90))
	require.Equal(t, "not reached", d.OfAll.P99.String())
	data, err := json.Marshal(d.OfAll)
	require.NoError(t, err)
	require.Contains(t, string(data), `"p99":"not reached"`)
	var back OfAll
	require.NoError(t, json.Unmarshal(data, &back))
	require.True(t, math.IsInf(float64(back.P99), 1))
}

func TestFiguresSurviveJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := Figure(rapid.Float64Range(-1e9, 1e9).Draw(t, "value"))
		data, err := json.Marshal(f)
		require.NoError(t, err)
		var back Figure
		require.NoError(t, json.Unmarshal(data, &back))
		require.InDelta(t, float64(f), float64(back), 1e-6)
		again, err := json.Marshal(back)
		require.NoError(t, err)
		require.Equal(t, string(data), string(again))
	})
	require.Error(t, new(Figure).UnmarshalJSON([]byte(`"soon"`)))
}

func TestIndexNumbersEveryIDOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var x idIndex
		want := map[string]int{}
		for _, id := range rapid.SliceOf(rapid.StringN(0, 5, 20)).Draw(t, "ids") {
			n, fresh := x.add(id)
			old, known := want[id]
			require.Equal(t, !known, fresh)
			if known {
				require.Equal(t, old, n)
				continue
			}
			require.Equal(t, len(want), n)
			want[id] = n
		}
		require.Equal(t, len(want), x.len())
		for id, n := range want {
			require.Equal(t, n, x.find(id))
			require.Equal(t, id, x.id(n))
		}
		require.Equal(t, -1, x.find("never added, and longer than any of them"))
	})
}

func TestWordsStayBounded(t *testing.T) {
	var w words
	for i := range 1 << 17 {
		w.number(string(rune('a'+i%26)) + string(rune(0x4e00+i%20000)) + string(rune(0x4e00+i/26)))
	}
	require.LessOrEqual(t, len(w.list), 1<<16)
	require.Equal(t, otherWord, w.text(w.number("one more")))
}

func TestMarkdownCellsCannotBreakOut(t *testing.T) {
	var p page
	p.table([]string{"a"}, [][]string{{"x | y\n# <script>`z`"}})
	require.Equal(t, "| a |\n|---|\n| x \\| y # &lt;script&gt;'z' |\n", p.String())
}
