package qual

import "hash/maphash"

// idIndex numbers request ids 0, 1, 2, ... in the order they are added. All ids lie in one byte slice and the hash
// table holds only numbers, so a million ids cost their bytes and about twelve more each, and nothing for the garbage
// collector to follow. Equality is decided by the bytes, never by the hash.
type idIndex struct {
	seed  maphash.Seed
	slots []uint32 // number+1, 0 for an empty slot; the length is a power of two
	ends  []uint32 // end of id i in text; it starts where id i-1 ends
	text  []byte
}

// maxIDBytes bounds the text of all ids of one index, since ends are 32 bits wide.
const maxIDBytes = 1<<32 - 1

func (x *idIndex) len() int { return len(x.ends) }

func (x *idIndex) id(i int) string { return string(x.bytes(i)) }

func (x *idIndex) bytes(i int) []byte {
	start := uint32(0)
	if i > 0 {
		start = x.ends[i-1]
	}
	return x.text[start:x.ends[i]]
}

// find returns the number of an id, or -1.
func (x *idIndex) find(id string) int {
	if len(x.slots) == 0 {
		return -1
	}
	mask := uint64(len(x.slots) - 1)
	for at := maphash.String(x.seed, id) & mask; ; at = (at + 1) & mask {
		n := x.slots[at]
		if n == 0 {
			return -1
		}
		if string(x.bytes(int(n-1))) == id {
			return int(n - 1)
		}
	}
}

// add numbers an id and reports whether it is new. It returns -1 when the index is full.
func (x *idIndex) add(id string) (int, bool) {
	if i := x.find(id); i >= 0 {
		return i, false
	}
	if len(x.text)+len(id) > maxIDBytes || len(x.ends) >= 1<<31 {
		return -1, false
	}
	if 4*(len(x.ends)+1) > 3*len(x.slots) {
		x.grow()
	}
	x.text = append(x.text, id...)
	x.ends = append(x.ends, uint32(len(x.text)))
	x.place(len(x.ends) - 1)
	return len(x.ends) - 1, true
}

func (x *idIndex) place(i int) {
	mask := uint64(len(x.slots) - 1)
	at := maphash.Bytes(x.seed, x.bytes(i)) & mask
	for x.slots[at] != 0 {
		at = (at + 1) & mask
	}
	x.slots[at] = uint32(i + 1)
}

func (x *idIndex) grow() {
	size := 2 * len(x.slots)
	if size == 0 {
		size = 64
		x.seed = maphash.MakeSeed()
	}
	x.slots = make([]uint32, size)
	for i := range x.ends {
		x.place(i)
	}
}
