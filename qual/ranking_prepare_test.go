package qual_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/qual"
	"github.com/trtmc-go/trtmc/qual/aiperf"
	"github.com/trtmc-go/trtmc/ranking"
	"github.com/trtmc-go/trtmc/trace"
)

// groupLine is a good line of a groups file.
func groupLine(id, query string, passages ...string) string {
	data, err := json.Marshal(map[string]any{"session_id": id, "texts": []map[string]any{
		{"name": "query", "contents": []string{query}}, {"name": "passages", "contents": passages},
	}})
	if err != nil {
		panic(err)
	}
	return string(data) + "\n"
}

func someGroups(t *testing.T, n int) *qual.RankingGroups {
	t.Helper()
	var lines strings.Builder
	for i := range n {
		lines.WriteString(groupLine(fmt.Sprintf("g%d", i), fmt.Sprintf("query %d <é>\tof words", i), "first passage", "second & last", fmt.Sprintf("number %d", i)))
	}
	g, err := qual.ReadRankingGroups(strings.NewReader(lines.String()), "groups.jsonl")
	require.NoError(t, err)
	return g
}

func TestABadGroupLineIsNamedByFileAndLine(t *testing.T) {
	good := groupLine("a", "q", "p")
	texts := `"texts":[{"name":"query","contents":["q"]},{"name":"passages","contents":["p"]}]`
	for name, c := range map[string]struct{ line, want string }{
		"no JSON":               {`query: bees`, "invalid JSON"},
		"torn line":             {`{"session_id":"b","texts":[`, "ends inside a value"},
		"an array":              {`[]`, "want an object"},
		"two objects":           {`{"session_id":"b",` + texts + `} {}`, "after the group"},
		"unknown member":        {`{"session_id":"b","model":"m",` + texts + `}`, `unknown member "model"`},
		"wrong case":            {`{"Session_ID":"b",` + texts + `}`, `unknown member "Session_ID"`},
		"doubled member":        {`{"session_id":"b","session_id":"c",` + texts + `}`, `doubled member "session_id"`},
		"no id":                 {`{` + texts + `}`, "session_id is missing"},
		"id of another type":    {`{"session_id":7,` + texts + `}`, "session_id: want a string"},
		"id with a space":       {`{"session_id":"b c",` + texts + `}`, `session_id "b c"`},
		"id too long":           {`{"session_id":"` + strings.Repeat("b", 101) + `",` + texts + `}`, "1 to 100"},
		"id taken":              {`{"session_id":"a",` + texts + `}`, "stands in line 1 already"},
		"no texts":              {`{"session_id":"b"}`, "texts is missing"},
		"no query":              {`{"session_id":"b","texts":[{"name":"passages","contents":["p"]}]}`, "without a query"},
		"two queries":           {`{"session_id":"b","texts":[{"name":"query","contents":["q","r"]}]}`, "exactly one text"},
		"no passages":           {`{"session_id":"b","texts":[{"name":"query","contents":["q"]}]}`, "without passages"},
		"empty passages":        {`{"session_id":"b","texts":[{"name":"query","contents":["q"]},{"name":"passages","contents":[]}]}`, "passages are empty"},
		"passages twice":        {`{"session_id":"b",` + strings.TrimSuffix(texts, "]") + `,{"name":"passages","contents":["p"]}]}`, "given twice"},
		"blank passage":         {`{"session_id":"b","texts":[{"name":"query","contents":["q"]},{"name":"passages","contents":["p"," "]}]}`, "texts[1].contents[1]: want text"},
		"passage of other type": {`{"session_id":"b","texts":[{"name":"query","contents":["q"]},{"name":"passages","contents":[null]}]}`, "want a string"},
		"other name":            {`{"session_id":"b","texts":[{"name":"documents","contents":["p"]}]}`, "want query or passages"},
		"not UTF-8":             {`{"session_id":"b` + "\xff" + `",` + texts + `}`, "UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := qual.ReadRankingGroups(strings.NewReader(good+"\n"+c.line+"\n"+good), "my.jsonl")
			var bad *trace.SyntaxError
			require.ErrorAs(t, err, &bad)
			require.Equal(t, trace.Pos{File: "my.jsonl", Line: 3}, bad.Pos)
			require.Contains(t, err.Error(), c.want)
			require.NotContains(t, err.Error(), "\n")
		})
	}
	_, err := qual.ReadRankingGroups(strings.NewReader("\n"), "empty.jsonl")
	require.ErrorContains(t, err, "empty.jsonl: no group")
}

