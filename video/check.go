package video

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"time"
)

// Clip is what an MP4 file proved to hold.
type Clip struct {
	Frames     int
	SyncFrames int // frames that decode without an earlier one
	Width      int
	Height     int
	Rate       Rate
	Duration   time.Duration
	Bytes      int64
	// SamplesSHA256 is the digest, in hex, of all samples in order as they stand in the file. It tells apart files
	// that agree in everything else.
	SamplesSHA256 string
}

// maxMoov bounds the memory of a check: four bytes for each frame, and little else.
const maxMoov = 16 << 20

// CheckMP4 reads an MP4 file of the form that an [Encoder] writes and proves it whole without decoding it: boxes and
// their sizes, one track, one rate, size in the track, sample description and every SPS, BT.709 limited range colour,
// sample table against the media data byte for byte, NAL unit lengths, parameter sets that slices refer to, one
// picture a sample, IDR pictures where the sync table says, and frame_num counting on without a gap (ITU-T H.264
// section 7.4.3), which notices a picture that was dropped, moved or repeated.
//
// It does not see that pictures are missing before an IDR picture or at the end, or that a slice was cut together with
// its length: compare the Clip with what was written. The error wraps [ErrMP4], or is that of r. It reads r once,
// needs memory for the boxes alone, and never panics.
func CheckMP4(r io.ReaderAt, size int64) (Clip, error) {
	moov, media, err := readHead(r, size)
	if err != nil {
		return Clip{}, err
	}
	d, err := parseMoov(moov)
	if err != nil {
		return Clip{}, err
	}
	if d.offset != media {
		return Clip{}, fmt.Errorf("%w: stco says that media data is at %d, it is at %d", ErrMP4, d.offset, media)
	}
	var total int64
	for _, n := range d.sizes {
		total += n
	}
	if total != size-media {
		return Clip{}, fmt.Errorf("%w: samples are %d bytes together, mdat holds %d", ErrMP4, total, size-media)
	}
	sum := sha256.New()
	w := walker{r: bufio.NewReaderSize(io.TeeReader(io.NewSectionReader(r, media, total), sum), 32<<10), sets: d.sets}
	syncs := 0
	for i, n := range d.sizes {
		sync := syncs < len(d.syncs) && d.syncs[syncs] == int64(i)+1
		if sync {
			syncs++
		}
		if err := w.sample(n, sync); err != nil {
			return Clip{}, fmt.Errorf("sample %d of %d: %w", i, len(d.sizes), err)
		}
	}
	if syncs != len(d.syncs) {
		return Clip{}, fmt.Errorf("%w: stss is not a rising list of samples", ErrMP4)
	}
	return Clip{
		Frames: len(d.sizes), SyncFrames: syncs, Width: d.width, Height: d.height, Rate: d.rate,
		Duration: d.rate.Duration(len(d.sizes)), Bytes: size, SamplesSHA256: hex.EncodeToString(sum.Sum(nil)),
	}, nil
}

// readHead returns the content of moov and where the media data begins, which runs to the end of the file.
func readHead(r io.ReaderAt, size int64) (moov []byte, media int64, err error) {
	want := ftyp()
	got, err := readAt(r, 0, int64(len(want)), size)
	if err != nil {
		return nil, 0, fmt.Errorf("ftyp: %w", err)
	}
	if !bytes.Equal(got, want) {
		return nil, 0, fmt.Errorf("%w: the file does not begin with ftyp isom, iso2, avc1, mp41", ErrMP4)
	}
	at := int64(len(want))
	n, err := boxAt(r, at, size, "moov")
	if err != nil {
		return nil, 0, err
	}
	if n > maxMoov {
		return nil, 0, fmt.Errorf("%w: moov is %d bytes long, the limit is %d", ErrMP4, n, maxMoov)
	}
	if moov, err = readAt(r, at+8, n-8, size); err != nil {
		return nil, 0, fmt.Errorf("moov: %w", err)
	}
	at += n
	if n, err = boxAt(r, at, size, "mdat"); err != nil {
		return nil, 0, err
	}
	if at+n != size {
		return nil, 0, fmt.Errorf("%w: mdat ends at byte %d, the file at %d", ErrMP4, at+n, size)
	}
	return moov, at + 8, nil
}

// boxAt returns the size of the box of that name at a place.
func boxAt(r io.ReaderAt, at, size int64, name string) (int64, error) {
	head, err := readAt(r, at, 8, size)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	n := be32(head)
	if string(head[4:]) != name || n < 8 {
		return 0, fmt.Errorf("%w: want box %s at byte %d, got %q of %d bytes", ErrMP4, name, at, head[4:], n)
	}
	return n, nil
}

