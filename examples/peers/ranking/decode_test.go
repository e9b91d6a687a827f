package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/bytedance/sonic"
	goccy "github.com/goccy/go-json"
	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/ranking"
)

// decoder is one way to read a ranking request; read returns what it found, so that all can be held to the same value.
type decoder struct {
	name string
	read func(body []byte) (query string, passages int, last string, err error)
}

// decoders lists ours first. The libraries decode into the struct that a handler would declare for them. Of sonic there
// are several: as people call it, its fastest preset, strict (valid strings, known and exact names), strict without the
// copy of the body that its []byte functions make and ours does not, and the preset that behaves like encoding/json.
func decoders() []decoder {
	unmarshal := func(f func([]byte, any) error) func([]byte) (string, int, string, error) {
		return func(body []byte) (string, int, string, error) {
			var w wireRequest
			if err := f(body, &w); err != nil {
				return "", 0, "", err
			}
			return w.Query.Text, len(w.Passages), w.Passages[len(w.Passages)-1].Text, nil
		}
	}
	strict := sonic.Config{ValidateString: true, DisallowUnknownFields: true, CaseSensitive: true}.Froze()
	return []decoder{
		{"ours", func(body []byte) (string, int, string, error) {
			r, err := ranking.Decode(body, ranking.Limits{})
			if err != nil {
				return "", 0, "", err
			}
			return r.Query, len(r.Passages), r.Passages[len(r.Passages)-1], nil
		}},
		{"sonic", unmarshal(func(b []byte, v any) error { return sonic.Unmarshal(b, v) })},
		{"sonic-fastest", unmarshal(sonic.ConfigFastest.Unmarshal)},
		{"sonic-strict", unmarshal(strict.Unmarshal)},
		{"sonic-view", unmarshal(func(b []byte, v any) error { return strict.UnmarshalFromString(unsafe.String(&b[0], len(b)), v) })},
		{"sonic-std", unmarshal(sonic.ConfigStd.Unmarshal)},
		{"goccy", unmarshal(func(b []byte, v any) error { return goccy.Unmarshal(b, v) })},
		{"encoding-json", unmarshal(json.Unmarshal)},
	}
}

func TestDecodersReadTheSame(t *testing.T) {
	require.Equal(t, sonic.UseSonicJSON, sonic.APIKind, "sonic has no fast path for this Go version or processor: the comparison would be with something else")
	for _, text := range []string{words(200), strings.Repeat("zwölf Boxkämpfer ", 40), strings.Repeat("a \"b\"\n", 40)} {
		body := requestBody("m", 100, text)
		for _, d := range decoders() {
			q, n, last, err := d.read(body)
			require.NoError(t, err, d.name)
			require.Equal(t, query, q, d.name)
			require.Equal(t, 100, n, d.name)
			require.Equal(t, text, last, d.name)
		}
	}
}

func BenchmarkDecode100x200Words(b *testing.B) { raceDecoders(b, requestBody("m", 100, words(200))) }
func BenchmarkDecode32x20Words(b *testing.B)   { raceDecoders(b, requestBody("m", 32, words(20))) }
func BenchmarkDecode100x200WordsAccents(b *testing.B) {
	raceDecoders(b, requestBody("m", 100, strings.Repeat("zwölf Boxkämpfer ", 80)))
}
func BenchmarkDecode100x200WordsEscapes(b *testing.B) {
	raceDecoders(b, requestBody("m", 100, strings.Repeat("she said \"no\",\nthen left ", 50)))
}

// raceDecoders runs every decoder once a round, the first one changing from round to round, and reports the median over
// the rounds of (their time / our time of the same round). One b.Loop iteration is one round.
func raceDecoders(b *testing.B, body []byte) {
	list := decoders()
	ops := max(1, 2_000_000/len(body)) // about a millisecond for the fast ones
	times := make([][]time.Duration, len(list))
	b.SetBytes(int64(len(body)))
	for round := 0; b.Loop(); round++ {
		for k := range list {
			at := (round + k) % len(list)
			start := time.Now()
			for range ops {
				if _, _, _, err := list[at].read(body); err != nil {
					b.Fatal(list[at].name, err)
				}
			}
			times[at] = append(times[at], time.Since(start)/time.Duration(ops))
		}
	}
	b.SetBytes(0)
	b.ReportMetric(0, "ns/op")
	for at, d := range list {
		ratios := make([]float64, len(times[at]))
		for i := range ratios {
			ratios[i] = float64(times[at][i]) / float64(times[0][i])
		}
		slices.Sort(ratios)
		slices.Sort(times[at])
		b.ReportMetric(float64(times[at][len(times[at])/2].Nanoseconds())/1e3, "us/"+d.name)
		if at > 0 {
			b.ReportMetric(ratios[len(ratios)/2], fmt.Sprintf("x-%s", d.name))
		}
	}
}
