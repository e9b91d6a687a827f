package serving

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestStrictJSON(t *testing.T) {
	for _, ok := range []string{
		`{}`, ` [ ] `, `"\u20ac\ud83d\ude00\n\/"`, `-0`, `-1.5e+3`, `0.1`, `[1,{"a":[true,false,null]}]`, "\t\r\n{\"a\" : 1 }\n", `""`,
		strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth),
	} {
		_, err := parseJSON([]byte(ok))
		require.NoError(t, err, ok)
	}
	for bad, want := range map[string]string{
		``:                        "want a value",
		`{`:                       "quoted name",
		`{"a"}`:                   "':'",
		`{"a":1,}`:                "quoted name",
		`[1,]`:                    "want a value",
		`[1 2]`:                   "',' or ']'",
		`01`:                      "leading zero",
		`+1`:                      "want a value",
		`.5`:                      "want a value",
		`1.`:                      "after its point",
		`1e`:                      "exponent",
		`-`:                       "no digits",
		`nul`:                     "want a value",
		`NaN`:                     "want a value",
		`'a'`:                     "want a value",
		`"a`:                      "no end",
		`"\`:                      "no end",
		"\"a\nb\"":                "control character 0x0a",
		`"\x41"`:                  "escape",
		`"\ud800"`:                "surrogate",
		`"\ude00\ud83d"`:          "surrogate",
		"\"\xff\"":                "UTF-8",
		`{} {}`:                   "more data",
		`{"a":{"b":1,"b":2}}`:     `a.b: duplicate field "b"`,
		`[{"a":1},{"c":1,"c":2}]`: `[1].c: duplicate field "c"`,
		`{"a":1,"\u0061":2}`:      `a: duplicate field "a"`,
		"\ufeff{}":                "want a value",
		strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1): "nested deeper",
	} {
		_, err := parseJSON([]byte(bad))
		require.ErrorContains(t, err, want, bad)
	}
}

// plainValue turns a value into what encoding/json makes of it with UseNumber.
func plainValue(v value) any {
	switch v.kind {
	case '{':
		m := map[string]any{}
		for _, x := range v.members {
			m[x.key] = plainValue(x.value)
		}
		return m
	case '[':
		list := []any{}
		for _, x := range v.items {
			list = append(list, plainValue(x))
		}
		return list
	case '"':
		return v.str
	case '0':
		return json.Number(v.raw)
	case 'n':
		return nil
	}
	return v.kind == 't'
}

// strictly reports whether text is what parseJSON is stricter about than encoding/json.
func strictly(text []byte) bool {
	dec := json.NewDecoder(bytes.NewReader(text))
	depth, most := 0, 0
	keys := []map[string]bool{}
	isKey := []bool{}
	for {
		tok, err := dec.Token()
		if err != nil {
			break
		}
		if d, ok := tok.(json.Delim); ok {
			switch d {
			case '{', '[':
				depth++
				keys, isKey = append(keys, map[string]bool{}), append(isKey, d == '{')
			default:
				depth--
				keys, isKey = keys[:depth], isKey[:depth]
				if depth > 0 && len(keys) > 0 {
					flip(keys, isKey)
				}
			}
			most = max(most, depth)
			continue
		}
		if depth == 0 {
			continue
		}
		if s, ok := tok.(string); ok && isKey[depth-1] && !keys[depth-1]["\x00value"] {
			if keys[depth-1][s] {
				return true
			}
			keys[depth-1][s] = true
			keys[depth-1]["\x00value"] = true
			continue
		}
		flip(keys, isKey)
	}
	return most > maxDepth
}

// flip notes that the innermost object has read a value.
func flip(keys []map[string]bool, isKey []bool) {
	if n := len(keys); isKey[n-1] {
		delete(keys[n-1], "\x00value")
	}
}

func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5e3,"x\u00e9",true,null]}`, `{"a":1,"a":2}`, `"\ud83d\ude00"`, `"\ud83d"`, `[[[]]]`, "\"\x00\"", `{"a":{"b":{}},"c":1}`, `-0.0E-0`, "\xff"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := parseJSON(text)
		if err != nil {
			if json.Valid(text) && utf8.Valid(text) && !strictly(text) && !loneSurrogate(text) {
				t.Fatalf("refused, but encoding/json takes it: %v", err)
			}
			return
		}
		dec := json.NewDecoder(bytes.NewReader(text))
		dec.UseNumber()
		var want any
		if err := dec.Decode(&want); err != nil {
			t.Fatalf("taken, but encoding/json says %v", err)
		}
		if !reflect.DeepEqual(want, plainValue(got)) {
			t.Fatalf("got %v, want %v", plainValue(got), want)
		}
	})
}

