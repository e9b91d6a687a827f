package video

import (
	"bytes"
	"fmt"
)

// description is what moov says of its one track.
type description struct {
	width, height int
	rate          Rate
	sets          parameterSets
	sizes         []int64 // bytes of each sample
	syncs         []int64 // numbers of sync samples, from 1
	offset        int64   // of the one chunk
}

// boxes reads the boxes of a container one after the other.
type boxes struct {
	b    []byte
	path string
}

// next returns the content of the next box, which must have that name. In this strict form every box has one place,
// so an edit list, a second track or a foreign box is refused rather than skipped.
func (c *boxes) next(name string) ([]byte, error) {
	if len(c.b) < 8 {
		return nil, fmt.Errorf("%w: %s ends before box %s", ErrMP4, c.path, name)
	}
	n, got := be32(c.b), string(c.b[4:8])
	if got != name || n < 8 || n > int64(len(c.b)) {
		return nil, fmt.Errorf("%w: in %s want box %s, got %q of %d bytes in %d", ErrMP4, c.path, name, got, n, len(c.b))
	}
	content := c.b[8:n]
	c.b = c.b[n:]
	return content, nil
}

// into returns a reader of the next box.
func (c *boxes) into(name string) (*boxes, error) {
	content, err := c.next(name)
	return &boxes{content, c.path + "/" + name}, err
}

// full returns the content of the next box after version 0 and any flags, at least least bytes.
func (c *boxes) full(name string, least int) ([]byte, error) {
	content, err := c.next(name)
	if err != nil {
		return nil, err
	}
	if len(content) < least+4 || content[0] != 0 {
		return nil, fmt.Errorf("%w: %s/%s is %d bytes long or has another version than 0", ErrMP4, c.path, name, len(content))
	}
	return content[4:], nil
}

// end fails when anything is left.
func (c *boxes) end() error {
	if len(c.b) != 0 {
		return fmt.Errorf("%w: %d bytes too many in %s", ErrMP4, len(c.b), c.path)
	}
	return nil
}

func parseMoov(b []byte) (*description, error) {
	d := &description{}
	top := &boxes{b, "moov"}
	mvhd, err := top.full("mvhd", 96)
	if err != nil {
		return nil, err
	}
	trak, err := top.into("trak")
	if err != nil {
		return nil, err
	}
	if err := top.end(); err != nil {
		return nil, err
	}
	tkhd, err := trak.full("tkhd", 80)
	if err != nil {
		return nil, err
	}
	d.width, d.height = be16(tkhd[72:]), be16(tkhd[76:])
	mdia, err := trak.into("mdia")
	if err != nil {
		return nil, err
	}
	if err := trak.end(); err != nil {
		return nil, err
	}
	mdhd, err := mdia.full("mdhd", 20)
	if err != nil {
		return nil, err
	}
	delta, err := d.media(mdia)
	if err != nil {
		return nil, err
	}
	return d, d.times(mvhd, tkhd, mdhd, delta)
}

// times checks that every duration and timescale says the same, and sets the rate.
func (d *description) times(mvhd, tkhd, mdhd []byte, delta int64) error {
	timescale, length := be32(mdhd[8:]), be32(mdhd[12:])
	if delta == 0 || int64(len(d.sizes))*delta != length {
		return fmt.Errorf("%w: %d samples of %d ticks do not make the duration of %d", ErrMP4, len(d.sizes), delta, length)
	}
	if be32(mvhd[8:]) != timescale || be32(mvhd[12:]) != length || be32(tkhd[16:]) != length {
		return fmt.Errorf("%w: mvhd, tkhd and mdhd do not agree on the duration", ErrMP4)
	}
	d.rate = Rate{int(timescale), int(delta)}.reduced()
	if err := d.rate.check(); err != nil {
		return fmt.Errorf("%w: %w", ErrMP4, err)
	}
	return nil
}

// media reads the rest of mdia and returns the length of a sample in ticks.
func (d *description) media(mdia *boxes) (delta int64, err error) {
	hdlr, err := mdia.full("hdlr", 20)
	if err != nil {
		return 0, err
	}
	if string(hdlr[4:8]) != "vide" {
		return 0, fmt.Errorf("%w: the track is %q, want vide", ErrMP4, hdlr[4:8])
	}
	minf, err := mdia.into("minf")
	if err != nil {
		return 0, err
	}
	if err := mdia.end(); err != nil {
		return 0, err
	}
	for _, name := range []string{"vmhd", "dinf"} {
		if _, err := minf.next(name); err != nil {
			return 0, err
		}
	}
	stbl, err := minf.into("stbl")
	if err != nil {
		return 0, err
	}
	if err := minf.end(); err != nil {
		return 0, err
	}
	if err := d.sampleEntry(stbl); err != nil {
		return 0, err
	}
	return d.tables(stbl)
}

