package native_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native"
	"github.com/trtmc-go/trtmc/native/task"
)

// throwingLibrary builds a second runtime, in C++, that shares nothing with the reference runtime.
func throwingLibrary(t *testing.T) string {
	t.Helper()
	cxx := os.Getenv("CXX")
	if cxx == "" {
		cxx = "c++"
	}
	return built.get(t, "throwing", func(out string) {
		said, err := exec.Command(cxx, "-O1", "-fPIC", "-shared", "-fvisibility=hidden", "-Iinternal/cabi", "-o", out, filepath.Join("testdata", "throwing", "runtime.cc")).CombinedOutput()
		require.NoError(t, err, "%s", said)
	})
}

func TestCase_E09(t *testing.T) {
	rt := openRuntime(t, native.Options{Library: throwingLibrary(t)})
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
		require.Equal(t, "next, continued", r.Text)
	}
	_, err = rt.OpenBundle("/any.bundle")
	require.ErrorIs(t, err, task.ErrUnsupported, "this runtime leaves bundle_open out")
	require.ErrorIs(t, m.CheckLoRA(), task.ErrUnsupported)
}
