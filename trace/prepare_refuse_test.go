package trace_test

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/trace"
)

func TestBadLinesFailPrepareUnlessSkipped(t *testing.T) {
	text := "{\"timestamp\":0,\"input_length\":1}\noops\n{\"timestamp\":-1,\"input_length\":1}\n"
	dir := t.TempDir()
	_, err := prepareText(t, dir, "x.jsonl", text, trace.PrepareOptions{})
	var bad *trace.BadLinesError
	require.ErrorAs(t, err, &bad)
	require.Len(t, bad.Lines, 2)
	require.ErrorContains(t, err, "x.jsonl:2: ")
	require.ErrorContains(t, err, "x.jsonl:3: ")
	require.NotContains(t, err.Error(), "\n")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)

	m, err := prepareText(t, dir, "x.jsonl", text, trace.PrepareOptions{SkipBad: true})
	require.NoError(t, err)
	require.Equal(t, 1, m.Requests)
	require.Len(t, m.Source.BadLines, 2)
	require.Equal(t, 2, m.Source.BadLines[0].Line)
}

func TestEmptyTraceAndEmptyWindowAreErrors(t *testing.T) {
	_, err := prepareText(t, t.TempDir(), "x.jsonl", "\n\n", trace.PrepareOptions{})
	require.ErrorIs(t, err, trace.ErrNoRows)
	require.ErrorContains(t, err, "the trace is empty")
	row := `{"timestamp":0,"input_length":1}`
	_, err = prepareText(t, t.TempDir(), "x.jsonl", row, trace.PrepareOptions{Plan: trace.Plan{Speed: 1, Window: trace.Window{Start: at(time.Second)}}})
	require.ErrorIs(t, err, trace.ErrNoRows)
	_, err = prepareText(t, t.TempDir(), "x.jsonl", row, trace.PrepareOptions{Plan: trace.Plan{Speed: 1, Shard: 1, Shards: 2}})
	require.ErrorIs(t, err, trace.ErrNoRows)
	require.ErrorContains(t, err, "shard 1 of 2")
}

func TestPrepareRefusesBadOptions(t *testing.T) {
	row := `{"timestamp":0,"input_length":1}`
	for want, opts := range map[string]trace.PrepareOptions{
		`format "x"`:           {Format: "x"},
		`endpoint "x"`:         {Endpoint: "x"},
		`failed rows "x"`:      {Failed: "x"},
		`fit "x"`:              {Fit: trace.Fit{Policy: "x"}},
		"context of 0 tokens":  {Fit: trace.Fit{Policy: trace.FitScale}},
		"speed -1":             {Plan: trace.Plan{Speed: -1}},
		"-1 warm-up":           {Warmup: -1},
		`prefix "a b"`:         {Prefix: "a b"},
		`extra member "model"`: {Extra: map[string]any{"model": "x"}},
		`extra member "f"`:     {Extra: map[string]any{"f": func() {}}},
		`time unit "h"`:        {Unit: "h"},
	} {
		_, err := prepareText(t, t.TempDir(), "x.jsonl", row, opts)
		require.ErrorContains(t, err, want)
	}
}
