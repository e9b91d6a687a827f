package aiperf

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// End is why a run ended.
type End string

// The ends of a run.
const (
	Exited      End = "exited"    // by itself; its exit code says little: it is 0 with failures and with lost rows too
	DeadlineHit End = "deadline"  // stopped because Spec.Deadline had passed
	Stopped     End = "cancelled" // stopped because the caller's context had ended
)

// Result is the evidence of one run: what was started, how it ended, and what it left behind.
type Result struct {
	Schema      int       `json:"schema"` // 1
	Workload    Workload  `json:"workload"`
	Command     []string  `json:"command"`          // executable and arguments; an API key is replaced by ***
	Environment []string  `json:"environment"`      // the variables set for the run
	Removed     []string  `json:"removed_from_env"` // names only
	Started     time.Time `json:"started"`          // UTC
	WallNS      int64     `json:"wall_ns"`          // from start to exit
	End         End       `json:"end"`
	ExitCode    int       `json:"exit_code"` // -1 when a signal ended it
	Signal      string    `json:"signal,omitempty"`
	LeftBehind  bool      `json:"left_processes"` // a process of the group outlived the first one and was killed
	InputSHA256 string    `json:"input_sha256"`   // of the file that was sent
	Stdout      string    `json:"stdout"`
	Stderr      string    `json:"stderr"`
	LastLines   []string  `json:"last_lines,omitempty"`       // of its output, at most ten, unless it exited with 0
	PollNS      int64     `json:"poll_interval_ns,omitempty"` // video: the resolution of its latencies
	Artifacts   string    `json:"artifacts"`                  // Spec.ArtifactDir
	Files       []File    `json:"files"`                      // everything below Artifacts, sorted by name
}

// File is one file of the exports.
type File struct {
	Name   string `json:"name"` // below the folder, with slashes
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// DigestFiles lists every regular file below dir, sorted by name.
func DigestFiles(dir string) ([]File, error) {
	var out []File
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		f := File{Name: filepath.ToSlash(rel)}
		if f.SHA256, f.Bytes, err = digestFile(p); err != nil {
			return err
		}
		out = append(out, f)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("digest files of %s: %w", dir, err)
	}
	slices.SortFunc(out, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

func digestFile(path string) (string, int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), n, err
}

// lastLines returns the last non-blank lines of the first file that has any.
func lastLines(limit int, paths ...string) []string {
	for _, p := range paths {
		data, err := tail(p, 64<<10)
		if err != nil {
			continue
		}
		var lines []string
		for line := range bytes.Lines(data) {
			if text := strings.TrimRight(string(line), " \t\r\n"); text != "" {
				lines = append(lines, text)
			}
		}
		if len(lines) > 0 {
			return lines[max(0, len(lines)-limit):]
		}
	}
	return nil
}

func tail(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if skip := info.Size() - limit; skip > 0 {
		if _, err := f.Seek(skip, io.SeekStart); err != nil {
			return nil, err
		}
	}
	return io.ReadAll(io.LimitReader(f, limit))
}
