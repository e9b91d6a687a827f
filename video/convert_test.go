package video

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// reference is BT.709 limited range in float64, pixel by pixel, straight from the definition.
func reference(rgb []float32, width, height int) []byte {
	at := func(x, y, c int) float64 { return math.Min(1, math.Max(0, float64(rgb[(y*width+x)*3+c]))) }
	luma := func(r, g, b float64) float64 { return 0.2126*r + 0.7152*g + 0.0722*b }
	round := func(v float64) byte { return byte(math.Floor(v + 0.5)) }
	out := make([]byte, 0, width*height*3/2)
	for y := range height {
		for x := range width {
			out = append(out, round(16+219*luma(at(x, y, 0), at(x, y, 1), at(x, y, 2))))
		}
	}
	for c := range 2 {
		for y := 0; y < height; y += 2 {
			for x := 0; x < width; x += 2 {
				var p [3]float64
				for k := range 3 {
					p[k] = (at(x, y, k) + at(x+1, y, k) + at(x, y+1, k) + at(x+1, y+1, k)) / 4
				}
				l := luma(p[0], p[1], p[2])
				if c == 0 {
					out = append(out, round(128+224*(p[2]-l)/1.8556))
				} else {
					out = append(out, round(128+224*(p[0]-l)/1.5748))
				}
			}
		}
	}
	return out
}

func TestConversionAgreesWithTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width, height := 2*rapid.IntRange(1, 20).Draw(t, "w"), 2*rapid.IntRange(1, 20).Draw(t, "h")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		rgb := make([]float32, width*height*3)
		out := int64(0)
		for i := range rgb {
			rgb[i] = rng.Float32()*1.4 - 0.2
			if rgb[i] < 0 || rgb[i] > 1 {
				out++
			}
		}
		img, planes := newI420(width, height)
		clipped, bad := toI420(img, rgb, width, height)
		if bad != -1 || clipped != out {
			t.Fatalf("clipped %d, bad %d; want %d, -1", clipped, bad, out)
		}
		off := 0
		for i, want := range reference(rgb, width, height) {
			switch d := int(planes[i]) - int(want); {
			case d > 1 || d < -1:
				t.Fatalf("byte %d is %d, want %d", i, planes[i], want)
			case d != 0:
				off++
			}
		}
		if off > 2+len(planes)/1000 {
			t.Fatalf("%d bytes of %d are off by one", off, len(planes))
		}
	})
}

func TestConversionOfKnownColours(t *testing.T) {
	// Codes of BT.709 bars, as published for 8-bit limited range.
	for _, tt := range []struct {
		rgb       [3]float32
		y, cb, cr byte
	}{
		{[3]float32{0, 0, 0}, 16, 128, 128},
		{[3]float32{1, 1, 1}, 235, 128, 128},
		{[3]float32{1, 0, 0}, 63, 102, 240},
		{[3]float32{0, 1, 0}, 173, 42, 26},
		{[3]float32{0, 0, 1}, 32, 240, 118},
		{[3]float32{1, 1, 0}, 219, 16, 138},
	} {
		rgb := make([]float32, 0, 12)
		for range 4 {
			rgb = append(rgb, tt.rgb[:]...)
		}
		img, planes := newI420(2, 2)
		toI420(img, rgb, 2, 2)
		require.Equal(t, []byte{tt.y, tt.y, tt.y, tt.y, tt.cb, tt.cr}, planes, "%v", tt.rgb)
	}
}

// TestConversionBytesAreFixed holds on every processor: no product is fused with a sum.
func TestConversionBytesAreFixed(t *testing.T) {
	const width, height = 64, 48
	rng := rand.New(rand.NewPCG(1, 2))
	rgb := make([]float32, width*height*3)
	for i := range rgb {
		rgb[i] = rng.Float32()
	}
	img, planes := newI420(width, height)
	toI420(img, rgb, width, height)
	sum := sha256.Sum256(planes)
	require.Equal(t, "d14ba61a99a86c9a93d65c77f0171edb9b330cb7a87ffb14f7fe51bee482b87e", hex.EncodeToString(sum[:]))
}

func TestSamplesThatAreNotFiniteAreFound(t *testing.T) {
	const width, height = 10, 8
	for _, v := range []float32{nan(), float32(math.Inf(1)), float32(math.Inf(-1))} {
		for at := range width * height * 3 {
			rgb := make([]float32, width*height*3)
			rgb[at] = v
			rgb[len(rgb)-1] += v // a later one does not matter
			img, _ := newI420(width, height)
			_, bad := toI420(img, rgb, width, height)
			require.Equal(t, at, bad)
		}
	}
	rgb := make([]float32, width*height*3)
	rgb[0], rgb[1] = math.MaxFloat32, -math.MaxFloat32 // large and finite
	img, _ := newI420(width, height)
	clipped, bad := toI420(img, rgb, width, height)
	require.Equal(t, -1, bad)
	require.EqualValues(t, 2, clipped)
}

func BenchmarkConvert(b *testing.B) {
	const width, height = 1280, 704
	rng := rand.New(rand.NewPCG(1, 2))
	rgb := make([]float32, width*height*3)
	for i := range rgb {
		rgb[i] = rng.Float32()
	}
	img, _ := newI420(width, height)
	b.Run("ours", func(b *testing.B) {
		for b.Loop() {
			toI420(img, rgb, width, height)
		}
	})
	b.Run("float64", func(b *testing.B) {
		for b.Loop() {
			reference(rgb, width, height)
		}
	})
}
