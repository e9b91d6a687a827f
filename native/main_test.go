//go:build cgo

package native_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/trtmc-go/trtmc/native"
	"github.com/trtmc-go/trtmc/native/reference"
	"github.com/trtmc-go/trtmc/native/task"
)

// built holds the shared libraries that tests build, each once.
var built = &builder{libraries: map[string]string{}}

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(built.dir)
		os.Exit(code)
	}))
}

type builder struct {
	mu        sync.Mutex
	dir       string
	objects   []string          // of the sources that no fault macro touches
	libraries map[string]string // by flag
}

// sharedLibrary builds the reference runtime with the one documented command and returns its path.
func sharedLibrary(t testing.TB) string {
	t.Helper()
	return built.get(t, "", func(out string) {
		args := []string{"-O2", "-fPIC", "-shared", "-DTRTMC_SHARED", "-fvisibility=hidden", "-Wl,-soname,libtrtmc_c.so.1", "-o", out}
		compile(t, append(append(args, sources(t, "")...), "-lm", "-lpthread")...)
	})
}

// faultLibrary builds it with one fault macro. Only the sources that know such macros are compiled again.
func faultLibrary(t testing.TB, flag string) string {
	t.Helper()
	return built.get(t, flag, func(out string) {
		base := []string{"-O0", "-fPIC", "-DTRTMC_SHARED", "-fvisibility=hidden", flag}
		args := append(append(base, "-shared", "-o", out), sources(t, "_HEADER(")...)
		compile(t, append(append(args, built.plain(t)...), "-lm", "-lpthread")...)
	})
}

func (b *builder) get(t testing.TB, flag string, build func(out string)) string {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.dir == "" {
		dir, err := os.MkdirTemp("", "trtmc-native-test")
		require.NoError(t, err)
		b.dir = dir
	}
	if b.libraries[flag] == "" {
		dir, err := os.MkdirTemp(b.dir, "lib")
		require.NoError(t, err)
		out := filepath.Join(dir, "libtrtmc_c.so.1")
		build(out)
		b.libraries[flag] = out
	}
	return b.libraries[flag]
}

// plain compiles the sources without fault macros, once, and returns the objects.
func (b *builder) plain(t testing.TB) []string {
	t.Helper()
	if b.objects != nil {
		return b.objects
	}
	var objects []string
	touched := strings.Join(sources(t, "_HEADER("), " ")
	for _, src := range sources(t, "") {
		if !strings.Contains(touched, src) {
			obj := filepath.Join(b.dir, strings.TrimSuffix(filepath.Base(src), ".c")+".o")
			compile(t, "-O0", "-fPIC", "-DTRTMC_SHARED", "-fvisibility=hidden", "-c", "-o", obj, src)
			objects = append(objects, obj)
		}
	}
	b.objects = objects
	return objects
}

// sources lists the C files of the reference runtime that contain a text.
func sources(t testing.TB, with string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join("reference", "*.c"))
	require.NoError(t, err)
	var out []string
	for _, f := range all {
		data, err := os.ReadFile(f)
		require.NoError(t, err)
		if strings.Contains(string(data), with) {
			out = append(out, f)
		}
	}
	require.NotEmpty(t, out)
	return out
}

func compile(t testing.TB, args ...string) {
	t.Helper()
	cc := os.Getenv("CC")
	if cc == "" {
		cc = "cc"
	}
	said, err := exec.Command(cc, args...).CombinedOutput()
	require.NoError(t, err, "%s %s\n%s", cc, strings.Join(args, " "), said)
}

// writeBundle writes a reference bundle and returns its path.
func writeBundle(t testing.TB, p reference.Params) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.bundle")
	require.NoError(t, reference.WriteBundle(path, p))
	return path
}

// embedded opens the runtime that is linked in.
func embedded(t testing.TB) *native.Runtime { return openRuntime(t, native.Options{}) }

func openRuntime(t testing.TB, opts native.Options) *native.Runtime {
	t.Helper()
	rt, err := native.Open(opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, rt.Close()) })
	return rt
}

func load(t testing.TB, rt *native.Runtime, p reference.Params) *native.Model {
	t.Helper()
	m, err := rt.Load(writeBundle(t, p), native.LoadOptions{})
	require.NoError(t, err)
	return m
}

// fast returns p without modelled time.
func fast(p reference.Params) reference.Params {
	p.Timing = reference.Timing{}
	return p
}

func faulty(p reference.Params, f reference.Fault) reference.Params {
	p = fast(p)
	p.Fault = &f
	return p
}

// must returns the implementation that a lookup of package task finds.
func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		require.NoError(t, err)
		return v
	}
}

func continuer(t testing.TB, m task.Model) task.TextContinuer {
	t.Helper()
	return must[task.TextContinuer](t)(task.TextContinuerOf(m))
}

func streamer(t testing.TB, m task.Model) task.TextStreamer {
	t.Helper()
	return must[task.TextStreamer](t)(task.TextStreamerOf(m))
}

func scorerOf(t testing.TB, m task.Model) task.Scorer {
	t.Helper()
	return must[task.Scorer](t)(task.ScorerOf(m))
}

func clips(t testing.TB, m task.Model) task.VideoGenerator {
	t.Helper()
	return must[task.VideoGenerator](t)(task.VideoGeneratorOf(m))
}
