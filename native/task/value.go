package task

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Kind is the type of a setting; the numbers are those of the native configuration kinds.
type Kind uint32

// The kinds of a setting. KindNone is the zero Value: no value at all.
const (
	KindNone Kind = iota
	KindInt
	KindFloat
	KindBool
	KindString
	KindInts
	KindFloats
	KindStrings
)

// String returns the field's usual word: int, float, bool, string, ints, floats, strings, or none.
func (k Kind) String() string {
	names := [...]string{"none", "int", "float", "bool", "string", "ints", "floats", "strings"}
	if int(k) < len(names) {
		return names[k]
	}
	return "kind(" + strconv.Itoa(int(k)) + ")"
}

// Value is one setting's value, a closed sum over the seven kinds. The zero Value has KindNone and means absent.
// Values are immutable: list constructors copy what they are given and list accessors return copies.
type Value struct {
	kind    Kind
	i       int64
	f       float64
	s       string
	ints    []int64
	floats  []float64
	strings []string
}

// Int returns an integer value.
func Int(v int64) Value { return Value{kind: KindInt, i: v} }

// Float returns a floating-point value.
func Float(v float64) Value { return Value{kind: KindFloat, f: v} }

// Bool returns a boolean value.
func Bool(v bool) Value {
	if v {
		return Value{kind: KindBool, i: 1}
	}
	return Value{kind: KindBool}
}

// String returns a string value.
func String(v string) Value { return Value{kind: KindString, s: v} }

// Ints returns a list of integers.
func Ints(v ...int64) Value { return Value{kind: KindInts, ints: slices.Clone(v)} }

// Floats returns a list of floating-point numbers.
func Floats(v ...float64) Value { return Value{kind: KindFloats, floats: slices.Clone(v)} }

// Strings returns a list of strings.
func Strings(v ...string) Value { return Value{kind: KindStrings, strings: slices.Clone(v)} }

// Kind returns the kind; KindNone for the zero Value.
func (v Value) Kind() Kind { return v.kind }

// Int returns the integer of a KindInt value, else 0.
func (v Value) Int() int64 {
	if v.kind != KindInt {
		return 0
	}
	return v.i
}

// Float returns the number of a KindFloat value, else 0.
func (v Value) Float() float64 { return v.f }

// Bool returns the truth of a KindBool value, else false.
func (v Value) Bool() bool { return v.kind == KindBool && v.i == 1 }

// Str returns the string of a KindString value, else "".
func (v Value) Str() string { return v.s }

// Ints returns a copy of the list of a KindInts value, else nil.
func (v Value) Ints() []int64 { return slices.Clone(v.ints) }

// Floats returns a copy of the list of a KindFloats value, else nil.
func (v Value) Floats() []float64 { return slices.Clone(v.floats) }

// Strings returns a copy of the list of a KindStrings value, else nil.
func (v Value) Strings() []string { return slices.Clone(v.strings) }

// String returns the value as text for people: numbers plain, strings quoted, lists in brackets.
func (v Value) String() string {
	switch v.kind {
	case KindInt:
		return strconv.FormatInt(v.i, 10)
	case KindFloat:
		return strconv.FormatFloat(v.f, 'g', -1, 64)
	case KindBool:
		return strconv.FormatBool(v.i == 1)
	case KindString:
		return strconv.Quote(v.s)
	case KindInts:
		return fmt.Sprint(v.ints)
	case KindFloats:
		return fmt.Sprint(v.floats)
	case KindStrings:
		quoted := make([]string, len(v.strings))
		for i, s := range v.strings {
			quoted[i] = strconv.Quote(s)
		}
		return "[" + strings.Join(quoted, " ") + "]"
	}
	return "none"
}

// Any returns the value as a Go value (int64, float64, bool, string or a slice of them), nil when absent.
func (v Value) Any() any {
	switch v.kind {
	case KindInt:
		return v.i
	case KindFloat:
		return v.f
	case KindBool:
		return v.i == 1
	case KindString:
		return v.s
	case KindInts:
		return v.Ints()
	case KindFloats:
		return v.Floats()
	case KindStrings:
		return v.Strings()
	}
	return nil
}

// Setting is one named value of a request.
type Setting struct {
	Name  string
	Value Value
}

// Settings are the overrides of one request, in the order they are sent. Nil means none: the model's defaults hold.
type Settings []Setting

// Get returns the value set under name and whether it is set.
func (s Settings) Get(name string) (Value, bool) {
	for _, x := range s {
		if x.Name == name {
			return x.Value, true
		}
	}
	return Value{}, false
}

// With returns a copy of s with name set to v: replaced where it was set, else appended.
func (s Settings) With(name string, v Value) Settings {
	out := slices.Clone(s)
	for i := range out {
		if out[i].Name == name {
			out[i].Value = v
			return out
		}
	}
	return append(out, Setting{name, v})
}
