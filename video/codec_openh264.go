//go:build cgo && ((linux && (amd64 || arm64 || arm)) || (darwin && (amd64 || arm64)) || (windows && amd64))

package video

import (
	"fmt"
	"image"

	encoding "github.com/pion/mediadevices/pkg/codec"
	"github.com/pion/mediadevices/pkg/codec/openh264"
	"github.com/pion/mediadevices/pkg/frame"
	"github.com/pion/mediadevices/pkg/io/video"
	"github.com/pion/mediadevices/pkg/prop"
)

// HasEncoder says whether this build can encode; when not, [NewEncoder] and [Open] return [ErrNoEncoder].
const HasEncoder = true

// codecName is the encoder and the settings that decide its bytes.
const codecName = "openh264 2.1.1 (pion/mediadevices v0.9.4), constrained baseline, 1 thread, 1 slice, no frame skip"

// oneThread is OpenH264's word for an encoder without threads of its own: with two, bytes differ from run to run.
const oneThread = 1

type openH264 struct {
	enc  encoding.ReadCloser
	next *image.YCbCr
}

// newCodec opens an encoder. OpenH264 writes two warnings of its own to standard error each time.
func newCodec(cfg codecConfig) (codec, error) {
	params, err := openh264.NewParams()
	if err != nil {
		return nil, fmt.Errorf("open openh264: %w", err)
	}
	params.BitRate = cfg.bitRate
	params.UsageType = openh264.CameraVideoRealTime // the usages named non-real-time do not initialise
	params.RCMode = openh264.RCBitrateMode
	params.EnableFrameSkip = cfg.frameSkip
	params.MultipleThreadIdc = oneThread
	params.SliceMode, params.SliceNum, params.SliceSizeConstraint = openh264.SMSingleSlice, 1, 0
	params.IntraPeriod = uint(cfg.idrPeriod)
	c := &openH264{}
	c.enc, err = params.BuildVideoEncoder(video.ReaderFunc(c.read), prop.Media{Video: prop.Video{
		Width: cfg.width, Height: cfg.height, FrameRate: float32(cfg.rate.Float()), FrameFormat: frame.FormatI420,
	}})
	if err != nil {
		return nil, fmt.Errorf("open openh264 for %dx%d: %w", cfg.width, cfg.height, err)
	}
	return c, nil
}

// read hands over the one picture that encode was given.
func (c *openH264) read() (image.Image, func(), error) { return c.next, func() {}, nil }

func (c *openH264) encode(img *image.YCbCr) ([]byte, error) {
	c.next = img
	packet, release, err := c.enc.Read()
	if err != nil {
		return nil, err
	}
	release() // the packet is a copy in Go memory
	return packet, nil
}

func (c *openH264) close() error { return c.enc.Close() }
