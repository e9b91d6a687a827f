package scantest

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"unicode/utf8"
)

// Verdict says what a strict reader must do with a line.
type Verdict int

// The verdicts.
const (
	Refuse Verdict = iota
	Accept
	Unsure // a name is a known one in another case, which encoding/json takes for it and a strict reader does not
)

// Decode decodes a line into a struct by encoding/json and says what a strict reader must do with it: refuse also what
// is not UTF-8, null, and a known name that stands twice in one object.
func Decode(line []byte, into any) Verdict {
	if !utf8.Valid(line) || json.Unmarshal(line, into) != nil || string(bytes.TrimSpace(line)) == "null" {
		return Refuse
	}
	return names(line, reflect.TypeOf(into).Elem())
}

// names judges the names of an object, and of those within it that the struct type knows.
func names(object []byte, typ reflect.Type) Verdict {
	known := members(typ)
	seen := map[string]bool{}
	verdict := Accept
	dec := json.NewDecoder(bytes.NewReader(object))
	dec.Token() // the brace: the object is sound
	for dec.More() {
		token, _ := dec.Token()
		name := token.(string)
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return Refuse
		}
		inner, exact := known[name]
		switch {
		case exact && seen[name]:
			return Refuse
		case exact && inner.Kind() == reflect.Pointer && inner.Elem().Kind() == reflect.Struct && value[0] == '{':
			if v := names(value, inner.Elem()); v != Accept {
				verdict = v
			}
			if verdict == Refuse {
				return Refuse
			}
		case !exact && folds(name, known):
			verdict = Unsure
		}
		seen[name] = true
	}
	return verdict
}

func folds(name string, known map[string]reflect.Type) bool {
	for k := range known {
		if strings.EqualFold(k, name) {
			return true
		}
	}
	return false
}

// members returns the types of a struct's members by their names in JSON.
func members(typ reflect.Type) map[string]reflect.Type {
	out := map[string]reflect.Type{}
	for i := range typ.NumField() {
		name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		out[name] = typ.Field(i).Type
	}
	return out
}

// Mutants calls visit with batches of what becomes of the line when one byte is dropped or replaced, when it is cut, and
// when one stretch of it stands twice. Each byte is replaced by five others, which differ from place to place.
func Mutants(line string, visit func(mutants []string)) {
	const others = "\"\\{}[]:,0-.eu \x1f\x80"
	for i := range len(line) {
		before, after := line[:i], line[i+1:]
		batch := []string{before, before + after}
		for k := range 5 {
			batch = append(batch, before+others[(5*i+k)%len(others):][:1]+after)
		}
		// From here to the next comma, twice: doubles members.
		if n := strings.IndexByte(line[i:], ','); n >= 0 {
			batch = append(batch, line[:i+n+1]+line[i:])
		}
		visit(batch)
	}
}
