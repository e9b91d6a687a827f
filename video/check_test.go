package video

import (
	"bytes"
	"image"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// encoded returns an encoder that was given all frames of s and is not finished.
func encoded(t testing.TB, s scene, cfg EncoderConfig) *Encoder {
	t.Helper()
	if !HasEncoder {
		t.Skip(ErrNoEncoder)
	}
	cfg.Width, cfg.Height, cfg.Frames = s.width, s.height, s.frames
	if !cfg.Rate.Known() {
		cfg.Rate = Rate{8, 1}
	}
	e, err := NewEncoder(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	for i := range s.frames {
		require.NoError(t, e.WriteFrame(s.frame(i)))
	}
	return e
}

func written(t testing.TB, tr track) []byte {
	t.Helper()
	var b bytes.Buffer
	n, err := writeMP4(&b, tr)
	require.NoError(t, err)
	require.EqualValues(t, b.Len(), n)
	return b.Bytes()
}

func finished(t testing.TB, e *Encoder) ([]byte, Artifact) {
	t.Helper()
	var b bytes.Buffer
	a, err := e.Finish(&b)
	require.NoError(t, err)
	return b.Bytes(), a
}

func check(b []byte) (Clip, error) { return CheckMP4(bytes.NewReader(b), int64(len(b))) }

func (t track) clone() track {
	samples := make([]sample, len(t.samples))
	for i, s := range t.samples {
		samples[i] = sample{bytes.Clone(s.data), s.sync}
	}
	t.samples = samples
	return t
}

func TestEncodedFileIsWhole(t *testing.T) {
	e := encoded(t, scene{width: 96, height: 80, frames: 40}, EncoderConfig{Rate: Rate{24000, 1001}})
	file, a := finished(t, e)
	got, err := check(file)
	require.NoError(t, err)
	require.Equal(t, a.clip(), got)
	require.NoError(t, a.Verify(bytes.NewReader(file), int64(len(file))))
	require.Equal(t, 40, got.Frames)
	require.Equal(t, Rate{24000, 1001}, got.Rate)
	require.Equal(t, Rate{24000, 1001}.Duration(40), got.Duration)
	require.Equal(t, []byte("moov"), file[36:40], "moov comes before the media data")
}

// TestDamageIsSeen damages a whole clip in each way that a muxer, an encoder or a disk can, with a file that is
// otherwise consistent. Ways that frame_num alone shows need no knowledge of what was written.
func TestDamageIsSeen(t *testing.T) {
	e := encoded(t, scene{width: 96, height: 80, frames: 40}, EncoderConfig{})
	whole, a := finished(t, e)
	require.GreaterOrEqual(t, a.SyncFrames, 3)
	require.False(t, e.track.samples[10].sync)
	tests := []struct {
		name   string
		damage func(*track)
		want   string
	}{
		{"dropped", func(t *track) { t.samples = append(t.samples[:10], t.samples[11:]...) }, "dropped, moved or repeated"},
		{"swapped", func(t *track) { t.samples[10], t.samples[11] = t.samples[11], t.samples[10] }, "dropped, moved or repeated"},
		{"duplicated", func(t *track) { t.samples[11] = t.samples[10] }, "dropped, moved or repeated"},
		{"inserted twice", func(t *track) { t.samples = append(t.samples[:11], t.samples[10:]...) }, "dropped, moved or repeated"},
		{"idr duplicated", func(t *track) { t.samples[1] = t.samples[0] }, "there twice"},
		{"idr dropped", func(t *track) { t.samples = append(t.samples[:16], t.samples[17:]...) }, "dropped, moved or repeated"},
		{"truncated sample", func(t *track) { t.samples[10].data = t.samples[10].data[:len(t.samples[10].data)/2] }, "NAL unit of"},
		{"sample with a tail", func(t *track) { t.samples[10].data = append(t.samples[10].data, 0, 0) }, "2 bytes are left"},
		{"zeroed end", func(t *track) { d := t.samples[10].data; clear(d[len(d)/2:]) }, "ends in a zero byte"},
		{"two pictures in a sample", func(t *track) {
			t.samples[10].data = append(t.samples[10].data, t.samples[11].data...)
			t.samples = append(t.samples[:11], t.samples[12:]...)
		}, "more than one picture"},
		{"first parameter sets only", func(t *track) { t.sps, t.pps = t.sps[:1], t.pps[:1] }, "refers to PPS 1"},
		{"first SPS only", func(t *track) { t.sps = t.sps[:1] }, "refers to SPS 1"},
		{"last PPS missing", func(t *track) { t.pps = t.pps[:len(t.pps)-1] }, "avcC does not hold"},
		{"sync not marked", func(t *track) { t.samples[16].sync = false }, "sync sample is false"},
		{"sync marked", func(t *track) { t.samples[10].sync = true }, "sync sample is true"},
		{"wrong width", func(t *track) { t.width += 2 }, "is for 96x80"},
		{"parameter set in a sample", func(t *track) {
			s := &t.samples[10]
			s.data = append(append(u32(uint32(len(t.pps[0]))), t.pps[0]...), s.data...)
		}, "want a slice"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tr := e.track.clone()
			tt.damage(&tr)
			_, err := check(written(t, tr))
			require.ErrorIs(t, err, ErrMP4)
			require.ErrorContains(t, err, tt.want)
		})
	}
	t.Run("undamaged", func(t *testing.T) { require.Equal(t, whole, written(t, e.track.clone())) })
}

// TestDamageOnlyTheWriterKnows covers what a stream cannot show by itself.
func TestDamageOnlyTheWriterKnows(t *testing.T) {
	e := encoded(t, scene{width: 96, height: 80, frames: 40}, EncoderConfig{})
	_, a := finished(t, e)
	tests := map[string]func(*track){
		"last frame dropped":    func(t *track) { t.samples = t.samples[:39] },
		"frame before IDR lost": func(t *track) { t.samples = append(t.samples[:15], t.samples[16:]...) },
		"cut with its length": func(t *track) {
			d := t.samples[10].data
			d = d[:len(d)-3]
			for d[len(d)-1] == 0 {
				d = d[:len(d)-1]
			}
			copy(d, u32(uint32(len(d)-4)))
			t.samples[10].data = d
		},
		"another rate": func(t *track) { t.rate = Rate{9, 1} },
		"one bit":      func(t *track) { t.samples[10].data[40] ^= 4 },
	}
	for name, damage := range tests {
		t.Run(name, func(t *testing.T) {
			tr := e.track.clone()
			damage(&tr)
			file := written(t, tr)
			_, err := check(file)
			require.NoError(t, err, "the damage is meant to be invisible without the writer's facts")
			require.ErrorIs(t, a.Verify(bytes.NewReader(file), int64(len(file))), ErrMP4)
		})
	}
}

func TestDamagedBoxesAreSeen(t *testing.T) {
	file, _ := finished(t, encoded(t, scene{width: 64, height: 48, frames: 5}, EncoderConfig{}))
	replace := func(old, new string) []byte { return bytes.Replace(bytes.Clone(file), []byte(old), []byte(new), 1) }
	require.NoError(t, func() error { _, err := check(replace("", "")); return err }())
	noColr := withoutBox(t, file, "colr")
	tests := map[string]struct {
		file []byte
		want string
	}{
		"no colr":        {noColr, "want box colr"},
		"full range":     {replace("nclx\x00\x01\x00\x01\x00\x01\x00", "nclx\x00\x01\x00\x01\x00\x01\x80"), "colr says"},
		"BT.601 matrix":  {replace("nclx\x00\x01\x00\x01\x00\x01", "nclx\x00\x01\x00\x01\x00\x06"), "colr says"},
		"no pasp":        {replace("pasp", "free"), "want box pasp"},
		"foreign brand":  {replace("isomiso2", "isomqt  "), "ftyp"},
		"moov renamed":   {replace("moov", "free"), "want box moov"},
		"sound track":    {replace("vide", "soun"), "want vide"},
		"cut at the end": {file[:len(file)-1], "mdat ends"},
		"cut in moov":    {file[:100], "the file ends"},
		"bytes added":    {append(bytes.Clone(file), 0), "mdat ends"},
		"empty":          {nil, "the file ends"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := check(tt.file)
			require.ErrorIs(t, err, ErrMP4)
			require.ErrorContains(t, err, tt.want)
		})
	}
	for i := range len(file) {
		_, err := check(file[:i])
		require.Error(t, err, "a file cut at byte %d of %d passed", i, len(file))
	}
}

