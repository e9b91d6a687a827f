package video

import "image"

// codec is an H.264 encoder for pictures of one size.
type codec interface {
	// encode returns one access unit in byte stream format, owned by the caller.
	encode(img *image.YCbCr) ([]byte, error)
	close() error
}

// codecConfig is what a codec needs to know.
type codecConfig struct {
	width, height int
	rate          Rate
	bitRate       int // bits per second
	idrPeriod     int // frames from one IDR picture to the next
	frameSkip     bool
}
