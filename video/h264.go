package video

import (
	"bytes"
	"fmt"
)

// NAL unit types of ITU-T H.264 table 7-1 that a stream of this package's encoder holds.
const (
	nalSlice = 1
	nalIDR   = 5
	nalSEI   = 6
	nalSPS   = 7
	nalPPS   = 8
	nalAUD   = 9
)

// headerBytes is enough of a NAL unit for every field that this package reads: parameter sets are shorter, and a slice
// header's first five fields take at most four codes of 63 bits.
const headerBytes = 64

func nalType(nal []byte) int { return int(nal[0] & 0x1f) }

// splitAnnexB returns the NAL units of an access unit in byte stream format (ITU-T H.264 annex B), each a part of au.
func splitAnnexB(au []byte) ([][]byte, error) {
	startCode := []byte{0, 0, 1}
	if !bytes.HasPrefix(au, startCode) && !bytes.HasPrefix(au, []byte{0, 0, 0, 1}) {
		return nil, fmt.Errorf("%w: packet does not begin with a start code", ErrEncode)
	}
	var nals [][]byte
	rest := au[bytes.Index(au, startCode)+3:]
	for {
		end := bytes.Index(rest, startCode)
		nal := rest
		if end >= 0 {
			nal = rest[:end]
		}
		// A NAL unit never ends in a zero byte; zeros before a start code belong to the byte stream.
		if nal = bytes.TrimRight(nal, "\x00"); len(nal) == 0 {
			return nil, fmt.Errorf("%w: packet holds an empty NAL unit", ErrEncode)
		}
		nals = append(nals, nal)
		if end < 0 {
			return nals, nil
		}
		rest = rest[end+3:]
	}
}

// sps is what this package reads of a sequence parameter set (ITU-T H.264 section 7.3.2.1).
type sps struct {
	id            uint32
	width, height int
	frameNumBits  int
}

func parseSPS(nal []byte) (sps, error) {
	r := bitReader{b: payload(nal, headerBytes)}
	profile := r.bits(8)
	r.bits(16) // constraint flags and level
	s := sps{id: r.ue()}
	if profile != 66 && profile != 77 && profile != 88 {
		return sps{}, fmt.Errorf("%w: SPS has profile %d, want baseline, main or extended", ErrMP4, profile)
	}
	s.frameNumBits = int(r.ue()) + 4
	order := r.ue()
	switch order {
	case 0:
		r.ue()
	case 2:
	default:
		return sps{}, fmt.Errorf("%w: SPS has picture order count type %d, want 0 or 2", ErrMP4, order)
	}
	r.ue() // reference frames
	gaps := r.flag()
	mbWide, mbHigh := int(r.ue())+1, int(r.ue())+1
	framesOnly := r.flag()
	r.flag() // direct 8x8 inference
	var crop [4]int
	if r.flag() {
		for i := range crop {
			crop[i] = int(r.ue())
		}
	}
	switch {
	case r.short || s.frameNumBits > 16 || s.id > 31 || mbWide > 1<<12 || mbHigh > 1<<12:
		return sps{}, fmt.Errorf("%w: SPS is cut short or out of range", ErrMP4)
	case gaps || !framesOnly:
		return sps{}, fmt.Errorf("%w: SPS allows gaps in frame_num or fields", ErrMP4)
	}
	// Cropping counts in chroma samples, two luma samples each way in 4:2:0.
	s.width = mbWide*16 - 2*(crop[0]+crop[1])
	s.height = mbHigh*16 - 2*(crop[2]+crop[3])
	return s, nil
}

// parsePPS returns the id of a picture parameter set and of the sequence parameter set it refers to.
func parsePPS(nal []byte) (id, spsID uint32, err error) {
	r := bitReader{b: payload(nal, headerBytes)}
	id, spsID = r.ue(), r.ue()
	if r.short || id > 255 || spsID > 31 {
		return 0, 0, fmt.Errorf("%w: PPS is cut short or out of range", ErrMP4)
	}
	return id, spsID, nil
}

// slice is the start of a slice header (ITU-T H.264 section 7.3.3).
type slice struct {
	idr      bool
	ref      bool // nal_ref_idc is not 0: later pictures count frame_num from this one
	firstMB  uint32
	pps      uint32
	frameNum uint32
	idrPicID uint32
}

// parseSlice reads a slice header with the parameter sets that the stream has.
func parseSlice(nal []byte, sets parameterSets) (slice, error) {
	r := bitReader{b: payload(nal, headerBytes)}
	s := slice{idr: nalType(nal) == nalIDR, ref: nal[0]>>5&3 != 0}
	s.firstMB = r.ue()
	r.ue() // slice type
	s.pps = r.ue()
	if r.short {
		return slice{}, fmt.Errorf("%w: slice header is cut short", ErrMP4)
	}
	seq, err := sets.ofPPS(s.pps)
	if err != nil {
		return slice{}, err
	}
	s.frameNum = r.bits(seq.frameNumBits)
	if s.idr {
		s.idrPicID = r.ue()
	}
	if r.short {
		return slice{}, fmt.Errorf("%w: slice header is cut short", ErrMP4)
	}
	return s, nil
}

// parameterSets are the sets of a stream by id.
type parameterSets struct {
	sps map[uint32]sps
	pps map[uint32]uint32 // PPS id to SPS id
}

func (p parameterSets) ofPPS(id uint32) (sps, error) {
	spsID, ok := p.pps[id]
	if !ok {
		return sps{}, fmt.Errorf("%w: a slice refers to PPS %d, which avcC does not hold", ErrMP4, id)
	}
	s, ok := p.sps[spsID]
	if !ok {
		return sps{}, fmt.Errorf("%w: PPS %d refers to SPS %d, which avcC does not hold", ErrMP4, id, spsID)
	}
	return s, nil
}
