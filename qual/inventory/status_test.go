package inventory

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// whole returns evidence that carries the top of the ladder.
func whole() Evidence {
	digest := strings.Repeat("ab", 32)
	return Evidence{AdapterChecks: true, VendorRuntime: true, BundleSHA256: digest, ValidationBundle: digest, ValidationRan: true,
		ValidationPassed: true, AIPerfVersion: QualifyingAIPerf, AIPerfVerified: true, Joined: true, Identity: true, Complete: true}
}

func TestStatusClimbsOnlyAsFarAsTheEvidenceCarries(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(*Evidence)
		want    Status
		missing string // part of what is missing
	}{
		{"everything", func(*Evidence) {}, AIPerfQualified, ""},
		{"nothing", func(e *Evidence) { *e = Evidence{} }, Planned, "the adapter's checks"},
		{"checks failed", func(e *Evidence) { e.AdapterChecks = false }, Planned, "the adapter's checks"},
		{"reference runtime", func(e *Evidence) { e.VendorRuntime = false }, Implemented, "the vendor's runtime"},
		{"no bundle digest", func(e *Evidence) { e.BundleSHA256, e.ValidationBundle = "", "" }, Implemented, "digest of the served bundle"},
		{"digest of the wrong length", func(e *Evidence) { e.BundleSHA256, e.ValidationBundle = "abcd", "abcd" }, Implemented, "digest of the served bundle"},
		{"validation skipped", func(e *Evidence) { e.ValidationRan = false }, Implemented, "not skipped"},
		{"validation failed", func(e *Evidence) { e.ValidationPassed = false }, Implemented, "validation command passed"},
		{"validated another bundle", func(e *Evidence) { e.ValidationBundle = strings.Repeat("cd", 32) }, Implemented, "on the bundle that was served"},
		{"another client", func(e *Evidence) { e.AIPerfVersion = "" }, FamilyValidated, "a run of AIPerf 0.13.0"},
		{"another version", func(e *Evidence) { e.AIPerfVersion = "0.14.0" }, FamilyValidated, "a run of AIPerf 0.13.0"},
		{"changed client", func(e *Evidence) { e.AIPerfVerified = false }, FamilyValidated, "published package"},
		{"lost rows", func(e *Evidence) { e.Joined = false }, FamilyValidated, "joined without a gap"},
		{"other results", func(e *Evidence) { e.Identity = false }, FamilyValidated, "identity"},
		{"holes", func(e *Evidence) { e.Complete = false }, FamilyValidated, "complete evidence"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := whole()
			c.change(&e)
			got, missing := StatusOf(e)
			require.Equal(t, c.want, got)
			require.Equal(t, c.want == AIPerfQualified, len(missing) == 0)
			require.Contains(t, strings.Join(missing, "; "), c.missing)
		})
	}
}

func TestReferenceRuntimeNeverPassesImplemented(t *testing.T) {
	// Every combination of the other facts.
	for bits := range 1 << 9 {
		on := func(i int) bool { return bits&(1<<i) != 0 }
		e := whole()
		e.VendorRuntime = false
		e.AdapterChecks, e.ValidationRan, e.ValidationPassed, e.AIPerfVerified = on(0), on(1), on(2), on(3)
		e.Joined, e.Identity, e.Complete = on(4), on(5), on(6)
		if on(7) {
			e.AIPerfVersion = ""
		}
		if on(8) {
			e.ValidationBundle = ""
		}
		status, missing := StatusOf(e)
		require.LessOrEqual(t, status.rank(), Implemented.rank())
		require.NotEmpty(t, missing)
	}
}

func TestClaimOfMoreThanProvenIsRefusedAndNamesWhatIsMissing(t *testing.T) {
	e := whole()
	e.VendorRuntime, e.Joined = false, false
	require.NoError(t, Claim(Planned, e))
	require.NoError(t, Claim(Implemented, e))
	err := Claim(FamilyValidated, e)
	var unproven *UnprovenError
	require.ErrorAs(t, err, &unproven)
	require.ErrorIs(t, err, ErrUnproven)
	require.Equal(t, Implemented, unproven.Proven)
	require.Len(t, unproven.Missing, 1, "only what stands below the claim")
	require.ErrorContains(t, Claim(AIPerfQualified, e), "joined without a gap")
	require.ErrorIs(t, Claim("gold", whole()), ErrUnproven)
	require.NoError(t, Claim(AIPerfQualified, whole()))
}
