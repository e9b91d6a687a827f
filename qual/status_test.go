package qual_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/qual"
	"github.com/trtmc-go/trtmc/qual/inventory"
)

const bundleDigest = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

// qualifiedRun writes a run that has all the evidence of a qualification: the vendor's runtime, a validation that passed
// on the served bundle, and a run by AIPerf that joined. The change is made before the evidence is sealed.
func qualifiedRun(t *testing.T, change func(run *qual.Run, v *qual.Validation)) string {
	t.Helper()
	dir := sampleRun(t, readSample(t, "text-payload-completions"))
	folder := filepath.Join(dir, "workloads", "text-trace")
	require.NoError(t, os.Rename(filepath.Join(dir, "workloads", "w"), folder))
	for _, name := range []string{qual.ManifestFile, qual.ClientFile} {
		data, err := os.ReadFile(filepath.Join(folder, name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(strings.ReplaceAll(string(data), `"workload":"w"`, `"workload":"text-trace"`)), 0o644))
	}
	inv, err := inventory.Load()
	require.NoError(t, err)
	row, err := inv.Row("qwen3-0.6b-fp16")
	require.NoError(t, err)
	run, err := qual.ReadRun(dir)
	require.NoError(t, err)
	run.Workloads[0].Name, run.Workloads[1].Name, run.Workloads[1].Of = "text-trace", "text-trace-aiperf", "text-trace"
	run.Runtime = qual.RuntimeFacts{Version: "1.2.3", Library: "libtrtmc_c.so.1", SHA256: bundleDigest}
	run.Program.SHA256, run.Host.CPU = bundleDigest, "some processor"
	run.Stack = &qual.Stack{GPUs: []qual.GPU{{Name: "some GPU", Driver: "1.0"}}}
	run.Bundles = []qual.BundleFacts{{Model: "demo-model", SHA256: bundleDigest, Profile: row.Profile, Checkpoint: row.Checkpoint, Revision: row.Revision}}
	v := &qual.Validation{Schema: 1, Model: "demo-model", Command: []string{"validate"}, BundleBefore: bundleDigest, BundleAfter: bundleDigest}
	if change != nil {
		change(run, v)
	}
	if len(run.Workloads) == 1 { // without AIPerf, the server has records of our own four requests
		edit(t, dir, records, func(lines []string) []string { return lines[:4] })
	}
	require.NoError(t, os.MkdirAll(filepath.Join(dir, qual.EvidenceDir), 0o755))
	require.NoError(t, qual.WriteValidation(dir, 1, *v))
	require.NoError(t, qual.WriteRun(dir, run))
	reseal(t, dir)
	return dir
}

func TestEveryStepOfTheLadderNeedsItsEvidence(t *testing.T) {
	for name, c := range map[string]struct {
		change func(run *qual.Run, v *qual.Validation)
		status inventory.Status
		words  string
	}{
		"all of it":          {nil, inventory.AIPerfQualified, ""},
		"validation skipped": {func(_ *qual.Run, v *qual.Validation) { v.ExitCode = qual.SkippedExit }, inventory.Implemented, "was not skipped"},
		"another bundle": {func(_ *qual.Run, v *qual.Validation) {
			v.BundleBefore, v.BundleAfter = bundleDigest[2:]+"bb", bundleDigest[2:]+"bb"
		}, inventory.Implemented, "on the bundle that was served"},
		"another model":        {func(_ *qual.Run, v *qual.Validation) { v.Model = "other" }, inventory.Implemented, "validation command ran"},
		"validation failed":    {func(_ *qual.Run, v *qual.Validation) { v.ExitCode = 1 }, inventory.Planned, "the validation command passed"},
		"no AIPerf":            {func(run *qual.Run, _ *qual.Validation) { run.Workloads = run.Workloads[:1] }, inventory.FamilyValidated, "a run of AIPerf 0.13.0"},
		"no GPU":               {func(run *qual.Run, _ *qual.Validation) { run.Stack = nil }, inventory.FamilyValidated, "nvidia-smi"},
		"another revision":     {func(run *qual.Run, _ *qual.Validation) { run.Bundles[0].Revision = "x" }, inventory.FamilyValidated, "that the inventory pins"},
		"a profile that is no": {func(run *qual.Run, _ *qual.Validation) { run.Bundles[0].Profile = "x" }, inventory.FamilyValidated, `"x" is none`},
		"a run that broke off": {func(run *qual.Run, _ *qual.Validation) { run.Exit.Interrupted = true }, inventory.Planned, "the adapter's checks"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := qual.Judge(qualifiedRun(t, c.change))
			require.NoError(t, err)
			require.Equal(t, c.status, r.Status.Status, "%v %v", r.Status.Missing, r.Verdict.Failed)
			require.Len(t, r.Results, 1)
			require.Equal(t, c.status, r.Results[0].Status)
			if c.words == "" {
				require.Empty(t, r.Results[0].Missing)
				require.NoError(t, r.Claim(inventory.AIPerfQualified))
				return
			}
			require.Contains(t, strings.Join(r.Results[0].Missing, "\n"), c.words)
			require.ErrorIs(t, r.Claim(inventory.AIPerfQualified), inventory.ErrUnproven)
			require.NoError(t, r.Claim(c.status))
		})
	}
}

