package reference_test

import (
	"encoding/binary"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/trtmc-go/trtmc/native/bundle"
	"github.com/trtmc-go/trtmc/native/reference"
)

// build compiles the driver together with the runtime and returns the program's path.
func build(t *testing.T, flags ...string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "driver")
	args := append([]string{"-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Wpedantic", "-g", "-o", program}, flags...)
	compile(t, append(append(args, sources(t, "testdata/driver/*.c", "*.c")...), "-lm", "-lpthread")...)
	return program
}

func sources(t *testing.T, patterns ...string) (files []string) {
	t.Helper()
	for _, p := range patterns {
		found, err := filepath.Glob(p)
		require.NoError(t, err)
		require.NotEmpty(t, found, p)
		files = append(files, found...)
	}
	return files
}

func compile(t *testing.T, args ...string) {
	t.Helper()
	out, err := exec.Command("cc", args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// run runs the driver and returns what it printed; it must end well and in time.
func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

// needSanitizer skips where an empty program cannot be built with the flag or does not run.
func needSanitizer(t *testing.T, flag string) {
	t.Helper()
	source, program := filepath.Join(t.TempDir(), "empty.c"), filepath.Join(t.TempDir(), "empty")
	require.NoError(t, os.WriteFile(source, []byte("int main(void) { return 0; }\n"), 0o600))
	out, err := exec.Command("cc", flag, "-o", program, source).CombinedOutput()
	if err == nil {
		out, err = exec.Command(program).CombinedOutput()
	}
	if err != nil {
		t.Skipf("%s does not work here: %v: %s", flag, err, out)
	}
}

func TestDriverPassesWithEveryAllocationFailingInTurn(t *testing.T) {
	t.Parallel()
	out := run(t, build(t, "-O1", "-DTRTMC_TEST_ALLOC"), "check", driverBundles(t))
	require.Contains(t, out, " 0 failed")
	require.Contains(t, out, "allocations")
}

func TestDriverPassesUnderAddressAndUndefinedBehaviourSanitizers(t *testing.T) {
	t.Parallel()
	needSanitizer(t, "-fsanitize=address,undefined")
	out := run(t, build(t, "-O1", "-DTRTMC_TEST_ALLOC", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"), "check", driverBundles(t))
	require.Contains(t, out, " 0 failed")
}

func TestDriverPassesUnderThreadSanitizer(t *testing.T) {
	t.Parallel()
	needSanitizer(t, "-fsanitize=thread")
	out := run(t, build(t, "-O1", "-fsanitize=thread"), "check", driverBundles(t))
	require.Contains(t, out, " 0 failed")
}

func TestDriverPassesUnderValgrind(t *testing.T) {
	t.Parallel()
	valgrind, err := exec.LookPath("valgrind")
	if err != nil {
		t.Skip("valgrind is not installed")
	}
	out := run(t, valgrind, "-q", "--leak-check=full", "--errors-for-leak-kinds=definite,indirect,possible", "--error-exitcode=9",
		"--fair-sched=yes", build(t, "-O1"), "check", driverBundles(t))
	require.Contains(t, out, " 0 failed")
}

func TestEqualSeedsGiveEqualResultsInEveryProcessAndBuild(t *testing.T) {
	t.Parallel()
	dir, first, second := driverBundles(t), build(t, "-O2"), build(t, "-O0")
	want := run(t, first, "print", dir)
	require.Equal(t, want, run(t, first, "print", dir))
	require.Equal(t, want, run(t, second, "print", dir))
	require.Contains(t, want, "of human events, it becomes necessary for one people")
}

// driverBundles writes the bundles the driver names into a directory.
func driverBundles(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	put := func(name string, p reference.Params) {
		require.NoError(t, reference.WriteBundle(filepath.Join(dir, name+".bundle"), p))
	}
	small := func() reference.Params {
		p := reference.AllParams()
		p.Timing = reference.Timing{SetupMS: 0.5, PrefillUSPerToken: 1, DecodeUSPerToken: 100, DocumentUS: 10, StepMS: 0.1, FrameMS: 0.1}
		return p
	}
	put("all", small())
	put("ranking", reference.RankingParams())
	put("no_rate", reference.VideoParams(64, 48, 3, 0, 2))
	quick := small()
	quick.Timing = reference.Timing{}
	quick.Video.Width, quick.Video.Height, quick.Video.Frames = 16, 16, 2
	put("quick", quick)
	for _, f := range []reference.Fault{
		{Kind: reference.FaultSlow, MS: 30}, {Kind: reference.FaultHang, MS: 20}, {Kind: reference.FaultError, Message: "boom"},
		{Kind: reference.FaultErrorAfterTokens}, {Kind: reference.FaultErrorWithoutObject}, {Kind: reference.FaultNonUTF8Message},
		{Kind: reference.FaultEmbeddedNUL}, {Kind: reference.FaultOutOfMemory}, {Kind: reference.FaultBusy}, {Kind: reference.FaultFailEvery, Every: 3},
		{Kind: reference.FaultNaNScore}, {Kind: reference.FaultShortScores}, {Kind: reference.FaultUnequalFrames}, {Kind: reference.FaultZeroFrames},
		{Kind: reference.FaultNaNFrame}, {Kind: reference.FaultTwoTerminals}, {Kind: reference.FaultDeltaMismatch},
	} {
		p := small()
		p.Fault = &f
		put("fault_"+strings.TrimSuffix(string(f.Kind), "_until_cancelled"), p)
	}
	p := small()
	p.Fault = &reference.Fault{Kind: reference.FaultLoad}
	put("load_error", p)
	writeBroken(t, dir)
	writeUnloadable(t, dir, small())
	return dir
}

// writeBroken writes files that are no bundles, one broken rule each, and one that is.
func writeBroken(t *testing.T, dir string) {
	t.Helper()
	const good = `{"format":1,"family":"qwen","task":"t","backend":"b","sections":{"engine.plan":{"offset":0,"length":4}}}`
	file := func(header string) string {
		return "BUNDLE\x01\x00" + string(binary.LittleEndian.AppendUint64(nil, uint64(len(header)))) + header + "PLAN"
	}
	swap := func(old, with string) string { return file(strings.Replace(good, old, with, 1)) }
	for name, content := range map[string]string{
		"bad_magic":    "BUNDLF\x01\x00" + file(good)[8:],
		"bad_short":    "BUNDLE\x01\x00",
		"bad_length":   "BUNDLE\x01\x00\x01\x00\x40\x06\x00\x00\x00\x00",
		"bad_past_end": "BUNDLE\x01\x00\x40\x00\x00\x00\x00\x00\x00\x00{}",
		"bad_json":     swap(`"format"`, `format`),
		"bad_format":   swap(`1,`, `1.0,`),
		"bad_missing":  swap(`"backend":"b",`, ``),
		"bad_extra":    swap(`1,`, `1,"more":[],`),
		"bad_twice":    swap(`"task":"t"`, `"task":"t","task":"t"`),
		"bad_empty":    swap(`qwen`, ``),
		"bad_section":  swap(`length`, `size`),
		"bad_negative": swap(`:0,`, `:-1,`),
		"bad_range":    swap(`:4}`, `:5}`),
		"bad_utf8":     swap(`qwen`, "\xff"),
		"bad_name":     swap(`engine.plan`, ``),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name+".bundle"), []byte(content), 0o600))
	}
	head := bundle.Header{Family: "qwen", Task: "t", Backend: "trt"}
	require.NoError(t, bundle.Write(filepath.Join(dir, "plain.bundle"), head, map[string][]byte{"void": nil, "engine.plan": []byte("PLAN")}))
	require.NoError(t, bundle.Write(filepath.Join(dir, "foreign.bundle"), head, nil))
}

// writeUnloadable writes bundles whose parameters the runtime must refuse.
func writeUnloadable(t *testing.T, dir string, p reference.Params) {
	t.Helper()
	head := bundle.Header{Family: p.Family, Task: p.BundleTask, Backend: reference.Backend}
	put := func(name string, h bundle.Header, change func(map[string]any)) {
		data, err := json.Marshal(p)
		require.NoError(t, err)
		var object map[string]any
		require.NoError(t, json.Unmarshal(data, &object))
		change(object)
		data, err = json.Marshal(object)
		require.NoError(t, err)
		require.NoError(t, bundle.Write(filepath.Join(dir, name+".bundle"), h, map[string][]byte{reference.Section: data}))
	}
	fields := func(change func([]any) []any) func(map[string]any) {
		return func(m map[string]any) { m["fields"] = change(m["fields"].([]any)) }
	}
	require.NoError(t, bundle.Write(filepath.Join(dir, "no_section.bundle"), head, nil))
	big := head
	big.Family = "Big"
	put("bad_family_word", big, func(map[string]any) {})
	other := head
	other.Family = "other"
	put("unlike", other, func(map[string]any) {})
	put("bad_params", head, func(m map[string]any) { m["surprise"] = 1 })
	put("bad_task", head, func(m map[string]any) { m["tasks"] = []string{"speech_transcription"} })
	put("bad_field", head, fields(func(f []any) []any { return append(f, map[string]any{"name": "nope", "kind": "i64"}) }))
	put("twice_field", head, fields(func(f []any) []any { return append(f, f[0]) }))
	put("bad_default", head, fields(func(f []any) []any {
		f[0].(map[string]any)["default"] = "many"
		return f
	}))
	put("lacks_text", head, func(m map[string]any) { delete(m, "text") })
}