// readAt reads n bytes of a file of size bytes; it allocates nothing for bytes that are not there.
func readAt(r io.ReaderAt, at, n, size int64) ([]byte, error) {
	if at+n > size {
		return nil, fmt.Errorf("%w: the file ends at byte %d, want %d", ErrMP4, size, at+n)
	}
	b := make([]byte, n)
	if m, err := r.ReadAt(b, at); m < len(b) {
		return nil, fmt.Errorf("read %d bytes at %d: %w", n, at, err)
	}
	return b, nil
}

// walker goes through the media data sample by sample.
type walker struct {
	r       *bufio.Reader
	sets    parameterSets
	started bool
	last    slice  // first slice of the sample before
	lastRef uint32 // frame_num of the last reference picture
}

// sample checks one sample of n bytes.
func (w *walker) sample(n int64, sync bool) error {
	if n == 0 {
		return fmt.Errorf("%w: no bytes", ErrMP4)
	}
	var first *slice
	var mb uint32
	for n > 0 {
		if n < 5 {
			return fmt.Errorf("%w: %d bytes are left where a NAL unit should begin", ErrMP4, n)
		}
		var head [4]byte
		if _, err := io.ReadFull(w.r, head[:]); err != nil {
			return fmt.Errorf("read NAL unit: %w", err)
		}
		length := be32(head[:])
		if n -= 4; length == 0 || length > n {
			return fmt.Errorf("%w: NAL unit of %d bytes in the %d that are left", ErrMP4, length, n)
		}
		n -= length
		s, err := w.nal(length)
		if err != nil {
			return err
		}
		switch {
		case first == nil && s.firstMB != 0:
			return fmt.Errorf("%w: the picture begins at macroblock %d", ErrMP4, s.firstMB)
		case first == nil:
			first = &s
		case s.firstMB <= mb:
			return fmt.Errorf("%w: more than one picture", ErrMP4)
		case s.frameNum != first.frameNum || s.idr != first.idr || s.pps != first.pps:
			return fmt.Errorf("%w: slices of different pictures", ErrMP4)
		}
		mb = s.firstMB
	}
	return w.picture(*first, sync)
}

// nal reads one NAL unit and returns its slice header.
func (w *walker) nal(length int64) (slice, error) {
	head, err := w.r.Peek(int(min(length, 2*headerBytes)))
	if err != nil {
		return slice{}, fmt.Errorf("read NAL unit: %w", err)
	}
	if head[0]&0x80 != 0 || nalType(head) != nalSlice && nalType(head) != nalIDR {
		return slice{}, fmt.Errorf("%w: NAL unit header 0x%02x, want a slice", ErrMP4, head[0])
	}
	s, err := parseSlice(head, w.sets)
	if err != nil {
		return slice{}, err
	}
	if _, err := w.r.Discard(int(length - 1)); err != nil {
		return slice{}, fmt.Errorf("read NAL unit: %w", err)
	}
	end, err := w.r.ReadByte()
	if err != nil {
		return slice{}, fmt.Errorf("read NAL unit: %w", err)
	}
	if end == 0 {
		return slice{}, fmt.Errorf("%w: NAL unit ends in a zero byte, so its end is missing", ErrMP4)
	}
	return s, nil
}

// picture checks that s may follow the picture before it.
func (w *walker) picture(s slice, sync bool) error {
	if s.idr != sync {
		return fmt.Errorf("%w: IDR picture is %t, sync sample is %t", ErrMP4, s.idr, sync)
	}
	switch {
	case !w.started && !s.idr:
		return fmt.Errorf("%w: the first picture is not IDR", ErrMP4)
	case s.idr && s.frameNum != 0:
		return fmt.Errorf("%w: IDR picture has frame_num %d", ErrMP4, s.frameNum)
	case s.idr && w.started && w.last.idr && s.idrPicID == w.last.idrPicID:
		return fmt.Errorf("%w: IDR picture is there twice", ErrMP4)
	case !s.idr:
		seq, err := w.sets.ofPPS(s.pps)
		if err != nil {
			return err
		}
		if want := (w.lastRef + 1) & (1<<seq.frameNumBits - 1); s.frameNum != want {
			return fmt.Errorf("%w: frame_num is %d, want %d: a picture was dropped, moved or repeated", ErrMP4, s.frameNum, want)
		}
	}
	w.started, w.last = true, s
	if s.ref {
		w.lastRef = s.frameNum
	}
	return nil
}
