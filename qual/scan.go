package qual

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Leak is a place where something private is left.
type Leak struct {
	File string
	Line int // 0 in a binary file
	Rule string
}

// Scan looks through every file of a folder for what a redactor would replace and returns how many files there were.
// In binary files it looks at the runs of printable characters that are at least 12 long.
func Scan(dir string, r *Redactor) (files int, leaks []Leak, err error) {
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		files++
		if !d.Type().IsRegular() {
			leaks = append(leaks, Leak{File: filepath.ToSlash(rel), Rule: "not a regular file"})
			return nil
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		leaks = append(leaks, r.scan(filepath.ToSlash(rel), data)...)
		return nil
	})
	return files, leaks, err
}

func (r *Redactor) scan(rel string, data []byte) []Leak {
	lines, step := strings.Split(string(data), "\n"), 1
	if !isText(data) {
		lines, step = printableRuns(data), 0
	}
	var out []Leak
	if rule := r.broken(rel, rel); rule != "" {
		out = append(out, Leak{File: rel, Rule: rule + ", in the name of the file"})
	}
	for i, line := range lines {
		if rule := r.broken(rel, line); rule != "" {
			out = append(out, Leak{File: rel, Line: (i + 1) * step, Rule: rule})
		}
	}
	return out
}

// broken returns the name of the first rule that a line breaks, or "".
func (r *Redactor) broken(rel, line string) string {
	for _, rule := range r.rules {
		if rule.apply(line) != line {
			return rule.Name
		}
	}
	if r.file(rel, line) != line {
		return "private text behind escapes"
	}
	return ""
}

// printableRuns are the texts in a binary file.
func printableRuns(data []byte) []string {
	runs := strings.FieldsFunc(string(data), func(c rune) bool { return c < ' ' || c > '~' })
	return slices.DeleteFunc(runs, func(s string) bool { return len(s) < 12 })
}
