package bundle

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"unicode/utf8"
)

// Write writes a bundle with the given sections, laid out in the order of their names, and replaces what was at path.
//
// The file appears whole or not at all: it is written beside path under a temporary name, synced and renamed. Equal
// input gives equal bytes. An empty field, an empty section name or text that is not UTF-8 gives an error that
// matches ErrFormat, and nothing is written.
func Write(path string, h Header, sections map[string][]byte) error {
	if err := write(path, h, sections); err != nil {
		return fmt.Errorf("write bundle %q: %w", path, err)
	}
	return nil
}

func write(path string, h Header, sections map[string][]byte) error {
	names := slices.Sorted(maps.Keys(sections))
	header, err := encodeHeader(h, names, sections)
	if err != nil {
		return err
	}
	return replace(path, func(f io.Writer) error {
		head := binary.LittleEndian.AppendUint64([]byte(magic), uint64(len(header)))
		if _, err := f.Write(append(head, header...)); err != nil {
			return err
		}
		for _, name := range names {
			if _, err := f.Write(sections[name]); err != nil {
				return err
			}
		}
		return nil
	})
}

func encodeHeader(h Header, names []string, sections map[string][]byte) ([]byte, error) {
	type span struct {
		Offset uint64 `json:"offset"`
		Length uint64 `json:"length"`
	}
	for _, f := range [...]struct{ key, value string }{{"family", h.Family}, {"task", h.Task}, {"backend", h.Backend}} {
		if f.value == "" || !utf8.ValidString(f.value) {
			return nil, refuse("%s is %q; it must be non-empty UTF-8", f.key, f.value)
		}
	}
	spans := make(map[string]span, len(names))
	var at uint64
	for _, name := range names {
		if name == "" || !utf8.ValidString(name) {
			return nil, refuse("a section is named %q; names must be non-empty UTF-8", name)
		}
		n := uint64(len(sections[name]))
		spans[name] = span{Offset: at, Length: n}
		at += n
	}
	header, err := json.Marshal(map[string]any{
		"format": 1, "family": h.Family, "task": h.Task, "backend": h.Backend, "sections": spans,
	})
	if err == nil && len(header) > maxHeader {
		err = refuse("the header would have %d bytes; at most %d are allowed", len(header), maxHeader)
	}
	return header, err
}

// replace puts a new file at path: temporary file in the same directory, sync, rename, sync of the directory.
func replace(path string, fill func(io.Writer) error) error {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	err = fill(f)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return syncDir(dir)
}

// syncDir makes the rename last. Systems that cannot sync a directory say so; the file itself is safe there already.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	_ = d.Sync()
	return d.Close()
}