// withoutBox cuts a box out of the sample description and mends the sizes around it and the chunk offset.
func withoutBox(t *testing.T, file []byte, name string) []byte {
	t.Helper()
	out := bytes.Clone(file)
	at := bytes.Index(out, []byte(name)) - 4
	size := be32(out[at:])
	for _, parent := range []string{"moov", "trak", "mdia", "minf", "stbl", "stsd", "avc1"} {
		// The name avc1 is in ftyp as well, so the last one before the box is meant.
		p := bytes.LastIndex(out[:at], []byte(parent)) - 4
		require.Positive(t, p)
		copy(out[p:], u32(uint32(be32(out[p:])-size)))
	}
	out = append(out[:at], out[int64(at)+size:]...)
	p := bytes.Index(out, []byte("stco")) + 12
	copy(out[p:], u32(uint32(be32(out[p:])-size)))
	return out
}

func TestMuxerRefusesWhatNoPlayerTakes(t *testing.T) {
	good := track{width: 16, height: 16, rate: Rate{8, 1}, sps: [][]byte{{0x67, 1, 2, 3}}, pps: [][]byte{{0x68, 1}},
		samples: []sample{{[]byte{0, 0, 0, 1, 0x65}, true}}}
	for name, spoil := range map[string]func(*track){
		"no samples":         func(t *track) { t.samples = nil },
		"no sync sample":     func(t *track) { t.samples[0].sync = false },
		"empty packet":       func(t *track) { t.samples = append(t.samples, sample{}) },
		"too many SPS":       func(t *track) { t.sps = make([][]byte, 32) },
		"no PPS":             func(t *track) { t.pps = nil },
		"unknown rate":       func(t *track) { t.rate = Rate{} },
		"rate above 60":      func(t *track) { t.rate = Rate{61, 1} },
		"larger than 4 GiB":  func(t *track) { t.samples = enormous() },
		"longer than 32 bit": func(t *track) { t.rate = Rate{1_000_000, 999_999}; t.samples = make([]sample, 5000) },
	} {
		t.Run(name, func(t *testing.T) {
			tr := good.clone()
			spoil(&tr)
			var b bytes.Buffer
			_, err := writeMP4(&b, tr)
			require.Error(t, err)
			require.Zero(t, b.Len(), "nothing is written of a file that cannot be")
		})
	}
}

