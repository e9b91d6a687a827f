package video

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"image"
	"io"
	"sync"
	"time"

	"github.com/trtmc-go/trtmc/native/task"
)

// EncoderConfig says what clip is to be encoded.
type EncoderConfig struct {
	Width  int  // even, 16 to 4096
	Height int  // even, 16 to 4096
	Rate   Rate // 1 to 60 frames per second
	Frames int  // how many frames will be written, at least 1
	// BitRate is the target in bits per second. 0 means half a bit for each pixel, but at least 1,000,000.
	BitRate int
}

const (
	minSide    = 16
	maxSide    = 4096
	minBitRate = 1_000_000
	// maxIDR keeps the parameter sets, of which OpenH264 makes a pair at each IDR picture, inside what avcC holds.
	maxIDR = maxSPS
	// idrSeconds is how far apart IDR pictures are, for seeking.
	idrSeconds = 2
)

// errDropped says that the encoder gave nothing for a picture, which OpenH264 does to keep a bit rate.
var errDropped = fmt.Errorf("%w: no packet, the picture was dropped", ErrEncode)

// Artifact says what was encoded and written.
type Artifact struct {
	Frames     int           `json:"frames"`
	SyncFrames int           `json:"sync_frames"`
	Width      int           `json:"width"`
	Height     int           `json:"height"`
	Rate       Rate          `json:"rate"`
	Duration   time.Duration `json:"duration_ns"`
	Bytes      int64         `json:"bytes"`
	// SHA256 is of the file, FramesSHA256 of the float32 samples of all frames in order, little-endian, PlanesSHA256 of
	// all Y, Cb and Cr planes in order; in hex. The frames' digest does not depend on the encoder, so it is the one
	// that compares a job with a direct Task call.
	SHA256       string `json:"sha256"`
	FramesSHA256 string `json:"frames_sha256"`
	PlanesSHA256 string `json:"planes_sha256"`
	// SamplesSHA256 is of the encoded samples, as in [Clip].
	SamplesSHA256 string `json:"samples_sha256"`
	// ClippedSamples counts the float32 samples outside 0..1, which were clamped.
	ClippedSamples int64 `json:"clipped_samples"`
	// ConditionedPrefix counts the leading frames that are context and were not generated.
	ConditionedPrefix int `json:"conditioned_prefix_frames,omitempty"`
	// Codec names the encoder, its version and settings: SHA256 is only comparable under one name.
	Codec string `json:"codec"`
}

// Encoder turns frames into an MP4 file. Make one with [NewEncoder], give it each frame in order, finish it once, and
// close it in any case. It keeps the encoded packets and one picture, never the frames. Not safe for concurrent use.
type Encoder struct {
	cfg     EncoderConfig
	open    func() (codec, error)
	codec   codec
	opened  int // frames encoded when codec was opened
	img     *image.YCbCr
	planes  []byte
	track   track
	sum     hash.Hash // of float32 samples
	planeS  hash.Hash
	sampleS hash.Hash
	clipped int64
}

// NewEncoder opens an encoder. The error wraps [ErrFrames] for a size or count that cannot be encoded, [ErrRate] for a
// rate, and is [ErrNoEncoder] in a build without one.
func NewEncoder(cfg EncoderConfig) (*Encoder, error) {
	if err := checkSize(cfg.Width, cfg.Height); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFrames, err)
	}
	if err := cfg.Rate.check(); err != nil {
		return nil, err
	}
	if cfg.Frames < 1 {
		return nil, fmt.Errorf("%w: the clip has %d frames", ErrFrames, cfg.Frames)
	}
	if cfg.BitRate == 0 {
		cfg.BitRate = max(minBitRate, int(float64(cfg.Width*cfg.Height)*cfg.Rate.Float()/2))
	}
	period := max(int(idrSeconds*cfg.Rate.Float()), (cfg.Frames+maxIDR-1)/maxIDR)
	settings := codecConfig{width: cfg.Width, height: cfg.Height, rate: cfg.Rate, bitRate: cfg.BitRate, idrPeriod: period}
	return newEncoder(cfg, func() (codec, error) { return newCodec(settings) })
}

