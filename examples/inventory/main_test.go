package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native/reference"
	"github.com/trtmc-go/trtmc/native/task"
	"github.com/trtmc-go/trtmc/qual/inventory"
)

func TestTablePrintsEveryRowInScope(t *testing.T) {
	var stdout, stderr bytes.Buffer
	require.Equal(t, 0, run(t.Context(), nil, &stdout, &stderr))
	for _, want := range []string{"Qwen/Qwen3-0.6B", "nvidia/llama-nemotron-rerank-vl-1b-v2", "MiniMaxAI/MiniMax-H3", "Wan-AI/Wan2.2-TI2V-5B", "Wan-AI/Wan2.1-T2V-1.3B-Diffusers", "nvidia/Cosmos3-Nano", "Lightricks/LTX-Video"} {
		require.Contains(t, stdout.String(), want)
	}
	require.Empty(t, stderr.String())
}

func TestWrongUsageIsSaid(t *testing.T) {
	for _, args := range [][]string{{"-nonsense"}, {"extra"}, {"-runtime", "/x"}, {"-profile", "x"}} {
		var stdout, stderr bytes.Buffer
		require.Equal(t, 2, run(t.Context(), args, &stdout, &stderr), args)
		require.NotEmpty(t, stderr.String())
	}
}

func TestBundleIsReconciledWithItsRow(t *testing.T) {
	if _, ok := reference.Entry(); !ok {
		t.Skip("built without cgo: no runtime to load a bundle with")
	}
	path := filepath.Join(t.TempDir(), "video.bundle")
	require.NoError(t, reference.WriteBundle(path, reference.VideoParams(1280, 704, 121, 24, 50)))
	var stdout, stderr bytes.Buffer
	require.Equal(t, 0, run(t.Context(), []string{"-json", "-bundle", path, "-profile", "wan22-ti2v-5b"}, &stdout, &stderr), stderr.String())
	var out struct {
		Rows       []inventory.Row
		Reconciled []inventory.Reconciliation
	}
	require.NoError(t, json.Unmarshal(stdout.Bytes(), &out))
	require.Len(t, out.Reconciled, 1)
	r := out.Reconciled[0]
	require.True(t, r.Reference)
	require.Contains(t, r.Agree, "declares text_to_video")
	require.NotEmpty(t, r.Controls[task.TextToVideo])

	stdout.Reset()
	require.Equal(t, 0, run(t.Context(), []string{"-bundle", path}, &stdout, &stderr))
	require.Contains(t, stdout.String(), "## minimax-h3-768p against the loaded model")
	require.NotContains(t, stdout.String(), "## qwen3-0.6b-fp16 against")

	require.Equal(t, 1, run(t.Context(), []string{"-bundle", path, "-profile", "gpt"}, &stdout, &stderr))
	require.Contains(t, stderr.String(), "no such profile")
	require.Equal(t, 1, run(t.Context(), []string{"-bundle", path + ".none"}, &stdout, &stderr))
}