// loneSurrogate reports whether encoding/json had to replace half of a surrogate pair.
func loneSurrogate(text []byte) bool {
	lower := bytes.ToLower(text)
	return bytes.Contains(lower, []byte(`\ud`))
}

// wireText is the documented shape of a text request in the eyes of encoding/json.
type wireText struct {
	Model     string  `json:"model"`
	Prompt    *string `json:"prompt"`
	Stream    *bool   `json:"stream"`
	MaxTokens *int64  `json:"max_tokens"`
	User      *string `json:"user"`
	Messages  []struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	} `json:"messages"`
}

// FuzzTextRequest checks that no body makes the decoders panic, and that what they take of the documented shape has
// the values that encoding/json gives it.
func FuzzTextRequest(f *testing.F) {
	for _, s := range []string{
		`{"model":"m","prompt":"p","stream":false,"max_tokens":5,"user":"u"}`,
		`{"messages":[{"role":"user","content":"Name the largest planet."}],"model":"demo-model","stream":false,"max_completion_tokens":5}`,
		`{"model":"m","messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"x"}]}]}`,
		`{"model":"m","messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"f","parameters":{}}}],"tool_choice":"none"}`,
		`{"model":"m","prompt":["p"],"stream":true,"stream_options":{"include_usage":true}}`,
		`{"model":"m","prompt":"p","max_tokens":1e400}`, `{"Model":"m"}`, `[]`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		completion, errC := decodeCompletion(body)
		chat, errH := decodeChat(body)
		for _, err := range []error{errC, errH} {
			if f, ok := err.(*fault); err != nil && (!ok || f.status != 400) {
				t.Fatalf("want a 400, got %v", err)
			}
		}
		var w wireText
		if json.Unmarshal(body, &w) != nil {
			return // not the documented shape in its plain form
		}
		check := func(r *textRequest) {
			if r.model != w.Model || r.stream != (w.Stream != nil && *w.Stream) {
				t.Fatalf("model %q stream %v, want %q %v", r.model, r.stream, w.Model, w.Stream)
			}
			if w.MaxTokens != nil && (r.maxTokens == nil || *r.maxTokens != *w.MaxTokens) {
				t.Fatalf("max_tokens %v, want %d", r.maxTokens, *w.MaxTokens)
			}
		}
		if errC == nil {
			check(completion)
			if w.Prompt == nil || completion.prompt != *w.Prompt {
				t.Fatalf("prompt %q, want %v", completion.prompt, w.Prompt)
			}
		}
		if errH == nil {
			check(chat)
			for i, m := range chat.messages {
				if m.role != w.Messages[i].Role {
					t.Fatalf("role %q, want %q", m.role, w.Messages[i].Role)
				}
				if m.role == "user" && m.text() != w.Messages[i].Content {
					t.Fatalf("content %q, want %q", m.text(), w.Messages[i].Content)
				}
			}
		}
	})
}

func TestJoinerGivesWholeCharactersWhateverTheBorders(t *testing.T) {
	for _, text := range []string{"a€😀é z", "a\xff\xe2\x82z€\xf0\x9f"} {
		for size := 1; size <= 5; size++ {
			var j joiner
			var got strings.Builder
			for i := 0; i < len(text); i += size {
				out := j.add(text[i:min(i+size, len(text))])
				require.Equal(t, utf8.ValidString(text), utf8.ValidString(text) && utf8.ValidString(out))
				got.WriteString(out)
			}
			require.Equal(t, text, got.String()+j.rest())
			require.Equal(t, text, j.sum())
			require.Equal(t, !utf8.ValidString(text), j.rest() != "", "only what can never be whole is left")
		}
	}
}

func TestRoutePatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"/v1/models", "/v1/models", true}, {"/v1/models", "/v1/models/", false}, {"/v1/models", "/v1", false},
		{"/v1/models/{model...}", "/v1/models/a/b", true}, {"/v1/models/{model...}", "/v1/models/", false}, {"/v1/models/{model...}", "/v1/models", false},
		{"/v1/retrieval/{org}/{model}/reranking", "/v1/retrieval/a/b/reranking", true}, {"/v1/retrieval/{org}/{model}/reranking", "/v1/retrieval//b/reranking", false},
		{"/v1/retrieval/{org}/{model}/reranking", "/v1/retrieval/a/b/c/reranking", false}, {"/metrics", "//metrics", false},
	} {
		require.Equal(t, c.want, match(c.pattern, c.path), "%s %s", c.pattern, c.path)
	}
}
