package video

import (
	"image"
	"math"
	"unsafe"
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
	var fixedA, fixedB [6]float32
	finite = true
	// The lengths tell the compiler that no index of the loop is out of range.
	n := len(out.cb)
	yTop, yBottom, cr := out.yTop[:2*n], out.yBottom[:2*n], out.cr[:n]
	for i := range out.cb {
		a, b := (*[6]float32)(top[6*i:]), (*[6]float32)(bottom[6*i:])
		if outside(a)|outside(b) != 0 {
			na, okA := clamped(&fixedA, a)
			nb, okB := clamped(&fixedB, b)
			clipped += na + nb
			finite = finite && okA && okB
			a, b = &fixedA, &fixedB
		}
		yTop[2*i], yTop[2*i+1] = luma(a[0], a[1], a[2]), luma(a[3], a[4], a[5])
		yBottom[2*i], yBottom[2*i+1] = luma(b[0], b[1], b[2]), luma(b[3], b[4], b[5])
		red, green, blue := a[0]+a[3]+b[0]+b[3], a[1]+a[4]+b[1]+b[4], a[2]+a[5]+b[2]+b[5]
		out.cb[i] = byte(float32(cbR/4*red) + float32(cbG/4*green) + float32(cbB/4*blue) + 128.5)
		cr[i] = byte(float32(crR/4*red) + float32(crG/4*green) + float32(crB/4*blue) + 128.5)
	}
	return clipped, finite
}

func luma(r, g, b float32) byte {
	return byte(float32(yR*r) + float32(yG*g) + float32(yB*b) + 16.5)
}

// outside returns a number that is not 0 when any sample is not from 0 to 1, which includes -0, NaN and the infinities.
// Floats of that range order as their bits do, so no comparison of floats and no branch is needed, and two samples are
// looked at together: a sample that is too large borrows from its neighbour, but by then it has set its own top bit.
func outside(p *[6]float32) uint64 {
	const (
		ones = 0x3f800000_3f800000 // the bits of 1
		tops = 0x80000000_80000000
	)
	a, b, c := pair(p, 0), pair(p, 2), pair(p, 4)
	return ((ones - a) | a | (ones - b) | b | (ones - c) | c) & tops
}

// pair returns the bits of two neighbours, in either order.
func pair(p *[6]float32, i int) uint64 {
	return *(*uint64)(unsafe.Pointer(&p[i]))
}

// clamped writes p, brought into 0..1, to out. It returns how many samples were outside, and false when one is not
// finite.
func clamped(out, p *[6]float32) (n int64, finite bool) {
	finite = true
	for i, v := range p {
		if v < 0 || v > 1 {
			n++
		}
		finite = finite && v-v == 0
		out[i] = clamp(v)
	}
	return n, finite
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
