//go:build cgo

package qual_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/qual"
)

// digit changes the first digit of the first match: the value stays a number and becomes another, which a change of the
// last digit of a float32 need not do.
func digit(pattern string) func(string) string {
	find := regexp.MustCompile(pattern)
	return func(line string) string {
		at := find.FindStringSubmatchIndex(line)
		if at == nil {
			return line
		}
		i := at[2] + strings.IndexAny(line[at[2]:at[3]], "0123456789")
		return line[:i] + string('1'+(line[i]-'0')%9) + line[i+1:]
	}
}

func swap(old, new string) func(string) string {
	return func(line string) string { return strings.Replace(line, old, new, 1) }
}

func TestEveryMutationOfARankingRunIsFound(t *testing.T) {
	whole := rankingRun{load: qual.Load{Concurrency: 2}}.make(t)
	const id, sampled, warm, everyLine = "rank-007", "rank-005", "warmup-rank-021", "*"
	endedAt := regexp.MustCompile(`"ended_ns":(\d+)`)
	entry := `\{"index":\d+,"logit":[-\d.e]+\}`
	for name, c := range map[string]struct {
		file, id, check string
		change          func(line string) string
	}{
		"score over HTTP":  {rankingClient, id, identityCheck, digit(`"logit":(-?[\d.]+)`)},
		"score of warm-up": {rankingClient, warm, identityCheck, digit(`"logit":(-?[\d.]+)`)},
		"index over HTTP":  {rankingClient, id, identityCheck, swap(`"index":2`, `"index":0`)},
		"ranking gone":     {rankingClient, id, identityCheck, func(l string) string { return regexp.MustCompile(entry+`,`).ReplaceAllString(l, "") }},
		"order over HTTP": {rankingClient, id, identityCheck, func(l string) string {
			return regexp.MustCompile(`(`+entry+`),(`+entry+`)`).ReplaceAllString(l, "$2,$1")
		}},
		"answer gone":               {rankingClient, id, identityCheck, func(l string) string { return regexp.MustCompile(`"response":\{.*?\]\},`).ReplaceAllString(l, "") }},
		"direct score":              {rankingDirect, id, identityCheck, digit(`"scores":\[(-?[\d.]+)`)},
		"last direct score":         {rankingDirect, id, identityCheck, digit(`(-?[\d.]+)\],"score_kind"`)},
		"direct score of warm-up":   {rankingDirect, warm, identityCheck, digit(`"scores":\[(-?[\d.]+)`)},
		"direct call gone":          {rankingDirect, id, directCheck, func(string) string { return "" }},
		"direct call twice":         {rankingDirect, id, directCheck, func(l string) string { return l + l }},
		"direct call of nobody":     {rankingDirect, "rank-999", directCheck, func(l string) string { return l + strings.Replace(l, id, "rank-999", 1) }},
		"direct call failed":        {rankingDirect, id, directCheck, swap(`"reference":true`, `"reference":true,"error":"broke"`)},
		"other bundle":              {rankingDirect, id, directCheck, digit(`"bundle_sha256":"[0-9a-f]*?(\d)`)},
		"other runtime":             {rankingDirect, id, directCheck, swap(`"runtime":"trtmc-reference`, `"runtime":"trtmc-other`)},
		"other settings":            {rankingDirect, id, directCheck, swap(`"NONE"`, `"END"`)},
		"other kind of score":       {rankingDirect, id, directCheck, swap(`"score_kind":"logit"`, `"score_kind":"probability"`)},
		"permuted score":            {rankingDirect, sampled, permutedCheck, digit(`"order":\[[\d,]*\],"scores":\[(-?[\d.]+)`)},
		"permuted scores gone":      {rankingDirect, sampled, permutedCheck, func(l string) string { return regexp.MustCompile(`,"permuted":\{[^}]*\}`).ReplaceAllString(l, "") }},
		"permuted order":            {rankingDirect, sampled, permutedCheck, digit(`"order":\[(\d)`)},
		"unreadable direct call":    {rankingDirect, "", "every line is readable", func(l string) string { return l + "{}\n" }},
		"pinned length":             {rankingRows, id, lengthsCheck, digit(`"passage_words":(\d+)`)},
		"pinned request gone":       {rankingRows, id, lengthsCheck, func(string) string { return "" }},
		"length in the record":      {qual.RecordsFile, id, lengthsCheck, digit(`"passage_bytes":(\d+)`)},
		"settings in the record":    {qual.RecordsFile, id, directCheck, swap(`"NONE"`, `"END"`)},
		"no lengths in the record":  {qual.RecordsFile, id, lengthsCheck, func(l string) string { return regexp.MustCompile(`,"ranking":\{[^}]*\}`).ReplaceAllString(l, "") }},
		"length in the manifest":    {rankingPlan, "", lengthsCheck, digit(`"query_bytes": (\d+)`)},
		"too many under way":        {rankingClient, everyLine, "the closed loop kept its concurrency", func(l string) string { return endedAt.ReplaceAllString(l, `"ended_ns":9$1`) }},
		"loop":                      {rankingPlan, "", "sent on the workload's schedule", swap(`"loop": "closed"`, `"loop": "open"`)},
		"manifest of another kind":  {rankingPlan, "", "the ranking manifest is readable", swap(`"ranking-groups"`, `"mooncake"`)},
		"passage in the workload":   {rankingOffer, "", "the workload is the prepared one", swap("Hikers carry", "Hikers lose")},
		"model in the workload":     {rankingOffer, "", "the workload is the prepared one", swap(`"model":"r"`, `"model":"s"`)},
		"sample without its scores": {rankingPlan, "rank-001", permutedCheck, swap(`"rank-000"`, `"rank-001"`)},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.CopyFS(dir, os.DirFS(whole)))
			changed := false
			edit(t, dir, c.file, func(lines []string) []string {
				lines[len(lines)-1] += "\n"
				for i, line := range lines {
					target := c.id
					if target == "rank-999" {
						target = id
					}
					if target != everyLine && !strings.Contains(line, `"`+target+`"`) && c.file != rankingPlan && target != "" || changed && target == "" {
						continue
					}
					lines[i] = c.change(line)
					changed = changed || lines[i] != line
				}
				return lines
			})
			require.True(t, changed, "the mutation changed nothing")
			r, err := qual.Judge(dir)
			require.NoError(t, err)
			require.Contains(t, failedChecks(r), "evidence is what the run left")
			seal(t, dir)
			r, err = qual.Judge(dir)
			require.NoError(t, err)
			require.Contains(t, failedChecks(r), c.check)
			require.Error(t, r.Held())
			if c.id != "" && c.id != everyLine {
				require.Contains(t, failedChecks(r)[c.check].IDs, c.id)
				require.Contains(t, kindsOf(r)[kindOfCheck(c.check)], c.id)
			}
		})
	}
}

func kindOfCheck(check string) qual.Kind {
	return map[string]qual.Kind{identityCheck: qual.KindScores, directCheck: qual.KindDirect, permutedCheck: qual.KindPermuted, lengthsCheck: qual.KindLengths}[check]
}

func kindsOf(r *qual.Report) map[qual.Kind][]string {
	out := map[qual.Kind][]string{}
	for _, f := range r.Findings {
		out[f.Kind] = append(out[f.Kind], f.RequestID)
	}
	return out
}
