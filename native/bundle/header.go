package bundle

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// parseHeader reads the JSON header of a file whose payload has the given number of bytes. It walks the tokens
// itself because encoding/json would let doubled keys and keys in another case pass.
func parseHeader(text []byte, payload uint64) (Info, error) {
	if !utf8.Valid(text) {
		return Info{}, refuse("the header is not UTF-8")
	}
	w := walker{json.NewDecoder(bytes.NewReader(text))}
	w.dec.UseNumber()
	var info Info
	err := w.object("header", []string{"format", "family", "task", "backend", "sections"}, func(key string) (err error) {
		switch key {
		case "format":
			info.Format, err = w.format()
		case "family":
			info.Family, err = w.word(key)
		case "task":
			info.Task, err = w.word(key)
		case "backend":
			info.Backend, err = w.word(key)
		case "sections":
			info.Sections, err = w.sections(payload)
		}
		return err
	})
	if err != nil {
		return Info{}, err
	}
	if _, err := w.dec.Token(); !errors.Is(err, io.EOF) {
		return Info{}, refuse("the header goes on after its JSON object ends, at byte %d", w.dec.InputOffset())
	}
	return info, nil
}

// walker reads one header token by token.
type walker struct{ dec *json.Decoder }

func (w walker) token(where string) (json.Token, error) {
	tok, err := w.dec.Token()
	if errors.Is(err, io.EOF) {
		return nil, refuse("the header ends inside %s", where)
	}
	if err != nil {
		return nil, refuse("the header is not JSON at byte %d, in %s: %v", w.dec.InputOffset(), where, err)
	}
	return tok, nil
}

// object reads one object and calls value for each key. keys, when not nil, are exactly the keys it must have.
func (w walker) object(where string, keys []string, value func(key string) error) error {
	tok, err := w.token(where)
	if err != nil {
		return err
	}
	if tok != json.Delim('{') {
		return refuse("%s is %s; it must be a JSON object", where, describe(tok))
	}
	seen := map[string]bool{}
	for w.dec.More() {
		tok, err := w.token(where)
		if err != nil {
			return err
		}
		key := tok.(string) // the decoder lets nothing else stand here
		if keys != nil && !slices.Contains(keys, key) {
			return refuse("%s has the unknown key %q; it has exactly the keys %s", where, key, strings.Join(keys, ", "))
		}
		if seen[key] {
			return refuse("%s has the key %q twice", where, key)
		}
		seen[key] = true
		if err := value(key); err != nil {
			return err
		}
	}
	if _, err := w.token(where); err != nil {
		return err
	}
	for _, key := range keys {
		if !seen[key] {
			return refuse("%s lacks the key %q; it has exactly the keys %s", where, key, strings.Join(keys, ", "))
		}
	}
	return nil
}

func (w walker) format() (int, error) {
	tok, err := w.token("format")
	if err != nil {
		return 0, err
	}
	if n, ok := tok.(json.Number); !ok || n.String() != "1" {
		return 0, refuse("format is %s; only the integer 1 is known", describe(tok))
	}
	return 1, nil
}

func (w walker) word(key string) (string, error) {
	tok, err := w.token(key)
	if err != nil {
		return "", err
	}
	s, ok := tok.(string)
	if !ok || s == "" {
		return "", refuse("%s is %s; it must be a non-empty string", key, describe(tok))
	}
	return s, nil
}

func (w walker) sections(payload uint64) ([]Section, error) {
	var out []Section
	err := w.object("sections", nil, func(name string) error {
		s, err := w.section(name, payload)
		out = append(out, s)
		return err
	})
	slices.SortFunc(out, func(a, b Section) int { return strings.Compare(a.Name, b.Name) })
	return out, err
}

func (w walker) section(name string, payload uint64) (Section, error) {
	where := "section " + strconv.Quote(name)
	if name == "" {
		return Section{}, refuse("a section has an empty name")
	}
	s := Section{Name: name}
	err := w.object(where, []string{"offset", "length"}, func(key string) (err error) {
		if key == "offset" {
			s.Offset, err = w.count(where, key)
		} else {
			s.Length, err = w.count(where, key)
		}
		return err
	})
	if err != nil {
		return Section{}, err
	}
	if s.Offset > payload || s.Length > payload-s.Offset {
		return Section{}, refuse("%s is bytes %d to %d+%d of the payload, which has %d bytes", where, s.Offset, s.Offset, s.Length, payload)
	}
	return s, nil
}

func (w walker) count(where, key string) (uint64, error) {
	tok, err := w.token(where)
	if err != nil {
		return 0, err
	}
	n, ok := tok.(json.Number)
	if !ok {
		return 0, refuse("%s: %s is %s; it must be a non-negative integer", where, key, describe(tok))
	}
	v, err := strconv.ParseUint(n.String(), 10, 64)
	if err != nil {
		return 0, refuse("%s: %s is %s; it must be a non-negative integer below 2^64", where, key, n)
	}
	return v, nil
}

// describe says what a token is in the words of JSON.
func describe(tok json.Token) string {
	switch t := tok.(type) {
	case json.Delim:
		if t == '{' {
			return "an object"
		}
		return "an array"
	case string:
		if t == "" {
			return "an empty string"
		}
		return "the string " + strconv.Quote(t)
	case json.Number:
		return "the number " + t.String()
	case bool:
		return strconv.FormatBool(t)
	}
	return "null"
}
