package qual_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/qual"
)

func TestTheSameEvidenceTwiceIsNoDifference(t *testing.T) {
	dir := makeRun(t)
	c, err := qual.Compare(dir, dir)
	require.NoError(t, err)
	require.True(t, c.Same())
	require.Empty(t, c.Warnings)
	text := string(c.Markdown())
	require.Contains(t, text, "**no difference**")
	require.Contains(t, text, "## Workload w")
	require.Contains(t, text, qual.TooFewSamples, "12 requests carry no median")
	again, err := qual.Compare(dir, dir)
	require.NoError(t, err)
	require.Equal(t, text, string(again.Markdown()))
}

func TestComparingWarnsOfOtherSettings(t *testing.T) {
	a, b := makeRun(t), makeRun(t)
	run, err := qual.ReadRun(b)
	require.NoError(t, err)
	run.Runtime.Version, run.Server.Lanes = "other/2", 4
	run.Bundles = []qual.BundleFacts{{Model: "m", SHA256: "0123456789abcdef"}}
	run.Workloads[0].Settings = map[string]any{"scale": 3}
	require.NoError(t, qual.WriteRun(b, run))
	edit(t, b, workload, func(lines []string) []string { return lines[1:] })
	c, err := qual.Compare(a, b)
	require.NoError(t, err)
	require.False(t, c.Same())
	text := string(c.Markdown())
	for _, want := range []string{
		"Warning: runtime: A has", "Warning: server: A has", "Warning: bundles: A has not known, B has m 0123456789ab", "Warning: settings of w",
		"Warning: workload file of w", "Warning: checks of B did not hold",
	} {
		require.Contains(t, text, want)
	}
	_, err = qual.Compare(a, t.TempDir())
	require.ErrorIs(t, err, qual.ErrNoRun)
	require.ErrorContains(t, err, "second folder")
}
