package bundle

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	magic     = "BUNDLE\x01\x00"
	preamble  = len(magic) + 8 // magic and header length
	maxHeader = 100 << 20
)

// Header is what a bundle says of itself. All three are non-empty UTF-8; a runtime further wants each to be a
// lower-case letter followed by lower-case letters, digits and underscores.
type Header struct {
	Family  string // the model family that loads the bundle
	Task    string // the bundle's own word for its purpose, for example text_generation; not a semantic Task id
	Backend string // the backend the payload was built for
}

// Section is a named range of the payload. Offset and Length are bytes; Offset counts from the start of the payload.
type Section struct {
	Name   string
	Offset uint64
	Length uint64
}

// Info is a bundle's header. Format is 1; Sections are in the order of their names.
type Info struct {
	Format int
	Header
	Sections []Section
}

// Bundle is an opened bundle: its path and header. It holds no file open, needs no Close, is immutable and is safe
// for concurrent use; ReadSection and Digest open the file anew, so it must still be there.
type Bundle struct {
	path    string
	info    Info
	payload int64 // file offset of the payload
}

// Open reads and checks the header of the bundle at path. The path is made absolute, so a later change of the working
// directory does no harm. Errors match ErrFormat when the content is at fault, else what package os returned.
func Open(path string) (*Bundle, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open bundle %q: %w", path, err)
	}
	f, err := os.Open(abs)
	if err != nil {
		return nil, fmt.Errorf("open bundle: %w", err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("open bundle: %w", err)
	}
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("open bundle %q: %w: not a regular file", abs, ErrFormat)
	}
	info, payload, err := read(f, st.Size())
	if err != nil {
		return nil, fmt.Errorf("open bundle %q: %w", abs, err)
	}
	return &Bundle{path: abs, info: info, payload: payload}, nil
}

// read takes the header from a file of the given size and returns it with the offset of the payload.
func read(r io.ReaderAt, size int64) (Info, int64, error) {
	if size < int64(preamble) {
		return Info{}, 0, refuse("the file has %d bytes; a bundle has at least %d", size, preamble)
	}
	head := make([]byte, preamble)
	if _, err := r.ReadAt(head, 0); err != nil {
		return Info{}, 0, fmt.Errorf("read the first %d bytes: %w", preamble, err)
	}
	if got := string(head[:len(magic)]); got != magic {
		return Info{}, 0, refuse("the file starts with %q; a bundle starts with %q", got, magic)
	}
	length := binary.LittleEndian.Uint64(head[len(magic):])
	if length > maxHeader {
		return Info{}, 0, refuse("header length %d; at most %d (100 MiB) is allowed", length, maxHeader)
	}
	payload := int64(preamble) + int64(length)
	if payload > size {
		return Info{}, 0, refuse("header length %d passes the end of the file; %d bytes are left for it", length, size-int64(preamble))
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(io.NewSectionReader(r, int64(preamble), int64(length)), text); err != nil {
		return Info{}, 0, fmt.Errorf("read the header: %w", err)
	}
	info, err := parseHeader(text, uint64(size-payload))
	return info, payload, err
}

// Path returns the absolute path of the file.
func (b *Bundle) Path() string { return b.path }

// Info returns the header as it was when the bundle was opened; the caller owns the slice of sections.
func (b *Bundle) Info() Info {
	info := b.info
	info.Sections = slices.Clone(info.Sections)
	return info
}

// ReadSection reads the whole section of the given name into memory. Errors match ErrNoSection when there is none.
func (b *Bundle) ReadSection(name string) ([]byte, error) {
	i, found := slices.BinarySearchFunc(b.info.Sections, name, func(s Section, n string) int { return strings.Compare(s.Name, n) })
	if !found {
		return nil, fmt.Errorf("read section %q of bundle %q: %w", name, b.path, ErrNoSection)
	}
	s := b.info.Sections[i]
	f, err := os.Open(b.path)
	if err != nil {
		return nil, fmt.Errorf("read section %q of bundle: %w", name, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.NewSectionReader(f, b.payload+int64(s.Offset), int64(s.Length)))
	if err == nil && uint64(len(data)) != s.Length {
		err = fmt.Errorf("%w: the file ended after %d of the section's %d bytes", ErrFormat, len(data), s.Length)
	}
	if err != nil {
		return nil, fmt.Errorf("read section %q of bundle %q: %w", name, b.path, err)
	}
	return data, nil
}

// Digest returns the SHA-256 of the whole file as 64 lower-case hexadecimal digits. The file is streamed, not held in
// memory.
func (b *Bundle) Digest() (string, error) {
	f, err := os.Open(b.path)
	if err != nil {
		return "", fmt.Errorf("digest of bundle: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("digest of bundle %q: %w", b.path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// refuse makes an error that matches ErrFormat and says what is wrong and what would be right.
func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrFormat, fmt.Sprintf(format, args...))
}
