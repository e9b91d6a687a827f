package aiperf

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// recordLine is one file of a package's RECORD: path, digest and size as the wheel states them.
type recordLine struct {
	path, digest, size string
}

// Verify compares every file of the package with the digests of its RECORD, the list itself with that of the
// published wheel, and looks for Python files that the list does not know. It sets Verified and Problems and returns
// an error wrapping ErrVersion when they disagree. It reads about 15 MB and runs nothing.
func (in *Installation) Verify(ctx context.Context) error {
	in.Verified, in.Problems = false, nil
	dist := filepath.Join(in.SitePackages, "aiperf-"+in.Version+".dist-info")
	data, err := os.ReadFile(filepath.Join(dist, "RECORD"))
	if err != nil {
		return fmt.Errorf("read the package's file list: %w", err)
	}
	in.RecordSHA256 = sha256Hex(data)
	lines, err := wheelLines(data)
	if err != nil {
		return fmt.Errorf("read %s: %w", filepath.Join(dist, "RECORD"), err)
	}
	in.Files = len(lines)
	if in.ContentSHA256 = contentDigest(lines); in.ContentSHA256 != ContentSHA256 {
		in.problem("the file list is not that of the published wheel")
	}
	for _, l := range lines {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := l.check(in.SitePackages); err != nil {
			in.problem(err.Error())
		}
	}
	if err := in.strangers(lines); err != nil {
		return fmt.Errorf("list the package's files: %w", err)
	}
	if len(in.Problems) > 0 {
		return fmt.Errorf("%s: %w: %s", in.Executable, ErrVersion, strings.Join(in.Problems, "; "))
	}
	in.Verified = true
	return nil
}

func (in *Installation) problem(text string) {
	if len(in.Problems) < 20 {
		in.Problems = append(in.Problems, text)
	}
}

// wheelLines returns the part of RECORD that comes from the wheel: without what an installer adds (its own notes, the
// console script, compiled files), so that it is the same in every place.
func wheelLines(record []byte) ([]recordLine, error) {
	rows := csv.NewReader(strings.NewReader(string(record)))
	rows.FieldsPerRecord = 3
	var out []recordLine
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		l := recordLine{row[0], row[1], row[2]}
		base := filepath.Base(l.path)
		added := strings.Contains(l.path, ".dist-info/") && slices.Contains([]string{"INSTALLER", "REQUESTED", "direct_url.json"}, base)
		if l.digest == "" || added || strings.HasPrefix(l.path, "../") || strings.Contains(l.path, "__pycache__/") {
			continue
		}
		out = append(out, l)
	}
}

func contentDigest(lines []recordLine) string {
	text := make([]string, len(lines))
	for i, l := range lines {
		text[i] = l.path + "," + l.digest + "," + l.size + "\n"
	}
	slices.Sort(text)
	return sha256Hex([]byte(strings.Join(text, "")))
}

func (l recordLine) check(root string) error {
	want, ok := strings.CutPrefix(l.digest, "sha256=")
	if !ok || !filepath.IsLocal(filepath.FromSlash(l.path)) {
		return fmt.Errorf("%s: unreadable entry", l.path)
	}
	f, err := os.Open(filepath.Join(root, filepath.FromSlash(l.path)))
	if err != nil {
		return fmt.Errorf("%s is missing", l.path)
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	if err != nil {
		return fmt.Errorf("%s cannot be read", l.path)
	}
	if strconv.FormatInt(n, 10) != l.size || base64.RawURLEncoding.EncodeToString(h.Sum(nil)) != want {
		return fmt.Errorf("%s was changed", l.path)
	}
	return nil
}

// strangers notes Python files inside the package that its list does not know.
func (in *Installation) strangers(lines []recordLine) error {
	known := make(map[string]bool, len(lines))
	for _, l := range lines {
		known[filepath.FromSlash(l.path)] = true
	}
	return filepath.WalkDir(filepath.Join(in.SitePackages, "aiperf"), func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == "__pycache__" {
			return fs.SkipDir
		}
		rel, err := filepath.Rel(in.SitePackages, p)
		if err != nil {
			return err
		}
		if !d.IsDir() && slices.Contains([]string{".py", ".so", ".pyc"}, filepath.Ext(p)) && !known[rel] {
			in.problem(filepath.ToSlash(rel) + " does not belong to the package")
		}
		return nil
	})
}

func sha256Hex(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
