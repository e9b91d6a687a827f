package qual

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Redaction says in run.json that a folder is a redacted copy, and what it was made of.
type Redaction struct {
	Note      string       `json:"note"`
	Changed   []string     `json:"changed"`  // files with something replaced
	LeftOut   []string     `json:"left_out"` // files that are not in the copy
	Originals []FileDigest `json:"originals"`
}

// redactionNote stands in run.json and in the reports of a copy.
const redactionNote = "redacted copy: paths, names, addresses and keys are replaced and bundles are left out; run.json holds the digests of the originals"

// Publication is what was published, and the proof that nothing private is in it.
type Publication struct {
	Redaction
	Files int      // in the copy, each of which was scanned
	Rules []string // what the scan looked for
	Leaks []Leak   // what it found; empty is the proof
	Held  bool     // every check of the copy's report held
}

// Publish writes a redacted copy of a finished folder into dst, which must be empty or not be there. Text is redacted;
// clips and posters are copied; bundles and other binary files are left out. The digests in run.json and in manifests
// become those of the copy and the original ones are kept, so that the copy can be judged; its reports are made anew.
// Then every file of the copy is scanned.
func Publish(dir, dst string, r *Redactor) (*Publication, error) {
	run, err := ReadRun(dir)
	if err != nil {
		return nil, err
	}
	if entries, err := os.ReadDir(dst); err == nil && len(entries) > 0 {
		return nil, fmt.Errorf("publish into %s: the folder is not empty", dst)
	}
	p := &publisher{dir: dir, dst: dst, redactor: r}
	if p.out.Originals, err = Seal(dir); err != nil {
		return nil, fmt.Errorf("publish: %w", err)
	}
	if err := p.files(); err != nil {
		return nil, fmt.Errorf("publish: %w", err)
	}
	if err := p.run(run); err != nil {
		return nil, fmt.Errorf("publish: %w", err)
	}
	report, err := Judge(dst)
	if err != nil {
		return nil, fmt.Errorf("judge the redacted copy: %w", err)
	}
	if err := report.Write(dst); err != nil {
		return nil, fmt.Errorf("publish: %w", err)
	}
	out := &Publication{Redaction: p.out, Rules: r.Rules(), Held: report.Verdict.Held}
	if out.Files, out.Leaks, err = Scan(dst, r); err != nil {
		return nil, fmt.Errorf("scan the redacted copy: %w", err)
	}
	return out, nil
}

// publisher is one publishing under way.
type publisher struct {
	dir, dst string
	redactor *Redactor
	out      Redaction
	changes  []change
}

// change is what became of one file.
type change struct{ old, now FileDigest }

// files copies all evidence but run.json. Manifests come last: they name digests of the others.
func (p *publisher) files() error {
	files := slices.Clone(p.out.Originals)
	slices.SortStableFunc(files, func(a, b FileDigest) int { return rank(a.Path) - rank(b.Path) })
	for _, f := range files {
		if err := p.file(f); err != nil {
			return err
		}
	}
	slices.Sort(p.out.Changed)
	slices.Sort(p.out.LeftOut)
	return nil
}

// rank is 1 for files that pin others.
func rank(rel string) int {
	if base := path.Base(rel); base == ManifestFile || base == AIPerfFile {
		return 1
	}
	return 0
}

// repin gives the objects of JSON text that pin a changed file its new digest and length.
func (p *publisher) repin(text string) string {
	for _, c := range p.changes {
		length := regexp.MustCompile(fmt.Sprintf(`("bytes":\s*)%d\b`, c.old.Bytes))
		var out strings.Builder
		for {
			at := strings.Index(text, c.old.SHA256)
			if at < 0 {
				break
			}
			start, end := max(0, strings.LastIndexByte(text[:at], '{')), len(text)
			if i := strings.IndexByte(text[at:], '}'); i >= 0 {
				end = at + i
			}
			out.WriteString(text[:start])
			object := length.ReplaceAllString(text[start:end], fmt.Sprintf("${1}%d", c.now.Bytes))
			out.WriteString(strings.ReplaceAll(object, c.old.SHA256, c.now.SHA256))
			text = text[end:]
		}
		text = out.String() + text
	}
	return text
}

func (p *publisher) file(f FileDigest) error {
	if strings.HasPrefix(f.Path, BundleDir+"/") {
		p.out.LeftOut = append(p.out.LeftOut, f.Path)
		return nil
	}
	data, err := os.ReadFile(filepath.Join(p.dir, filepath.FromSlash(f.Path)))
	if err != nil {
		return err
	}
	clean := data
	switch {
	case isText(data):
		clean = []byte(p.redactor.file(f.Path, string(data)))
		if rank(f.Path) > 0 {
			clean = []byte(p.repin(string(clean)))
		}
	case !isMedia(f.Path):
		p.out.LeftOut = append(p.out.LeftOut, f.Path)
		return nil
	}
	name := p.redactor.Text(f.Path)
	if err := writeBelow(p.dst, name, clean); err != nil {
		return err
	}
	if name == f.Path && bytes.Equal(clean, data) {
		return nil
	}
	p.out.Changed = append(p.out.Changed, name)
	now, err := digestFile(p.dst, name)
	p.changes = append(p.changes, change{f, now})
	return err
}

// run writes run.json of the copy.
func (p *publisher) run(run *Run) error {
	data, err := encodeJSON(run)
	if err != nil {
		return err
	}
	text := p.repin(p.redactor.JSON(string(data)))
	if err := writeBelow(p.dst, RunFile, []byte(text)); err != nil {
		return err
	}
	copied, err := ReadRun(p.dst)
	if err != nil {
		return err
	}
	if copied.Sealed, err = Seal(p.dst); err != nil {
		return err
	}
	p.out.Note = redactionNote
	for i := range p.out.Originals {
		p.out.Originals[i].Path = p.redactor.Text(p.out.Originals[i].Path)
	}
	for i := range p.out.LeftOut {
		p.out.LeftOut[i] = p.redactor.Text(p.out.LeftOut[i])
	}
	copied.Redacted, copied.Notes = &p.out, append(copied.Notes, redactionNote)
	return WriteRun(p.dst, copied)
}

func writeBelow(dst, rel string, data []byte) error {
	to := filepath.Join(dst, filepath.FromSlash(rel))
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644)
}

// file redacts the text of one file.
func (r *Redactor) file(rel, text string) string {
	switch path.Ext(rel) {
	case ".json", ".jsonl", ".log":
		return r.JSON(text)
	}
	return r.Text(text)
}

func isText(data []byte) bool { return utf8.Valid(data) && !bytes.ContainsRune(data, 0) }

// isMedia reports whether a file is a clip or poster, which this program made and which hold no text.
func isMedia(rel string) bool { return path.Ext(rel) == ".mp4" || path.Ext(rel) == ".jpg" }
