package video

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// track is an H.264 track before it is written. Sample data is in the form of ISO/IEC 14496-15: each NAL unit after
// its length in four bytes.
type track struct {
	width, height int
	rate          Rate
	sps, pps      [][]byte
	samples       []sample
}

type sample struct {
	data []byte
	sync bool
}

const (
	maxSPS = 31  // five bits in avcC
	maxPPS = 255 // eight bits in avcC
)

// writeMP4 writes t as an MP4 file (ISO/IEC 14496-12, 14496-15) that can be played while it is being received: ftyp, then moov,
// then mdat with all samples in one chunk. It returns the number of bytes written.
func writeMP4(w io.Writer, t track) (int64, error) {
	if err := t.check(); err != nil {
		return 0, err
	}
	var media int64
	for _, s := range t.samples {
		media += int64(len(s.data))
	}
	head := t.header(0)
	offset := int64(len(head)) + 8
	if offset+media > math.MaxUint32 {
		return 0, fmt.Errorf("%w: file would be larger than 4 GiB", ErrMP4)
	}
	head = t.header(uint32(offset))
	head = binary.BigEndian.AppendUint32(head, uint32(media+8))
	head = append(head, "mdat"...)
	n, err := w.Write(head)
	total := int64(n)
	if err != nil {
		return total, fmt.Errorf("write mp4 header: %w", err)
	}
	for i, s := range t.samples {
		n, err := w.Write(s.data)
		total += int64(n)
		if err != nil {
			return total, fmt.Errorf("write sample %d of %d: %w", i, len(t.samples), err)
		}
	}
	return total, nil
}

func (t track) check() error {
	_, delta := t.rate.ticks()
	switch {
	case len(t.samples) == 0:
		return fmt.Errorf("%w: no samples", ErrMP4)
	case !t.samples[0].sync:
		return fmt.Errorf("%w: the first sample is not a sync sample", ErrMP4)
	case len(t.sps) == 0 || len(t.sps) > maxSPS || len(t.pps) == 0 || len(t.pps) > maxPPS:
		return fmt.Errorf("%w: %d sequence and %d picture parameter sets, want 1 to %d and 1 to %d", ErrMP4, len(t.sps), len(t.pps), maxSPS, maxPPS)
	case t.width <= 0 || t.width > math.MaxUint16 || t.height <= 0 || t.height > math.MaxUint16:
		return fmt.Errorf("%w: size %dx%d", ErrMP4, t.width, t.height)
	case int64(len(t.samples))*int64(delta) > math.MaxUint32:
		return fmt.Errorf("%w: clip is too long", ErrMP4)
	}
	for i, s := range t.samples {
		if len(s.data) == 0 {
			return fmt.Errorf("%w: sample %d is empty", ErrMP4, i)
		}
	}
	return t.rate.check()
}

// header returns ftyp and moov; its length does not depend on the offset of the samples.
func (t track) header(offset uint32) []byte {
	return append(ftyp(), t.moov(offset)...)
}

func ftyp() []byte { return box("ftyp", []byte("isom"), u32(512), []byte("isomiso2avc1mp41")) }

// identity is the unity matrix of mvhd and tkhd in 16.16 and 2.30 fixed point.
func identity() []byte { return u32(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000) }

func (t track) moov(offset uint32) []byte {
	timescale, delta := t.rate.ticks()
	length := uint32(len(t.samples) * delta)
	mvhd := full("mvhd", 0,
		u32(0, 0, uint32(timescale), length, 0x10000), // times, timescale, duration, rate 1.0
		u16(0x100, 0), u32(0, 0), identity(), // volume 1.0, reserved
		make([]byte, 24), u32(2)) // predefined, next track
	tkhd := full("tkhd", 3, // enabled, in movie
		u32(0, 0, 1, 0, length, 0, 0), u16(0, 0, 0, 0), identity(),
		u32(uint32(t.width)<<16, uint32(t.height)<<16))
	mdhd := full("mdhd", 0, u32(0, 0, uint32(timescale), length), u16(0x55c4, 0)) // language "und"
	hdlr := full("hdlr", 0, u32(0), []byte("vide"), make([]byte, 12), []byte("VideoHandler\x00"))
	dinf := box("dinf", full("dref", 0, u32(1), full("url ", 1))) // samples are in this file
	minf := box("minf", full("vmhd", 1, make([]byte, 8)), dinf, t.stbl(offset, delta))
	return box("moov", mvhd, box("trak", tkhd, box("mdia", mdhd, hdlr, minf)))
}

func (t track) stbl(offset uint32, delta int) []byte {
	n := uint32(len(t.samples))
	var sizes, syncs []uint32
	for i, s := range t.samples {
		sizes = append(sizes, uint32(len(s.data)))
		if s.sync {
			syncs = append(syncs, uint32(i)+1)
		}
	}
	return box("stbl",
		full("stsd", 0, u32(1), t.avc1()),
		full("stts", 0, u32(1, n, uint32(delta))),
		full("stss", 0, u32(uint32(len(syncs))), u32(syncs...)),
		full("stsc", 0, u32(1, 1, n, 1)), // chunk 1 on: n samples of description 1
		full("stsz", 0, u32(0, n), u32(sizes...)),
		full("stco", 0, u32(1, offset)))
}

func (t track) avc1() []byte {
	name := make([]byte, 32) // compressor name, empty
	return box("avc1",
		make([]byte, 6), u16(1), make([]byte, 16), // data reference 1
		u16(uint16(t.width), uint16(t.height)), u32(0x480000, 0x480000, 0), u16(1), // 72 dpi, one frame a sample
		name, u16(0x18, 0xffff), // depth 24, no colour table
		t.avcC(), colr(), box("pasp", u32(1, 1)))
}

// avcC holds every parameter set of the stream: the encoder makes a new pair at each IDR picture, and slices refer to
// them by id.
func (t track) avcC() []byte {
	first := t.sps[0]
	b := []byte{1, first[1], first[2], first[3], 0xff, 0xe0 | byte(len(t.sps))} // lengths of four bytes
	for _, set := range t.sps {
		b = append(binary.BigEndian.AppendUint16(b, uint16(len(set))), set...)
	}
	b = append(b, byte(len(t.pps)))
	for _, set := range t.pps {
		b = append(binary.BigEndian.AppendUint16(b, uint16(len(set))), set...)
	}
	return box("avcC", b)
}

// colr says BT.709 primaries, transfer and matrix in limited range (ITU-T H.273 code points); the encoder's own stream
// says nothing of colour, and players would guess.
func colr() []byte { return box("colr", []byte("nclx"), u16(1, 1, 1), []byte{0}) }

func box(name string, parts ...[]byte) []byte {
	size := 8
	for _, p := range parts {
		size += len(p)
	}
	b := binary.BigEndian.AppendUint32(make([]byte, 0, size), uint32(size))
	b = append(b, name...)
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

// full returns a box with version 0 and flags.
func full(name string, flags uint32, parts ...[]byte) []byte {
	return box(name, append([][]byte{u32(flags)}, parts...)...)
}

func u32(vs ...uint32) []byte {
	b := make([]byte, 0, 4*len(vs))
	for _, v := range vs {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	return b
}

func u16(vs ...uint16) []byte {
	b := make([]byte, 0, 2*len(vs))
	for _, v := range vs {
		b = binary.BigEndian.AppendUint16(b, v)
	}
	return b
}
