package jsonscan

// bool scans true or false.
func (s *Scanner) bool() bool {
	switch {
	case s.word("true"):
		return true
	case !s.word("false"):
		s.want("true or false")
	}
	return false
}

// null passes over null if it is next.
func (s *Scanner) null() bool { return s.i < len(s.b) && s.b[s.i] == 'n' && s.word("null") }

func (s *Scanner) word(w string) bool {
	if len(s.b)-s.i >= len(w) && string(s.b[s.i:s.i+len(w)]) == w {
		s.i += len(w)
		return true
	}
	return false
}

// raw passes over any value and returns it as it stands.
func (s *Scanner) raw() []byte {
	from := s.i
	s.skip()
	return s.b[from:s.i]
}

// skip passes over any value and checks it.
func (s *Scanner) skip() {
	if s.err != nil {
		return
	}
	switch s.peek() {
	case '{':
		for ok := s.enter('}'); ok; ok = s.more('}') {
			s.member()
			s.skip()
		}
	case '[':
		for ok := s.enter(']'); ok; ok = s.more(']') {
			s.skip()
		}
	case '"':
		s.quoted()
	case 't', 'f':
		s.bool()
	case 'n':
		if !s.null() {
			s.want("null")
		}
	default:
		s.number()
	}
}

// members scans an object into m, which it empties first, and reports whether one stood there; null is none.
func (s *Scanner) members(m map[string]any) bool {
	if s.peek() != '{' {
		if !s.null() {
			s.want("an object")
		}
		return false
	}
	clear(m)
	for ok := s.enter('}'); ok; ok = s.more('}') {
		name := s.known(s.member())
		m[name] = s.value()
	}
	return true
}

// value scans any value as encoding/json does into an interface.
func (s *Scanner) value() any {
	if s.err != nil {
		return nil
	}
	switch s.peek() {
	case '{':
		m := map[string]any{}
		s.members(m)
		return m
	case '[':
		list := []any{}
		for ok := s.enter(']'); ok; ok = s.more(']') {
			list = append(list, s.value())
		}
		return list
	case '"':
		text, _ := s.text()
		return s.known(text)
	case 't', 'f':
		return s.bool()
	case 'n':
		if !s.null() {
			s.want("null")
		}
		return nil
	}
	return s.float()
}
