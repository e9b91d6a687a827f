package cabi

// #include "shim.h"
import "C"

import "unsafe"

// config lays settings out in the arena; nil for none, which means no overrides.
func (a *arena) config(settings []Setting) *C.trtmc_config_view_v1 {
	if len(settings) == 0 {
		return nil
	}
	view := &array[C.trtmc_config_view_v1](a, 1)[0]
	*view = a.configView(settings)
	return view
}

func (a *arena) configView(settings []Setting) C.trtmc_config_view_v1 {
	if len(settings) == 0 {
		return C.trtmc_config_view_v1{}
	}
	entries := array[C.trtmc_config_entry_v1](a, len(settings))
	for i := range settings {
		entries[i].name = a.text(settings[i].Name)
		a.value(&entries[i].value, &settings[i].Value)
	}
	return C.trtmc_config_view_v1{entries: &entries[0], count: C.uint64_t(len(entries))}
}

func (a *arena) value(out *C.trtmc_config_value_v1, v *Value) {
	*out = C.trtmc_config_value_v1{kind: C.uint32_t(v.Kind)}
	as := unsafe.Pointer(&out.as)
	switch v.Kind {
	case KindInt:
		*(*int64)(as) = v.Int
	case KindFloat:
		*(*float64)(as) = v.Float
	case KindBool:
		if v.Bool {
			*(*uint32)(as) = 1
		}
	case KindString:
		*(*C.trtmc_string_view)(as) = a.text(v.String)
	case KindInts:
		p, n := copied(a, v.Ints)
		*(*C.trtmc_i64_view)(as) = C.trtmc_i64_view{data: (*C.int64_t)(p), size: n}
	case KindFloats:
		p, n := copied(a, v.Floats)
		*(*C.trtmc_f64_view)(as) = C.trtmc_f64_view{data: (*C.double)(p), size: n}
	case KindStrings:
		*(*C.trtmc_strings_view)(as) = a.texts(v.Strings)
	}
}

// valueOut copies a declared default. The union is read only after its kind is known.
func valueOut(op string, in *C.trtmc_config_value_v1) (Value, error) {
	v := Value{Kind: uint32(in.kind)}
	as := unsafe.Pointer(&in.as)
	var err error
	switch v.Kind {
	case KindInt:
		v.Int = *(*int64)(as)
	case KindFloat:
		v.Float = *(*float64)(as)
	case KindBool:
		b := *(*uint32)(as)
		if b > 1 {
			return Value{}, broken(op, "boolean default is %d; it is 0 or 1", b)
		}
		v.Bool = b == 1
	case KindString:
		v.String, err = stringOut(op, "default", *(*C.trtmc_string_view)(as))
	case KindInts:
		list := (*C.trtmc_i64_view)(as)
		v.Ints, err = copyOut[int64](op, "default", list.data, list.size)
	case KindFloats:
		list := (*C.trtmc_f64_view)(as)
		v.Floats, err = copyOut[float64](op, "default", list.data, list.size)
	case KindStrings:
		list := (*C.trtmc_strings_view)(as)
		v.Strings, err = stringsOut(op, "default", list)
	default:
		return Value{}, broken(op, "default has the unknown kind %d", v.Kind)
	}
	return v, err
}

func stringsOut(op, what string, list *C.trtmc_strings_view) ([]string, error) {
	views, err := borrowed(op, what, list.data, list.size)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(views))
	for i := range views {
		if out[i], err = stringOut(op, what, views[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}
