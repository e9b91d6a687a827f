package qual

import "fmt"

// The kinds of finding that only ranking workloads have; each fails one check.
const (
	KindScores   Kind = "scores_differ"          // HTTP and the direct Task call do not agree
	KindPermuted Kind = "permuted_scores_differ" // permuted passages do not have permuted scores
	KindDirect   Kind = "direct_call_wrong"      // the direct call is missing or was made in another way than serving's
	KindLengths  Kind = "lengths_differ"         // the server took something else than was offered, or the pins are not true
)

// Compared says how many of the requests that could be compared were equal.
type Compared struct {
	Equal    int `json:"equal"`
	Compared int `json:"compared"`
}

func (c Compared) String() string { return fmt.Sprintf("%d/%d", c.Equal, c.Compared) }

func (c *Compared) take(equal bool) {
	c.Compared++
	if equal {
		c.Equal++
	}
}

// RankingIdentity is how HTTP answers compare with direct Task calls. Completed requests are compared, no others.
type RankingIdentity struct {
	// Made says that direct calls could be made: the run knows the bundle.
	Made     bool     `json:"made"`
	Measured Compared `json:"measured"`
	Warmup   Compared `json:"warmup"`
	Permuted Compared `json:"permuted"` // of the stated sample
}

// identity compares every completed request with its direct Task call.
func (e *rankingEvidence) identity() RankingIdentity {
	out := RankingIdentity{Made: e.directMade()}
	if !out.Made {
		return out
	}
	for _, r := range e.order {
		problem := e.directProblem(r)
		if problem != "" {
			e.find(KindDirect, r.id, "%s", problem)
		}
		if !e.completed(r) {
			continue
		}
		equal := problem == ""
		if r.direct != nil && r.direct.Error == "" {
			if differs := sameAsDirect(r.answer, r.direct.Scores); differs != "" {
				equal = false
				e.find(KindScores, r.id, "%s", differs)
			}
		}
		if r.warmup {
			out.Warmup.take(equal)
		} else {
			out.Measured.take(equal)
		}
	}
	for _, id := range e.m.Permuted {
		r := e.by[id]
		if r == nil || r.direct == nil || r.direct.Error != "" {
			e.find(KindPermuted, id, "has no direct scores to permute")
			out.Permuted.take(false)
			continue
		}
		differs := samePermuted(r.direct)
		if differs != "" {
			e.find(KindPermuted, id, "%s", differs)
		}
		out.Permuted.take(differs == "")
	}
	return out
}

// directProblem says what keeps a direct call from being a fair judge of its request, or "". A request that did not
// complete may have a direct call that failed too.
func (e *rankingEvidence) directProblem(r *rankedRequest) string {
	d := r.direct
	runtime := e.j.run.Runtime
	switch {
	case d == nil:
		return "was not scored directly"
	case d.BundleSHA256 != e.bundle():
		return fmt.Sprintf("scored directly with bundle %.12s, served from %.12s", d.BundleSHA256, e.bundle())
	case runtime.Version != "" && (d.Runtime != runtime.Version || d.Reference != runtime.Reference):
		return fmt.Sprintf("scored directly by %q (reference %t), served by %q (reference %t)", d.Runtime, d.Reference, runtime.Version, runtime.Reference)
	case !e.completed(r) || r.record == nil:
		return ""
	case d.Error != "":
		return "completed over HTTP, but the direct Task call failed: " + d.Error
	case !sameSettings(d.Settings, r.record.Settings):
		return fmt.Sprintf("scored directly with settings %s, served with %s", compactJSON(d.Settings), compactJSON(r.record.Settings))
	case r.record.Ranking == nil || r.record.Ranking.ScoreKind != d.Kind:
		return fmt.Sprintf("the direct score kind is %q, that of the record is not", d.Kind)
	case len(d.Scores) != r.offered.Passages:
		return fmt.Sprintf("%d direct scores for %d passages", len(d.Scores), r.offered.Passages)
	}
	return ""
}

// lengths compares the offered bodies with the pinned rows and with what the server says it took.
func (e *rankingEvidence) lengths() {
	var measured []RankingRow
	for _, r := range e.order {
		if !r.warmup {
			measured = append(measured, r.offered)
		}
		if r.record != nil && r.record.Ranking != nil {
			got := *r.record.Ranking
			was := RankingRow{Passages: got.Passages, QueryWords: got.QueryWords, QueryBytes: got.QueryBytes, PassageWords: got.PassageWords, PassageBytes: got.PassageBytes}
			if was.sizes() != r.offered.sizes() {
				e.find(KindLengths, r.id, "the server took %s, offered were %s", was.sizes(), r.offered.sizes())
			}
		} else if e.completed(r) {
			e.find(KindLengths, r.id, "the record of a completed request has no lengths")
		}
	}
	for i, r := range measured {
		switch {
		case i >= len(e.pinned) || e.pinned[i].RequestID != r.RequestID:
			e.find(KindLengths, r.RequestID, "the prepared rows do not name it in its place")
		case e.pinned[i].sizes() != r.sizes() || e.pinned[i].OffsetNS != r.OffsetNS:
			e.find(KindLengths, r.RequestID, "pinned were %s, offered were %s", e.pinned[i].sizes(), r.sizes())
		}
	}
	if sum := lengthsOf(measured); len(measured) > 0 && sum != e.m.Lengths {
		e.find(KindLengths, "", "the offered bodies hold %s, the manifest says %s", compactJSON(sum), compactJSON(e.m.Lengths))
	}
}

// sizes says how large a request is.
func (r RankingRow) sizes() string {
	return fmt.Sprintf("%d passages of %d words and %d bytes, a query of %d words and %d bytes", r.Passages, r.PassageWords, r.PassageBytes, r.QueryWords, r.QueryBytes)
}

// checks turns the findings into checks.
func (e *rankingEvidence) checks(identity RankingIdentity) []Check {
	same := fmt.Sprintf("%s measured and %s warm-up requests: same float32 scores, indices, order and count", identity.Measured, identity.Warmup)
	permuted := fmt.Sprintf("%s of the sample", identity.Permuted)
	if !identity.Made {
		same = "not compared: the run knows no bundle to call directly"
		permuted = same
	}
	out := []Check{
		rule{"rankings equal direct Task calls", []Kind{KindScores}, same}.check(e.name, e.findings),
		rule{"direct calls are made as serving makes them", []Kind{KindDirect}, "same bundle, runtime, settings and score kind, one call for every request"}.check(e.name, e.findings),
		rule{"permuted passages have permuted scores", []Kind{KindPermuted}, permuted}.check(e.name, e.findings),
		rule{"lengths are the pinned ones", []Kind{KindLengths}, "workload, manifest and server records agree on passages, words and bytes"}.check(e.name, e.findings),
	}
	if identity.Made && identity.Measured.Compared == 0 && out[0].Held {
		out[0].Held, out[0].Detail = false, "no measured request completed, so nothing was compared"
	}
	if e.m.Load.Loop == ClosedLoop {
		var busy []busySpan
		for _, r := range e.order {
			if r.sent != 0 && !r.warmup {
				busy = append(busy, busySpan{r.sent, r.ended})
			}
		}
		out = append(out, concurrencyCheck(e.name, busy, e.m.Load.Concurrency))
	}
	return out
}
