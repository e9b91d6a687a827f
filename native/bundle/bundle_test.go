package bundle

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const goodHeader = `{"format":1,"family":"qwen","task":"text_generation","backend":"trt","sections":{"engine.plan":{"offset":0,"length":4}}}`

// file makes the bytes of a bundle from a header and a payload.
func file(header, payload string) string {
	return magic + string(binary.LittleEndian.AppendUint64(nil, uint64(len(header)))) + header + payload
}

func put(t testing.TB, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.bundle")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func TestOpenReadsHeaderAndSections(t *testing.T) {
	b, err := Open(put(t, file(goodHeader, "PLAN")))
	require.NoError(t, err)
	require.Equal(t, Info{
		Format: 1, Header: Header{Family: "qwen", Task: "text_generation", Backend: "trt"},
		Sections: []Section{{Name: "engine.plan", Offset: 0, Length: 4}},
	}, b.Info())
	data, err := b.ReadSection("engine.plan")
	require.NoError(t, err)
	require.Equal(t, "PLAN", string(data))
	require.True(t, filepath.IsAbs(b.Path()))
}

func TestProvenanceAtTheEndIsIgnored(t *testing.T) {
	note := `{"built_by":"x"}`
	tail := note + string(binary.LittleEndian.AppendUint64(nil, uint64(len(note)))) + "PROV\x01\x00\x00\x00"
	b, err := Open(put(t, file(goodHeader, "PLAN"+tail)))
	require.NoError(t, err)
	data, err := b.ReadSection("engine.plan")
	require.NoError(t, err)
	require.Equal(t, "PLAN", string(data))
}

func TestSectionsComeInNameOrder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.bundle")
	require.NoError(t, Write(path, Header{"f", "t", "b"}, map[string][]byte{"z": {1}, "a": {2, 3}, "m": nil}))
	b, err := Open(path)
	require.NoError(t, err)
	require.Equal(t, []Section{{"a", 0, 2}, {"m", 2, 0}, {"z", 2, 1}}, b.Info().Sections)
	for name, want := range map[string]string{"a": "\x02\x03", "m": "", "z": "\x01"} {
		data, err := b.ReadSection(name)
		require.NoError(t, err)
		require.Equal(t, want, string(data))
	}
}

func TestEveryBrokenRuleHasItsOwnError(t *testing.T) {
	swap := func(old, with string) string { return file(strings.Replace(goodHeader, old, with, 1), "PLAN") }
	rows := []struct{ name, content, want string }{
		{"empty file", "", "the file has 0 bytes; a bundle has at least 16"},
		{"magic", "BUNDLE\x02\x00" + strings.Repeat("x", 9), `a bundle starts with "BUNDLE\x01\x00"`},
		{"header over the limit", magic + "\x01\x00\x40\x06\x00\x00\x00\x00", "header length 104857601; at most 104857600"},
		{"header past the end", magic + "\x40\x00\x00\x00\x00\x00\x00\x00{}", "header length 64 passes the end of the file; 2 bytes are left"},
		{"not UTF-8", swap("qwen", "\xff"), "the header is not UTF-8"},
		{"empty header", file("", ""), "the header ends inside header"},
		{"not JSON", file("{nope", ""), "the header is not JSON at byte 1"},
		{"cut JSON", file(`{"format":1`, ""), "the header ends inside header"},
		{"not an object", file("[]", ""), "header is an array; it must be a JSON object"},
		{"trailing data", file(goodHeader+"{}", "PLAN"), "goes on after its JSON object ends"},
		{"format 2", swap(`"format":1`, `"format":2`), "format is the number 2; only the integer 1 is known"},
		{"format 1.0", swap(`"format":1`, `"format":1.0`), "format is the number 1.0"},
		{"format as text", swap(`"format":1`, `"format":"1"`), `format is the string "1"`},
		{"format missing", swap(`"format":1,`, ``), `header lacks the key "format"; it has exactly the keys format, family, task, backend, sections`},
		{"family empty", swap(`"qwen"`, `""`), "family is an empty string; it must be a non-empty string"},
		{"task null", swap(`"text_generation"`, `null`), "task is null; it must be a non-empty string"},
		{"backend a bool", swap(`"trt"`, `true`), "backend is true"},
		{"sections missing", file(`{"format":1,"family":"f","task":"t","backend":"b"}`, ""), `header lacks the key "sections"`},
		{"sections an array", swap(`{"engine.plan":{"offset":0,"length":4}}`, `[]`), "sections is an array"},
		{"unknown key", swap(`"format":1`, `"format":1,"extra":0`), `header has the unknown key "extra"`},
		{"key in another case", swap(`"family"`, `"Family"`), `header has the unknown key "Family"`},
		{"key twice", swap(`"format":1`, `"format":1,"format":1`), `header has the key "format" twice`},
		{"section twice", swap(`"sections":{`, `"sections":{"engine.plan":{"offset":0,"length":4},`), `sections has the key "engine.plan" twice`},
		{"section unnamed", swap(`"engine.plan"`, `""`), "a section has an empty name"},
		{"section not an object", swap(`{"offset":0,"length":4}`, `4`), `section "engine.plan" is the number 4`},
		{"older size key", swap(`"length"`, `"size"`), `section "engine.plan" has the unknown key "size"; it has exactly the keys offset, length`},
		{"length missing", swap(`,"length":4`, ``), `section "engine.plan" lacks the key "length"`},
		{"offset negative", swap(`"offset":0`, `"offset":-1`), "offset is -1; it must be a non-negative integer"},
		{"length a fraction", swap(`"length":4`, `"length":4.5`), "length is 4.5; it must be a non-negative integer"},
		{"length as text", swap(`"length":4`, `"length":"4"`), `length is the string "4"`},
		{"length above 64 bits", swap(`"length":4`, `"length":18446744073709551616`), "below 2^64"},
		{"range past the end", swap(`"length":4`, `"length":5`), "bytes 0 to 0+5 of the payload, which has 4 bytes"},
		{"range that wraps round", swap(`"offset":0,"length":4`, `"offset":2,"length":18446744073709551615`), "of the payload, which has 4 bytes"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			path := put(t, row.content)
			_, err := Open(path)
			require.ErrorIs(t, err, ErrFormat)
			require.ErrorContains(t, err, row.want)
			require.ErrorContains(t, err, path)
		})
	}
}

