package aiperf

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Version is the only release whose exports and quirks this package knows.
const Version = "0.13.0"

const (
	// WheelSHA256 is the digest of the published aiperf-0.13.0-py3-none-any.whl.
	WheelSHA256 = "a20100fd127f1d10ea45d4946b1658a186030e86770344c80dfd256a60192f34"
	// ContentSHA256 is what Installation.ContentSHA256 is for an unchanged installation of that wheel, wherever it
	// lies. It was computed from the wheel named by WheelSHA256.
	ContentSHA256 = "ea490908170fcdc8cf1154a1319ceade956f76312d0d70a96ea9504edb34ef8b"
)

// Installation is an installed AIPerf as found on disk. Nothing of it is executed to find out.
type Installation struct {
	Executable     string `json:"executable"`  // absolute
	Interpreter    string `json:"interpreter"` // from the script's first lines
	SitePackages   string `json:"site_packages"`
	Version        string `json:"version"` // from METADATA
	MetadataSHA256 string `json:"metadata_sha256"`
	RecordSHA256   string `json:"record_sha256"`  // differs between places: RECORD also lists the script
	ContentSHA256  string `json:"content_sha256"` // of the part of RECORD that comes from the wheel
	Installer      string `json:"installer,omitempty"`
	Files          int    `json:"files"` // files of the wheel that RECORD lists
	// Verified is set by Verify: version, content digest and every listed file agree with the published wheel.
	Verified bool `json:"verified"`
	// Problems say what does not agree; at most twenty.
	Problems []string `json:"problems,omitempty"`
	// StartupFiles are the .pth files beside the package. Python runs their import lines at every start, so one that
	// does not belong there could change the client.
	StartupFiles []string `json:"startup_files,omitempty"`
}

// Find locates an installation. path is an executable's path, or "auto" for the first of: aiperf on $PATH, then
// bin/aiperf below each of the given environments. It only looks; see Verify. Errors wrap ErrNotFound or ErrVersion.
func Find(path string, environments ...string) (*Installation, error) {
	exe, err := executable(path, environments)
	if err != nil {
		return nil, err
	}
	in := &Installation{Executable: exe}
	if in.Interpreter, err = interpreter(exe); err != nil {
		return nil, err
	}
	dist, err := distInfo(in.Interpreter)
	if err != nil {
		return nil, err
	}
	in.SitePackages = filepath.Dir(dist)
	if err := in.read(dist); err != nil {
		return nil, err
	}
	if in.Version != Version {
		return nil, fmt.Errorf("%s is version %s: %w", exe, in.Version, ErrVersion)
	}
	return in, nil
}

func executable(path string, environments []string) (string, error) {
	if path != "auto" {
		found, err := exec.LookPath(path)
		if err != nil {
			return "", fmt.Errorf("%w: %w", ErrNotFound, err)
		}
		return filepath.Abs(found)
	}
	if found, err := exec.LookPath("aiperf"); err == nil {
		return filepath.Abs(found)
	}
	for _, env := range environments {
		exe := filepath.Join(env, "bin", "aiperf")
		if info, err := os.Stat(exe); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return filepath.Abs(exe)
		}
	}
	return "", fmt.Errorf("%w: not on $PATH and not in %q", ErrNotFound, environments)
}

// interpreter reads which Python a console script runs under: from its #! line, or, where that line would be too
// long for the kernel, from the exec line that installers write below "#!/bin/sh".
func interpreter(exe string) (string, error) {
	script, err := filepath.EvalSymlinks(exe)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNotFound, err)
	}
	f, err := os.Open(script)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNotFound, err)
	}
	defer f.Close()
	lines := bufio.NewReader(f)
	first, _ := lines.ReadString('\n')
	line, ok := strings.CutPrefix(strings.TrimSpace(first), "#!")
	if !ok {
		return "", fmt.Errorf("%s is not a Python console script: %w", exe, ErrNotFound)
	}
	words := strings.Fields(line)
	if len(words) > 0 && filepath.Base(words[0]) == "sh" {
		second, _ := lines.ReadString('\n')
		words = strings.Fields(strings.TrimPrefix(strings.TrimSpace(second), "'''exec'"))
	}
	if len(words) > 1 && filepath.Base(words[0]) == "env" {
		found, err := exec.LookPath(words[1])
		if err != nil {
			return "", fmt.Errorf("%s runs under %s: %w: %w", exe, words[1], ErrNotFound, err)
		}
		words[0] = found
	}
	if len(words) == 0 {
		return "", fmt.Errorf("%s names no interpreter: %w", exe, ErrNotFound)
	}
	python := strings.Trim(words[0], `"`)
	if !filepath.IsAbs(python) || !strings.HasPrefix(filepath.Base(python), "python") {
		return "", fmt.Errorf("%s runs under %q, want an absolute path of a Python: %w", exe, python, ErrNotFound)
	}
	return python, nil
}

// distInfo finds the package's metadata folder. The interpreter's path is taken as it stands: the python of a virtual
// environment is a link to one elsewhere, but its packages lie beside the link.
func distInfo(python string) (string, error) {
	prefix := filepath.Dir(filepath.Dir(python))
	var found []string
	for _, sub := range []string{"lib/python3*/site-packages", "lib/python3*/dist-packages", "lib/python3/dist-packages"} {
		match, err := filepath.Glob(filepath.Join(prefix, sub, "aiperf-*.dist-info"))
		if err != nil {
			return "", fmt.Errorf("look for packages of %s: %w", python, err)
		}
		found = append(found, match...)
	}
	slices.Sort(found)
	switch found = slices.Compact(found); len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", fmt.Errorf("no aiperf package belongs to %s: %w", python, ErrNotFound)
	}
	return "", fmt.Errorf("several aiperf packages belong to %s (%s): %w", python, strings.Join(found, ", "), ErrVersion)
}

func (in *Installation) read(dist string) error {
	metadata, err := os.ReadFile(filepath.Join(dist, "METADATA"))
	if err != nil {
		return fmt.Errorf("read the package's metadata: %w", err)
	}
	in.MetadataSHA256 = sha256Hex(metadata)
	if in.Version = header(metadata, "Version"); header(metadata, "Name") != "aiperf" {
		return fmt.Errorf("%s is the package %q: %w", dist, header(metadata, "Name"), ErrVersion)
	}
	if b, err := os.ReadFile(filepath.Join(dist, "INSTALLER")); err == nil {
		in.Installer = strings.TrimSpace(string(b))
	}
	pth, err := filepath.Glob(filepath.Join(in.SitePackages, "*.pth"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look for startup files: %w", err)
	}
	for _, p := range pth {
		in.StartupFiles = append(in.StartupFiles, filepath.Base(p))
	}
	return nil
}

// header returns a header of a METADATA file.
func header(metadata []byte, name string) string {
	for line := range bytes.Lines(metadata) {
		text := strings.TrimRight(string(line), "\r\n")
		if text == "" {
			break
		}
		if key, value, ok := strings.Cut(text, ":"); ok && key == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
