package ranking_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/trtmc-go/trtmc/ranking"
)

// oracle decodes with encoding/json and adds by other means the strictness that encoding/json lacks: exact names, no
// doubles, no null, valid UTF-8, whole surrogate pairs, and the rules of the shape.
func oracle(body []byte) (ranking.Request, bool) {
	var none ranking.Request
	if !utf8.Valid(body) || !json.Valid(body) || loneSurrogate(body) {
		return none, false
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	tree, ok := strictValue(dec)
	if _, err := dec.Token(); !ok || err != io.EOF {
		return none, false
	}
	top, ok := tree.(map[string]any)
	if !ok || !onlyKeys(top, "model", "query", "passages", "truncate") || !shaped(top) {
		return none, false
	}
	var wire struct {
		Model    string                  `json:"model"`
		Query    struct{ Text string }   `json:"query"`
		Passages []struct{ Text string } `json:"passages"`
		Truncate string                  `json:"truncate"`
	}
	if json.Unmarshal(body, &wire) != nil {
		return none, false
	}
	req := ranking.Request{Model: wire.Model, Query: wire.Query.Text, Truncate: ranking.Truncate(wire.Truncate)}
	for _, p := range wire.Passages {
		req.Passages = append(req.Passages, p.Text)
	}
	return req, true
}

// shaped checks the types and values of the known names; the names themselves are already known to be right.
func shaped(top map[string]any) bool {
	if v, ok := top["model"]; ok && !textful(v, false) {
		return false
	}
	if v, ok := top["truncate"]; ok && v != "NONE" && v != "END" {
		return false
	}
	passages, ok := top["passages"].([]any)
	if !ok || len(passages) == 0 || len(passages) > 512 || !textObject(top["query"]) {
		return false
	}
	for _, p := range passages {
		if !textObject(p) {
			return false
		}
	}
	return true
}

func textObject(v any) bool {
	m, ok := v.(map[string]any)
	return ok && onlyKeys(m, "text") && textful(m["text"], true)
}

func textful(v any, notBlank bool) bool {
	s, ok := v.(string)
	return ok && s != "" && (!notBlank || strings.TrimSpace(s) != "")
}

func onlyKeys(m map[string]any, known ...string) bool {
	for k := range m {
		found := false
		for _, want := range known {
			found = found || k == want
		}
		if !found {
			return false
		}
	}
	return true
}

// strictValue reads one value token by token; false says that an object has a doubled name.
func strictValue(dec *json.Decoder) (any, bool) {
	tok, err := dec.Token()
	if err != nil {
		return nil, false
	}
	switch tok {
	case json.Delim('{'):
		m := map[string]any{}
		for dec.More() {
			key, err := dec.Token()
			name, isString := key.(string)
			v, ok := strictValue(dec)
			if _, twice := m[name]; err != nil || !isString || !ok || twice {
				return nil, false
			}
			m[name] = v
		}
		_, err := dec.Token()
		return m, err == nil
	case json.Delim('['):
		list := []any{}
		for dec.More() {
			v, ok := strictValue(dec)
			if !ok {
				return nil, false
			}
			list = append(list, v)
		}
		_, err := dec.Token()
		return list, err == nil
	}
	return tok, true
}

// loneSurrogate reports whether a valid JSON text holds an escaped surrogate that is not half of a pair.
func loneSurrogate(body []byte) bool {
	unit := func(i int) int {
		if i+6 > len(body) || body[i] != '\\' || body[i+1] != 'u' {
			return -1
		}
		n := 0
		for _, c := range bytes.ToLower(body[i+2 : i+6]) {
			n = n*16 + strings.IndexByte("0123456789abcdef", c)
		}
		return n
	}
	for i := 0; i < len(body); i++ {
		if body[i] != '\\' {
			continue
		}
		switch u := unit(i); {
		case u >= 0xd800 && u < 0xdc00:
			if next := unit(i + 6); next < 0xdc00 || next > 0xdfff {
				return true
			}
			i += 11
		case u >= 0xdc00 && u < 0xe000:
			return true
		default:
			i++ // the byte after the backslash is not itself the start of an escape
		}
	}
	return false
}

// FuzzDecodeAgreesWithEncodingJSON wants the same verdict and the same value from both decoders for every input.
func FuzzDecodeAgreesWithEncodingJSON(f *testing.F) {
	addSuite(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := ranking.Decode(body, ranking.Limits{QueryBytes: 1 << 20, PassageBytes: 1 << 20})
		want, ok := oracle(body)
		if ok != (err == nil) {
			t.Fatalf("encoding/json accepts: %v; ours: %v", ok, err)
		}
		if ok && !equalRequests(want, *got) {
			t.Fatalf("encoding/json reads %+v; ours %+v", want, *got)
		}
	})
}

// FuzzTexts puts any texts into the documented shape, where random bytes seldom come by themselves.
func FuzzTexts(f *testing.F) {
	f.Add("m", "query", "passage", `a\n\ud83d\ude00`)
	f.Add("", "é", "\x00", `\u0000\"`)
	f.Fuzz(func(t *testing.T, model, query, passage, raw string) {
		marshalled, err := json.Marshal(ranking.Request{Model: model, Query: query, Passages: []string{passage, "x"}})
		if err != nil {
			t.Fatal(err)
		}
		spliced := `{"query":{"text":"` + raw + `"},"passages":[{"text":"` + raw + `"},{"text":"` + passage + `"}]}`
		for _, body := range [][]byte{marshalled, []byte(spliced)} {
			got, err := ranking.Decode(body, ranking.Limits{QueryBytes: 1 << 20, PassageBytes: 1 << 20})
			want, ok := oracle(body)
			if ok != (err == nil) || ok && !equalRequests(want, *got) {
				t.Fatalf("body %q: encoding/json accepts %v and reads %+v; ours %+v, %v", body, ok, want, got, err)
			}
		}
	})
}
func addSuite(f *testing.F) {
	f.Helper()
	files, err := filepath.Glob("testdata/decode/*.json")
	if err != nil || len(files) == 0 {
		f.Fatalf("no suite: %v", err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		if len(b) < 4096 {
			f.Add(b)
		}
	}
}

func equalRequests(a, b ranking.Request) bool {
	return a.Model == b.Model && a.Query == b.Query && a.Truncate == b.Truncate && a.TopK == b.TopK &&
		slices.Equal(a.Passages, b.Passages)
}
