package video

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"math"
	"unsafe"

	"github.com/trtmc-go/trtmc/native/task"
)

// hashFloats adds samples to h as little-endian float32.
func hashFloats(h hash.Hash, samples []float32) {
	if len(samples) == 0 {
		return
	}
	if binary.NativeEndian.Uint16([]byte{1, 0}) == 1 {
		// The bytes in memory are the wanted ones already; converting a gigabyte would cost more than hashing it.
		h.Write(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(samples))), 4*len(samples)))
		return
	}
	var buf [4096]byte
	for len(samples) > 0 {
		n := min(len(samples), len(buf)/4)
		for i, v := range samples[:n] {
			binary.LittleEndian.PutUint32(buf[4*i:], math.Float32bits(v))
		}
		h.Write(buf[:4*n])
		samples = samples[n:]
	}
}

// FramesSHA256 returns the digest, in hex, of the samples of all frames of v in order, as in [Artifact]: equal digests
// mean that two calls gave the same clip. The error is that of v.
func FramesSHA256(v task.Video) (string, error) {
	h := sha256.New()
	for i := range v.Info().Frames {
		f, err := v.Frame(i)
		if err != nil {
			return "", fmt.Errorf("hash frame %d: %w", i, err)
		}
		hashFloats(h, f.Pixels)
	}
	return hexSum(h), nil
}
