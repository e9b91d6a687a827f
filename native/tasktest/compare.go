package tasktest

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"time"

	"github.com/trtmc-go/trtmc/native/task"
)

// same reports whether two outcomes are equal to the bit: NaN equals NaN.
func same(a, b any) bool { return equal(reflect.ValueOf(a), reflect.ValueOf(b)) }

func equal(a, b reflect.Value) bool {
	if a.IsValid() != b.IsValid() {
		return false
	}
	if !a.IsValid() {
		return true
	}
	if a.Type() != b.Type() {
		return false
	}
	if t, ok := a.Interface().(time.Time); ok {
		return t.Equal(b.Interface().(time.Time))
	}
	switch a.Kind() {
	case reflect.Interface, reflect.Pointer:
		return equal(a.Elem(), b.Elem())
	case reflect.Float32, reflect.Float64:
		return math.Float64bits(a.Float()) == math.Float64bits(b.Float())
	case reflect.Slice:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !equal(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Struct:
		for i := range a.NumField() {
			if !equal(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	}
	return a.Interface() == b.Interface()
}

// isInvalid wants an error of the class for refused input.
func isInvalid(err error) error { return is(err, task.ErrInvalid) }

func is(err, want error) error {
	if err == nil {
		return fmt.Errorf("no error; want one that is %q", want)
	}
	if !errors.Is(err, want) {
		return fmt.Errorf("error %q; want one that is %q", err, want)
	}
	return nil
}

// fine accepts a call that went well and one whose input was refused, and nothing else.
func fine(err error) error {
	if err == nil || errors.Is(err, task.ErrInvalid) {
		return nil
	}
	return fmt.Errorf("error %q; want none, or one that is %q", err, task.ErrInvalid)
}
