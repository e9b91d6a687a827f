package trace

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// The first bytes of compressed files (RFC 1952, RFC 8878).
const (
	gzipMagic = "\x1f\x8b"
	zstdMagic = "\x28\xb5\x2f\xfd"
)

// Source is the stored bytes of a trace, read through whatever compression they are in, and their digest. It is not
// safe for concurrent use. Close it at the end.
type Source struct {
	name    string
	stored  *digester
	decoded io.Reader
	closers []func() error
}

// digester hashes what it passes on.
type digester struct {
	r   io.Reader
	sum hash.Hash
}

func (d *digester) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	d.sum.Write(p[:n])
	return n, err
}

// Open opens a file. Its name in positions and manifests is the last element of the path.
func Open(path string) (*Source, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open trace: %w", err)
	}
	s, err := NewSource(f, filepath.Base(path))
	if err != nil {
		f.Close()
		return nil, err
	}
	s.closers = append(s.closers, f.Close)
	return s, nil
}

// NewSource reads a trace from r, which stays the caller's.
func NewSource(r io.Reader, name string) (*Source, error) {
	s := &Source{name: name, stored: &digester{r: r, sum: sha256.New()}}
	stored := bufio.NewReaderSize(s.stored, 1<<20)
	magic, err := stored.Peek(len(zstdMagic))
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("read trace %s: %w", name, err)
	}
	switch {
	case len(magic) >= 2 && string(magic[:2]) == gzipMagic:
		z, err := gzip.NewReader(stored)
		if err != nil {
			return nil, fmt.Errorf("read trace %s as gzip: %w", name, err)
		}
		s.decoded, s.closers = z, append(s.closers, z.Close)
	case string(magic) == zstdMagic:
		// Two, so that decoding overlaps parsing.
		z, err := zstd.NewReader(stored, zstd.WithDecoderConcurrency(2))
		if err != nil {
			return nil, fmt.Errorf("read trace %s as zstd: %w", name, err)
		}
		s.decoded, s.closers = z, append(s.closers, func() error { z.Close(); return nil })
	default:
		s.decoded = stored
	}
	return s, nil
}

// Name returns the name given to positions.
func (s *Source) Name() string { return s.name }

// Read reads decoded bytes.
func (s *Source) Read(p []byte) (int, error) { return s.decoded.Read(p) }

// SHA256 returns the digest of the stored bytes, in hexadecimal. It reads what has not been read yet.
func (s *Source) SHA256() (string, error) {
	if _, err := io.Copy(io.Discard, s.decoded); err != nil {
		return "", fmt.Errorf("digest trace %s: %w", s.name, err)
	}
	// A decoder may stop before the last stored byte.
	if _, err := io.Copy(io.Discard, s.stored); err != nil {
		return "", fmt.Errorf("digest trace %s: %w", s.name, err)
	}
	return hex.EncodeToString(s.stored.sum.Sum(nil)), nil
}

// Close frees the decoder and, after Open, the file.
func (s *Source) Close() error {
	var first error
	for _, c := range s.closers {
		if err := c(); err != nil && first == nil {
			first = err
		}
	}
	s.closers = nil
	if first != nil {
		return fmt.Errorf("close trace %s: %w", s.name, first)
	}
	return nil
}
