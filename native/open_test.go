//go:build cgo

package native_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native"
	"github.com/trtmc-go/trtmc/native/reference"
	"github.com/trtmc-go/trtmc/native/task"
)

func TestCase_E01(t *testing.T) {
	const path = "/nonexistent/libtrtmc_c.so.1"
	rt, err := native.Open(native.Options{Library: path})
	require.ErrorIs(t, err, native.ErrNotFound)
	require.ErrorContains(t, err, path)
	require.ErrorContains(t, err, "cannot open shared object file")
	require.Nil(t, rt)

	// Every method of what was not opened answers.
	require.Empty(t, rt.Version())
	require.False(t, rt.Reference())
	m, err := rt.Load("x.bundle", native.LoadOptions{})
	require.ErrorIs(t, err, task.ErrClosed)
	b, err := rt.OpenBundle("x.bundle")
	require.ErrorIs(t, err, task.ErrClosed)
	require.NoError(t, rt.Close())

	require.Empty(t, m.Info())
	_, err = m.Lookup(task.TextContinuation)
	require.ErrorIs(t, err, task.ErrClosed)
	require.ErrorIs(t, m.CheckLoRA(), task.ErrClosed)
	require.NoError(t, m.Close())

	require.Empty(t, b.Info())
	_, err = b.ReadSection("x")
	require.ErrorIs(t, err, task.ErrClosed)
	require.NoError(t, b.Close())

	for _, rt := range []*native.Runtime{{}, nil} {
		require.Empty(t, rt.Version())
		require.NoError(t, rt.Close())
	}
	require.NoError(t, new(native.Model).Close())
	require.NoError(t, new(native.Bundle).Close())
}

func TestLibraryMustBeAnAbsolutePath(t *testing.T) {
	for _, path := range []string{"libtrtmc_c.so.1", "./lib/libtrtmc_c.so.1", "/lib\x00/x.so"} {
		_, err := native.Open(native.Options{Library: path})
		require.ErrorIs(t, err, task.ErrInvalid, path)
		require.ErrorContains(t, err, "must be an absolute path")
	}
}

func TestFileThatIsNoLibraryIsNotFound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "libtrtmc_c.so.1")
	require.NoError(t, os.WriteFile(path, []byte("not an ELF file"), 0o600))
	_, err := native.Open(native.Options{Library: path})
	require.ErrorIs(t, err, native.ErrNotFound)
	require.ErrorContains(t, err, path)
}

// TestCase_E11 opens libraries whose tables do not fit. A table of them is never called.
func TestCase_E11(t *testing.T) {
	rows := []struct{ name, flag, table, want, got string }{
		{"core table too short", "-DTRTMC_FAULT_SHORT=8", "core table", "at least 176 bytes", "168 bytes"},
		{"other major", "-DTRTMC_FAULT_MAJOR=2", "core table", "version 1.0", "version 2.0"},
		{"other minor", "-DTRTMC_FAULT_MINOR=1", "core table", "version 1.0", "version 1.1"},
		{"no table", "-DTRTMC_FAULT_NO_API", "core table", "version 1.0", "no table at all"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			path := faultLibrary(t, row.flag)
			_, err := native.Open(native.Options{Library: path})
			require.ErrorIs(t, err, native.ErrVersion)
			require.ErrorContains(t, err, path)
			var v *native.VersionError
			require.ErrorAs(t, err, &v)
			require.Equal(t, native.VersionError{Table: row.table, Want: row.want, Got: row.got}, *v)
			require.ErrorContains(t, err, "want "+row.want+", got "+row.got)
		})
	}
}

func TestCase_E11_LongerTablesAreAccepted(t *testing.T) {
	m := load(t, openRuntime(t, native.Options{Library: faultLibrary(t, "-DTRTMC_FAULT_LONG=8")}), fast(reference.TextParams()))
	defer m.Close()
	_, err := continuer(t, m).ContinueText(context.Background(), task.TextRequest{Text: "We the"})
	require.NoError(t, err)
}

func TestCase_E11_TaskTablesThatDoNotFit(t *testing.T) {
	rows := []struct {
		name, flag, want, got string
		id                    task.ID
	}{
		{"task table too short", "-DTRTMC_FAULT_TASK_SHORT=8", "at least 32 bytes", "24 bytes", task.TextContinuation},
		{"task table of another major", "-DTRTMC_FAULT_TASK_MAJOR=2", "version 1.0", "version 2.0", task.TextContinuation},
		{"stream table too short", "-DTRTMC_FAULT_STREAM_SHORT=8", "at least 48 bytes", "40 bytes", task.StreamingTextContinuation},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			m := load(t, openRuntime(t, native.Options{Library: faultLibrary(t, row.flag)}), fast(reference.TextParams()))
			defer m.Close()
			_, err := m.Lookup(row.id)
			require.ErrorIs(t, err, task.ErrUnsupported)
			require.ErrorIs(t, err, native.ErrVersion)
			require.ErrorContains(t, err, "want "+row.want+", got "+row.got)
			require.ErrorContains(t, err, string(row.id))
		})
	}
}

