package qual

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"strconv"
)

// sameAsDirect compares an answer of /v1/ranking with direct scores. It returns what differs, or "". Scores must be
// the same float32, bit by bit; every passage must stand there once; the score descends, equal scores by index.
//
// It does not use the code that made the answer: that would agree with its own mistakes.
func sameAsDirect(answer []byte, direct []float32) string {
	type entry struct {
		Index *int         `json:"index"`
		Logit *json.Number `json:"logit"`
	}
	var body struct {
		Rankings []entry `json:"rankings"`
	}
	if err := json.Unmarshal(answer, &body); err != nil {
		return "the answer is not rankings: " + err.Error()
	}
	if got, want := len(body.Rankings), len(direct); got != want {
		return fmt.Sprintf("%d rankings, the direct Task call gave %d scores", got, want)
	}
	seen := make([]bool, len(direct))
	var last float32
	lastIndex := -1
	for place, r := range body.Rankings {
		if r.Index == nil || r.Logit == nil {
			return fmt.Sprintf("rankings[%d] lacks index or logit", place)
		}
		i := *r.Index
		logit, err := parseFloat32(*r.Logit)
		switch {
		case i < 0 || i >= len(direct):
			return fmt.Sprintf("rankings[%d] names passage %d of %d", place, i, len(direct))
		case seen[i]:
			return fmt.Sprintf("rankings[%d] names passage %d again", place, i)
		case err != nil:
			return fmt.Sprintf("rankings[%d]: logit %s is no float32", place, *r.Logit)
		case math.Float32bits(logit) != math.Float32bits(direct[i]):
			return fmt.Sprintf("passage %d has score %s over HTTP and %s from the direct Task call", i, *r.Logit, formatFloat32(direct[i]))
		case place > 0 && logit > last:
			return fmt.Sprintf("rankings[%d] has a higher score than the one before it", place)
		case place > 0 && logit == last && i < lastIndex:
			return fmt.Sprintf("rankings[%d]: passage %d stands behind passage %d of equal score", place, i, lastIndex)
		}
		seen[i], last, lastIndex = true, logit, i
	}
	return ""
}

// samePermuted compares the scores of permuted passages with those of the passages as they were. It returns what
// differs, or "".
func samePermuted(direct *DirectScores) string {
	p := direct.Permuted
	switch {
	case p == nil:
		return "was not scored with permuted passages"
	case p.Error != "":
		return "with permuted passages: " + p.Error
	case len(p.Order) != len(direct.Scores) || len(p.Scores) != len(direct.Scores):
		return fmt.Sprintf("%d scores for a permutation of %d out of %d passages", len(p.Scores), len(p.Order), len(direct.Scores))
	}
	seen := make([]bool, len(p.Order))
	moved := false
	for i, from := range p.Order {
		if from < 0 || from >= len(seen) || seen[from] {
			return fmt.Sprintf("%v is no permutation", p.Order)
		}
		seen[from], moved = true, moved || i != from
		if math.Float32bits(p.Scores[i]) != math.Float32bits(direct.Scores[from]) {
			return fmt.Sprintf("passage %d has score %s in its place and %s in place %d", from, formatFloat32(direct.Scores[from]), formatFloat32(p.Scores[i]), i)
		}
	}
	if !moved {
		return "the permutation moves nothing"
	}
	return ""
}

// sameSettings reports whether a record and a direct call name the same settings; both come from JSON.
func sameSettings(a, b map[string]any) bool {
	return len(a) == len(b) && maps.EqualFunc(a, b, func(x, y any) bool { return reflect.DeepEqual(x, y) })
}

func parseFloat32(n json.Number) (float32, error) {
	f, err := strconv.ParseFloat(n.String(), 32)
	return float32(f), err
}

func formatFloat32(f float32) string {
	data, err := json.Marshal(f)
	if err != nil {
		return fmt.Sprint(f)
	}
	return string(bytes.TrimSpace(data))
}
