package reference_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/trtmc-go/trtmc/native/bundle"
	"github.com/trtmc-go/trtmc/native/reference"
)

func TestPresetsSurviveWritingAndReading(t *testing.T) {
	withFault := reference.TextParams()
	withFault.Fault = &reference.Fault{Kind: reference.FaultSlow, MS: 5, Message: "m", AfterTokens: 1, Every: 2}
	for name, p := range map[string]reference.Params{
		"text": reference.TextParams(), "conversation": reference.ConversationParams(), "ranking": reference.RankingParams(),
		"embedding": reference.EmbeddingParams(), "video": reference.VideoParams(64, 48, 9, 24, 4), "all": reference.AllParams(), "fault": withFault,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.bundle")
			require.NoError(t, reference.WriteBundle(path, p))
			got, err := reference.ReadBundle(path)
			require.NoError(t, err)
			require.Equal(t, p, got)
		})
	}
}

func TestDefaultsOfEveryKindAreKept(t *testing.T) {
	p := reference.TextParams()
	p.Fields = []reference.Field{
		{Name: "a", Kind: "i64", Default: 7}, {Name: "b", Kind: "f64", Default: 2}, {Name: "c", Kind: "bool", Default: true}, {Name: "d", Kind: "string", Default: ""},
		{Name: "e", Kind: "i64_list", Default: []int64{1 << 60}}, {Name: "f", Kind: "f64_list", Default: []float64{0.5}}, {Name: "g", Kind: "string_list", Default: []string{"x"}}, {Name: "h", Kind: "i64"},
	}
	path := filepath.Join(t.TempDir(), "a.bundle")
	require.NoError(t, reference.WriteBundle(path, p))
	got, err := reference.ReadBundle(path)
	require.NoError(t, err)
	want := []any{int64(7), 2.0, true, "", []int64{1 << 60}, []float64{0.5}, []string{"x"}, nil}
	for i, f := range got.Fields {
		require.Equal(t, want[i], f.Default, f.Name)
	}
	require.Equal(t, 7, p.Fields[0].Default, "the caller's fields are not touched")
}

func TestWriteBundleRefusesWhatCannotLoad(t *testing.T) {
	for name, row := range map[string]struct {
		change func(*reference.Params)
		want   string
	}{
		"family":      {func(p *reference.Params) { p.Family = "Qwen" }, `family "Qwen"`},
		"bundle task": {func(p *reference.Params) { p.BundleTask = "" }, `bundle task ""`},
		"kind":        {func(p *reference.Params) { p.Fields[0].Kind = "int" }, `unknown kind "int"`},
		"default":     {func(p *reference.Params) { p.Fields[0].Default = "x" }, `default "x" is not of kind i64`},
		"fraction":    {func(p *reference.Params) { p.Fields[0].Default = 1.5 }, `default 1.5 is not of kind i64`},
		"unnamed":     {func(p *reference.Params) { p.Fields[0].Name = "" }, `names must be given`},
		"twice":       {func(p *reference.Params) { p.Fields[1].Name = p.Fields[0].Name }, `names must be given and differ`},
	} {
		t.Run(name, func(t *testing.T) {
			p, path := reference.TextParams(), filepath.Join(t.TempDir(), "a.bundle")
			row.change(&p)
			require.ErrorContains(t, reference.WriteBundle(path, p), row.want)
			_, err := os.Stat(path)
			require.ErrorIs(t, err, os.ErrNotExist)
		})
	}
}

func TestReadBundleRefusesForeignBundles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.bundle")
	require.NoError(t, bundle.Write(path, bundle.Header{Family: "qwen", Task: "t", Backend: "trt"}, nil))
	_, err := reference.ReadBundle(path)
	require.ErrorContains(t, err, `backend "trt"`)
	require.NoError(t, bundle.Write(path, bundle.Header{Family: "qwen", Task: "t", Backend: reference.Backend}, nil))
	_, err = reference.ReadBundle(path)
	require.ErrorIs(t, err, bundle.ErrNoSection)
	_, err = reference.ReadBundle(path + "x")
	require.ErrorIs(t, err, os.ErrNotExist)
}

func FuzzParseParams(f *testing.F) {
	for _, s := range []string{`{}`, `{"fields":[{"name":"a","kind":"i64","default":1}]}`, `{"tasks":["x"]} {}`, `{"surprise":1}`, `{"fields":[{"kind":"f64","default":"1"}]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := reference.ParseParams(data)
		if err != nil {
			return
		}
		// What is read can be written, once it has names that a header may have, unless fields share a name.
		p.Family, p.BundleTask = "f", "t"
		path := filepath.Join(t.TempDir(), "a")
		if reference.WriteBundle(path, p) == nil {
			q, err := reference.ReadBundle(path)
			require.NoError(t, err)
			require.Equal(t, len(p.Fields), len(q.Fields))
			require.Equal(t, p.Timing, q.Timing)
		}
	})
}
