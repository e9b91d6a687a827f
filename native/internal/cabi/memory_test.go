//go:build cgo

package cabi

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native/reference"
)

func TestArenaKeepsWhatItGaveUntilReset(t *testing.T) {
	before := Live().Blocks
	var a arena
	var pieces [][]byte
	for i := range 200 {
		p := unsafe.Slice((*byte)(a.alloc(uintptr(i*37+1))), i*37+1)
		for k := range p {
			p[k] = byte(i)
		}
		pieces = append(pieces, p)
	}
	for i, p := range pieces {
		require.Zero(t, uintptr(unsafe.Pointer(&p[0]))%8, "aligned for every struct of the ABI")
		for _, b := range p {
			require.Equal(t, byte(i), b)
		}
	}
	a.reset()
	require.Equal(t, before+1, Live().Blocks, "the largest chunk stays for the next call")
	a.alloc(4 << 20)
	a.reset()
	require.Equal(t, before, Live().Blocks, "what one huge call needed is given back")
	a.free()
	require.Nil(t, a.alloc(0))
	require.Equal(t, before, Live().Blocks)
}

func TestCleanCutsBetweenCharacters(t *testing.T) {
	long := strings.Repeat("é", 100)
	for limit := range 20 {
		got := clean(long, limit)
		require.LessOrEqual(t, len(got), limit)
		require.True(t, utf8.ValidString(got))
	}
	require.Equal(t, "a\uFFFDb", clean("a\xff\xfeb", 10))
}

func TestWithinFindsOnlyWhatLiesInside(t *testing.T) {
	whole := strings.Repeat("0123456789", 3)
	out := make([]span, 3)
	require.True(t, within(whole[5:20], []string{whole[5:9], whole[20:20], whole[9:20]}, out))
	require.Equal(t, []span{{0, 4}, {0, 0}, {4, 11}}, out)
	require.False(t, within(whole[5:20], []string{whole[4:6]}, out), "begins before")
	require.False(t, within(whole[5:20], []string{whole[19:21]}, out), "ends behind")
	require.False(t, within(whole[5:20], []string{strings.Clone("x")}, out))
}

func TestClosedHandlesAnswer(t *testing.T) {
	m := linked(t, reference.AllParams())
	v, err := m.Video(VideoRequest{Prompt: "x"})
	require.NoError(t, err)
	s, _, err := m.StartText(TextRequest{Text: "x"})
	require.NoError(t, err)
	s.Close()
	s.Close()
	require.NoError(t, s.Cancel())
	ev, err := s.Next(0)
	require.NoError(t, err)
	require.Equal(t, EventEnd, ev.Kind)
	m.Close()
	m.Close()
	_, err = v.Frame(0)
	require.NoError(t, err, "a clip outlives its model")
	v.Release()
	v.Release()
	_, err = v.Frame(0)
	require.ErrorIs(t, err, ErrReleased)
}

func TestErrorsSayWhat(t *testing.T) {
	for want, err := range map[string]error{
		"run: native status 7: boom":                                    &CallError{"run", 7, "boom"},
		"run: the runtime's table lacks the function next":              &MissingError{"run", "next"},
		"run: 2 scores for 3 documents":                                 broken("run", "%d scores for %d documents", 2, 3),
		"core table: want version 1.0, got version 2.0":                 &VersionError{"core table", "version 1.0", "version 2.0"},
		`library "/x.so": cannot open shared object file: No such file`: &LoadError{"/x.so", "cannot open shared object file: No such file"},
	} {
		require.EqualError(t, err, want)
	}
}

func TestTimestampsAreFiniteAndDoNotDecrease(t *testing.T) {
	require.NoError(t, checkTimestamps("run", nil, 3))
	require.NoError(t, checkTimestamps("run", []float64{0, 0, 1}, 3))
	require.ErrorContains(t, checkTimestamps("run", []float64{0, 1}, 3), "2 timestamps for 3 frames")
	require.ErrorContains(t, checkTimestamps("run", []float64{0, 2, 1}, 3), "timestamp 2 is 1 s")
	require.Error(t, checkTimestamps("run", []float64{math.NaN()}, 1))
	require.Error(t, checkTimestamps("run", []float64{0, math.Inf(1)}, 2))
}
