package qual_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/qual"
)

func htmlOf(t *testing.T, r *qual.Report) string {
	t.Helper()
	page, err := r.HTML()
	require.NoError(t, err)
	return string(page)
}

func judgedRun(t *testing.T, dir string) *qual.Report {
	t.Helper()
	r, err := qual.Judge(dir)
	require.NoError(t, err)
	return r
}

func TestHTMLOfEqualEvidenceIsEqual(t *testing.T) {
	dir := makeRun(t)
	require.Equal(t, htmlOf(t, judgedRun(t, dir)), htmlOf(t, judgedRun(t, dir)))
	require.NoError(t, judgedRun(t, dir).Write(dir))
	written, err := os.ReadFile(filepath.Join(dir, qual.ReportHTML))
	require.NoError(t, err)
	require.Equal(t, htmlOf(t, judgedRun(t, dir)), string(written), "a page in the folder is no evidence")
}

func TestHTMLNeedsNothingFromOutside(t *testing.T) {
	page := htmlOf(t, judgedRun(t, makeRun(t)))
	for _, word := range []string{"http://", "https://", "<script", "<link", "<img", "@import", "url(", "<?xml"} {
		require.NotContains(t, page, word)
	}
	for _, ref := range regexp.MustCompile(`(?:href|src|poster)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		require.True(t, strings.HasPrefix(ref[1], "#"), "%s", ref[0])
		require.Contains(t, page, `id="`+ref[1][1:]+`"`, "a link to nowhere")
	}
}

func TestHTMLShowsVerdictWorkloadsAndCharts(t *testing.T) {
	dir := makeRun(t)
	page := htmlOf(t, judgedRun(t, dir))
	for _, want := range []string{
		"Every check held", `<section id="workload-w" class="workload">`, "lateness, ms", "share at most so large, %", "time from sending, ms",
		"Task call at the server", "at sending", "Queue met on arrival", "429s, refusals and failures",
	} {
		require.Contains(t, page, want)
	}
	require.NotContains(t, page, qual.ReferenceNotice)
	require.Equal(t, strings.Count(page, "<section"), strings.Count(page, "</section>"))
	require.Equal(t, strings.Count(page, "<svg"), strings.Count(page, "</svg>"))

	edit(t, dir, client, func(lines []string) []string { return lines[1:] })
	r := judgedRun(t, dir)
	r.Reference, r.Notice = true, qual.ReferenceNotice
	page = htmlOf(t, r)
	require.Contains(t, page, "Checks failed")
	require.NotContains(t, page, "Every check held")
	require.Contains(t, page, `<span class="mark bad">FAILED</span>`)
	require.Less(t, strings.Index(page, qual.ReferenceNotice), strings.Index(page, "<h1>"), "the notice comes first")
}

func TestHTMLEscapesEvidence(t *testing.T) {
	r := judgedRun(t, makeRun(t))
	r.Run.Notes = []string{`<script>alert("x")</script> | a`}
	r.Doubts = []string{`<img src="https://example.invalid/x">`, "see [that page](https://example.invalid/y) ![p](z.jpg)"}
	page := htmlOf(t, r)
	require.NotContains(t, page, "<script")
	require.NotContains(t, page, "<img")
	require.Contains(t, page, "<li>see that page</li>", "of links their words stay")
	require.Contains(t, page, "&lt;script&gt;alert(&#34;x&#34;)&lt;/script&gt; | a")
}

func TestHTMLPlaysTheClipsThatAreEvidence(t *testing.T) {
	r := judgedRun(t, makeRun(t))
	require.NotContains(t, htmlOf(t, r), "<video")
	r.Evidence = append(r.Evidence,
		qual.FileDigest{Path: "workloads/w/artifacts/w-00.jpg"}, qual.FileDigest{Path: "workloads/w/artifacts/w-00.mp4"},
		qual.FileDigest{Path: "workloads/w/artifacts/w-01.mp4"}, qual.FileDigest{Path: "workloads/other/artifacts/x.mp4"})
	page := htmlOf(t, r)
	require.Contains(t, page, `<video controls preload="none" src="workloads/w/artifacts/w-00.mp4" poster="workloads/w/artifacts/w-00.jpg">`)
	require.Contains(t, page, `<video controls preload="none" src="workloads/w/artifacts/w-01.mp4">`)
	require.Equal(t, 2, strings.Count(page, "<video"))
}

func TestCurveRunsFromTheSmallestToTheLargest(t *testing.T) {
	w := judgedRun(t, makeRun(t)).Workloads["w"]
	for _, d := range []qual.Distribution{w.Client.Latency, w.Lateness.Send, w.Server.TaskCall} {
		require.Len(t, d.Curve, d.Samples)
		require.Equal(t, d.Min, d.Curve[0])
		require.Equal(t, d.Max, d.Curve[len(d.Curve)-1])
		require.IsNonDecreasing(t, d.Curve)
	}
	require.Empty(t, w.Client.Refusal.Curve, "one sample has no shape")
}

func TestHTMLHasEveryTableOfTheMarkdownOnce(t *testing.T) {
	r := judgedRun(t, makeRun(t))
	w := r.Workloads["w"]
	for range 20 { // a long table over time is folded away with its heading
		for _, row := range []*[]int{&w.OverTime.Scheduled, &w.OverTime.Sent, &w.OverTime.Arrived, &w.OverTime.Completed, &w.OverTime.Rejected, &w.OverTime.QueueMax} {
			*row = append(*row, 1)
		}
	}
	r.Workloads["w"] = w
	page := htmlOf(t, r)
	require.Contains(t, page, "<details><summary>Over time, in windows of 1 s: 21 rows</summary>")
	require.NotContains(t, page, "<h3>Over time")
	tables := 0
	for line := range strings.Lines(string(r.Markdown())) {
		if strings.HasPrefix(line, "|---") {
			tables++
		}
	}
	// The table of results is split in two at the top.
	require.Equal(t, tables+1, strings.Count(page, "<table"))
	require.NotContains(t, page, "<h3>1")
}
