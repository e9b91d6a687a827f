//go:build cgo

package native_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native"
	"github.com/trtmc-go/trtmc/native/internal/cabi"
	"github.com/trtmc-go/trtmc/native/task"
)

// foreignLibrary builds a second runtime, in C++, that shares nothing with the reference runtime.
func foreignLibrary(t *testing.T, flags ...string) string {
	t.Helper()
	cxx := os.Getenv("CXX")
	if cxx == "" {
		cxx = "c++"
	}
	return built.get(t, "foreign "+strings.Join(flags, " "), func(out string) {
		args := append(append(flags, foreignFlags...), "-O1", "-fPIC", "-shared", "-fvisibility=hidden", "-Iinternal/cabi", "-o", out, filepath.Join("testdata", "foreign", "runtime.cc"))
		said, err := exec.Command(cxx, args...).CombinedOutput()
		require.NoError(t, err, "%s", said)
	})
}

func TestCase_E09(t *testing.T) {
	rt := openRuntime(t, native.Options{Library: foreignLibrary(t)})
	require.False(t, rt.Reference())
	_, err := rt.Load("/throw.bundle", native.LoadOptions{})
	require.ErrorContains(t, err, "boom while loading")
	m, err := rt.Load("/any.bundle", native.LoadOptions{})
	require.NoError(t, err)
	text := continuer(t, m)
	rows := []struct {
		prefix string
		class  error
		text   string
	}{
		{"runtime_error", task.ErrInternal, "boom"},
		{"bad_alloc", task.ErrResource, "bad_alloc"},
		{"int", task.ErrInternal, "unknown exception"},
	}
	for _, row := range rows {
		_, err := text.ContinueText(context.Background(), task.TextRequest{Text: row.prefix})
		require.ErrorIs(t, err, row.class)
		require.ErrorContains(t, err, row.text)
		r, err := text.ContinueText(context.Background(), task.TextRequest{Text: "next"})
		require.NoError(t, err)
		require.Equal(t, "next", r.Text)
	}
	_, err = rt.OpenBundle("/any.bundle")
	require.ErrorIs(t, err, task.ErrUnsupported, "this runtime leaves bundle_open out")
	require.ErrorIs(t, m.CheckLoRA(), task.ErrUnsupported)
}

// TestAnswerThatBreaksTheABIIsAnErrorAndIsGivenBack looks at views that no memory can be, and at calls without a result.
func TestAnswerThatBreaksTheABIIsAnErrorAndIsGivenBack(t *testing.T) {
	rt := openRuntime(t, native.Options{Library: foreignLibrary(t)})
	m, err := rt.Load("/any.bundle", native.LoadOptions{})
	require.NoError(t, err)
	before := cabi.Live()
	rows := []struct {
		prefix string
		status int32
		want   string
	}{
		{"no_result", 0, "the runtime reported success and gave no result"},
		{"null_text", 0, "text has 9 entries and no data"},
		{"huge_tokens", 0, "token_ids has the impossible count 18446744073709551615"},
		{"view_fails", 7, "boom in the view"},
		{"odd_status", 77, "native status 77"},
	}
	for _, row := range rows {
		_, err := continuer(t, m).ContinueText(context.Background(), task.TextRequest{Text: row.prefix})
		require.ErrorIs(t, err, task.ErrInternal, row.prefix)
		require.ErrorContains(t, err, row.want)
		var e *task.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, task.TextContinuation, e.Task)
		require.Equal(t, row.status, e.Status)
		require.Equal(t, before, cabi.Live(), row.prefix)
	}
	r, err := continuer(t, m).ContinueText(context.Background(), task.TextRequest{Text: "odd_times"})
	require.NoError(t, err)
	require.Zero(t, r.Timing.Setup+r.Timing.Prefill+r.Timing.Decode, "times that cannot be count as not measured")
}

func TestRuntimeThatAnswersAnotherVersionIsNamedWithBoth(t *testing.T) {
	_, err := native.Open(native.Options{Library: foreignLibrary(t, "-DOFFER_MAJOR=2", "-DOFFER_MINOR=1")})
	require.ErrorIs(t, err, native.ErrVersion)
	require.ErrorContains(t, err, "want version 1.0, got version 2.1")
	_, err = native.Open(native.Options{Library: foreignLibrary(t, "-DOFFER_MAJOR=9")})
	require.ErrorIs(t, err, native.ErrVersion)
	require.ErrorContains(t, err, "want version 1.0, got a refusal (native status 5)")
	_, err = native.Open(native.Options{Library: foreignLibrary(t, "-DREFUSE")})
	require.ErrorIs(t, err, task.ErrInternal)
	require.ErrorContains(t, err, "trtmc_get_api: internal error (native status 7)")
}
