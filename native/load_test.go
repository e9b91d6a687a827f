//go:build cgo

package native_test

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native"
	"github.com/trtmc-go/trtmc/native/bundle"
	"github.com/trtmc-go/trtmc/native/reference"
	"github.com/trtmc-go/trtmc/native/task"
)

func TestMissingBundleIsInvalidAndNamesThePath(t *testing.T) {
	rt := embedded(t)
	path := filepath.Join(t.TempDir(), "none.bundle")
	_, err := rt.Load(path, native.LoadOptions{})
	requireLoadError(t, err, "load", path)
	require.ErrorIs(t, err, task.ErrInvalid)
	require.ErrorIs(t, err, fs.ErrNotExist)

	_, err = rt.OpenBundle(path)
	requireLoadError(t, err, "open bundle", path)
	require.ErrorIs(t, err, fs.ErrNotExist)

	for _, bad := range []string{"", "a\x00b"} {
		_, err = rt.Load(bad, native.LoadOptions{})
		require.ErrorIs(t, err, task.ErrInvalid)
		_, err = rt.OpenBundle(bad)
		require.ErrorIs(t, err, task.ErrInvalid)
	}
	_, err = rt.Load(t.TempDir(), native.LoadOptions{})
	require.ErrorIs(t, err, bundle.ErrFormat)
}

func requireLoadError(t *testing.T, err error, op, path string) {
	t.Helper()
	var e *task.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, op, e.Op)
	require.EqualValues(t, 7, e.Status)
	require.NotEmpty(t, e.Detail)
	require.ErrorContains(t, err, path)
}

// TestCorruptBundleSaysWhichRuleIsBroken wants the runtime itself to name the rule, and the error to explain it.
func TestCorruptBundleSaysWhichRuleIsBroken(t *testing.T) {
	const good = `{"format":1,"family":"reference_lm","task":"text","backend":"reference","sections":{"reference.json":{"offset":0,"length":2}}}`
	file := func(header, payload string) string {
		return "BUNDLE\x01\x00" + string(binary.LittleEndian.AppendUint64(nil, uint64(len(header)))) + header + payload
	}
	swap := func(old, with string) string { return file(strings.Replace(good, old, with, 1), "{}") }
	rows := []struct{ name, content, rule string }{
		{"empty", "", "16 bytes"},
		{"magic", "BUNDLE\x02\x00" + strings.Repeat("x", 20), "magic"},
		{"header too long", "BUNDLE\x01\x00\x01\x00\x40\x06\x00\x00\x00\x00", "104857601"},
		{"header past the end", "BUNDLE\x01\x00\x40\x00\x00\x00\x00\x00\x00\x00{}", "64"},
		{"not JSON", file("{nope", ""), "JSON"},
		{"format", swap(`"format":1`, `"format":2`), "format"},
		{"family empty", swap(`"reference_lm"`, `""`), "family"},
		{"task missing", swap(`"task":"text",`, ``), "task"},
		{"unknown key", swap(`"format":1`, `"format":1,"extra":0`), "extra"},
		{"older size key", swap(`"length"`, `"size"`), "size"},
		{"offset negative", swap(`"offset":0`, `"offset":-1`), "offset"},
		{"section past the end", swap(`"length":2`, `"length":3`), "reference.json"},
		{"section unnamed", swap(`"reference.json"`, `""`), "name"},
	}
	rt := embedded(t)
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "corrupt.bundle")
			require.NoError(t, os.WriteFile(path, []byte(row.content), 0o600))
			for _, open := range []func() error{
				func() error { _, err := rt.Load(path, native.LoadOptions{}); return err },
				func() error { _, err := rt.OpenBundle(path); return err },
			} {
				err := open()
				require.ErrorIs(t, err, task.ErrInvalid)
				require.ErrorIs(t, err, bundle.ErrFormat)
				require.ErrorContains(t, err, path)
				var e *task.Error
				require.ErrorAs(t, err, &e)
				require.Contains(t, e.Detail, row.rule, "the runtime's own words")
				require.NotContains(t, err.Error(), "\n")
			}
		})
	}
}

