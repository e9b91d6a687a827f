package trace_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/trtmc-go/trtmc/trace"
)

func prepareText(t testing.TB, dir, name, text string, opts trace.PrepareOptions) (*trace.Manifest, error) {
	t.Helper()
	src, err := trace.NewSource(strings.NewReader(text), name)
	require.NoError(t, err)
	defer src.Close()
	if opts.Plan.Speed == 0 {
		opts.Plan.Speed = 1
	}
	if opts.Model == "" {
		opts.Model = "demo"
	}
	return trace.Prepare(dir, src, opts)
}

// preparedRows reads rows.jsonl.
func preparedRows(t testing.TB, dir string) []trace.PreparedRow {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, trace.RowsFile))
	require.NoError(t, err)
	var out []trace.PreparedRow
	for line := range strings.Lines(string(data)) {
		var row trace.PreparedRow
		require.NoError(t, json.Unmarshal([]byte(line), &row))
		out = append(out, row)
	}
	return out
}

// body is what tests look at in a request.
type body struct {
	Model     string   `json:"model"`
	Prompt    string   `json:"prompt"`
	MaxTokens *int     `json:"max_tokens"`
	MaxNew    *int     `json:"max_completion_tokens"`
	MinTokens *int     `json:"min_tokens"`
	IgnoreEOS *bool    `json:"ignore_eos"`
	Stream    bool     `json:"stream"`
	Temp      *float64 `json:"temperature"`
	Messages  []struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	} `json:"messages"`
}

func bodyOf(t testing.TB, item trace.Item) body {
	t.Helper()
	var b body
	require.NoError(t, json.Unmarshal(item.Body, &b), "%s", item.Body)
	return b
}

func workload(t testing.TB, dir string) []trace.Item {
	t.Helper()
	items, err := trace.ReadWorkload(filepath.Join(dir, trace.WorkloadFile))
	require.NoError(t, err)
	return items
}

func TestPrepareRealTrace(t *testing.T) {
	dir := t.TempDir()
	src, err := trace.Open(conversation)
	require.NoError(t, err)
	defer src.Close()
	m, err := trace.Prepare(dir, src, trace.PrepareOptions{
		Plan:  trace.Plan{Speed: 1, Window: trace.Window{End: at(60 * time.Second)}},
		Fit:   trace.Fit{Policy: trace.FitScale, ContextTokens: 2048},
		Model: "reference", Streaming: true, Warmup: 4, Seed: 7,
		ForceLength: trace.ForceLength{MinTokens: true}, Extra: map[string]any{"temperature": 0.5},
	})
	require.NoError(t, err)
	require.Equal(t, 166, m.Requests)
	require.Equal(t, 4, m.WarmupRequests)
	require.Equal(t, 2728, m.Source.Rows)
	require.Empty(t, m.Source.BadLines)
	require.Equal(t, int64(0), m.Schedule.ZeroNS)
	read, err := trace.ReadManifest(filepath.Join(dir, trace.ManifestFile))
	require.NoError(t, err)
	require.Equal(t, m.Files, read.Files)

	items, rows := workload(t, dir), preparedRows(t, dir)
	require.Len(t, items, 166)
	require.Len(t, rows, 166)
	largest := 0
	for i, item := range items {
		b := bodyOf(t, item)
		require.Equal(t, rows[i].RequestID, item.RequestID)
		require.Equal(t, rows[i].OffsetNS, int64(item.Offset))
		require.Equal(t, "/v1/completions", item.Path)
		require.True(t, item.Streaming)
		require.True(t, b.Stream)
		require.Equal(t, "reference", b.Model)
		require.InDelta(t, 0.5, *b.Temp, 0)
		require.Len(t, strings.Fields(b.Prompt), rows[i].FittedInput)
		require.Equal(t, rows[i].FittedOutput, *b.MaxTokens)
		require.Equal(t, rows[i].FittedOutput, *b.MinTokens)
		require.Nil(t, b.IgnoreEOS)
		largest = max(largest, rows[i].FittedInput+rows[i].FittedOutput)
	}
	require.Equal(t, "mooncake-conversation-first-900s-000001", items[0].RequestID)
	require.LessOrEqual(t, largest, 2048)
	require.Greater(t, largest, 2040, "the largest row fills the context")

	warm, err := trace.ReadWorkload(filepath.Join(dir, trace.WarmupFile))
	require.NoError(t, err)
	require.Len(t, warm, 4)
	for i, item := range warm {
		require.True(t, strings.HasPrefix(item.RequestID, "warmup-mooncake-"))
		require.Zero(t, item.Offset)
		require.NotEqual(t, items[i].Body, item.Body, "warm-up has words of its own")
		require.Len(t, strings.Fields(bodyOf(t, item).Prompt), rows[i].FittedInput)
	}
}

