package jsonscan

// Object is the table of the known members of an object and where their values go. Its fields are added in the order
// in which they usually stand, which is how they are found fastest. It is not safe for concurrent use.
type Object struct {
	fields []field
}

type field struct {
	name, start string // start is how the member begins: the name in quotes and a colon
	scan        func(*Scanner)
}

// maxFields is how many fields one word can tick off.
const maxFields = 64

// add adds a field. The name holds no character that JSON escapes.
func (o *Object) add(name string, scan func(*Scanner)) {
	if len(o.fields) == maxFields {
		panic("jsonscan: too many fields")
	}
	o.fields = append(o.fields, field{name, `"` + name + `":`, scan})
}

// Scan reads an object into the destinations of the fields. Those that are not there stay as they are, and members
// with unknown names are checked and passed over. It reports whether an object stood there and was sound; null is
// neither that nor an error. After an error the destinations hold anything.
func (o *Object) Scan(s *Scanner) bool {
	switch {
	case s.err != nil:
		return false
	case s.peek() != '{':
		if !s.null() {
			s.want("an object")
		}
		return false
	}
	seen, next := uint64(0), 0
	for ok := s.enter('}'); ok; ok = s.more('}') {
		n := o.next(s, next)
		if n < 0 {
			n = o.find(s.member())
			if s.err != nil {
				return false
			}
		}
		s.space()
		if n < 0 {
			s.skip()
			continue
		}
		if seen&(1<<n) != 0 {
			s.fail("%q stands twice in one object", o.fields[n].name)
			return false
		}
		seen |= 1 << n
		o.fields[n].scan(s)
		next = n + 1
	}
	return s.err == nil
}

// next passes over the start of a field from the nth on and returns which it is, or -1.
func (o *Object) next(s *Scanner, n int) int {
	rest := s.b[s.i:]
	if len(rest) < 2 || rest[0] != '"' {
		return -1
	}
	for ; n < len(o.fields); n++ {
		if start := o.fields[n].start; rest[1] == start[1] && len(rest) >= len(start) && string(rest[:len(start)]) == start {
			s.i += len(start)
			return n
		}
	}
	return -1
}

func (o *Object) find(name []byte) int {
	for n := range o.fields {
		if o.fields[n].name == string(name) {
			return n
		}
	}
	return -1
}
