package qual

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// videoForm turns the JSON body of a creation into the multipart form that AIPerf sends for it: one part for each
// field in order, the type of the part first, no file names, numbers and booleans as their text. A field that is null
// is left out. Equal bodies give equal forms.
func videoForm(body []byte) (contentType string, form []byte, err error) {
	sum := sha256.Sum256(body)
	boundary := hex.EncodeToString(sum[:16])
	var out bytes.Buffer
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	if err := delim(dec, '{', "an object"); err != nil {
		return "", nil, err
	}
	for dec.More() {
		key, err := stringToken(dec)
		if err != nil {
			return "", nil, err
		}
		text, there, err := formValue(dec)
		switch {
		case err != nil:
			return "", nil, within(key, err)
		case !there:
			continue
		case strings.ContainsAny(key, "\"\r\n") || strings.Contains(text, boundary):
			return "", nil, fmt.Errorf("%q: cannot be written as a part of a form", key)
		}
		fmt.Fprintf(&out, "--%s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Disposition: form-data; name=\"%s\"\r\n\r\n%s\r\n", boundary, key, text)
	}
	if err := delim(dec, '}', "the end of an object"); err != nil {
		return "", nil, err
	}
	if _, more := dec.Token(); !errors.Is(more, io.EOF) {
		return "", nil, errors.New("text after the body; want one JSON object")
	}
	fmt.Fprintf(&out, "--%s--\r\n", boundary)
	return "multipart/form-data; boundary=" + boundary, out.Bytes(), nil
}

// formValue reads one value as the text of a part; false says that it is null.
func formValue(dec *json.Decoder) (string, bool, error) {
	got, err := dec.Token()
	if err != nil {
		return "", false, jsonError(err)
	}
	switch v := got.(type) {
	case nil:
		return "", false, nil
	case string:
		return v, true, nil
	case json.Number:
		return v.String(), true, nil
	case bool:
		return fmt.Sprint(v), true, nil
	}
	return "", false, errors.New("want text, a number, true or false; lists and objects have no form")
}