func TestMissingFileAndDirectoryAreRefused(t *testing.T) {
	dir := t.TempDir()
	_, err := Open(filepath.Join(dir, "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = Open(dir)
	require.ErrorContains(t, err, "not a regular file")
}

func TestReadSectionErrors(t *testing.T) {
	path := put(t, file(goodHeader, "PLAN"))
	b, err := Open(path)
	require.NoError(t, err)
	_, err = b.ReadSection("weights")
	require.ErrorIs(t, err, ErrNoSection)
	require.NoError(t, os.Truncate(path, int64(len(file(goodHeader, "PL")))))
	_, err = b.ReadSection("engine.plan")
	require.ErrorContains(t, err, "ended after 2 of the section's 4 bytes")
	require.NoError(t, os.Remove(path))
	_, err = b.ReadSection("engine.plan")
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = b.Digest()
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestDigestIsTheSHA256OfTheFile(t *testing.T) {
	content := file(goodHeader, "PLAN")
	b, err := Open(put(t, content))
	require.NoError(t, err)
	got, err := b.Digest()
	require.NoError(t, err)
	want := sha256.Sum256([]byte(content))
	require.Equal(t, hex.EncodeToString(want[:]), got)
}

func TestWriteRefusesWhatOpenWouldRefuse(t *testing.T) {
	rows := []struct {
		name     string
		h        Header
		sections map[string][]byte
	}{
		{"empty family", Header{"", "t", "b"}, nil},
		{"empty task", Header{"f", "", "b"}, nil},
		{"backend not UTF-8", Header{"f", "t", "\xff"}, nil},
		{"section unnamed", Header{"f", "t", "b"}, map[string][]byte{"": nil}},
		{"section name not UTF-8", Header{"f", "t", "b"}, map[string][]byte{"\xff": nil}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			require.ErrorIs(t, Write(filepath.Join(dir, "a"), row.h, row.sections), ErrFormat)
			left, err := os.ReadDir(dir)
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
}

func TestWriteReplacesWholeAndLeavesNoTemporaryFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.bundle")
	for _, text := range []string{"first, longer", "second"} {
		require.NoError(t, Write(path, Header{"f", "t", "b"}, map[string][]byte{"s": []byte(text)}))
		b, err := Open(path)
		require.NoError(t, err)
		data, err := b.ReadSection("s")
		require.NoError(t, err)
		require.Equal(t, text, string(data))
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1)
	require.Error(t, Write(filepath.Join(dir, "no", "such", "dir"), Header{"f", "t", "b"}, nil))
	require.Error(t, Write(dir, Header{"f", "t", "b"}, nil), "a directory is not replaced")
}

func FuzzHeader(f *testing.F) {
	f.Add([]byte(file(goodHeader, "PLAN")))
	f.Add([]byte(file(`{"format":1,"family":"f","task":"t","backend":"b","sections":{}}`, "")))
	f.Add([]byte(file(strings.Replace(goodHeader, "length", "size", 1), "PLAN")))
	f.Add([]byte(magic + "\xff\xff\xff\xff\xff\xff\xff\xff"))
	f.Add([]byte("BUNDLE"))
	f.Fuzz(func(t *testing.T, content []byte) {
		info, payload, err := read(strings.NewReader(string(content)), int64(len(content)))
		if err != nil {
			require.ErrorIs(t, err, ErrFormat)
			return
		}
		left := uint64(int64(len(content)) - payload)
		sections := map[string][]byte{}
		for _, s := range info.Sections {
			require.LessOrEqual(t, s.Offset+s.Length, left)
			sections[s.Name] = content[payload:][s.Offset : s.Offset+s.Length]
		}
		path := filepath.Join(t.TempDir(), "again")
		require.NoError(t, Write(path, info.Header, sections))
		b, err := Open(path)
		require.NoError(t, err)
		require.Equal(t, info.Header, b.Info().Header)
		require.Len(t, b.Info().Sections, len(sections))
	})
}