func TestPrepareGivesTheSameBytesAgain(t *testing.T) {
	text := `{"timestamp":0,"input_length":600,"output_length":5,"hash_ids":[0,1]}` + "\n" + `{"timestamp":0.25,"input_length":3}` + "\n"
	a, b := t.TempDir(), t.TempDir()
	for _, dir := range []string{a, b} {
		_, err := prepareText(t, dir, "x.jsonl", text, trace.PrepareOptions{Warmup: 1})
		require.NoError(t, err)
	}
	for _, name := range []string{trace.WorkloadFile, trace.WarmupFile, trace.RowsFile, trace.ManifestFile} {
		first, err := os.ReadFile(filepath.Join(a, name))
		require.NoError(t, err)
		second, err := os.ReadFile(filepath.Join(b, name))
		require.NoError(t, err)
		require.Equal(t, string(first), string(second), name)
	}
	left, err := os.ReadDir(a)
	require.NoError(t, err)
	require.Len(t, left, 4, "no temporary file is left")
	items := workload(t, a)
	require.Equal(t, 250*time.Microsecond, items[1].Offset)
	require.Nil(t, bodyOf(t, items[1]).MaxTokens, "an unknown output length is not asked for")
}

func TestEqualBlocksGiveEqualWordsUnderEveryFit(t *testing.T) {
	text := `{"timestamp":0,"input_length":1500,"output_length":100,"hash_ids":[5,6,7]}
{"timestamp":1,"input_length":1300,"output_length":10,"hash_ids":[5,6,9]}
{"timestamp":2,"input_length":700,"output_length":10,"hash_ids":[5,8]}
`
	for _, fit := range []trace.Fit{
		{}, {Policy: trace.FitScale, ContextTokens: 400}, {Policy: trace.FitClamp, ContextTokens: 900, MaxOutputTokens: 50},
	} {
		dir := t.TempDir()
		_, err := prepareText(t, dir, "x.jsonl", text, trace.PrepareOptions{Fit: fit})
		require.NoError(t, err)
		items, rows := workload(t, dir), preparedRows(t, dir)
		words := make([][]string, 3)
		for i := range words {
			words[i] = strings.Fields(bodyOf(t, items[i]).Prompt)
			require.Len(t, words[i], rows[i].FittedInput)
		}
		block := 512 * rows[0].FittedInput / 1500
		if fit.Policy == trace.FitClamp {
			block = 512
			require.Equal(t, []int{850, 50}, []int{rows[0].FittedInput, rows[0].FittedOutput})
			require.Equal(t, words[0][:850], words[1][:850], "the cut keeps the shared prefix")
		} else {
			require.Equal(t, words[0][:2*block], words[1][:2*block], "two shared blocks")
			require.NotEqual(t, words[0][2*block:2*block+20], words[1][2*block:2*block+20])
		}
		require.Equal(t, words[0][:block], words[2][:block], "one shared block")
		require.NotEqual(t, words[0][block:block+20], words[2][block:block+20])
	}
}

func TestFitDropListsWhatItDrops(t *testing.T) {
	text := `{"timestamp":0,"input_length":90,"output_length":10}
{"timestamp":1,"input_length":91,"output_length":10}
{"timestamp":2,"input_length":5,"output_length":60}
{"timestamp":3,"input_length":7}
`
	dir := t.TempDir()
	m, err := prepareText(t, dir, "x.jsonl", text, trace.PrepareOptions{Fit: trace.Fit{Policy: trace.FitDrop, ContextTokens: 110, ReserveTokens: 10, MaxOutputTokens: 50}})
	require.NoError(t, err)
	require.Equal(t, 2, m.Requests)
	require.Equal(t, []trace.BadLine{{Line: 2, What: "input 91 and output 10 do not fit 100 tokens"}, {Line: 3, What: "output 60 is above the limit of 50"}}, m.Fit.Dropped)
	require.Len(t, workload(t, dir), 2)

	_, err = prepareText(t, dir, "x.jsonl", text, trace.PrepareOptions{Fit: trace.Fit{Policy: trace.FitDrop, ContextTokens: 2}})
	require.ErrorIs(t, err, trace.ErrNoRows)
	require.ErrorContains(t, err, "dropped all 4 rows")
}

func TestScaledRowsAlwaysFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "fit")
		require.NoError(t, err)
		defer os.RemoveAll(dir)
		var text strings.Builder
		n := rapid.IntRange(1, 6).Draw(t, "rows")
		for i := range n {
			row := map[string]int{"timestamp": i, "input_length": rapid.IntRange(1, 3000).Draw(t, "input")}
			if out := rapid.IntRange(0, 2000).Draw(t, "output"); out > 0 {
				row["output_length"] = out
			}
			line, err := json.Marshal(row)
			require.NoError(t, err)
			text.Write(append(line, '\n'))
		}
		limit := rapid.IntRange(2, 4000).Draw(t, "context")
		maxOut := rapid.IntRange(0, 500).Draw(t, "max output")
		src, err := trace.NewSource(strings.NewReader(text.String()), "x.jsonl")
		require.NoError(t, err)
		policy := rapid.SampledFrom([]trace.FitPolicy{trace.FitScale, trace.FitClamp}).Draw(t, "policy")
		_, err = trace.Prepare(dir, src, trace.PrepareOptions{
			Plan: trace.Plan{Speed: 1}, Model: "m", Fit: trace.Fit{Policy: policy, ContextTokens: limit, MaxOutputTokens: maxOut},
		})
		require.NoError(t, err)
		data, err := os.ReadFile(filepath.Join(dir, trace.RowsFile))
		require.NoError(t, err)
		for line := range strings.Lines(string(data)) {
			var row trace.PreparedRow
			require.NoError(t, json.Unmarshal([]byte(line), &row))
			require.LessOrEqual(t, row.FittedInput+max(row.FittedOutput, 1), limit)
			require.GreaterOrEqual(t, row.FittedInput, 1)
			require.LessOrEqual(t, row.FittedInput, row.InputTokens)
			require.LessOrEqual(t, row.FittedOutput, row.OutputTokens)
			require.Equal(t, row.OutputTokens > 0, row.FittedOutput > 0)
			if maxOut > 0 {
				require.LessOrEqual(t, row.FittedOutput, max(maxOut, 1))
			}
		}
	})
}

func TestLiteralRowsPassThrough(t *testing.T) {
	text := `{"timestamp":0,"payload":{"model":"other", "prompt":[1,2],"stream":true}}
{"timestamp":1,"text_input":"say \"hé\"","output_length":9,"extra":{"min_tokens":4,"temperature":0}}
`
	dir := t.TempDir()
	m, err := prepareText(t, dir, "x.jsonl", text, trace.PrepareOptions{Extra: map[string]any{"temperature": 1}, Warmup: 1, Fit: trace.Fit{Policy: trace.FitScale, ContextTokens: 8}})
	require.NoError(t, err)
	require.Equal(t, 2, m.Prompts.LiteralRows)
	items := workload(t, dir)
	require.Equal(t, `{"model":"other", "prompt":[1,2],"stream":true}`, string(items[0].Body), "verbatim")
	require.True(t, items[0].Streaming)
	require.False(t, items[1].Streaming)
	b := bodyOf(t, items[1])
	require.Equal(t, `say "hé"`, b.Prompt)
	require.Equal(t, 9, *b.MaxTokens)
	require.Equal(t, 4, *b.MinTokens)
	require.Zero(t, *b.Temp, "the row wins")

	chat := `{"timestamp":0,"messages":[{"role":"user","content":"x"}],"output_length":3}` + "\n" + `{"timestamp":0,"input_length":4,"output_length":2}`
	_, err = prepareText(t, dir, "x.jsonl", chat, trace.PrepareOptions{})
	require.ErrorContains(t, err, "x.jsonl:1: messages and tools need the endpoint chat")
	_, err = prepareText(t, dir, "x.jsonl", chat, trace.PrepareOptions{Endpoint: trace.EndpointChat, ForceLength: trace.ForceLength{IgnoreEOS: true}})
	require.NoError(t, err)
	items = workload(t, dir)
	require.Equal(t, "/v1/chat/completions", items[0].Path)
	b = bodyOf(t, items[0])
	require.Equal(t, "x", b.Messages[0].Content)
	require.Equal(t, 3, *b.MaxNew)
	require.True(t, *b.IgnoreEOS)
	b = bodyOf(t, items[1])
	require.Equal(t, "user", b.Messages[0].Role)
	require.Len(t, strings.Fields(b.Messages[0].Content), 4)

	double := `{"timestamp":0,"input_length":4,"extra":{"stream":true}}`
	_, err = prepareText(t, dir, "x.jsonl", double, trace.PrepareOptions{})
	require.ErrorContains(t, err, `x.jsonl:1: extra member "stream"`)
}