func newEncoder(cfg EncoderConfig, open func() (codec, error)) (*Encoder, error) {
	c, err := open()
	if err != nil {
		return nil, err
	}
	e := &Encoder{cfg: cfg, open: open, codec: c, sum: sha256.New(), planeS: sha256.New(), sampleS: sha256.New()}
	e.img, e.planes = newI420(cfg.Width, cfg.Height)
	e.track = track{width: cfg.Width, height: cfg.Height, rate: cfg.Rate}
	return e, nil
}

// checkSize says why pictures of a size cannot be encoded.
func checkSize(width, height int) error {
	switch {
	case width < minSide || height < minSide || width > maxSide || height > maxSide:
		return fmt.Errorf("size %dx%d: want %d to %d each way", width, height, minSide, maxSide)
	case width%2 != 0 || height%2 != 0:
		return fmt.Errorf("size %dx%d: want even numbers, because chroma is sampled at half the size", width, height)
	}
	return nil
}

// WriteFrame encodes the next frame. It reads f.Pixels only during the call. The error wraps [ErrFrames] when the frame
// has another size than the clip, other than 3 channels, or a sample that is not finite, and [ErrEncode] when the
// encoder gave no packet for it; the clip is lost then.
func (e *Encoder) WriteFrame(f task.Frame) error {
	n := len(e.track.samples)
	switch {
	case n == e.cfg.Frames:
		return fmt.Errorf("%w: more than the %d frames announced", ErrFrames, n)
	case f.Width != e.cfg.Width || f.Height != e.cfg.Height:
		return fmt.Errorf("%w: frame %d is %dx%d, the clip is %dx%d", ErrFrames, n, f.Width, f.Height, e.cfg.Width, e.cfg.Height)
	case f.Channels != 3:
		return fmt.Errorf("%w: frame %d has %d channels, want 3 (RGB)", ErrFrames, n, f.Channels)
	case len(f.Pixels) != f.Width*f.Height*3:
		return fmt.Errorf("%w: frame %d has %d samples, want %d", ErrFrames, n, len(f.Pixels), f.Width*f.Height*3)
	}
	// The digest of the floats costs as much as the encoding, and is independent of it.
	var digest sync.WaitGroup
	digest.Go(func() { hashFloats(e.sum, f.Pixels) })
	defer digest.Wait()
	clipped, bad := toI420(e.img, f.Pixels, f.Width, f.Height)
	if bad >= 0 {
		return fmt.Errorf("%w: frame %d holds %v at row %d, column %d, channel %d", ErrFrames, n, f.Pixels[bad], bad/3/f.Width, bad/3%f.Width, bad%3)
	}
	e.clipped += clipped
	e.planeS.Write(e.planes)
	return e.encode()
}

// encode adds the picture in e.img to the track. OpenH264 gives up on some pictures, such as noise after a still, and
// numbers its parameter sets beyond what avcC holds when scenes change often. A fresh encoder takes such a picture: it
// begins with an IDR picture and the first parameter sets again.
func (e *Encoder) encode() error {
	n := len(e.track.samples)
	err := e.try()
	if err == nil || n == e.opened || errors.Is(err, errDropped) {
		return err
	}
	if cerr := e.codec.close(); cerr != nil {
		return errors.Join(err, cerr)
	}
	if e.codec, err = e.open(); err != nil {
		e.codec = nil
		return fmt.Errorf("reopen encoder at frame %d: %w", n, err)
	}
	e.opened = n
	return e.try()
}

func (e *Encoder) try() error {
	n := len(e.track.samples)
	packet, err := e.codec.encode(e.img)
	if err != nil {
		return fmt.Errorf("%w: frame %d: %w", ErrEncode, n, err)
	}
	if len(packet) == 0 {
		return fmt.Errorf("frame %d: %w", n, errDropped)
	}
	if err := e.add(packet); err != nil {
		return fmt.Errorf("frame %d: %w", n, err)
	}
	return nil
}

