package trace_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/trace"
)

func compressed(t *testing.T, text string) map[string][]byte {
	t.Helper()
	var gz, zst bytes.Buffer
	w := gzip.NewWriter(&gz)
	_, err := io.WriteString(w, text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	z, err := zstd.NewWriter(&zst)
	require.NoError(t, err)
	_, err = io.WriteString(z, text)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return map[string][]byte{"plain": []byte(text), "gzip": gz.Bytes(), "zstd": zst.Bytes()}
}

func TestSourceTellsCompressionByContent(t *testing.T) {
	text := strings.Repeat(`{"timestamp":0,"input_length":8}`+"\n", 5000)
	for name, stored := range compressed(t, text) {
		path := filepath.Join(t.TempDir(), "trace.txt") // the name says nothing
		require.NoError(t, os.WriteFile(path, stored, 0o644))
		src, err := trace.Open(path)
		require.NoError(t, err)
		require.Equal(t, "trace.txt", src.Name())
		some := make([]byte, 100)
		_, err = io.ReadFull(src, some)
		require.NoError(t, err)
		require.Equal(t, text[:100], string(some), name)
		sum, err := src.SHA256() // reads the rest
		require.NoError(t, err)
		want := sha256.Sum256(stored)
		require.Equal(t, hex.EncodeToString(want[:]), sum, "%s: the digest is of the stored bytes", name)
		require.NoError(t, src.Close())
		require.NoError(t, src.Close(), "closing twice is harmless")
	}
}

func TestConcatenatedCompressedFilesAreRead(t *testing.T) {
	row := `{"timestamp":0,"input_length":8}` + "\n"
	for name, stored := range compressed(t, row) {
		src, err := trace.NewSource(bytes.NewReader(append(bytes.Clone(stored), stored...)), name)
		require.NoError(t, err)
		good, bad := readAll(t, trace.NewMooncakeReader(src, name, trace.MooncakeOptions{}))
		require.Len(t, good, 2, name)
		require.Empty(t, bad)
		require.NoError(t, src.Close())
	}
}

func TestDamagedSourceIsAReadError(t *testing.T) {
	text := strings.Repeat(`{"timestamp":0,"input_length":8}`+"\n", 50)
	for name, stored := range compressed(t, text) {
		if name == "plain" {
			continue
		}
		src, err := trace.NewSource(bytes.NewReader(stored[:len(stored)-6]), name)
		require.NoError(t, err)
		r := trace.NewMooncakeReader(src, name, trace.MooncakeOptions{})
		for range r.All() {
		}
		require.Error(t, r.Err(), "%s cut short", name)
		require.NoError(t, src.Close())
	}
	_, err := trace.NewSource(strings.NewReader("\x1f\x8bxx"), "bad.gz")
	require.ErrorContains(t, err, "read trace bad.gz as gzip")
}

func TestEmptyAndMissingSources(t *testing.T) {
	src, err := trace.NewSource(strings.NewReader(""), "empty")
	require.NoError(t, err)
	good, bad := readAll(t, trace.NewMooncakeReader(src, "empty", trace.MooncakeOptions{}))
	require.Empty(t, good)
	require.Empty(t, bad)
	_, err = trace.Open(filepath.Join(t.TempDir(), "absent"))
	require.ErrorIs(t, err, os.ErrNotExist)
}