// tables reads stts, stss, stsc, stsz and stco.
func (d *description) tables(stbl *boxes) (delta int64, err error) {
	stts, err := stbl.full("stts", 4)
	if err != nil {
		return 0, err
	}
	if len(stts) != 12 || be32(stts) != 1 {
		return 0, fmt.Errorf("%w: stts has %d runs, want one", ErrMP4, be32(stts))
	}
	stss, err := stbl.full("stss", 4)
	if err != nil {
		return 0, err
	}
	if d.syncs, err = list(stss, "stss"); err != nil {
		return 0, err
	}
	stsc, err := stbl.full("stsc", 16)
	if err != nil {
		return 0, err
	}
	stsz, err := stbl.full("stsz", 8)
	if err != nil {
		return 0, err
	}
	if be32(stsz) != 0 {
		return 0, fmt.Errorf("%w: stsz has one size for all samples", ErrMP4)
	}
	if d.sizes, err = list(stsz[4:], "stsz"); err != nil {
		return 0, err
	}
	n := uint32(len(d.sizes))
	if n == 0 || be32(stts[4:]) != int64(n) || !bytes.Equal(stsc, u32(1, 1, n, 1)) {
		return 0, fmt.Errorf("%w: stsz has %d samples, stts %d; want at least one, equal, and in one chunk", ErrMP4, n, be32(stts[4:]))
	}
	stco, err := stbl.full("stco", 8)
	if err != nil {
		return 0, err
	}
	if len(stco) != 8 || be32(stco) != 1 {
		return 0, fmt.Errorf("%w: stco has %d chunks, want one", ErrMP4, be32(stco))
	}
	d.offset = be32(stco[4:])
	return be32(stts[8:]), stbl.end()
}

// list reads a count and as many numbers of four bytes, which must fill b.
func list(b []byte, name string) ([]int64, error) {
	if n := be32(b); n*4 != int64(len(b)-4) {
		return nil, fmt.Errorf("%w: %s has %d entries in %d bytes", ErrMP4, name, n, len(b)-4)
	}
	out := make([]int64, 0, len(b)/4-1)
	for b = b[4:]; len(b) > 0; b = b[4:] {
		out = append(out, be32(b))
	}
	return out, nil
}

// sampleEntry reads stsd with its one avc1 entry.
func (d *description) sampleEntry(stbl *boxes) error {
	stsd, err := stbl.full("stsd", 4)
	if err != nil {
		return err
	}
	entries := &boxes{stsd[4:], stbl.path + "/stsd"}
	avc1, err := entries.next("avc1")
	if err != nil {
		return err
	}
	if be32(stsd) != 1 || len(avc1) < 78 {
		return fmt.Errorf("%w: stsd has %d entries, avc1 %d bytes", ErrMP4, be32(stsd), len(avc1))
	}
	if err := entries.end(); err != nil {
		return err
	}
	if w, h := be16(avc1[24:]), be16(avc1[26:]); w != d.width || h != d.height {
		return fmt.Errorf("%w: avc1 says %dx%d, tkhd %dx%d", ErrMP4, w, h, d.width, d.height)
	}
	inside := &boxes{avc1[78:], entries.path + "/avc1"}
	avcC, err := inside.next("avcC")
	if err != nil {
		return err
	}
	if d.sets, err = parseAvcC(avcC, d.width, d.height); err != nil {
		return err
	}
	for _, want := range [][]byte{colr(), box("pasp", u32(1, 1))} {
		name := string(want[4:8])
		got, err := inside.next(name)
		if err != nil {
			return err
		}
		if !bytes.Equal(got, want[8:]) {
			return fmt.Errorf("%w: %s says %x, want %x", ErrMP4, name, got, want[8:])
		}
	}
	return inside.end()
}

// parseAvcC reads an AVCDecoderConfigurationRecord (ISO/IEC 14496-15 section 5.3.3) whose pictures have one size.
func parseAvcC(b []byte, width, height int) (parameterSets, error) {
	sets := parameterSets{sps: map[uint32]sps{}, pps: map[uint32]uint32{}}
	if len(b) < 7 || b[0] != 1 || b[4] != 0xff {
		return sets, fmt.Errorf("%w: avcC is cut short, of another version, or without lengths of four bytes", ErrMP4)
	}
	profile := b[1:4]
	rest, err := eachSet(b[6:], int(b[5]&0x1f), nalSPS, func(nal []byte) error {
		s, err := parseSPS(nal)
		if err != nil {
			return err
		}
		if _, twice := sets.sps[s.id]; twice {
			return fmt.Errorf("%w: SPS %d is there twice", ErrMP4, s.id)
		}
		if s.width != width || s.height != height || !bytes.Equal(nal[1:4], profile) {
			return fmt.Errorf("%w: SPS %d is for %dx%d with profile and level %x, avcC for %dx%d with %x", ErrMP4, s.id, s.width, s.height, nal[1:4], width, height, profile)
		}
		sets.sps[s.id] = s
		return nil
	})
	if err != nil {
		return sets, err
	}
	if len(rest) == 0 {
		return sets, fmt.Errorf("%w: avcC ends before its picture parameter sets", ErrMP4)
	}
	rest, err = eachSet(rest[1:], int(rest[0]), nalPPS, func(nal []byte) error {
		id, spsID, err := parsePPS(nal)
		if err != nil {
			return err
		}
		if _, twice := sets.pps[id]; twice {
			return fmt.Errorf("%w: PPS %d is there twice", ErrMP4, id)
		}
		sets.pps[id] = spsID
		return nil
	})
	if err == nil && len(rest) != 0 {
		err = fmt.Errorf("%w: %d bytes too many in avcC", ErrMP4, len(rest))
	}
	return sets, err
}

// eachSet calls visit for n parameter sets, each after its length in two bytes, and returns what follows them.
func eachSet(b []byte, n, kind int, visit func(nal []byte) error) ([]byte, error) {
	for range n {
		if len(b) < 2 || be16(b) < 4 || be16(b) > len(b)-2 {
			return nil, fmt.Errorf("%w: a parameter set of avcC is cut short", ErrMP4)
		}
		nal := b[2 : 2+be16(b)]
		b = b[2+len(nal):]
		if nalType(nal) != kind {
			return nil, fmt.Errorf("%w: avcC holds a NAL unit of type %d, want %d", ErrMP4, nalType(nal), kind)
		}
		if err := visit(nal); err != nil {
			return nil, err
		}
	}
	return b, nil
}
