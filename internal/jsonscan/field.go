package jsonscan

import "encoding/json"

// Like encoding/json, every field but Raw takes null for a member that is not there.

// Int adds a whole number. A fraction, an exponent, or what does not fit is an error.
func Int[T ~int | ~int64](o *Object, name string, dst *T) {
	o.add(name, func(s *Scanner) {
		if s.null() {
			return
		}
		from := s.i
		v := s.int()
		if int64(T(v)) != v {
			s.i = from
			s.want("a whole number in range")
			return
		}
		*dst = T(v)
	})
}

// OptInt adds a whole number that dst points to when it is there. The number is overwritten by the next line.
func OptInt(o *Object, name string, dst **int64) {
	room := new(int64)
	o.add(name, func(s *Scanner) {
		if !s.null() {
			*room = s.int()
			*dst = room
		}
	})
}

// Float adds a number, which is rounded to the nearest that float64 has. What does not fit is an error.
func Float(o *Object, name string, dst *float64) {
	o.add(name, func(s *Scanner) {
		if !s.null() {
			*dst = s.float()
		}
	})
}

// Bool adds true or false.
func Bool(o *Object, name string, dst *bool) {
	o.add(name, func(s *Scanner) {
		if !s.null() {
			*dst = s.bool()
		}
	})
}

// Word adds a string of those that come again and again: they are kept and handed out again, not copied.
func Word[T ~string](o *Object, name string, dst *T) {
	o.add(name, func(s *Scanner) {
		if text, ok := s.text(); ok {
			*dst = T(s.known(text))
		}
	})
}

// Text adds a string of those that rarely come twice. It may lie in the line, see [Scanner].
func Text[T ~string](o *Object, name string, dst *T) {
	o.add(name, func(s *Scanner) {
		if text, ok := s.text(); ok {
			*dst = T(s.other(text))
		}
	})
}

// Raw adds any value, which is copied as it stands.
func Raw(o *Object, name string, dst *json.RawMessage) {
	o.add(name, func(s *Scanner) { *dst = append(json.RawMessage(nil), s.raw()...) })
}

// Map adds an object with any members. Of members with one name the last counts. Numbers become float64. The next line
// overwrites the map, but not what its values refer to.
func Map(o *Object, name string, dst *map[string]any) {
	room := map[string]any{}
	o.add(name, func(s *Scanner) {
		if s.members(room) {
			*dst = room
		}
	})
}

// Optional adds an object that dst points to when it is there. It is scanned by inner into room, which the next line
// overwrites.
func Optional[T any](o *Object, name string, dst **T, room *T, inner *Object) {
	o.add(name, func(s *Scanner) {
		var zero T
		*room = zero
		if inner.Scan(s) {
			*dst = room
		}
	})
}