func TestCase_E11_MissingFunctionIsAnErrorWhenItIsNeeded(t *testing.T) {
	rt := openRuntime(t, native.Options{Library: faultLibrary(t, "-DTRTMC_FAULT_NULL_SLOT=bundle_open")})
	path := writeBundle(t, fast(reference.TextParams()))
	m, err := rt.Load(path, native.LoadOptions{}) // does not need bundle_open
	require.NoError(t, err)
	defer m.Close()
	_, err = continuer(t, m).ContinueText(context.Background(), task.TextRequest{Text: "We the"})
	require.NoError(t, err)
	_, err = rt.OpenBundle(path)
	require.ErrorIs(t, err, task.ErrUnsupported)
	require.ErrorContains(t, err, "lacks the function bundle_open")

	rt = openRuntime(t, native.Options{Library: faultLibrary(t, "-DTRTMC_FAULT_NULL_RUN")})
	m = load(t, rt, fast(reference.TextParams()))
	defer m.Close()
	_, err = continuer(t, m).ContinueText(context.Background(), task.TextRequest{Text: "We the"})
	require.ErrorIs(t, err, task.ErrUnsupported)
	require.ErrorContains(t, err, "text_continuation: run: unsupported: the runtime's table lacks the function run")
	_, err = streamer(t, m).StreamText(context.Background(), task.TextRequest{Text: "We the"}, func(task.TextDelta) error { return nil })
	require.NoError(t, err, "the stream does not need it")
}

func TestLibraryWithoutTheSymbolIsNotFound(t *testing.T) {
	path := faultLibrary(t, "-DTRTMC_FAULT_NO_SYMBOL")
	_, err := native.Open(native.Options{Library: path})
	require.ErrorIs(t, err, native.ErrNotFound)
	require.ErrorContains(t, err, path)
	require.ErrorContains(t, err, "trtmc_get_api")
}

func TestBothWaysInAreMarkedAsReference(t *testing.T) {
	for _, opts := range []native.Options{{}, {Library: sharedLibrary(t)}} {
		rt := openRuntime(t, opts)
		require.True(t, rt.Reference())
		require.Regexp(t, "^trtmc-reference/", rt.Version())
		m := load(t, rt, reference.TextParams())
		defer m.Close()
		require.True(t, m.Info().Reference)
		require.Equal(t, rt.Version(), m.Info().Runtime)
		require.Equal(t, "reference", m.Info().Backend)
	}
}

func TestEqualSeedsGiveEqualTextsEitherWay(t *testing.T) {
	texts := map[string]bool{}
	for _, opts := range []native.Options{{}, {Library: sharedLibrary(t)}} {
		m := load(t, openRuntime(t, opts), fast(reference.TextParams()))
		defer m.Close()
		r, err := continuer(t, m).ContinueText(context.Background(), task.TextRequest{Text: "When in the", Settings: task.Settings{
			{Name: "seed", Value: task.Int(42)}, {Name: "temperature", Value: task.Float(1)}, {Name: "top_k", Value: task.Int(0)},
		}})
		require.NoError(t, err)
		texts[r.Text] = true
	}
	require.Len(t, texts, 1)
}

func TestClosedRuntimeLoadsNothingAndHasClosedItsModels(t *testing.T) {
	rt, err := native.Open(native.Options{})
	require.NoError(t, err)
	path := writeBundle(t, fast(reference.TextParams()))
	m, err := rt.Load(path, native.LoadOptions{})
	require.NoError(t, err)
	b, err := rt.OpenBundle(path)
	require.NoError(t, err)
	text := continuer(t, m)
	require.NoError(t, errors.Join(rt.Close(), rt.Close()))
	_, err = text.ContinueText(context.Background(), task.TextRequest{Text: "x"})
	require.ErrorIs(t, err, task.ErrClosed)
	_, err = b.ReadSection("reference.json")
	require.ErrorIs(t, err, task.ErrClosed)
	_, err = rt.Load(path, native.LoadOptions{})
	require.ErrorIs(t, err, task.ErrClosed)
	_, err = rt.OpenBundle(path)
	require.ErrorIs(t, err, task.ErrClosed)
	require.NoError(t, errors.Join(m.Close(), b.Close()))
}
