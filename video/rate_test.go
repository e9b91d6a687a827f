package video

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func stamps(n int, fps float64, round time.Duration) []time.Duration {
	out := make([]time.Duration, n)
	for i := range out {
		out[i] = time.Duration(math.Round(float64(i) / fps * 1e9)).Round(round)
	}
	return out
}

func TestRateOf(t *testing.T) {
	tests := map[string]struct {
		stamps   []time.Duration
		declared Rate
		want     Rate
		err      string
	}{
		"timestamps alone":          {stamps(81, 16, 1), Rate{}, Rate{16, 1}, ""},
		"ntsc":                      {stamps(121, 24000.0/1001, 1), Rate{}, Rate{24000, 1001}, ""},
		"a fraction":                {stamps(10, 12.5, 1), Rate{}, Rate{25, 2}, ""},
		"late beginning":            {[]time.Duration{time.Second, 1250 * time.Millisecond}, Rate{}, Rate{4, 1}, ""},
		"both agree":                {stamps(81, 16, 1), Rate{16, 1}, Rate{16, 1}, ""},
		"rounded to milliseconds":   {stamps(121, 24, time.Millisecond), Rate{24, 1}, Rate{24, 1}, ""},
		"declaration alone":         {nil, Rate{23976, 1000}, Rate{23976, 1000}, ""},
		"one frame":                 {[]time.Duration{0}, Rate{8, 1}, Rate{8, 1}, ""},
		"neither":                   {nil, Rate{}, Rate{}, "neither the request nor the model declares fps"},
		"one frame, no declaration": {[]time.Duration{0}, Rate{}, Rate{}, "neither"},
		"disagree":                  {stamps(81, 16, 1), Rate{24, 1}, Rate{}, "frame 1 is at 62.5ms, which is not 24/1"},
		"disagree slowly":           {stamps(121, 24, 1), Rate{24000, 1001}, Rate{}, "which is not 24000/1001"},
		"uneven":                    {[]time.Duration{0, 1e8, 3e8}, Rate{}, Rate{}, "not evenly spaced"},
		"rounded, no declaration":   {stamps(121, 24, time.Millisecond), Rate{}, Rate{}, "not evenly spaced"},
		"all at once":               {[]time.Duration{5, 5, 5}, Rate{}, Rate{}, "all timestamps are 5ns"},
		"too fast":                  {stamps(10, 120, 1), Rate{}, Rate{}, "want 1 to 60"},
		"too slow":                  {stamps(10, 0.5, 1), Rate{}, Rate{}, "want 1 to 60"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := RateOf(tt.stamps, tt.declared)
			if tt.err != "" {
				require.ErrorIs(t, err, ErrRate)
				require.ErrorContains(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
}

func TestRateIsFoundFromItsTimestamps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		den := rapid.SampledFrom([]int{1, 2, 4, 5, 1001}).Draw(t, "den")
		r := Rate{rapid.IntRange(den, 60*den).Draw(t, "num"), den}.reduced()
		n := rapid.IntRange(50, 300).Draw(t, "frames")
		at := make([]time.Duration, n)
		for i := range at {
			at[i] = r.Duration(i)
		}
		got, err := RateOf(at, Rate{})
		if err != nil {
			t.Fatal(err)
		}
		// Several fractions can lie within the tolerance of a clip; each of them puts every frame where it is.
		if i := uneven(at, got, exact); i >= 0 {
			t.Fatalf("%s puts frame %d of %s elsewhere", got, i, r)
		}
	})
}

func TestParseRate(t *testing.T) {
	for s, want := range map[string]Rate{"24": {24, 1}, "23.976": {2997, 125}, "16.0": {16, 1}, "1": {1, 1}, "60": {60, 1}} {
		got, err := ParseRate(s)
		require.NoError(t, err, s)
		require.Equal(t, want, got, s)
	}
	for _, s := range []string{"", "0", "0.5", "60.1", "-1", "+1", "1e1", ".5", "5.", "24/1", "NaN", "1.2345678", "9999", "1_0"} {
		_, err := ParseRate(s)
		require.ErrorIs(t, err, ErrRate, s)
	}
}
