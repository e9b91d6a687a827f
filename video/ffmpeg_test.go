package video

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native/task"
)

// tool returns the path of ffmpeg or ffprobe.
func tool(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("SKIPPED: %s is absent (Debian package ffmpeg), so nobody but this package judges the files", name)
	}
	return path
}

// command returns standard output and standard error of a command that must succeed.
func command(t testing.TB, name string, args ...string) (stdout, stderr []byte) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), tool(t, name), args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	require.NoError(t, cmd.Run(), "%s: %s", name, errs.Bytes())
	return out.Bytes(), errs.Bytes()
}

func onDisk(t testing.TB, file []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "clip.mp4")
	require.NoError(t, os.WriteFile(path, file, 0o600))
	return path
}

// TestOthersReadOurFiles lets ffprobe and ffmpeg judge clips of three shapes, one with more IDR pictures than one and
// one of a fractional rate.
func TestOthersReadOurFiles(t *testing.T) {
	for _, tt := range []struct {
		scene scene
		rate  Rate
		bits  int
		floor float64 // of PSNR-Y of the worst frame against what was encoded, in dB
	}{
		{scene{width: 416, height: 240, frames: 49, noise: 0.05}, Rate{16, 1}, 1_000_000, 36},
		{scene{width: 320, height: 176, frames: 25, noise: 0.02}, Rate{24000, 1001}, 0, 38},
		{scene{width: 834, height: 478, frames: 5, noise: 0.02}, Rate{8, 1}, 0, 36}, // cropped, no multiple of 16
	} {
		t.Run(fmt.Sprintf("%dx%d", tt.scene.width, tt.scene.height), func(t *testing.T) {
			tool(t, "ffprobe")
			file, a := finished(t, encoded(t, tt.scene, EncoderConfig{Rate: tt.rate, BitRate: tt.bits}))
			path := onDisk(t, file)
			probed(t, path, a)
			_, errs := command(t, "ffmpeg", "-v", "error", "-xerror", "-err_detect", "explode", "-i", path, "-f", "null", "-")
			require.Empty(t, string(errs))
			worst := worstPSNR(t, path, tt.scene)
			t.Logf("worst PSNR-Y %.1f dB at %d bytes", worst, a.Bytes)
			require.GreaterOrEqual(t, worst, tt.floor)
			require.GreaterOrEqual(t, colourPSNR(t, path, tt.scene), 25.0, "colours come back as they were")
		})
	}
}

// probed compares what ffprobe reads with what was written.
func probed(t *testing.T, path string, a Artifact) {
	t.Helper()
	out, errs := command(t, "ffprobe", "-v", "error", "-count_frames", "-select_streams", "v:0", "-show_streams", "-show_frames", "-of", "json", path)
	require.Empty(t, string(errs))
	var got struct {
		Frames []struct {
			PTS int64 `json:"pts"`
			Key int   `json:"key_frame"`
		}
		Streams []map[string]any
	}
	require.NoError(t, json.Unmarshal(out, &got))
	require.Len(t, got.Streams, 1)
	s := got.Streams[0]
	timescale, delta := a.Rate.ticks()
	for name, want := range map[string]any{
		"codec_name": "h264", "profile": "Constrained Baseline", "pix_fmt": "yuv420p", "color_range": "tv", "color_space": "bt709",
		"color_primaries": "bt709", "color_transfer": "bt709", "sample_aspect_ratio": "1:1",
		"width": float64(a.Width), "height": float64(a.Height), "nb_frames": strconv.Itoa(a.Frames), "nb_read_frames": strconv.Itoa(a.Frames),
		"r_frame_rate": a.Rate.String(), "avg_frame_rate": a.Rate.String(), "time_base": "1/" + strconv.Itoa(timescale), "has_b_frames": 0.0,
	} {
		require.Equal(t, want, s[name], name)
	}
	seconds, err := strconv.ParseFloat(s["duration"].(string), 64)
	require.NoError(t, err)
	require.InDelta(t, a.Duration.Seconds(), seconds, 1e-6)
	require.Len(t, got.Frames, a.Frames)
	keys := 0
	for i, f := range got.Frames {
		require.EqualValues(t, i*delta, f.PTS, "time of frame %d", i)
		keys += f.Key
	}
	require.Equal(t, a.SyncFrames, keys)
}

