package video

import (
	"image"
	"math"
)

// Weights of BT.709 (ITU-R BT.709-6 item 3.2) for samples of 0..1 and 8-bit limited range: luma 16..235, chroma
// 16..240 around 128 (items 3.4 and 3.5). Chroma of a pixel pair of rows is the mean of its four pixels.
const (
	lumaR, lumaG, lumaB = 0.2126, 0.7152, 0.0722

	yR, yG, yB = 219 * lumaR, 219 * lumaG, 219 * lumaB

	cbScale = 224 / (2 * (1 - lumaB))
	cbR     = -cbScale * lumaR
	cbG     = -cbScale * lumaG
	cbB     = cbScale * (1 - lumaB)

	crScale = 224 / (2 * (1 - lumaR))
	crR     = crScale * (1 - lumaR)
	crG     = -crScale * lumaG
	crB     = -crScale * lumaB
)

// toI420 converts rows of interleaved RGB samples, nominally 0..1, to planes. Width and height must be even and fit
// dst. Samples outside 0..1 are clamped and counted. The first sample that is not finite ends the conversion: bad is
// its index, else -1.
//
// Every product is rounded to float32 before it is added, so that no compiler fuses the two and the planes have the
// same bytes on every processor.
func toI420(dst *image.YCbCr, rgb []float32, width, height int) (clipped int64, bad int) {
	stride := 3 * width
	for y := 0; y < height; y += 2 {
		top, bottom := rgb[y*stride:(y+1)*stride], rgb[(y+1)*stride:(y+2)*stride]
		n, ok := twoRows(twoPlanes{
			yTop:    dst.Y[y*dst.YStride:][:width],
			yBottom: dst.Y[(y+1)*dst.YStride:][:width],
			cb:      dst.Cb[y/2*dst.CStride:][:width/2],
			cr:      dst.Cr[y/2*dst.CStride:][:width/2],
		}, top, bottom)
		clipped += n
		if !ok {
			return clipped, y*stride + firstNotFinite(rgb[y*stride:(y+2)*stride])
		}
	}
	return clipped, -1
}

// twoPlanes is where two rows of pixels go.
type twoPlanes struct{ yTop, yBottom, cb, cr []byte }

// twoRows converts two rows. It reports false when a sample was not finite.
func twoRows(out twoPlanes, top, bottom []float32) (clipped int64, finite bool) {
	// The product of a sample with 0 is 0 when it is finite and NaN when it is not, and NaN stays in a sum.
	var poison float32
	for i := range out.cb {
		a, b := top[6*i:6*i+6:6*i+6], bottom[6*i:6*i+6:6*i+6]
		var sumR, sumG, sumB float32
		for k := 0; k < 6; k += 3 {
			for row := range 2 {
				p := a
				if row == 1 {
					p = b
				}
				r, g, bl := p[k], p[k+1], p[k+2]
				if !(r >= 0 && r <= 1 && g >= 0 && g <= 1 && bl >= 0 && bl <= 1) {
					poison += float32(r*0) + float32(g*0) + float32(bl*0)
					clipped += outside(r) + outside(g) + outside(bl)
					r, g, bl = clamp(r), clamp(g), clamp(bl)
				}
				luma := byte(float32(yR*r) + float32(yG*g) + float32(yB*bl) + 16.5)
				if row == 0 {
					out.yTop[2*i+k/3] = luma
				} else {
					out.yBottom[2*i+k/3] = luma
				}
				sumR += r
				sumG += g
				sumB += bl
			}
		}
		out.cb[i] = byte(float32(cbR/4*sumR) + float32(cbG/4*sumG) + float32(cbB/4*sumB) + 128.5)
		out.cr[i] = byte(float32(crR/4*sumR) + float32(crG/4*sumG) + float32(crB/4*sumB) + 128.5)
	}
	return clipped, poison == 0
}

func clamp(v float32) float32 {
	switch {
	case v > 1:
		return 1
	case v > 0:
		return v
	}
	return 0 // also of NaN, which is found by other means
}

func outside(v float32) int64 {
	if v < 0 || v > 1 {
		return 1
	}
	return 0
}

func firstNotFinite(s []float32) int {
	for i, v := range s {
		if v-v != 0 {
			return i
		}
	}
	return len(s)
}

// newI420 returns an empty picture with its planes in one block of memory, in the order Y, Cb, Cr without padding.
func newI420(width, height int) (img *image.YCbCr, planes []byte) {
	luma, chroma := width*height, width/2*(height/2)
	planes = make([]byte, luma+2*chroma)
	return &image.YCbCr{
		Y: planes[:luma:luma], Cb: planes[luma : luma+chroma : luma+chroma], Cr: planes[luma+chroma:],
		YStride: width, CStride: width / 2,
		SubsampleRatio: image.YCbCrSubsampleRatio420, Rect: image.Rect(0, 0, width, height),
	}, planes
}

// poster returns the picture of one frame for people.
func poster(rgb []float32, width, height int) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for i := range width * height {
		p, q := rgb[3*i:3*i+3], img.Pix[4*i:4*i+4]
		for c := range 3 {
			q[c] = byte(math.RoundToEven(float64(clamp(p[c])) * 255))
		}
		q[3] = 255
	}
	return img
}