func TestFailedRowsAreNeverAskedForZeroTokens(t *testing.T) {
	text := "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,ChatGPT,472,18,490,API log\n45,GPT-4,1087,0,1087,API log\n118,ChatGPT,417,276,693,x"
	dir := t.TempDir()
	m, err := prepareText(t, dir, "b.csv", text, trace.PrepareOptions{Format: trace.FormatBurstGPT})
	require.NoError(t, err)
	require.Equal(t, 3, m.Source.Rows)
	require.Equal(t, []int{3}, m.Source.FailedRows)
	require.Equal(t, 2, m.Requests)
	m, err = prepareText(t, dir, "b.csv", text, trace.PrepareOptions{Format: trace.FormatBurstGPT, Failed: trace.FailedKeep})
	require.NoError(t, err)
	require.Equal(t, 3, m.Requests)
	require.Equal(t, 1, *bodyOf(t, workload(t, dir)[1]).MaxTokens)
	require.Zero(t, preparedRows(t, dir)[1].OutputTokens)
}

func TestShardsOfOneTraceShareZeroAndFactor(t *testing.T) {
	text := `{"timestamp":1000,"input_length":4000,"output_length":96}
{"timestamp":1500,"input_length":400,"output_length":10}
{"timestamp":2000,"input_length":40,"output_length":10}
`
	seen := map[string]bool{}
	for shard := range 2 {
		dir := t.TempDir()
		m, err := prepareText(t, dir, "x.jsonl", text, trace.PrepareOptions{
			Plan: trace.Plan{Speed: 1, Shard: shard, Shards: 2}, Fit: trace.Fit{Policy: trace.FitScale, ContextTokens: 1024}, Warmup: 1,
		})
		require.NoError(t, err)
		require.Equal(t, "1024/4096", m.Fit.Factor)
		require.Equal(t, int64(time.Second), m.Schedule.ZeroNS)
		items := workload(t, dir)
		require.Equal(t, time.Duration(shard)*500*time.Millisecond, items[0].Offset)
		warm, err := trace.ReadWorkload(filepath.Join(dir, trace.WarmupFile))
		require.NoError(t, err)
		for _, item := range append(items, warm...) {
			require.False(t, seen[item.RequestID], item.RequestID)
			seen[item.RequestID] = true
		}
	}
	require.Len(t, seen, 5)
}

func TestChangedWorkloadIsRefused(t *testing.T) {
	dir := t.TempDir()
	_, err := prepareText(t, dir, "x.jsonl", `{"timestamp":0,"input_length":5}`, trace.PrepareOptions{})
	require.NoError(t, err)
	path := filepath.Join(dir, trace.WorkloadFile)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(data), `"timestamp":0`, `"timestamp":1`, 1)), 0o644))
	_, err = trace.ReadWorkload(path)
	require.ErrorIs(t, err, trace.ErrDigest)
	_, err = trace.ReadWorkload(filepath.Join(dir, "other.jsonl"))
	require.ErrorContains(t, err, "does not name it")
	_, err = trace.ReadWorkload(filepath.Join(t.TempDir(), trace.WorkloadFile))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestWordListIsUsable(t *testing.T) {
	data, err := os.ReadFile("words.txt")
	require.NoError(t, err)
	words := strings.Fields(string(data))
	require.Len(t, words, 1024)
	seen := map[string]bool{}
	for _, w := range words {
		require.Regexp(t, "^[a-z]{1,6}$", w)
		require.False(t, seen[w], w)
		seen[w] = true
	}
}