func TestTraceReadsAndAIPerfConvertsWhatWasPrepared(t *testing.T) {
	groups := someGroups(t, 5)
	dir := t.TempDir()
	m, err := qual.PrepareRanking(dir, groups, qual.RankingOptions{Model: "r", Count: 4, Warmup: 1, Truncate: ranking.TruncateEnd})
	require.NoError(t, err)
	items, err := trace.ReadWorkload(filepath.Join(dir, qual.WorkloadFile))
	require.NoError(t, err)
	require.Len(t, items, 4)
	for i, item := range items {
		require.Equal(t, groups.Groups[i].ID, item.RequestID)
		require.Equal(t, "/v1/ranking", item.Path)
		require.False(t, item.Streaming)
		req, err := ranking.Decode(item.Body, ranking.Limits{})
		require.NoError(t, err)
		require.Equal(t, "r", req.Model)
		require.Equal(t, groups.Groups[i].Query, req.Query)
		require.Equal(t, groups.Groups[i].Passages, req.Passages)
		require.Equal(t, ranking.TruncateEnd, req.Truncate)
	}
	warmup, err := trace.ReadWorkload(filepath.Join(dir, qual.WarmupFile))
	require.NoError(t, err)
	require.Len(t, warmup, 1)
	require.Equal(t, "warmup-g4", warmup[0].RequestID, "warm-up goes on behind the measured requests")
	require.Equal(t, qual.RankingLengths{Passages: 12, QueryWords: 4 * 5, QueryBytes: 4 * 21, PassageWords: 4 * 7, PassageBytes: 4 * (13 + 13 + 8)}, m.Lengths)

	src, err := os.Open(filepath.Join(dir, qual.WorkloadFile))
	require.NoError(t, err)
	defer src.Close()
	var out bytes.Buffer
	ids, err := aiperf.WriteSingleTurn(&out, src, "w", aiperf.Ranking, false)
	require.NoError(t, err)
	require.Equal(t, []string{"g0", "g1", "g2", "g3"}, ids)
	var row aiperf.SingleTurn
	require.NoError(t, json.NewDecoder(&out).Decode(&row))
	require.Equal(t, []aiperf.NamedTexts{{Name: "query", Contents: []string{groups.Groups[0].Query}}, {Name: "passages", Contents: groups.Groups[0].Passages}}, row.Texts)
	require.Equal(t, map[string]any{"truncate": "END"}, row.Extra)
}

func TestGroupsAreRepeatedUnderNewIDs(t *testing.T) {
	dir := t.TempDir()
	m, err := qual.PrepareRanking(dir, someGroups(t, 3), qual.RankingOptions{Model: "r", Count: 7, Warmup: 4})
	require.NoError(t, err)
	ids := func(file string) (out []string) {
		items, err := trace.ReadWorkload(filepath.Join(dir, file))
		require.NoError(t, err)
		for _, item := range items {
			out = append(out, item.RequestID)
		}
		return out
	}
	require.Equal(t, []string{"g0", "g1", "g2", "g0-r1", "g1-r1", "g2-r1", "g0-r2"}, ids(qual.WorkloadFile))
	require.Equal(t, []string{"warmup-g1-r2", "warmup-g2-r2", "warmup-g0-r3", "warmup-g1-r3"}, ids(qual.WarmupFile))
	require.Len(t, m.Permuted, 7, "a sample is never larger than the workload")

	clash, err := qual.ReadRankingGroups(strings.NewReader(groupLine("a", "q", "p")+groupLine("a-r1", "q", "p")), "clash.jsonl")
	require.NoError(t, err)
	_, err = qual.PrepareRanking(dir, clash, qual.RankingOptions{Model: "r", Count: 3})
	require.ErrorContains(t, err, `clash.jsonl:1: two requests would have the id "a-r1"`)
}

