package ranking

import (
	"fmt"
	"math"
	"strconv"
)

// AppendResponse appends {"rankings":[{"index":0,"logit":1.5},...]} to dst. Each logit is the shortest decimal that
// reads back as the same float32, also through a float64. An error wraps [ErrScores] when a logit is not finite,
// which JSON cannot hold; dst is then returned as it came.
func AppendResponse(dst []byte, rankings []Ranking) ([]byte, error) {
	out := append(dst, `{"rankings":[`...)
	for i, r := range rankings {
		if !finite(r.Logit) {
			return dst, fmt.Errorf("%w: logit of rankings[%d] is not finite: %v", ErrScores, i, r.Logit)
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, `{"index":`...)
		out = strconv.AppendInt(out, int64(r.Index), 10)
		out = append(out, `,"logit":`...)
		out = appendFloat(out, r.Logit)
		out = append(out, '}')
	}
	return append(out, "]}"...), nil
}

// appendFloat writes plain digits for ordinary magnitudes and an exponent for the rest, as JavaScript and
// encoding/json do.
func appendFloat(dst []byte, f float32) []byte {
	format := byte('f')
	if abs := math.Abs(float64(f)); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	bits := 32
	if math.Float32bits(f)&^(1<<31) == roundsTwice {
		bits = 64
	}
	return strconv.AppendFloat(dst, float64(f), format, -1, bits)
}

// roundsTwice is the one magnitude, 7.038531e-26, whose shortest float32 decimal gives a neighbour when it is read as
// a float64 and narrowed; found by trying all of them. It is written with the digits of its float64.
const roundsTwice = 0x15ae43fd
