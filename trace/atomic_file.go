package trace

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
)

// part is a file that is being written under another name.
type part struct {
	name string
	to   string
	f    *os.File
	w    *bufio.Writer
	sum  hash.Hash
	info ManifestPart
}

func createPart(dir, name string) (*part, error) {
	f, err := os.CreateTemp(dir, "."+name+".*")
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", name, err)
	}
	p := &part{name: name, to: filepath.Join(dir, name), f: f, sum: sha256.New()}
	p.w = bufio.NewWriterSize(io.MultiWriter(f, p.sum), 1<<18)
	return p, nil
}

// line writes one line.
func (p *part) line(line []byte) error {
	p.info.Lines++
	p.info.Bytes += int64(len(line)) + 1
	p.w.Write(line) // its error comes back with the next one
	if err := p.w.WriteByte('\n'); err != nil {
		return fmt.Errorf("write %s: %w", p.name, err)
	}
	return nil
}

// finish puts the file into its place and notes it, or removes it when failed is not nil.
func (p *part) finish(failed error, files map[string]ManifestPart) error {
	err := failed
	if err == nil {
		err = p.w.Flush()
	}
	if err == nil {
		err = p.f.Chmod(0o644)
	}
	if err == nil {
		err = p.f.Sync()
	}
	if cerr := p.f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(p.f.Name(), p.to)
	}
	if err != nil {
		rerr := os.Remove(p.f.Name())
		if failed != nil {
			return nil // the caller has it
		}
		return errors.Join(fmt.Errorf("write %s: %w", p.name, err), rerr)
	}
	p.info.SHA256 = hex.EncodeToString(p.sum.Sum(nil))
	files[p.name] = p.info
	return nil
}

// writeJSON writes an indented JSON file in one step.
func writeJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", filepath.Base(path), err)
	}
	p, err := createPart(filepath.Dir(path), filepath.Base(path))
	if err != nil {
		return err
	}
	return p.finish(p.line(data), map[string]ManifestPart{})
}
