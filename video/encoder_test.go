package video

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"image"
	"image/color"
	"math/rand/v2"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native/task"
)

func TestSameFramesGiveTheSameBytes(t *testing.T) {
	s := scene{width: 320, height: 192, frames: 12, noise: 0.2}
	first, a := finished(t, encoded(t, s, EncoderConfig{}))
	second, b := finished(t, encoded(t, s, EncoderConfig{}))
	require.Equal(t, a, b)
	require.Equal(t, first, second)
	sum := sha256.Sum256(first)
	require.Equal(t, a.SHA256, hex.EncodeToString(sum[:]))
	s.seed++
	_, c := finished(t, encoded(t, s, EncoderConfig{}))
	require.NotEqual(t, a.FramesSHA256, c.FramesSHA256)
	require.NotEqual(t, a.PlanesSHA256, c.PlanesSHA256)
}

func TestDigestsAreOfWhatTheySay(t *testing.T) {
	s := scene{width: 32, height: 16, frames: 3}
	_, a := finished(t, encoded(t, s, EncoderConfig{}))
	frames, planes := sha256.New(), sha256.New()
	for i := range s.frames {
		f := s.frame(i)
		for _, v := range f.Pixels { // one sample at a time, by another way than the encoder's
			require.NoError(t, binary.Write(frames, binary.LittleEndian, v))
		}
		planes.Write(reference(f.Pixels, s.width, s.height))
	}
	require.Equal(t, hexSum(frames), a.FramesSHA256)
	require.Equal(t, hexSum(planes), a.PlanesSHA256)
	sum, err := FramesSHA256(s.video())
	require.NoError(t, err)
	require.Equal(t, a.FramesSHA256, sum)
	v := s.video()
	v.Release()
	_, err = FramesSHA256(v)
	require.ErrorIs(t, err, task.ErrReleased)
}

func TestClippedSamplesAreCounted(t *testing.T) {
	if !HasEncoder {
		t.Skip(ErrNoEncoder)
	}
	e, err := NewEncoder(EncoderConfig{Width: 32, Height: 16, Rate: Rate{8, 1}, Frames: 1})
	require.NoError(t, err)
	defer e.Close()
	f := scene{width: 32, height: 16}.frame(0)
	f.Pixels[0], f.Pixels[7], f.Pixels[100] = -0.1, 1.5, 1 // 1 is inside
	require.NoError(t, e.WriteFrame(f))
	_, a := finished(t, e)
	require.EqualValues(t, 2, a.ClippedSamples)
}

func TestConfigsThatCannotBeEncoded(t *testing.T) {
	if !HasEncoder {
		_, err := NewEncoder(EncoderConfig{Width: 64, Height: 48, Rate: Rate{8, 1}, Frames: 1})
		require.ErrorIs(t, err, ErrNoEncoder)
		return
	}
	for want, cfg := range map[string]EncoderConfig{
		"size 833x480: want even":        {Width: 833, Height: 480, Rate: Rate{8, 1}, Frames: 1},
		"size 832x479: want even":        {Width: 832, Height: 479, Rate: Rate{8, 1}, Frames: 1},
		"size 14x16: want 16 to 4096":    {Width: 14, Height: 16, Rate: Rate{8, 1}, Frames: 1},
		"size 16x5000: want 16 to 4096":  {Width: 16, Height: 5000, Rate: Rate{8, 1}, Frames: 1},
		"want 1 to 60 frames per second": {Width: 64, Height: 48, Rate: Rate{120, 1}, Frames: 1},
		"the clip has 0 frames":          {Width: 64, Height: 48, Rate: Rate{8, 1}},
	} {
		_, err := NewEncoder(cfg)
		require.ErrorContains(t, err, want)
	}
}

func TestFrameCountIsHeld(t *testing.T) {
	s := scene{width: 32, height: 16, frames: 2}
	e := encoded(t, s, EncoderConfig{})
	require.ErrorContains(t, e.WriteFrame(s.frame(2)), "more than the 2 frames announced")
	finished(t, e)
	e.cfg.Frames = 3
	_, err := e.Finish(&bytes.Buffer{})
	require.ErrorIs(t, err, ErrFrames)
}

