//go:build cgo

package qual_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/internal/monotime"
	"github.com/trtmc-go/trtmc/native"
	"github.com/trtmc-go/trtmc/native/reference"
	"github.com/trtmc-go/trtmc/native/task"
	"github.com/trtmc-go/trtmc/qual"
	"github.com/trtmc-go/trtmc/ranking"
	"github.com/trtmc-go/trtmc/serving"
	"github.com/trtmc-go/trtmc/serving/record"
	"github.com/trtmc-go/trtmc/trace"
)

const (
	rankingClient = "workloads/ranking/" + qual.ClientFile
	rankingDirect = "workloads/ranking/" + qual.DirectFile
	rankingRows   = "workloads/ranking/" + trace.RowsFile
	rankingPlan   = "workloads/ranking/" + qual.ManifestFile
	rankingOffer  = "workloads/ranking/" + qual.WorkloadFile

	identityCheck = "rankings equal direct Task calls"
	directCheck   = "direct calls are made as serving makes them"
	permutedCheck = "permuted passages have permuted scores"
	lengthsCheck  = "lengths are the pinned ones"
)

// rankingRun is how a run is made: its bundle, or a model in place of it, and its load.
type rankingRun struct {
	params *reference.Params // nil: RankingParams without their delays
	model  task.Model        // in place of a bundle
	load   qual.Load
}

// make runs a server over the reference runtime, drives it over HTTP, scores directly and returns the sealed folder.
func (r rankingRun) make(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	folder := filepath.Join(dir, "workloads", "ranking")
	require.NoError(t, os.MkdirAll(folder, 0o755))
	groups, err := os.Open("../examples/qualify/data/ranking-groups.jsonl")
	require.NoError(t, err)
	defer groups.Close()
	set, err := qual.ReadRankingGroups(groups, "ranking-groups.jsonl")
	require.NoError(t, err)
	m, err := qual.PrepareRanking(folder, set, qual.RankingOptions{Model: "r", Count: 20, Warmup: 3, Load: r.load, Permuted: 4})
	require.NoError(t, err)
	open, digest := r.opener(t)
	clock := monotime.New()
	began := time.Now().UTC()
	r.drive(t, dir, folder, clock, []task.Model{open(), open()})
	direct := open()
	writeDirect(t, folder, m, direct, digest)
	run := &qual.Run{
		Schema: qual.RunSchema, Command: []string{"qualify"}, Clock: clock.Name(), SharedProcess: true, StartedAt: began, EndedAt: time.Now().UTC(),
		MaxLatenessMS: 60_000,
		Runtime:       qual.RuntimeFacts{Version: direct.Info().Runtime, Reference: direct.Info().Reference},
		Bundles:       []qual.BundleFacts{{Model: "r", SHA256: digest}},
		Workloads:     []qual.RunWorkload{{Name: "ranking", Model: "r", Path: "/v1/ranking", SourceSHA256: m.Source.SHA256}},
		Exit:          qual.ExitFacts{Drained: true},
	}
	require.NoError(t, qual.WriteRun(dir, run))
	seal(t, dir)
	return dir
}

// opener returns what opens one more handle, and the digest of the bundle.
func (r rankingRun) opener(t *testing.T) (func() task.Model, string) {
	if r.model != nil {
		return func() task.Model { return r.model }, strings.Repeat("0", 64)
	}
	params := reference.RankingParams()
	params.Timing = reference.Timing{}
	if r.params != nil {
		params = *r.params
	}
	path := filepath.Join(t.TempDir(), "ranker.bundle")
	require.NoError(t, reference.WriteBundle(path, params))
	rt, err := native.Open(native.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, rt.Close()) })
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	sum := sha256.Sum256(data)
	return func() task.Model {
		m, err := rt.Load(path, native.LoadOptions{})
		require.NoError(t, err)
		return m
	}, hex.EncodeToString(sum[:])
}