// add turns an access unit into a sample and keeps the parameter sets that are new. It changes nothing when it fails.
func (e *Encoder) add(packet []byte) error {
	nals, err := splitAnnexB(packet)
	if err != nil {
		return err
	}
	seqs, pics := e.track.sps, e.track.pps
	s := sample{data: make([]byte, 0, len(packet)+4)}
	for _, nal := range nals {
		switch nalType(nal) {
		case nalSPS:
			seqs = addSet(seqs, nal)
		case nalPPS:
			pics = addSet(pics, nal)
		case nalSEI, nalAUD: // nothing that a player needs
		case nalIDR, nalSlice:
			s.sync = nalType(nal) == nalIDR
			s.data = append(append(s.data, u32(uint32(len(nal)))...), nal...)
		default:
			return fmt.Errorf("%w: NAL unit of type %d", ErrEncode, nalType(nal))
		}
	}
	if len(s.data) == 0 {
		return fmt.Errorf("%w: packet holds no picture", ErrEncode)
	}
	if len(seqs) > maxSPS || len(pics) > maxPPS {
		return fmt.Errorf("%w: more than %d parameter sets", ErrEncode, maxSPS)
	}
	e.sampleS.Write(s.data)
	e.track.sps, e.track.pps, e.track.samples = seqs, pics, append(e.track.samples, s)
	return nil
}

func addSet(sets [][]byte, nal []byte) [][]byte {
	for _, have := range sets {
		if bytes.Equal(have, nal) {
			return sets
		}
	}
	return append(sets, bytes.Clone(nal))
}

// Finish writes the file to w and returns what it holds. The error wraps [ErrFrames] when fewer frames were written
// than announced; else it is that of w. What was written before an error is not a file to keep.
func (e *Encoder) Finish(w io.Writer) (Artifact, error) {
	if n := len(e.track.samples); n != e.cfg.Frames {
		return Artifact{}, fmt.Errorf("%w: %d frames, %d were announced", ErrFrames, n, e.cfg.Frames)
	}
	sum := sha256.New()
	n, err := writeMP4(io.MultiWriter(w, sum), e.track)
	if err != nil {
		return Artifact{}, err
	}
	a := Artifact{
		Frames: e.cfg.Frames, Width: e.cfg.Width, Height: e.cfg.Height, Rate: e.cfg.Rate.reduced(),
		Duration: e.cfg.Rate.Duration(e.cfg.Frames), Bytes: n,
		SHA256: hexSum(sum), FramesSHA256: hexSum(e.sum), PlanesSHA256: hexSum(e.planeS), SamplesSHA256: hexSum(e.sampleS),
		ClippedSamples: e.clipped, Codec: codecName,
	}
	for _, s := range e.track.samples {
		if s.sync {
			a.SyncFrames++
		}
	}
	return a, nil
}

// Close frees the encoder. It is idempotent.
func (e *Encoder) Close() error {
	if e.codec == nil {
		return nil
	}
	c := e.codec
	e.codec = nil
	return c.close()
}

func hexSum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// clip is what a checker must find in a file of a.
func (a Artifact) clip() Clip {
	return Clip{
		Frames: a.Frames, SyncFrames: a.SyncFrames, Width: a.Width, Height: a.Height, Rate: a.Rate, Duration: a.Duration,
		Bytes: a.Bytes, SamplesSHA256: a.SamplesSHA256,
	}
}

// Verify checks with [CheckMP4] that a file is whole and is the one of this artifact, sample for sample.
func (a Artifact) Verify(r io.ReaderAt, size int64) error {
	got, err := CheckMP4(r, size)
	if err != nil {
		return err
	}
	if want := a.clip(); got != want {
		return fmt.Errorf("%w: the file holds %+v, written was %+v", ErrMP4, got, want)
	}
	return nil
}