// enormous returns samples of 4 GiB together that share one piece of memory.
func enormous() []sample {
	data := make([]byte, 64<<20)
	samples := make([]sample, 64)
	for i := range samples {
		samples[i] = sample{data, true}
	}
	return samples
}

// TestFrameSkipIsSeen lets OpenH264 drop pictures, which it does with an empty packet and no error.
func TestFrameSkipIsSeen(t *testing.T) {
	if !HasEncoder {
		t.Skip(ErrNoEncoder)
	}
	s := scene{width: 320, height: 192, frames: 30, noise: 0.8}
	cfg := EncoderConfig{Width: s.width, Height: s.height, Rate: Rate{16, 1}, Frames: s.frames}
	skipping := codecConfig{width: s.width, height: s.height, rate: cfg.Rate, bitRate: 100_000, idrPeriod: 32, frameSkip: true}
	e, err := newEncoder(cfg, func() (codec, error) { return newCodec(skipping) })
	require.NoError(t, err)
	defer e.Close()
	for i := range s.frames {
		if err = e.WriteFrame(s.frame(i)); err != nil {
			break
		}
	}
	require.ErrorIs(t, err, ErrEncode)
	require.ErrorContains(t, err, "dropped")
	// A muxer that goes on with what is left makes a file that looks whole: only the count tells.
	kept := len(e.track.samples)
	require.Less(t, kept, s.frames)
	file := written(t, e.track)
	got, err := check(file)
	require.NoError(t, err)
	require.NotEqual(t, s.frames, got.Frames)
	_, err = e.Finish(&bytes.Buffer{})
	require.ErrorIs(t, err, ErrFrames)
}

func TestCheckedFileOnDisk(t *testing.T) {
	file, a := finished(t, encoded(t, scene{width: 64, height: 48, frames: 3}, EncoderConfig{}))
	path := filepath.Join(t.TempDir(), "clip.mp4")
	require.NoError(t, os.WriteFile(path, file, 0o600))
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, a.Verify(f, a.Bytes))
}

func FuzzCheckMP4(f *testing.F) {
	if HasEncoder {
		file, _ := finished(f, encoded(f, scene{width: 32, height: 16, frames: 3}, EncoderConfig{}))
		f.Add(file)
		f.Add(file[:200])
	}
	// Built by hand, so that a build without encoder has a seed as well.
	var b bytes.Buffer
	_, err := writeMP4(&b, track{width: 16, height: 16, rate: Rate{8, 1},
		sps:     [][]byte{{0x67, 66, 0xc0, 10, 0xda, 0x7b, 0x42}},
		pps:     [][]byte{{0x68, 0xce, 0x38, 0x80}},
		samples: []sample{{[]byte{0, 0, 0, 4, 0x65, 0x88, 0x84, 0x01}, true}}})
	require.NoError(f, err)
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		clip, err := check(data)
		if err != nil {
			require.ErrorIs(t, err, ErrMP4)
			return
		}
		require.Positive(t, clip.Frames)
		require.Positive(t, clip.SyncFrames)
		require.EqualValues(t, len(data), clip.Bytes)
		require.NoError(t, clip.Rate.check())
	})
}

// stubCodec gives packets as told; it stands for an encoder that misbehaves.
type stubCodec struct {
	packets [][]byte
	err     error
}

func (c *stubCodec) encode(*image.YCbCr) ([]byte, error) {
	if len(c.packets) == 0 {
		return nil, c.err
	}
	p := c.packets[0]
	c.packets = c.packets[1:]
	return p, nil
}

func (c *stubCodec) close() error { return nil }