func (r rankingRun) drive(t *testing.T, dir, folder string, clock monotime.Clock, lanes []task.Model) {
	t.Helper()
	sink, err := record.OpenWriter(filepath.Join(dir, qual.RecordsFile))
	require.NoError(t, err)
	srv, err := serving.New(serving.Config{Models: []serving.Model{{Name: "r", Lanes: lanes}}, Records: sink, Clock: clock})
	require.NoError(t, err)
	web := httptest.NewServer(srv.Handler())
	sender := &trace.Sender{BaseURL: web.URL, Workload: "ranking", Clock: clock, KeepResponse: true}
	summary, err := (&qual.RankingClient{Sender: sender}).Run(context.Background(), folder)
	require.NoError(t, err)
	require.Equal(t, 20, summary.Items)
	require.NoError(t, sender.Close())
	web.Close()
	require.NoError(t, srv.Shutdown(context.Background()))
	require.NoError(t, sink.Close())
}

func writeDirect(t *testing.T, folder string, m *qual.RankingManifest, model task.Model, digest string) {
	t.Helper()
	ranker, err := ranking.ModelOf("r", model)
	require.NoError(t, err)
	f, err := os.Create(filepath.Join(folder, qual.DirectFile))
	require.NoError(t, err)
	scorer := &qual.DirectScorer{Model: ranker, Info: model.Info(), BundleSHA256: digest, Permuted: m.Permuted}
	for _, name := range []string{qual.WarmupFile, qual.WorkloadFile} {
		items, err := trace.ReadWorkload(filepath.Join(folder, name))
		require.NoError(t, err)
		require.NoError(t, scorer.Run(context.Background(), items, func(d qual.DirectScores) error { return qual.WriteDirect(f, d) }))
	}
	require.NoError(t, f.Close())
}

func seal(t *testing.T, dir string) {
	t.Helper()
	run, err := qual.ReadRun(dir)
	require.NoError(t, err)
	run.Sealed, err = qual.Seal(dir)
	require.NoError(t, err)
	require.NoError(t, qual.WriteRun(dir, run))
}

func TestARankingRunHoldsEveryCheck(t *testing.T) {
	for name, load := range map[string]qual.Load{
		"closed loop": {Concurrency: 2},
		"constant":    {Loop: qual.OpenLoop, Rate: 400},
		"poisson":     {Loop: qual.OpenLoop, Rate: 400, Spacing: qual.PoissonSpacing, Seed: 5},
	} {
		t.Run(name, func(t *testing.T) {
			dir := rankingRun{load: load}.make(t)
			r, err := qual.Judge(dir)
			require.NoError(t, err)
			require.Empty(t, failedChecks(r))
			w := r.Workloads["ranking"]
			require.Equal(t, qual.Counts{Offered: 20, Completed: 20}, w.Measured)
			require.Equal(t, qual.Counts{Offered: 3, Completed: 3}, w.Warmup)
			k := w.Ranking
			require.Equal(t, qual.RankingIdentity{Made: true, Measured: qual.Compared{Equal: 20, Compared: 20}, Warmup: qual.Compared{Equal: 3, Compared: 3}, Permuted: qual.Compared{Equal: 4, Compared: 4}}, k.Identity)
			require.Equal(t, []qual.ScoreKindCount{{Kind: "logit", Count: 20}}, k.ScoreKinds)
			require.Equal(t, k.Manifest.Lengths.Passages, k.Passages)
			require.InEpsilon(t, float64(k.Passages)/float64(k.SpanSeconds), float64(k.PassagesPerSecond), 1e-9)
			require.InEpsilon(t, 20/float64(k.SpanSeconds), float64(k.RequestsPerSecond), 1e-9)
			require.Equal(t, 20, k.PassagesPerRequest.Samples)
			require.Equal(t, int(k.Passages), k.PassageWords.Samples)
			require.Equal(t, 20, k.DirectCall.Samples)
			require.Equal(t, 3, k.WarmupLatency.Samples)
			closed := load.Loop != qual.OpenLoop
			require.Equal(t, closed, w.Lateness.Send.Samples == 0, "a closed loop has no lateness")
			require.Equal(t, closed, !w.Rates.Offered.PerSecond.Known(), "a closed loop has no offered rate")

			text := string(r.Markdown())
			require.Contains(t, text, "20/20 measured, 3/3 warm-up")
			require.Contains(t, text, k.Manifest.Load.Words())
			require.NotContains(t, text, "Tokens completed")
			again, err := qual.Judge(dir)
			require.NoError(t, err)
			require.Equal(t, text, string(again.Markdown()))
		})
	}
}