func TestWriterErrorIsReturned(t *testing.T) {
	e := encoded(t, scene{width: 32, height: 16, frames: 2}, EncoderConfig{})
	full := errors.New("full")
	_, err := e.Finish(writerFunc(func([]byte) (int, error) { return 0, full }))
	require.ErrorIs(t, err, full)
	require.NoError(t, e.Close())
	require.NoError(t, e.Close(), "Close is idempotent")
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// TestScenesThatMakeTheEncoderGiveUp cuts from stills to noise every few frames. OpenH264 gives up on such a picture
// and numbers its parameter sets beyond what a file can hold; a fresh encoder goes on.
func TestScenesThatMakeTheEncoderGiveUp(t *testing.T) {
	if !HasEncoder {
		t.Skip(ErrNoEncoder)
	}
	const width, height, frames = 96, 64, 700
	e, err := NewEncoder(EncoderConfig{Width: width, Height: height, Rate: Rate{16, 1}, Frames: frames})
	require.NoError(t, err)
	defer e.Close()
	rng := rand.New(rand.NewPCG(3, 4))
	noise := make([]float32, width*height*3)
	for i := range noise {
		noise[i] = rng.Float32()
	}
	still := scene{width: width, height: height}.frame(0).Pixels
	for i := range frames {
		px := still
		if i/18%2 == 1 {
			rng.Shuffle(1000, func(a, b int) { noise[a*10], noise[b*10] = noise[b*10], noise[a*10] })
			px = noise
		}
		require.NoError(t, e.WriteFrame(task.Frame{Pixels: px, Width: width, Height: height, Channels: 3}))
	}
	require.NotZero(t, e.opened, "the scenes are meant to need a fresh encoder")
	file, a := finished(t, e)
	require.NoError(t, a.Verify(bytes.NewReader(file), a.Bytes))
	require.Greater(t, a.SyncFrames, maxSPS)
}

func TestPacketsThatAreNoPicture(t *testing.T) {
	for name, tt := range map[string]struct {
		packet []byte
		want   string
	}{
		"empty":               {nil, "dropped"},
		"no start code":       {[]byte{1, 2, 3, 4}, "start code"},
		"empty NAL unit":      {[]byte{0, 0, 1, 0, 0, 1, 0x65}, "empty NAL unit"},
		"parameter sets only": {[]byte{0, 0, 0, 1, 0x67, 1, 2, 3, 4}, "no picture"},
		"unknown NAL unit":    {[]byte{0, 0, 1, 0x6e, 1}, "NAL unit of type 14"},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := newEncoder(EncoderConfig{Width: 32, Height: 16, Rate: Rate{8, 1}, Frames: 1},
				func() (codec, error) { return &stubCodec{packets: [][]byte{tt.packet}}, nil })
			require.NoError(t, err)
			err = e.WriteFrame(scene{width: 32, height: 16}.frame(0))
			require.ErrorIs(t, err, ErrEncode)
			require.ErrorContains(t, err, tt.want)
			require.Empty(t, e.track.samples)
		})
	}
}

func TestEncoderThatCannotBeReopened(t *testing.T) {
	broken := errors.New("broken")
	opens := 0
	e, err := newEncoder(EncoderConfig{Width: 32, Height: 16, Rate: Rate{8, 1}, Frames: 3}, func() (codec, error) {
		if opens++; opens > 1 {
			return nil, broken
		}
		return &stubCodec{packets: [][]byte{{0, 0, 1, 0x65, 1}}, err: errors.New("gave up")}, nil
	})
	require.NoError(t, err)
	require.NoError(t, e.WriteFrame(scene{width: 32, height: 16}.frame(0)))
	require.ErrorIs(t, e.WriteFrame(scene{width: 32, height: 16}.frame(1)), broken)
	require.NoError(t, e.Close())
}

func TestThumbnailIsThePictureInTheMiddle(t *testing.T) {
	px := []float32{0, 0.5, 1, 2, -1, 0.2}
	img := poster(px, 2, 1)
	require.Equal(t, color.RGBA{0, 128, 255, 255}, img.RGBAAt(0, 0))
	require.Equal(t, color.RGBA{255, 0, 51, 255}, img.RGBAAt(1, 0))
	require.Equal(t, image.Rect(0, 0, 2, 1), img.Bounds())
}

// TestCodecNameIsTrue keeps the version in the artifact's record at what is linked in.
func TestCodecNameIsTrue(t *testing.T) {
	if !HasEncoder {
		t.Skip(ErrNoEncoder)
	}
	mod, err := os.ReadFile("../go.mod")
	require.NoError(t, err)
	version := regexp.MustCompile(`pion/mediadevices (v\S+)`).FindSubmatch(mod)
	require.NotNil(t, version)
	require.Contains(t, codecName, string(version[1]))
}