func TestEqualGroupsAndOptionsGiveEqualFiles(t *testing.T) {
	load := qual.Load{Loop: qual.OpenLoop, Rate: 100, Spacing: qual.PoissonSpacing, Seed: 3}
	read := func(load qual.Load) map[string]string {
		dir := t.TempDir()
		_, err := qual.PrepareRanking(dir, someGroups(t, 9), qual.RankingOptions{Model: "r", Count: 20, Warmup: 2, Load: load})
		require.NoError(t, err)
		out := map[string]string{}
		for _, name := range []string{trace.WorkloadFile, trace.WarmupFile, trace.RowsFile, trace.ManifestFile} {
			data, err := os.ReadFile(filepath.Join(dir, name))
			require.NoError(t, err)
			out[name] = string(data)
		}
		return out
	}
	first := read(load)
	require.Equal(t, first, read(load))
	load.Seed = 4
	require.NotEqual(t, first[trace.WorkloadFile], read(load)[trace.WorkloadFile])
}

func TestOpenLoadKeepsItsRate(t *testing.T) {
	offsets := func(load qual.Load, n int) (out []time.Duration) {
		dir := t.TempDir()
		_, err := qual.PrepareRanking(dir, someGroups(t, 1), qual.RankingOptions{Model: "r", Count: n, Load: load})
		require.NoError(t, err)
		items, err := trace.ReadWorkload(filepath.Join(dir, qual.WorkloadFile))
		require.NoError(t, err)
		for _, item := range items {
			out = append(out, item.Offset)
		}
		return out
	}
	require.Equal(t, []time.Duration{0, 4 * time.Millisecond, 8 * time.Millisecond}, offsets(qual.Load{Loop: qual.OpenLoop, Rate: 250}, 3))
	require.Equal(t, []time.Duration{0, 333333 * time.Microsecond}, offsets(qual.Load{Loop: qual.OpenLoop, Rate: 3}, 2))
	require.Equal(t, []time.Duration{0, 0, 0}, offsets(qual.Load{Concurrency: 9}, 3))

	const n = 4000
	random := offsets(qual.Load{Loop: qual.OpenLoop, Rate: 500, Spacing: qual.PoissonSpacing, Seed: 1}, n)
	require.Zero(t, random[0])
	require.IsNonDecreasing(t, random)
	require.InDelta(t, float64(n)/500, random[n-1].Seconds(), 0.5, "the mean gap is 1/rate")
	short := 0
	for i := 1; i < n; i++ {
		if random[i]-random[i-1] < 2*time.Millisecond {
			short++
		}
	}
	require.InDelta(t, 1-1/2.718281828, float64(short)/n, 0.03, "gaps are exponential: 63 % are below the mean")
}

func TestPreparationRefusesWhatCannotBeSent(t *testing.T) {
	good := qual.RankingOptions{Model: "r", Count: 1}
	for want, change := range map[string]func(*qual.RankingOptions){
		"model is empty":       func(o *qual.RankingOptions) { o.Model = "" },
		"0 requests":           func(o *qual.RankingOptions) { o.Count = 0 },
		"-1 warm-up":           func(o *qual.RankingOptions) { o.Warmup = -1 },
		`truncate "START"`:     func(o *qual.RankingOptions) { o.Truncate = "START" },
		`loop "spiral"`:        func(o *qual.RankingOptions) { o.Load.Loop = "spiral" },
		"concurrency -1":       func(o *qual.RankingOptions) { o.Load.Concurrency = -1 },
		"rate 0":               func(o *qual.RankingOptions) { o.Load.Loop = qual.OpenLoop },
		`spacing "irregular"`:  func(o *qual.RankingOptions) { o.Load = qual.Load{Loop: qual.OpenLoop, Rate: 1, Spacing: "irregular"} },
		"rate 2e+06: want req": func(o *qual.RankingOptions) { o.Load = qual.Load{Loop: qual.OpenLoop, Rate: 2e6} },
	} {
		o := good
		change(&o)
		_, err := qual.PrepareRanking(t.TempDir(), someGroups(t, 1), o)
		require.ErrorContains(t, err, want)
	}
}