func TestMissingDirectScoresAreAFailedCheck(t *testing.T) {
	dir := rankingRun{}.make(t)
	require.NoError(t, os.Remove(filepath.Join(dir, filepath.FromSlash(rankingDirect))))
	seal(t, dir)
	r, err := qual.Judge(dir)
	require.NoError(t, err)
	require.Contains(t, failedChecks(r), "evidence is complete")
	require.Contains(t, failedChecks(r), directCheck)
	require.Equal(t, qual.Compared{Compared: 20}, r.Workloads["ranking"].Ranking.Identity.Measured)
}

func TestARunThatKnowsNoBundleDoubtsItsScores(t *testing.T) {
	dir := rankingRun{}.make(t)
	require.NoError(t, os.Remove(filepath.Join(dir, filepath.FromSlash(rankingDirect))))
	run, err := qual.ReadRun(dir)
	require.NoError(t, err)
	run.Bundles[0].SHA256 = ""
	require.NoError(t, qual.WriteRun(dir, run))
	seal(t, dir)
	r, err := qual.Judge(dir)
	require.NoError(t, err)
	require.Empty(t, failedChecks(r))
	require.False(t, r.Workloads["ranking"].Ranking.Identity.Made)
	require.Contains(t, strings.Join(r.Doubts, "\n"), "scores were not compared")
	require.Contains(t, string(r.Markdown()), "No direct Task call was made")
}

func TestFaultyScoresAreFailedRequestsAndNothingIsCompared(t *testing.T) {
	for _, kind := range []reference.FaultKind{reference.FaultNaNScore, reference.FaultShortScores, reference.FaultError} {
		t.Run(string(kind), func(t *testing.T) {
			params := reference.RankingParams()
			params.Timing, params.Fault = reference.Timing{}, &reference.Fault{Kind: kind}
			r, err := qual.Judge(rankingRun{params: &params}.make(t))
			require.NoError(t, err)
			w := r.Workloads["ranking"]
			require.Equal(t, qual.Counts{Offered: 20, Failed: 20}, w.Measured)
			require.Contains(t, failedChecks(r), "no request failed")
			require.Contains(t, failedChecks(r)[identityCheck].Detail, "nothing was compared")
			require.NotContains(t, failedChecks(r), directCheck, "a direct call may fail where HTTP failed too")
			require.Equal(t, qual.Compared{}, w.Ranking.Identity.Measured)
		})
	}
}

// byPlace is a model whose scores depend on a passage's place, as those of a batch with positions would.
type byPlace struct{}

func (byPlace) Info() task.Info {
	return task.Info{Runtime: "places/1", Tasks: []task.Decl{{ID: task.TextQueryDocumentsToRelevance, Major: 1}}}
}

func (byPlace) Lookup(id task.ID) (any, error) {
	if id != task.TextQueryDocumentsToRelevance {
		return nil, task.Unsupported(id)
	}
	return byPlace{}, nil
}

func (byPlace) Close() error { return nil }

func (byPlace) Score(_ context.Context, req task.ScoreRequest) (task.ScoreResult, error) {
	out := task.ScoreResult{Kind: task.ScoreUnbounded, Timing: task.Timing{Start: time.Now(), Call: time.Nanosecond}}
	for i, d := range req.Documents {
		out.Scores = append(out.Scores, float32(len(d))+float32(i)/1024)
	}
	return out, nil
}

