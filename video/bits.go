package video

import "encoding/binary"

// bitReader reads the fixed-length and Exp-Golomb codes of ITU-T H.264 section 9.1. Reading past the end sets short and
// gives zeros, so that a caller checks once at the end.
type bitReader struct {
	b     []byte
	pos   int // in bits
	short bool
}

// payload returns the first most bytes of a NAL unit after its header, without emulation prevention bytes
// (ITU-T H.264 section 7.3.1).
func payload(nal []byte, most int) []byte {
	out := make([]byte, 0, min(most, len(nal)))
	zeros := 0
	for _, b := range nal[min(1, len(nal)):] {
		if len(out) == most {
			break
		}
		if zeros >= 2 && b == 3 {
			zeros = 0
			continue
		}
		if zeros++; b != 0 {
			zeros = 0
		}
		out = append(out, b)
	}
	return out
}

func (r *bitReader) bits(n int) uint32 {
	var v uint32
	for range n {
		v <<= 1
		if i := r.pos >> 3; i < len(r.b) {
			v |= uint32(r.b[i]>>(7-r.pos&7)) & 1
		} else {
			r.short = true
		}
		r.pos++
	}
	return v
}

func (r *bitReader) flag() bool { return r.bits(1) == 1 }

// ue reads an unsigned Exp-Golomb code.
func (r *bitReader) ue() uint32 {
	zeros := 0
	for !r.short && r.bits(1) == 0 {
		zeros++
	}
	if r.short || zeros > 31 {
		r.short = true
		return 0
	}
	return 1<<zeros - 1 + r.bits(zeros)
}

func be16(b []byte) int { return int(binary.BigEndian.Uint16(b)) }

func be32(b []byte) int64 { return int64(binary.BigEndian.Uint32(b)) }
