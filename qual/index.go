package qual

import (
	"encoding/binary"
	"hash/maphash"
)

// idIndex numbers request ids 0, 1, 2, ... in the order they are added. All ids lie in a few large blocks and the hash
// table holds only numbers, so a million ids cost their bytes and about fifteen more each, nothing is copied to grow
// but the table, and the garbage collector has nothing to follow. Equality is decided by the bytes, never by the hash.
type idIndex struct {
	seed   maphash.Seed
	tags   []uint8  // 0 for an empty slot, else some bits of the hash; the length is a power of two
	slots  []uint32 // number of the id
	places list[uint32]
	blocks [][]byte // each id stands after its length
}

const (
	// blockBits are the bits of a place that say where in its block an id stands.
	blockBits = 20
	blockSize = 1 << blockBits
	maxBlocks = 1 << (32 - blockBits)
)

func (x *idIndex) len() int { return x.places.n }

func (x *idIndex) id(i int) string { return string(x.bytes(i)) }

func (x *idIndex) bytes(i int) []byte {
	place := *x.places.at(i)
	b := x.blocks[place>>blockBits][place%blockSize:]
	size, n := binary.Uvarint(b)
	return b[n : n+int(size)]
}

// find returns the number of an id, or -1.
func (x *idIndex) find(id string) int {
	if len(x.tags) == 0 {
		return -1
	}
	tag, at := x.start(maphash.String(x.seed, id))
	for ; x.tags[at] != 0; at = (at + 1) & (len(x.tags) - 1) {
		if x.tags[at] != tag {
			continue
		}
		if i := int(x.slots[at]); string(x.bytes(i)) == id {
			return i
		}
	}
	return -1
}

// start returns the tag of a hash and the slot where the search for it begins.
func (x *idIndex) start(hash uint64) (uint8, int) {
	return uint8(hash>>56) | 1, int(hash & uint64(len(x.tags)-1))
}

// add numbers an id and reports whether it is new. It returns -1 when the index is full.
func (x *idIndex) add(id string) (int, bool) {
	if i := x.find(id); i >= 0 {
		return i, false
	}
	if !x.room(len(id)) || x.len() >= 1<<31 {
		return -1, false
	}
	if 4*(x.len()+1) > 3*len(x.tags) {
		x.grow()
	}
	last := len(x.blocks) - 1
	b := x.blocks[last]
	x.places.add(uint32(last<<blockBits | len(b)))
	x.blocks[last] = append(binary.AppendUvarint(b, uint64(len(id))), id...)
	x.put(x.len() - 1)
	return x.len() - 1, true
}

// room makes room for an id of a length in the last block.
func (x *idIndex) room(size int) bool {
	need := binary.MaxVarintLen32 + size
	if n := len(x.blocks); n > 0 && len(x.blocks[n-1])+need <= blockSize {
		return true
	}
	if len(x.blocks) == maxBlocks {
		return false
	}
	x.blocks = append(x.blocks, make([]byte, 0, max(need, blockSize)))
	return true
}

// put enters id i into the table.
func (x *idIndex) put(i int) {
	tag, at := x.start(maphash.Bytes(x.seed, x.bytes(i)))
	for x.tags[at] != 0 {
		at = (at + 1) & (len(x.tags) - 1)
	}
	x.tags[at], x.slots[at] = tag, uint32(i)
}

func (x *idIndex) grow() {
	size := 2 * len(x.tags)
	if size == 0 {
		size = 64
		x.seed = maphash.MakeSeed()
	}
	x.tags, x.slots = make([]uint8, size), make([]uint32, size)
	for i := range x.len() {
		x.put(i)
	}
}

// list is a growing list that never moves what it holds, so that growing needs no second copy.
type list[T any] struct {
	parts [][]T
	n     int
}

const chunkLen = 4096

func (c *list[T]) add(v T) {
	if c.n%chunkLen == 0 {
		c.parts = append(c.parts, make([]T, 0, chunkLen))
	}
	last := len(c.parts) - 1
	c.parts[last] = append(c.parts[last], v)
	c.n++
}

func (c *list[T]) at(i int) *T { return &c.parts[uint(i)/chunkLen][uint(i)%chunkLen] }