func TestScoresThatDependOnThePlaceAreFound(t *testing.T) {
	r, err := qual.Judge(rankingRun{model: byPlace{}}.make(t))
	require.NoError(t, err)
	require.Equal(t, []string{permutedCheck}, keys(failedChecks(r)))
	require.ElementsMatch(t, []string{"rank-000", "rank-005", "rank-010", "rank-015"}, failedChecks(r)[permutedCheck].IDs)
	k := r.Workloads["ranking"].Ranking
	require.Equal(t, qual.Compared{Equal: 20, Compared: 20}, k.Identity.Measured, "the same place gives the same score")
	require.Equal(t, qual.Compared{Compared: 4}, k.Identity.Permuted)
	require.Equal(t, []qual.ScoreKindCount{{Kind: "unbounded", Count: 20}}, k.ScoreKinds)
}

func keys(m map[string]qual.Check) []string {
	out := []string{}
	for k := range m {
		out = append(out, k)
	}
	return out
}

func TestTheClientRefusesToRunWithoutAnswersOrWorkload(t *testing.T) {
	folder := t.TempDir()
	_, err := (&qual.RankingClient{Sender: &trace.Sender{}}).Run(context.Background(), folder)
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = qual.PrepareRanking(folder, someGroups(t, 2), qual.RankingOptions{Model: "r", Count: 2})
	require.NoError(t, err)
	_, err = (&qual.RankingClient{Sender: &trace.Sender{BaseURL: "http://127.0.0.1:1"}}).Run(context.Background(), folder)
	require.ErrorContains(t, err, "does not keep responses")
	edit(t, folder, qual.WorkloadFile, func(lines []string) []string { return lines[1:] })
	_, err = (&qual.RankingClient{Sender: &trace.Sender{BaseURL: "http://127.0.0.1:1", KeepResponse: true}}).Run(context.Background(), folder)
	require.ErrorIs(t, err, trace.ErrDigest)
}

func TestACancelledRunStillHasARowForEveryRequest(t *testing.T) {
	folder := t.TempDir()
	_, err := qual.PrepareRanking(folder, someGroups(t, 3), qual.RankingOptions{Model: "r", Count: 8, Warmup: 2})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	sender := &trace.Sender{BaseURL: "http://127.0.0.1:1", KeepResponse: true}
	defer sender.Close()
	_, err = (&qual.RankingClient{Sender: sender}).Run(ctx, folder)
	require.ErrorIs(t, err, context.Canceled)
	f, err := os.Open(filepath.Join(folder, qual.ClientFile))
	require.NoError(t, err)
	defer f.Close()
	seen := map[trace.Phase]int{}
	for rows := trace.NewRowReader(f, "client"); rows.Scan(); {
		row, bad := rows.Row()
		require.Nil(t, bad)
		require.Equal(t, trace.ResultNotSent, row.Result)
		seen[row.Phase]++
	}
	require.Equal(t, map[trace.Phase]int{trace.PhaseWarmup: 2, trace.PhaseMeasured: 8}, seen)
}

func TestDirectScoringStopsAtTheFirstError(t *testing.T) {
	ranker, err := ranking.ModelOf("r", byPlace{})
	require.NoError(t, err)
	d := &qual.DirectScorer{Model: ranker}
	err = d.Run(context.Background(), []trace.Item{{RequestID: "a", Body: []byte(`{"query":1}`)}}, nil)
	require.ErrorContains(t, err, `score "a" directly: query: want an object`)
	good := trace.Item{RequestID: "b", Body: []byte(`{"query":{"text":"q"},"passages":[{"text":"p"}]}`)}
	err = d.Run(context.Background(), []trace.Item{good, good}, func(qual.DirectScores) error { return io.ErrShortWrite })
	require.ErrorIs(t, err, io.ErrShortWrite)
	var got []qual.DirectScores
	require.NoError(t, d.Run(context.Background(), []trace.Item{good}, func(s qual.DirectScores) error { got = append(got, s); return nil }))
	require.Equal(t, []float32{1}, got[0].Scores)

	end := trace.Item{RequestID: "c", Body: []byte(`{"query":{"text":"q"},"passages":[{"text":"p"}],"truncate":"END"}`)}
	require.NoError(t, d.Run(context.Background(), []trace.Item{end}, func(s qual.DirectScores) error { got = append(got, s); return nil }))
	require.Contains(t, got[1].Error, "no control for END", "what serving refuses is not scored either")
	require.Empty(t, got[1].Scores)
}
