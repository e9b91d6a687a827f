package main

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/trtmc-go/trtmc/qual"
)

// hostFacts describes the machine as far as the system tells without privileges; what it does not tell stays empty.
func hostFacts() qual.Host {
	h := qual.Host{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU()}
	if b, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		h.Kernel = strings.TrimSpace(string(b))
	}
	h.CPU = procField("/proc/cpuinfo", "model name")
	if kb, ok := strings.CutSuffix(procField("/proc/meminfo", "MemTotal"), " kB"); ok {
		if n, err := strconv.ParseInt(kb, 10, 64); err == nil {
			h.MemoryBytes = n << 10
		}
	}
	return h
}

// procField returns the first value of a "key : value" line of a file under /proc, or "".
func procField(path, key string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(b)) {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == key {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// programFacts describes this executable.
func programFacts() qual.Program {
	p := qual.Program{GoVersion: runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok {
		p.Module, p.ModuleVersion = info.Main.Path, info.Main.Version
		var revision, dirty string
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				revision = s.Value
			case "vcs.modified":
				if s.Value == "true" {
					dirty = "+dirty"
				}
			case "CGO_ENABLED":
				p.CGO = s.Value == "1"
			}
		}
		if revision != "" {
			p.Revision = revision + dirty
		}
	}
	if path, err := os.Executable(); err == nil {
		p.SHA256, _, _ = digest(path) // an executable that cannot be read leaves the digest empty
	}
	return p
}

// digest returns the SHA-256 of a file in hex, and its length.
func digest(path string) (string, int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), n, err
}

// runtimeFacts describes the native runtime that was opened.
func runtimeFacts(version string, reference bool, library string) (qual.RuntimeFacts, error) {
	facts := qual.RuntimeFacts{Version: version, Reference: reference, Library: "linked in"}
	if library == "" {
		return facts, nil
	}
	facts.Library = filepath.Base(library)
	var err error
	facts.SHA256, _, err = digest(library)
	return facts, err
}
