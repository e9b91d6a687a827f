package qual

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Seal returns the digests of every regular file of a folder but run.json, the reports and hidden files, sorted by path. The
// harness writes them into run.json when a run ends; [Judge] compares.
func Seal(dir string) ([]FileDigest, error) {
	var out []FileDigest
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if rel == RunFile || rel == ReportJSON || rel == ReportMD || rel == ReportHTML || strings.HasPrefix(rel, ".") {
			return nil
		}
		digest, err := digestFile(dir, rel)
		out = append(out, digest)
		return err
	})
	slices.SortFunc(out, func(a, b FileDigest) int { return cmp.Compare(a.Path, b.Path) })
	return out, err
}

func digestFile(dir, rel string) (FileDigest, error) {
	f, err := os.Open(filepath.Join(dir, filepath.FromSlash(rel)))
	if err != nil {
		return FileDigest{Path: rel}, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	if err != nil {
		return FileDigest{Path: rel}, fmt.Errorf("digest of %s: %w", rel, err)
	}
	return FileDigest{Path: rel, Bytes: n, SHA256: hex.EncodeToString(h.Sum(nil))}, nil
}

// compareSeal lists the sealed files that are gone or changed, in words, and returns what is there now.
func compareSeal(dir string, sealed []FileDigest) (now []FileDigest, broken []string) {
	for _, want := range sealed {
		if !filepath.IsLocal(filepath.FromSlash(want.Path)) {
			broken = append(broken, fmt.Sprintf("%q is not a path inside the folder", want.Path))
			continue
		}
		got, err := digestFile(dir, want.Path)
		switch {
		case err != nil:
			broken = append(broken, want.Path+" cannot be read")
			continue
		case got != want:
			broken = append(broken, fmt.Sprintf("%s has sha256 %.12s, sealed was %.12s", want.Path, got.SHA256, want.SHA256))
		}
		now = append(now, got)
	}
	return now, broken
}
