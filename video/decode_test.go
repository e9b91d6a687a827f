package video

import (
	"bytes"
	"errors"
	"mime/multipart"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// formOf writes a multipart body and returns it with its boundary.
func formOf(t rapid.TB, pairs []string) (body []byte, boundary string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for i := 0; i < len(pairs); i += 2 {
		if err := w.WriteField(pairs[i], pairs[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), w.Boundary()
}

func TestBodiesThatAreRefused(t *testing.T) {
	for body, want := range map[string]string{
		``:                              "body: want a JSON object",
		`[]`:                            "body: want a JSON object",
		`{`:                             "body: invalid JSON",
		`{"prompt":"p"`:                 "body: invalid JSON",
		`{"prompt":"p"} x`:              "body: more data after the object",
		`{"prompt":"p"}{}`:              "body: more data after the object",
		`{"prompt":"p",}`:               "body: invalid JSON",
		`{}`:                            "prompt: missing",
		`{"prompt":null}`:               "prompt: missing",
		`{"prompt":5}`:                  "prompt: want a string",
		`{"prompt":["p"]}`:              "prompt: want a string",
		`{"Prompt":"p"}`:                "Prompt: unknown field",
		`{"prompt":"p","prompt":"q"}`:   "prompt: is there twice",
		`{"prompt":"p","n":1}`:          "n: unknown field",
		`{"prompt":"p","seed":true}`:    "seed: want a whole number",
		`{"prompt":"p","size":[64,48]}`: "size: want WIDTHxHEIGHT",
		`{"prompt":"p","model":""}`:     "model: want a string",
		`{"prompt":"a\ud800b"}`:         "prompt: is not valid UTF-8",
		"{\"prompt\":\"\xff\"}":         "prompt: is not valid UTF-8",
		`{"prompt":"p","extra_body":1}`: "extra_body: want a JSON object",
		`{"prompt":"p","extra_body":{"prompt":"q"}}`:                            "prompt: is there twice",
		`{"prompt":"p","extra_body":{"extra_body":{}}}`:                         "extra_body: is there twice",
		`{"prompt":"p","extra_body":{},"extra_body":{}}`:                        "extra_body: is there twice",
		`{"prompt":"p","input_reference":{"file_id":"f"}}`:                      "input_reference: this service makes clips from text alone",
		`{"prompt":"` + strings.Repeat("x", 32<<10+1) + `"}`:                    "prompt: 32769 bytes long",
		`{"prompt":"p","negative_prompt":"` + strings.Repeat("x", 40000) + `"}`: "negative_prompt: 40000 bytes long",
	} {
		_, err := DecodeJSON([]byte(body), Limits{})
		require.ErrorContains(t, err, want, "%.60s", body)
	}
	r, err := DecodeJSON([]byte(` {"prompt":"\\ud800 \ud83d\ude00\ufffd","seed":null,"extra_body":null} `), Limits{})
	require.NoError(t, err)
	require.Equal(t, "\\ud800 \U0001F600\ufffd", r.Spec.Prompt)
	require.Nil(t, r.Spec.Seed)
}

func TestFormsThatAreRefused(t *testing.T) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	file, err := w.CreateFormFile("input_reference", "a.png")
	require.NoError(t, err)
	_, err = file.Write([]byte("PNGfake"))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	_, err = DecodeForm(b.Bytes(), w.Boundary(), Limits{})
	require.ErrorContains(t, err, "input_reference: this service makes clips from text alone")

	for _, tt := range []struct {
		pairs []string
		want  string
	}{
		{[]string{"prompt", "p", "prompt", "q"}, "prompt: is there twice"},
		{[]string{"model", "m"}, "prompt: missing"},
		{[]string{"prompt", "p", "extra_body", "{'seed': 1}"}, "extra_body: invalid JSON"},
		{[]string{"prompt", "p", "flag", "true"}, "flag: unknown field"},
	} {
		body, boundary := formOf(t, tt.pairs)
		_, err := DecodeForm(body, boundary, Limits{})
		require.ErrorContains(t, err, tt.want)
	}
	body, boundary := formOf(t, []string{"prompt", "p", "extra_body", `{"seed":"5"}`})
	r, err := DecodeForm(body, boundary, Limits{})
	require.NoError(t, err)
	require.EqualValues(t, 5, *r.Spec.Seed)
	_, err = DecodeForm(body[:len(body)/2], boundary, Limits{})
	require.ErrorContains(t, err, "invalid multipart body")
	_, err = DecodeForm(body, "other", Limits{})
	require.Error(t, err)
}

// checkDecoded says what holds for every body, whatever is in it.
func checkDecoded(t *testing.T, r *Request, err error) {
	t.Helper()
	var refused *DecodeError
	if err != nil {
		require.True(t, errors.As(err, &refused), "%v", err)
		require.NotEmpty(t, refused.Msg)
		require.Less(t, len(refused.Error()), 1000)
		return
	}
	s := r.Spec
	require.NotEmpty(t, strings.TrimSpace(s.Prompt))
	require.True(t, utf8.ValidString(s.Prompt))
	if s.Width != 0 {
		require.NoError(t, checkSize(s.Width, s.Height))
	}
	if s.FPS.Known() {
		require.NoError(t, s.FPS.check())
	}
	require.GreaterOrEqual(t, s.Frames, 0)
	require.LessOrEqual(t, s.Frames, Limits{}.withDefaults().Frames)
	_, err = Model{Decl: declared()}.Settings(s)
	if err != nil {
		require.True(t, errors.As(err, &refused), "%v", err)
	}
}

func FuzzDecodeJSON(f *testing.F) {
	f.Add([]byte(`{"prompt":"p","model":"m","seconds":4,"size":"832x480","extra_body":{"seed":"1","fps":23.976}}`))
	f.Add([]byte(`{"prompt":"\ud83d\ude00","num_frames":9,"guidance_scale":-1e3,"negative_prompt":null}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := DecodeJSON(body, Limits{})
		checkDecoded(t, r, err)
	})
}

func FuzzDecodeForm(f *testing.F) {
	body, boundary := formOf(f, []string{"prompt", "p", "seconds", "2", "size", "64x48", "extra_body", `{"seed":1}`})
	f.Add(body, boundary)
	f.Add([]byte("--b\r\nContent-Disposition: form-data; name=\"prompt\"\r\n\r\np\r\n--b--\r\n"), "b")
	f.Fuzz(func(t *testing.T, body []byte, boundary string) {
		r, err := DecodeForm(body, boundary, Limits{})
		checkDecoded(t, r, err)
	})
}