func TestBundleOfAnotherFamilyOrBackendDoesNotLoad(t *testing.T) {
	rt := embedded(t)
	path := filepath.Join(t.TempDir(), "a.bundle")
	require.NoError(t, bundle.Write(path, bundle.Header{Family: "qwen", Task: "text_generation", Backend: "trt"}, map[string][]byte{"engine.plan": []byte("PLAN")}))
	_, err := rt.Load(path, native.LoadOptions{})
	require.ErrorIs(t, err, task.ErrInternal, "the file is a good bundle; this runtime has no such backend")
	require.ErrorContains(t, err, path)

	b, err := rt.OpenBundle(path)
	require.NoError(t, err)
	own, err := bundle.Open(path)
	require.NoError(t, err)
	require.Equal(t, own.Info(), b.Info())
	data, err := b.ReadSection("engine.plan")
	require.NoError(t, err)
	require.Equal(t, "PLAN", string(data))
	_, err = b.ReadSection("weights")
	require.ErrorIs(t, err, task.ErrInternal)
	require.ErrorContains(t, err, "weights")
	require.ErrorContains(t, err, path)
	require.NoError(t, errors.Join(b.Close(), b.Close()))
	_, err = b.ReadSection("engine.plan")
	require.ErrorIs(t, err, task.ErrClosed)
}

func TestRuntimeCacheIsForItsOwnBackendAlone(t *testing.T) {
	rt := embedded(t)
	path := writeBundle(t, reference.TextParams())
	for _, opts := range []native.LoadOptions{{RuntimeCachePath: "/cache"}, {CUDAGraphs: true}} {
		_, err := rt.Load(path, opts)
		require.ErrorIs(t, err, task.ErrInvalid)
		require.ErrorContains(t, err, "native status 2")
	}
	m, err := rt.Load(path, native.LoadOptions{KVCacheBytes: 1 << 20})
	require.NoError(t, err)
	require.NoError(t, m.Close())
}

// TestEveryKindOfFieldIsDiscovered writes a bundle with a default of each kind, and one without.
func TestEveryKindOfFieldIsDiscovered(t *testing.T) {
	p := reference.TextParams()
	m := load(t, embedded(t), p)
	defer m.Close()
	d, ok := m.Info().Decl(task.TextContinuation)
	require.True(t, ok)
	require.Len(t, d.Fields, len(p.Fields))
	want := map[string]task.Field{
		"max_new_tokens":    {Kind: task.KindInt, Default: task.Int(int64(p.Text.DefaultMaxNewTokens))},
		"temperature":       {Kind: task.KindFloat, Default: task.Float(1)},
		"use_chat_template": {Kind: task.KindBool, Default: task.Bool(false)},
		"generation_mode":   {Kind: task.KindString, Default: task.String("auto")},
		"stop_token_ids":    {Kind: task.KindInts, Default: task.Ints()},
		"stop_strings":      {Kind: task.KindStrings, Default: task.Strings()},
		"interpolation":     {Kind: task.KindFloats},
	}
	for name, w := range want {
		f, ok := d.Field(name)
		require.True(t, ok, name)
		require.Equal(t, w.Kind, f.Kind, name)
		require.Equal(t, w.Default.String(), f.Default.String(), name)
		require.NotEmpty(t, f.Description, name)
	}
	for i, f := range p.Fields {
		if f.Kind == "i64_list" {
			p.Fields[i].Default = []int64{3, 4}
		}
		if f.Kind == "string_list" {
			p.Fields[i].Default = []string{"END", ""}
		}
	}
	m2 := load(t, embedded(t), p)
	defer m2.Close()
	d, _ = m2.Info().Decl(task.TextContinuation)
	ints, _ := d.Field("stop_token_ids")
	require.Equal(t, []int64{3, 4}, ints.Default.Ints())
	texts, _ := d.Field("stop_strings")
	require.Equal(t, []string{"END", ""}, texts.Default.Strings())
}
