package jsonscan

import "encoding/binary"

// Object is the table of the known members of an object and where their values go. Its fields are added in the order
// in which they usually stand, which is how they are found fastest. It is not safe for concurrent use.
type Object struct {
	fields []field
}

type field struct {
	head, mask  uint64 // the first eight bytes of start, and which of them there are
	start, name string // start is how the member begins: the name in quotes and a colon
	scan        func(*Scanner)
}

// maxFields is how many fields one word can tick off.
const maxFields = 64

// add adds a field. The name holds no character that JSON escapes.
func (o *Object) add(name string, scan func(*Scanner)) {
	if len(o.fields) == maxFields {
		panic("jsonscan: too many fields")
	}
	f := field{start: `"` + name + `":`, name: name, scan: scan, mask: ^uint64(0)}
	var head [8]byte
	if n := copy(head[:], f.start); n < len(head) {
		f.mask >>= 8 * (len(head) - n)
	}
	f.head = binary.LittleEndian.Uint64(head[:])
	o.fields = append(o.fields, f)
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
		if s.i < len(s.b) && s.b[s.i] <= ' ' {
			s.space()
		}
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

// next passes over the start of a field from the nth on and returns which it is, or -1. Near the end of the line it
// leaves the search to find.
func (o *Object) next(s *Scanner, n int) int {
	rest := s.b[s.i:]
	if len(rest) < 8 {
		return -1
	}
	head := binary.LittleEndian.Uint64(rest)
	for ; n < len(o.fields); n++ {
		f := &o.fields[n]
		if head&f.mask != f.head {
			continue
		}
		if size := len(f.start); size <= 8 || len(rest) >= size && string(rest[8:size]) == f.start[8:] {
			s.i += size
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