func TestReferenceRuntimeStopsAtImplemented(t *testing.T) {
	dir := qualifiedRun(t, func(run *qual.Run, _ *qual.Validation) { run.Runtime.Reference = true })
	edit(t, dir, records, func(lines []string) []string {
		for i := range lines {
			lines[i] = strings.ReplaceAll(lines[i], `"reference":false`, `"reference":true`)
		}
		return lines
	})
	reseal(t, dir)
	r, err := qual.Judge(dir)
	require.NoError(t, err)
	require.Empty(t, failedChecks(r))
	require.Equal(t, inventory.Implemented, r.Status.Status)
	require.ErrorContains(t, r.Claim(inventory.FamilyValidated), "the reference runtime proves the path and qualifies nothing")
}

func TestForgedStatusIsRefused(t *testing.T) {
	dir := qualifiedRun(t, func(run *qual.Run, _ *qual.Validation) { run.Workloads = run.Workloads[:1] })
	r, err := qual.Judge(dir)
	require.NoError(t, err)
	require.NoError(t, r.CheckPrinted(dir), "no report is there yet")
	require.NoError(t, r.Write(dir))
	require.NoError(t, r.CheckPrinted(dir))
	path := filepath.Join(dir, qual.ReportJSON)
	honest, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte(strings.ReplaceAll(string(honest), `"status": "family-validated"`, `"status": "AIPerf-qualified"`)), 0o644))
	err = r.CheckPrinted(dir)
	require.ErrorIs(t, err, inventory.ErrUnproven)
	require.ErrorContains(t, err, "text-trace")
	require.ErrorContains(t, err, "a run of AIPerf 0.13.0")
}

func TestValidationThatWasNotSealedCountsForNothing(t *testing.T) {
	dir := qualifiedRun(t, func(_ *qual.Run, v *qual.Validation) { v.Model = "other" })
	require.NoError(t, qual.WriteValidation(dir, 2, qual.Validation{Schema: 1, Model: "demo-model", BundleBefore: bundleDigest, BundleAfter: bundleDigest}))
	r, err := qual.Judge(dir)
	require.NoError(t, err)
	require.Contains(t, failedChecks(r), "validation commands")
	require.False(t, r.Results[0].Evidence.ValidationRan)
}

func TestInventoryNamesEveryRowAndWhatWasRun(t *testing.T) {
	r, err := qual.Judge(qualifiedRun(t, nil))
	require.NoError(t, err)
	inv, err := inventory.Load()
	require.NoError(t, err)
	require.Len(t, r.Inventory, len(inv.Rows))
	for _, row := range r.Inventory {
		require.Equal(t, row.Profile == "qwen3-0.6b-fp16", row.Run, row.Profile)
		if !row.Run {
			require.Equal(t, inventory.Planned, row.Status)
		}
	}
	md := string(r.Markdown())
	require.Contains(t, md, "cosmos3-nano-l0")
	require.Contains(t, md, "AIPerf-qualified")
}
