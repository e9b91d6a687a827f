package aiperf

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// environment lays out an installation of two modules as pip does and returns its folder. It is not the published
// package, so it can be found and never verified.
func environment(t *testing.T, version string) string {
	t.Helper()
	dir := t.TempDir()
	site := filepath.Join(dir, "lib", "python3.11", "site-packages")
	dist := "aiperf-" + version + ".dist-info"
	var record strings.Builder
	for name, text := range map[string]string{
		"aiperf/__init__.py":  "",
		"aiperf/cli.py":       "print(1)\n",
		dist + "/METADATA":    "Metadata-Version: 2.5\nName: aiperf\nVersion: " + version + "\n\nVersion: 9\n",
		dist + "/INSTALLER":   "pip\n",
		"../../../bin/aiperf": "#!" + dir + "/bin/python3\nimport aiperf\n",
	} {
		path := filepath.Join(site, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o755))
		sum := sha256.Sum256([]byte(text))
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", name, base64.RawURLEncoding.EncodeToString(sum[:]), len(text))
	}
	fmt.Fprintf(&record, "aiperf/__pycache__/cli.cpython-311.pyc,,\n%s/RECORD,,\n", dist)
	require.NoError(t, os.WriteFile(filepath.Join(site, dist, "RECORD"), []byte(record.String()), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(site, "hook.pth"), []byte("import os\n"), 0o644))
	return dir
}

func TestAutoFindsTheEnvironmentGiven(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	env := environment(t, Version)
	in, err := Find("auto", t.TempDir(), env)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(env, "bin", "aiperf"), in.Executable)
	require.Equal(t, filepath.Join(env, "bin", "python3"), in.Interpreter)
	require.Equal(t, Version, in.Version, "the header, not a line of the description")
	require.Equal(t, "pip", in.Installer)
	require.Equal(t, []string{"hook.pth"}, in.StartupFiles)
	require.False(t, in.Verified)

	_, err = Find("auto", t.TempDir())
	require.ErrorIs(t, err, ErrNotFound)
}

func TestAutoPrefersThePath(t *testing.T) {
	env, other := environment(t, Version), environment(t, Version)
	t.Setenv("PATH", filepath.Join(other, "bin"))
	in, err := Find("auto", env)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(other, "bin", "aiperf"), in.Executable)
}

func TestALinkLeadsToTheEnvironmentBehindIt(t *testing.T) {
	env := environment(t, Version)
	link := filepath.Join(t.TempDir(), "aiperf")
	require.NoError(t, os.Symlink(filepath.Join(env, "bin", "aiperf"), link))
	in, err := Find(link)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(env, "lib", "python3.11", "site-packages"), in.SitePackages)
}

func TestScriptWithALongInterpreterPath(t *testing.T) {
	env := environment(t, Version)
	script := fmt.Sprintf("#!/bin/sh\n'''exec' %q \"$0\" \"$@\"\n' '''\nimport aiperf\n", filepath.Join(env, "bin", "python3"))
	require.NoError(t, os.WriteFile(filepath.Join(env, "bin", "aiperf"), []byte(script), 0o755))
	in, err := Find(filepath.Join(env, "bin", "aiperf"))
	require.NoError(t, err)
	require.Equal(t, filepath.Join(env, "bin", "python3"), in.Interpreter)
}

func TestOtherVersionsAreRefused(t *testing.T) {
	_, err := Find(filepath.Join(environment(t, "0.14.0"), "bin", "aiperf"))
	require.ErrorIs(t, err, ErrVersion)
	require.ErrorContains(t, err, "0.14.0")
}

func TestWhatIsNoConsoleScriptIsNotFound(t *testing.T) {
	for name, text := range map[string]string{"binary": "\x7fELF", "shell": "#!/bin/sh\nexec something\n", "perl": "#!/usr/bin/perl\n", "nothing": ""} {
		path := filepath.Join(t.TempDir(), "aiperf")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o755))
		_, err := Find(path)
		require.ErrorIs(t, err, ErrNotFound, name)
	}
	_, err := Find(filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, ErrNotFound)
}

func TestVerifyNamesEveryFileThatDisagrees(t *testing.T) {
	env := environment(t, Version)
	in, err := Find(filepath.Join(env, "bin", "aiperf"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(in.SitePackages, "aiperf", "cli.py"), []byte("print(2)\n"), 0o644))
	require.NoError(t, os.Remove(filepath.Join(in.SitePackages, "aiperf", "__init__.py")))
	require.NoError(t, os.WriteFile(filepath.Join(in.SitePackages, "aiperf", "patch.py"), nil, 0o644))
	err = in.Verify(t.Context())
	require.ErrorIs(t, err, ErrVersion)
	require.False(t, in.Verified)
	require.Equal(t, []string{"the file list is not that of the published wheel", "aiperf/__init__.py is missing", "aiperf/cli.py was changed", "aiperf/patch.py does not belong to the package"}, problemsInOrder(in.Problems))
	require.Equal(t, 3, in.Files, "neither what the installer adds nor compiled files")
	require.Len(t, in.RecordSHA256, 64)
}

// problemsInOrder puts the problems of files, which follow the order of RECORD, into a fixed order behind the first.
func problemsInOrder(problems []string) []string {
	slices.Sort(problems[1:])
	return problems
}

func TestContentDigestDoesNotDependOnThePlace(t *testing.T) {
	digest := func() string {
		in, err := Find(filepath.Join(environment(t, Version), "bin", "aiperf"))
		require.NoError(t, err)
		require.ErrorIs(t, in.Verify(t.Context()), ErrVersion)
		return in.ContentSHA256
	}
	require.Equal(t, digest(), digest(), "although the script names another interpreter")
}
