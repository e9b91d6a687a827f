package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native/reference"
	"github.com/trtmc-go/trtmc/native/task"
	"github.com/trtmc-go/trtmc/qual"
)

func writeBundle(t *testing.T, params reference.Params) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), params.Family+".bundle")
	require.NoError(t, reference.WriteBundle(path, params))
	return path
}

func TestRankingIsEqualToDirectTaskCalls(t *testing.T) {
	for name, extra := range map[string][]string{
		"closed loop":       {"-ranking-concurrency", "3"},
		"open, poisson":     {"-ranking-rate", "200"},
		"open, constant":    {"-ranking-rate", "200", "-ranking-spacing", "constant"},
		"groups repeated":   {"-ranking-count", "140", "-warmup", "70"},
		"more lanes":        {"-ranking-lanes", "4", "-ranking-concurrency", "4"},
		"queue of one lane": {"-ranking-lanes", "1", "-ranking-concurrency", "6"},
	} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"-workloads", qual.RankingWorkload, "-max-lateness", "1m"}, extra...)
			dir, code, stdout, stderr := qualifyWith(t, args...)
			require.Equal(t, exitHeld, code, "%s%s", stdout, stderr)
			require.Empty(t, stderr)
			w := judged(t, dir).Workloads[qual.RankingWorkload]
			id := w.Ranking.Identity
			require.Equal(t, w.Measured.Offered, id.Measured.Equal)
			require.Equal(t, w.Measured.Offered, id.Measured.Compared)
			require.Equal(t, w.Warmup.Offered, id.Warmup.Equal)
			require.Equal(t, qual.Compared{Equal: 10, Compared: 10}, id.Permuted)
			require.GreaterOrEqual(t, w.Measured.Completed, 50)
			require.GreaterOrEqual(t, w.Warmup.Completed, 5)
			require.Contains(t, stdout, "equal to direct Task calls "+id.Measured.String())
		})
	}
}

func TestOverloadedRankingRefusesAndComparesTheRest(t *testing.T) {
	dir, code, stdout, stderr := qualifyWith(t, "-workloads", qual.RankingWorkload, "-ranking-rate", "100000", "-ranking-spacing", "constant",
		"-ranking-lanes", "1", "-queue", "2", "-max-lateness", "1m")
	require.Equal(t, exitHeld, code, "%s%s", stdout, stderr)
	w := judged(t, dir).Workloads[qual.RankingWorkload]
	require.Positive(t, w.Measured.Rejected)
	require.Positive(t, w.Measured.Completed)
	require.Equal(t, w.Measured.Completed, w.Ranking.Identity.Measured.Equal)
	require.Equal(t, w.Measured.Completed, w.Ranking.Identity.Measured.Compared)
}

func TestFaultyRankingFailsItsRequestsAndOnlyThem(t *testing.T) {
	for _, fault := range []string{"nan-score", "short-scores", "ranking-error"} {
		t.Run(fault, func(t *testing.T) {
			dir, code, stdout, stderr := qualifyWith(t, "-window", "300ms", "-lanes", "4", "-max-lateness", "1m", "-fault", fault)
			require.Equal(t, exitFailed, code, "%s%s", stdout, stderr)
			r := judged(t, dir)
			require.Equal(t, 60, r.Workloads[qual.RankingWorkload].Measured.Failed)
			require.Equal(t, 7, r.Workloads[textTrace].Measured.Completed, "text has a bundle of its own")
			require.ElementsMatch(t, []string{"no request failed", "ranking: rankings equal direct Task calls", "ranking: permuted passages have permuted scores"}, r.Verdict.Failed)
		})
	}
}