// worstPSNR decodes the luma of every frame and compares it with what was encoded.
func worstPSNR(t *testing.T, path string, s scene) float64 {
	t.Helper()
	raw, _ := command(t, "ffmpeg", "-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", "yuv420p", "-")
	img, planes := newI420(s.width, s.height)
	require.Len(t, raw, s.frames*len(planes))
	worst := math.Inf(1)
	for i := range s.frames {
		toI420(img, s.frame(i).Pixels, s.width, s.height)
		worst = min(worst, psnr(planes[:s.width*s.height], raw[i*len(planes):][:s.width*s.height]))
	}
	return worst
}

// colourPSNR compares RGB, which shows a wrong matrix or range; chroma at half the size bounds it.
func colourPSNR(t *testing.T, path string, s scene) float64 {
	t.Helper()
	raw, _ := command(t, "ffmpeg", "-v", "error", "-i", path, "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "rgb24", "-")
	src := poster(s.frame(0).Pixels, s.width, s.height).Pix
	rgb := make([]byte, 0, len(raw))
	for i := 0; i < len(src); i += 4 {
		rgb = append(rgb, src[i:i+3]...)
	}
	require.Len(t, raw, len(rgb))
	return psnr(rgb, raw)
}

func psnr(a, b []byte) float64 {
	var sum float64
	for i := range a {
		d := float64(a[i]) - float64(b[i])
		sum += d * d
	}
	return 10 * math.Log10(255*255*float64(len(a))/sum)
}

// movingFrames are consecutive frames of a scene that are shown forth and back, so that long clips cost little to paint.
type movingFrames struct {
	list []task.Frame
}

func newMovingFrames(width, height, n int) movingFrames {
	var m movingFrames
	for i := range n {
		m.list = append(m.list, scene{width: width, height: height, noise: 0.05}.frame(i))
	}
	return m
}

func (m movingFrames) frame(i int) task.Frame {
	last := len(m.list) - 1
	if i %= 2 * last; i > last {
		i = 2*last - i
	}
	return m.list[i]
}

// BenchmarkFramesToFile compares float frames to a file, here, with libx264's veryfast preset on the same pictures as
// I420, one thread each and in turn. The first ratio is of the same work: conversion, encoding and file. The second is
// with what ffmpeg does not do: three digests and the check of the file. Run it with -cpu 1.
func BenchmarkFramesToFile(b *testing.B) {
	for _, shape := range []struct{ width, height, frames, fps int }{{832, 480, 81, 16}, {1280, 704, 121, 24}} {
		b.Run(fmt.Sprintf("%dx%dx%d", shape.width, shape.height, shape.frames), func(b *testing.B) {
			if !HasEncoder {
				b.Skip(ErrNoEncoder)
			}
			frames := newMovingFrames(shape.width, shape.height, 12)
			dir := b.TempDir()
			raw := filepath.Join(dir, "planes")
			writePlanes(b, raw, frames, shape.frames)
			cfg := EncoderConfig{Width: shape.width, Height: shape.height, Rate: Rate{shape.fps, 1}, Frames: shape.frames}
			var bare, whole, theirs time.Duration
			for b.Loop() {
				bare += timed(func() { encodeTo(b, filepath.Join(dir, "ours.mp4"), cfg, frames, false) })
				theirs += timed(func() { x264(b, raw, filepath.Join(dir, "theirs.mp4"), cfg) })
				whole += timed(func() { encodeTo(b, filepath.Join(dir, "ours.mp4"), cfg, frames, true) })
			}
			n := float64(b.N * shape.frames)
			b.ReportMetric(float64(bare.Microseconds())/1000/n, "ours-ms/frame")
			b.ReportMetric(float64(theirs.Microseconds())/1000/n, "ffmpeg-ms/frame")
			b.ReportMetric(float64(bare)/float64(theirs), "ours/ffmpeg")
			b.ReportMetric(float64(whole)/float64(theirs), "with-digests/ffmpeg")
		})
	}
}

func timed(do func()) time.Duration {
	start := time.Now()
	do()
	return time.Since(start)
}

// x264 lets ffmpeg encode planes at the same bit rate.
func x264(b *testing.B, raw, path string, cfg EncoderConfig) {
	b.Helper()
	command(b, "ffmpeg", "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", fmt.Sprintf("%dx%d", cfg.Width, cfg.Height),
		"-r", strconv.Itoa(cfg.Rate.Num), "-i", raw, "-c:v", "libx264", "-preset", "veryfast", "-threads", "1",
		"-b:v", strconv.Itoa(cfg.Width*cfg.Height*cfg.Rate.Num/2), path)
}

// noHash leaves digests out.
type noHash struct{ hash.Hash }

func (noHash) Write(b []byte) (int, error) { return len(b), nil }

func writePlanes(b *testing.B, path string, frames movingFrames, n int) {
	b.Helper()
	f, err := os.Create(path)
	require.NoError(b, err)
	defer f.Close()
	first := frames.frame(0)
	img, planes := newI420(first.Width, first.Height)
	for i := range n {
		toI420(img, frames.frame(i).Pixels, first.Width, first.Height)
		_, err := f.Write(planes)
		require.NoError(b, err)
	}
}

func encodeTo(b *testing.B, path string, cfg EncoderConfig, frames movingFrames, digests bool) {
	b.Helper()
	e, err := NewEncoder(cfg)
	require.NoError(b, err)
	defer e.Close()
	if !digests {
		e.sum, e.planeS, e.sampleS = noHash{e.sum}, noHash{e.planeS}, noHash{e.sampleS}
	}
	for i := range cfg.Frames {
		require.NoError(b, e.WriteFrame(frames.frame(i)))
	}
	f, err := os.Create(path)
	require.NoError(b, err)
	defer f.Close()
	a, err := e.Finish(f)
	require.NoError(b, err)
	if digests {
		require.NoError(b, a.Verify(f, a.Bytes))
	}
}

// BenchmarkPeakMemory reports how much the resident set of the process grows while a long clip is made, beyond the
// frames themselves, which are the Task's.
func BenchmarkPeakMemory(b *testing.B) {
	if !HasEncoder {
		b.Skip(ErrNoEncoder)
	}
	frames := newMovingFrames(1280, 704, 4)
	cfg := EncoderConfig{Width: 1280, Height: 704, Rate: Rate{24, 1}, Frames: 121}
	for b.Loop() {
		if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil { // proc(5): resets the peak
			b.Skipf("SKIPPED: the peak of the resident set cannot be reset: %v", err)
		}
		before := status(b, "VmRSS")
		encodeTo(b, filepath.Join(b.TempDir(), "clip.mp4"), cfg, frames, true)
		b.ReportMetric(float64(status(b, "VmHWM")-before)/1024, "MiB-peak")
	}
}

// status reads a figure in KiB from /proc/self/status.
func status(b *testing.B, name string) int {
	b.Helper()
	text, err := os.ReadFile("/proc/self/status")
	require.NoError(b, err)
	for line := range strings.Lines(string(text)) {
		if v, ok := strings.CutPrefix(line, name+":"); ok {
			n, err := strconv.Atoi(strings.Fields(v)[0])
			require.NoError(b, err)
			return n
		}
	}
	b.Fatalf("no %s in /proc/self/status", name)
	return 0
}
