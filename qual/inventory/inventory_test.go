package inventory

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native/task"
)

func load(t *testing.T) Inventory {
	t.Helper()
	inv, err := Load()
	require.NoError(t, err)
	return inv
}

func TestInventoryListsFiveInScopeTwoGapsAndTheVariantsApart(t *testing.T) {
	byScope := map[Scope][]string{}
	for _, r := range load(t).Rows {
		byScope[r.Scope] = append(byScope[r.Scope], r.Profile)
	}
	require.Equal(t, []string{"qwen3-0.6b-fp16", "nemotron-rerank-vl-1b-v2", "minimax-h3-768p", "wan22-ti2v-5b", "wan21-t2v-1.3b"}, byScope[InScope])
	require.Equal(t, []string{"cosmos3-nano-l0", "ltx-video-l0"}, byScope[Gap])
	require.Len(t, byScope[Variant], 6)
}

func TestDataThatBreaksItsRulesIsRefused(t *testing.T) {
	row := `{"profile":"a","scope":"in scope","workload":"video","checkpoint":"o/n","revision":"` + strings.Repeat("a", 40) + `","tasks":["text_to_video"],"controls":[],"sources":["s"]}`
	for name, text := range map[string]string{
		"schema":            `{"schema":2,"rows":[]}`,
		"unknown field":     `{"schema":1,"status":"AIPerf-qualified","rows":[]}`,
		"twice":             `{"schema":1,"rows":[` + row + `,` + row + `]}`,
		"short revision":    `{"schema":1,"rows":[` + strings.Replace(row, strings.Repeat("a", 40), "abc", 1) + `]}`,
		"scope":             `{"schema":1,"rows":[` + strings.Replace(row, "in scope", "maybe", 1) + `]}`,
		"workload":          `{"schema":1,"rows":[` + strings.Replace(row, `"video"`, `"audio"`, 1) + `]}`,
		"gap without words": `{"schema":1,"rows":[` + strings.Replace(row, "in scope", "gap", 1) + `]}`,
		"variant of nobody": `{"schema":1,"rows":[` + strings.Replace(row, `"scope":"in scope"`, `"scope":"variant","gap":"g","of":"z"`, 1) + `]}`,
		"no sources":        `{"schema":1,"rows":[` + strings.Replace(row, `["s"]`, `[]`, 1) + `]}`,
	} {
		_, err := Parse([]byte(text))
		require.ErrorIs(t, err, ErrData, name)
	}
	_, err := Parse([]byte(`{"schema":1,"rows":[` + row + `]}`))
	require.NoError(t, err)
}

func TestRowOfAnUnknownProfile(t *testing.T) {
	_, err := load(t).Row("gpt")
	require.ErrorIs(t, err, ErrNoRow)
}

func TestRenderingIsDeterministicAndRoundTrips(t *testing.T) {
	inv := load(t)
	var a, b, md1, md2 bytes.Buffer
	require.NoError(t, inv.WriteJSON(&a))
	again, err := Parse(a.Bytes())
	require.NoError(t, err)
	require.NoError(t, again.WriteJSON(&b))
	require.Equal(t, a.String(), b.String())
	require.NoError(t, inv.WriteMarkdown(&md1, nil))
	require.NoError(t, again.WriteMarkdown(&md2, nil))
	require.Equal(t, md1.String(), md2.String())
	for _, r := range inv.Rows {
		require.Contains(t, md1.String(), r.Profile)
		require.Contains(t, md1.String(), r.Gap)
		require.Contains(t, md1.String(), strings.Join(r.Sources, ", "))
	}
}

func TestStatusIsPrintedOnlyWithEvidence(t *testing.T) {
	inv := load(t)
	var without, with bytes.Buffer
	require.NoError(t, inv.WriteMarkdown(&without, nil))
	require.NotContains(t, without.String(), "| planned |")
	require.NoError(t, inv.WriteMarkdown(&with, func(profile string) Evidence {
		return Evidence{AdapterChecks: profile == "wan22-ti2v-5b"}
	}))
	require.Equal(t, 1, strings.Count(with.String(), "| implemented |"))
	require.Equal(t, len(inv.Rows)-1, strings.Count(with.String(), "| planned |"))
}

func videoInfo(fields ...task.Field) task.Info {
	return task.Info{Runtime: "1.2", Family: "wan", Tasks: []task.Decl{{ID: task.TextToVideo, Major: 1, Fields: fields}}}
}

func TestReconcileComparesDefaultsWithPins(t *testing.T) {
	row, err := load(t).Row("wan22-ti2v-5b")
	require.NoError(t, err)
	r := Reconcile(row, videoInfo(
		task.Field{Name: "num_inference_steps", Kind: task.KindInt, Default: task.Int(50)},
		task.Field{Name: "guidance_scale", Kind: task.KindFloat, Default: task.Float(4.5)},
		task.Field{Name: "width", Kind: task.KindInt}, // computed by the model: nothing to compare
	))
	require.Equal(t, []string{"declares text_to_video", "text_to_video.num_inference_steps defaults to 50"}, r.Agree)
	require.Equal(t, []string{"text_to_video.guidance_scale defaults to 4.5, pinned as 5"}, r.Disagree)
	require.Len(t, r.Controls[task.TextToVideo], 3)
}

func TestReconcileFindsMissingTasksAndWrongControls(t *testing.T) {
	row, err := load(t).Row("qwen3-0.6b-fp16")
	require.NoError(t, err)
	r := Reconcile(row, task.Info{Family: "qwen", Tasks: []task.Decl{{ID: task.TextContinuation, Fields: []task.Field{
		{Name: "max_new_tokens", Kind: task.KindInt, Default: task.Int(128)},
		{Name: "seed", Kind: task.KindFloat, Default: task.Float(-1)},
		{Name: "generation_mode", Kind: task.KindString, Default: task.String("greedy")},
	}}}})
	require.Contains(t, r.Agree, "the family is qwen")
	require.Contains(t, r.Agree, "text_continuation.max_new_tokens defaults to 128")
	require.Contains(t, r.Disagree, "does not declare streaming_text_continuation")
	require.Contains(t, r.Disagree, "text_continuation.seed is of kind float, pinned as int")
	require.Contains(t, r.Disagree, `text_continuation.generation_mode defaults to "greedy", pinned as "auto"`)
	require.Contains(t, r.Disagree, "text_continuation.top_k is not declared")
}

func TestReconcileSaysWhenTheModelStandsInForTheCheckpoint(t *testing.T) {
	row, err := load(t).Row("minimax-h3-768p")
	require.NoError(t, err)
	info := videoInfo()
	info.Reference, info.Family = true, "reference_video"
	var out bytes.Buffer
	require.NoError(t, Reconcile(row, info).WriteMarkdown(&out))
	require.Contains(t, out.String(), "CPU reference runtime")
	require.Contains(t, out.String(), "does not declare text_to_audio_video")
}