func TestWorkloadsTakeTheBundleThatDeclaresTheirTask(t *testing.T) {
	text, ranker := writeBundle(t, reference.TextParams()), writeBundle(t, reference.RankingParams())
	short := []string{"-window", "300ms", "-lanes", "4", "-max-lateness", "1m"}
	dir, code, stdout, stderr := qualifyWith(t, append(short, "-model", "rank="+ranker, "-model", "text="+text)...)
	require.Equal(t, exitHeld, code, "%s%s", stdout, stderr)
	r := judged(t, dir)
	models, lanes := map[string]string{}, map[string]int{}
	for _, w := range r.Run.Workloads {
		models[w.Name] = w.Model
	}
	for _, b := range r.Run.Bundles {
		lanes[b.Model] = b.Lanes
		require.NotEmpty(t, b.Tasks)
	}
	require.Equal(t, map[string]string{textTrace: "text", qual.RankingWorkload: "rank"}, models)
	require.Equal(t, map[string]int{"text": 4, "rank": 2}, lanes)

	everything := writeBundle(t, reference.AllParams())
	dir, code, stdout, stderr = qualifyWith(t, append(short, "-model", "all="+everything)...)
	require.Equal(t, exitHeld, code, "%s%s", stdout, stderr)
	require.Equal(t, 4, judged(t, dir).Run.Bundles[0].Lanes, "one bundle for both has the lanes of the neediest")

	dir, code, stdout, stderr = qualifyWith(t, append(short, "-model", "text="+text)...)
	require.Equal(t, exitHeld, code, "%s%s", stdout, stderr)
	r = judged(t, dir)
	require.Equal(t, []string{textTrace}, r.Names())
	require.Contains(t, strings.Join(r.Run.Notes, "\n"), "ranking was left out: no bundle for it: none of text declares "+string(task.TextQueryDocumentsToRelevance))

	_, code, _, stderr = qualifyWith(t, append(short, "-model", "text="+text, "-workloads", qual.RankingWorkload)...)
	require.Equal(t, exitFailed, code)
	require.Contains(t, stderr, "prepare ranking: no bundle for it")
	require.Equal(t, 1, strings.Count(stderr, "\n"))

	embedder := writeBundle(t, reference.EmbeddingParams())
	_, code, _, stderr = qualifyWith(t, "-model", "e="+embedder)
	require.Equal(t, exitFailed, code)
	require.Contains(t, stderr, "no workload can run")
}

func TestRankingOfAServerThatRunsAlready(t *testing.T) {
	bundle, records := writeBundle(t, reference.RankingParams()), filepath.Join(t.TempDir(), "records.jsonl")
	url, _ := startChild(t, bundle, records)
	dir, code, stdout, stderr := qualifyWith(t, "-url", url, "-records", records, "-model", "demo="+bundle)
	require.Equal(t, exitHeld, code, "%s%s", stdout, stderr)
	r := judged(t, dir)
	require.Equal(t, []string{qual.RankingWorkload}, r.Names(), "the server says that it only ranks")
	require.Equal(t, qual.Compared{Equal: 60, Compared: 60}, r.Workloads[qual.RankingWorkload].Ranking.Identity.Measured)

	dir, code, stdout, stderr = qualifyWith(t, "-url", url, "-records", records, "-model", "demo", "-workloads", qual.RankingWorkload)
	require.Equal(t, exitHeld, code, "%s%s", stdout, stderr)
	require.Contains(t, stdout, "scores were not compared with direct Task calls")
	require.NoFileExists(t, filepath.Join(dir, "workloads", "ranking", qual.DirectFile))
}

func TestBadRankingInputIsOneLine(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.jsonl")
	good := `{"session_id":"a","texts":[{"name":"query","contents":["q"]},{"name":"passages","contents":["p"]}]}` + "\n"
	require.NoError(t, os.WriteFile(bad, []byte(good+good), 0o644))
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"-ranking-count", "0"}, exitUsage, "-ranking-count 0: want"},
		{[]string{"-ranking-concurrency", "0"}, exitUsage, "-ranking-concurrency 0: want"},
		{[]string{"-ranking-rate", "-1"}, exitUsage, "-ranking-rate -1: want"},
		{[]string{"-ranking-rate", "NaN"}, exitUsage, "-ranking-rate NaN: want"},
		{[]string{"-ranking-spacing", "odd"}, exitUsage, "constant, poisson"},
		{[]string{"-ranking-lanes", "0"}, exitUsage, "-ranking-lanes 0: want"},
		{[]string{"-fault", "error"}, exitUsage, "it belongs to the workload text-trace"},
		{[]string{"-ranking-groups", bad + "x"}, exitFailed, "bad.jsonlx"},
		{[]string{"-ranking-groups", bad}, exitFailed, `bad.jsonl:2: session_id "a" stands in line 1`},
	} {
		t.Run(strings.Join(c.args[:1], " ")+" "+c.want, func(t *testing.T) {
			_, code, stdout, stderr := qualifyWith(t, append(c.args, "-workloads", qual.RankingWorkload)...)
			require.Equal(t, c.code, code, "%s%s", stdout, stderr)
			require.Contains(t, stderr, c.want)
			require.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
		})
	}
}
