package qual_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/qual"
	"github.com/trtmc-go/trtmc/qual/aiperf"
	"github.com/trtmc-go/trtmc/trace"
	"github.com/trtmc-go/trtmc/video"
)

const promptsFile = "../examples/qualify/data/video-prompts.jsonl"

func readPrompts(t *testing.T) *qual.VideoPrompts {
	t.Helper()
	f, err := os.Open(promptsFile)
	require.NoError(t, err)
	defer f.Close()
	p, err := qual.ReadVideoPrompts(f, "video-prompts.jsonl")
	require.NoError(t, err)
	return p
}

func TestPromptsOfTheBuiltInPlanPinTwoShapes(t *testing.T) {
	shapes := map[[3]int]int{}
	dir := t.TempDir()
	_, err := qual.PrepareVideo(dir, readPrompts(t), qual.VideoOptions{Model: "v", Count: 6, Warmup: 1})
	require.NoError(t, err)
	items, err := trace.ReadWorkload(filepath.Join(dir, qual.WorkloadFile))
	require.NoError(t, err)
	for _, item := range items {
		req, err := video.DecodeJSON(item.Body, video.Limits{})
		require.NoError(t, err)
		s := req.Spec
		require.NotNil(t, s.Seed)
		require.NotNil(t, s.Steps)
		require.True(t, s.FPS.Known())
		shapes[[3]int{s.Width, s.Height, s.Frames}]++
	}
	require.Equal(t, map[[3]int]int{{832, 480, 17}: 3, {1280, 704, 25}: 3}, shapes)
}

func TestBadPromptsAreRefusedWithTheirLine(t *testing.T) {
	const good = `{"session_id":"a","text":"p","extra":{}}`
	for name, c := range map[string]struct{ line, says string }{
		"no id":             {`{"text":"p","extra":{}}`, "session_id is missing"},
		"no extra":          {`{"session_id":"a","text":"p"}`, "extra is missing"},
		"blank prompt":      {`{"session_id":"a","text":" ","extra":{}}`, "want a prompt"},
		"unknown member":    {`{"session_id":"a","text":"p","extra":{},"texts":[]}`, `unknown member "texts"`},
		"bad id":            {`{"session_id":"a b","text":"p","extra":{}}`, "session_id"},
		"extra is a list":   {`{"session_id":"a","text":"p","extra":[]}`, "want an object"},
		"unknown setting":   {`{"session_id":"a","text":"p","extra":{"sharpness":1}}`, "sharpness"},
		"bad setting":       {`{"session_id":"a","text":"p","extra":{"size":"832"}}`, "size"},
		"prompt twice":      {`{"session_id":"a","text":"p","extra":{"prompt":"q"}}`, "prompt"},
		"model in the file": {`{"session_id":"a","text":"p","extra":{"model":"q"}}`, "model"},
		"text behind it":    {good + `{}`, "one JSON object a line"},
		"cut off":           {good[:20], "invalid JSON"},
		"id twice":          {good, `"a" stands in line 1 already`},
	} {
		t.Run(name, func(t *testing.T) {
			first := ""
			if name == "id twice" {
				first = good + "\n"
			}
			_, err := qual.ReadVideoPrompts(strings.NewReader(first+c.line+"\n"), "p.jsonl")
			require.ErrorContains(t, err, c.says)
			var at *trace.SyntaxError
			require.ErrorAs(t, err, &at)
			require.Equal(t, 1+strings.Count(first, "\n"), at.Pos.Line)
		})
	}
	_, err := qual.ReadVideoPrompts(strings.NewReader("\n"), "p.jsonl")
	require.ErrorContains(t, err, "no prompt")
}

func TestEqualPromptsGiveEqualWorkloads(t *testing.T) {
	opts := qual.VideoOptions{Model: "v", Count: 9, Warmup: 2, Concurrency: 2, Poll: 50 * time.Millisecond}
	var files [2][]byte
	for i := range files {
		dir := t.TempDir()
		m, err := qual.PrepareVideo(dir, readPrompts(t), opts)
		require.NoError(t, err)
		require.EqualValues(t, 50*time.Millisecond, m.PollNS)
		for _, name := range []string{qual.WorkloadFile, qual.WarmupFile, qual.ManifestFile} {
			data, err := os.ReadFile(filepath.Join(dir, name))
			require.NoError(t, err)
			files[i] = append(files[i], data...)
		}
		again, err := qual.ReadVideoManifest(dir)
		require.NoError(t, err)
		require.Equal(t, m, again)
	}
	require.Equal(t, string(files[0]), string(files[1]))
	require.Contains(t, string(files[0]), `"session_id":"vid-000-r1"`, "the ninth clip takes the first prompt again")
	require.Contains(t, string(files[0]), `"session_id":"warmup-vid-001-r1"`)
}

func TestImpossibleVideoOptionsAreRefused(t *testing.T) {
	for says, opts := range map[string]qual.VideoOptions{
		"model is empty": {Count: 1}, "want 1 or more": {Model: "v"}, "warm-up clips": {Model: "v", Count: 1, Warmup: -1},
		"concurrency -1": {Model: "v", Count: 1, Concurrency: -1}, "above 0": {Model: "v", Count: 1, Poll: -1},
	} {
		_, err := qual.PrepareVideo(t.TempDir(), readPrompts(t), opts)
		require.ErrorContains(t, err, says)
	}
}

// TestWorkloadTurnsBackIntoThePromptsThatAIPerfReads holds the two clients to the same requests.
func TestWorkloadTurnsBackIntoThePromptsThatAIPerfReads(t *testing.T) {
	dir := t.TempDir()
	_, err := qual.PrepareVideo(dir, readPrompts(t), qual.VideoOptions{Model: "v", Count: 8})
	require.NoError(t, err)
	workload, err := os.Open(filepath.Join(dir, qual.WorkloadFile))
	require.NoError(t, err)
	defer workload.Close()
	var rows bytes.Buffer
	_, err = aiperf.WriteSingleTurn(&rows, workload, "workload.jsonl", aiperf.Video, false)
	require.NoError(t, err)
	want, err := os.ReadFile(promptsFile)
	require.NoError(t, err)
	require.Equal(t, decoded(t, want), decoded(t, rows.Bytes()))
}

func decoded(t *testing.T, lines []byte) (out []any) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(lines))
	for dec.More() {
		var v any
		require.NoError(t, dec.Decode(&v))
		out = append(out, v)
	}
	return out
}
