package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native/reference"
	"github.com/trtmc-go/trtmc/qual"
	"github.com/trtmc-go/trtmc/qual/inventory"
)

func writePlan(t *testing.T, dir, text string) string {
	t.Helper()
	path := filepath.Join(dir, "plan.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

func TestPlanOfTheReadmeIsReadAsItStands(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	block := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindSubmatch(readme)
	require.NotNil(t, block, "README.md has no plan")
	dir := t.TempDir()
	set, err := parseFlags([]string{"qualify", "-plan", writePlan(t, dir, string(block[1])), "-lanes", "3"}, os.Stdout)
	require.NoError(t, err)
	require.Equal(t, "/opt/trtmc/lib/libtrtmc_c.so.1", set.runtime)
	require.Equal(t, []modelSpec{{"qwen3", filepath.Join(dir, "bundles/qwen3-0.6b-fp16.bundle")}}, set.models)
	require.Equal(t, 256, set.context)
	require.Equal(t, filepath.Join(dir, "groups.jsonl"), set.rankingGroups)
	require.Equal(t, "10m0s", set.videoTimeout.String())
	require.Equal(t, 3, set.lanes, "a flag wins over the plan")
	require.Equal(t, 1, set.rankingLanes)
	inv, err := inventory.Load()
	require.NoError(t, err)
	for _, b := range set.planned.Bundles {
		row, err := inv.Row(b.Profile)
		require.NoError(t, err)
		require.Equal(t, row.Checkpoint+row.Revision, b.Checkpoint+b.Revision)
	}
}

func TestPlanThatIsWrongNamesTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"seed: 1\nruntim: x\n":                       "line 2: field runtim not found",
		"workloads:\n  ranking: {coun: 3}\n":         "line 2: field coun not found",
		"seed: 1\nseed: 2\n":                         `line 2: mapping key "seed" already defined`,
		"seed: 1\n\nlanes: {text-trace: many}\n":     `line 3: "many"`,
		"timeout: [1s]\n":                            "line 1: want one value",
		"lanes: {text-trace: 0}\n":                   "-lanes 0: want 1 or more",
		"bundles: [{name: a}]\n":                     "bundles[0]: name and path are both needed",
		"validations: [{bundle: a, command: [x]}]\n": `validations[0]: bundle "a" is none of the plan's bundles`,
		"seed: 1\n---\nseed: 2\n":                    "more than one document",
		"seed: [\n":                                  "line",
	} {
		code, _, stderr := start(t, "-plan", writePlan(t, t.TempDir(), text))
		require.Equal(t, exitUsage, code, text)
		require.Contains(t, stderr, want, text)
		require.Regexp(t, `\A[^\n]+\n\z`, stderr, "one line")
	}
}

// planRun runs a plan with one ranking bundle of the reference runtime and one validation command.
func planRun(t *testing.T, command string, extra ...string) (dir string, code int, stdout, stderr string) {
	t.Helper()
	home := t.TempDir()
	require.NoError(t, reference.WriteBundle(filepath.Join(home, "ranker.bundle"), reference.RankingParams()))
	plan := writePlan(t, home, fmt.Sprintf(`
out: q
bundles: [{name: ranker, path: ranker.bundle, checkpoint: some/checkpoint, revision: abc, profile: none-such}]
validations: [{bundle: ranker, command: [sh, -c, %q, "{bundle}"], env: {GREETING: hello}}]
workloads: {ranking: {count: 4}}
`, command))
	code, stdout, stderr = start(t, append([]string{"-plan", plan}, extra...)...)
	return filepath.Join(home, "q"), code, stdout, stderr
}

func TestValidationCommandIsEvidenceWhateverItsEnd(t *testing.T) {
	for name, c := range map[string]struct {
		command string
		code    int
		ran     bool
		passed  bool
	}{
		"passed":  {`test -s "$0" && echo "$GREETING"`, exitHeld, true, true},
		"skipped": {`echo hello; exit 77`, exitHeld, false, false},
		"failed":  {`echo hello; exit 3`, exitFailed, true, false},
		"changed": {`echo hello; printf x >>"$0"`, exitFailed, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir, code, stdout, stderr := planRun(t, c.command)
			require.Equal(t, c.code, code, "%s%s", stdout, stderr)
			out, err := os.ReadFile(filepath.Join(dir, qual.EvidenceDir, "validation-1.stdout"))
			require.NoError(t, err)
			require.Equal(t, "hello\n", string(out))
			r := judged(t, dir)
			require.Len(t, r.Results, 1)
			got := r.Results[0]
			require.Equal(t, c.ran, got.Evidence.ValidationRan)
			require.Equal(t, c.passed, got.Evidence.ValidationPassed)
			require.Equal(t, name != "changed", got.Evidence.ValidationBundle == got.Evidence.BundleSHA256)
			require.Equal(t, "none-such some/checkpoint abc", got.Profile+" "+got.Checkpoint+" "+got.Revision)
		})
	}
}

func TestClaimThatTheEvidenceDoesNotCarryIsRefused(t *testing.T) {
	dir, code, _, stderr := planRun(t, "exit 0", "-claim", "AIPerf-qualified")
	require.Equal(t, exitFailed, code)
	require.Contains(t, stderr, "AIPerf-qualified was claimed, the evidence carries implemented")
	require.Contains(t, stderr, "the reference runtime proves the path and qualifies nothing")
	require.Contains(t, stderr, "a run of AIPerf 0.13.0")
	require.Equal(t, inventory.Implemented, judged(t, dir).Status.Status)
	code, _, _ = start(t, "-judge", dir, "-claim", "implemented")
	require.Equal(t, exitHeld, code)
	code, _, stderr = start(t, "-judge", dir, "-claim", "perfect")
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "-claim")
}
