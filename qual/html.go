package qual

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"path"
	"slices"
	"strings"
)

// ReportHTML is the page beside report.json: one file that needs no network.
const ReportHTML = "report.html"

//go:embed report.html.tmpl
var reportTemplate string

// HTML returns report.html. Equal reports give equal bytes. Its tables are those of [Report.Markdown]; clips are
// referred to by their place in the folder, so the page belongs beside report.json.
func (r *Report) HTML() ([]byte, error) {
	t, err := template.New(ReportHTML).Parse(reportTemplate)
	if err != nil {
		return nil, fmt.Errorf("report template: %w", err)
	}
	page, err := r.htmlPage()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := t.Execute(&out, page); err != nil {
		return nil, fmt.Errorf("write %s: %w", ReportHTML, err)
	}
	return out.Bytes(), nil
}

// htmlPage is what the template shows.
type htmlPage struct {
	Report  *Report
	Started string
	Held    int // checks
	Results []htmlResult
	// Missing is what stands in the way of every result alike; nil when they differ, and then each result has its own.
	Missing  []string
	Sections []htmlSection
}

// htmlResult is the line of one workload at the top.
type htmlResult struct {
	Name, Anchor string
	Counts       Counts
	Failed       []string // names of the checks that did not hold, its own and those of the whole run
	Status       []ResultRow
}

// alike returns what all results miss when they miss the same.
func alike(rows []ResultRow) []string {
	for _, r := range rows {
		if !slices.Equal(r.Missing, rows[0].Missing) {
			return nil
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return rows[0].Missing
}

// htmlSection is one part of the page.
type htmlSection struct {
	Title, Anchor string
	Workload      bool
	Blocks        []block
	Charts        []htmlChart
	Remarks       []string
	Clips         []htmlClip
	More          []htmlSection // tables that are folded away
}

// htmlChart is a drawn chart.
type htmlChart struct {
	Title, Remark string
	SVG           template.HTML
	Keys          []chartKey
}

// htmlClip is a clip that is in the folder.
type htmlClip struct{ ID, File, Poster string }

func (r *Report) htmlPage() (*htmlPage, error) {
	page := &htmlPage{Report: r, Missing: alike(r.Results), Started: r.Run.StartedAt.UTC().Format("2006-01-02 15:04 UTC")}
	for _, c := range r.Checks {
		if c.Held {
			page.Held++
		}
	}
	for _, name := range r.Names() {
		result := htmlResult{Name: name, Anchor: anchor("Workload " + name), Counts: r.Workloads[name].Measured}
		for _, c := range r.Checks {
			if !c.Held && (c.Workload == name || c.Workload == "") {
				result.Failed = append(result.Failed, c.Name)
			}
		}
		for _, row := range r.Results {
			if row.Workload == name {
				result.Status = append(result.Status, row)
			}
		}
		page.Results = append(page.Results, result)
	}
	for _, s := range sections(parseBlocks(string(r.Markdown()))) {
		if s.Title == "Results" {
			continue // the page has its own at the top
		}
		if name, ok := strings.CutPrefix(s.Title, "Workload "); ok {
			if err := r.fill(&s, name); err != nil {
				return nil, err
			}
		}
		s.fold()
		page.Sections = append(page.Sections, s)
	}
	return page, nil
}

// sections groups blocks by their headings of level 2; what stands before the first is in the page's own head.
func sections(blocks []block) []htmlSection {
	var out []htmlSection
	for _, b := range blocks {
		if b.Level == 2 {
			out = append(out, htmlSection{Title: b.Text, Anchor: anchor(b.Text)})
		} else if len(out) > 0 {
			last := &out[len(out)-1]
			last.Blocks = append(last.Blocks, b)
		}
	}
	return out
}

// fill adds charts and clips to the section of a workload.
func (r *Report) fill(s *htmlSection, name string) error {
	w, ok := r.Workloads[name]
	if !ok {
		return nil
	}
	s.Workload = true
	var charts []*chart
	charts, s.Remarks = w.charts()
	for _, c := range charts {
		svg, err := c.SVG()
		if err != nil {
			return err
		}
		s.Charts = append(s.Charts, htmlChart{Title: c.Title, Remark: c.Remark, SVG: svg, Keys: c.keys()})
	}
	s.Clips = r.clips(name)
	return nil
}

// clips lists the clips of a workload that are among the evidence.
func (r *Report) clips(workload string) []htmlClip {
	dir := workloadPath(workload, ArtifactDir)
	has := func(file string) bool {
		return slices.ContainsFunc(r.Evidence, func(f FileDigest) bool { return f.Path == file })
	}
	var out []htmlClip
	for _, f := range r.Evidence {
		if path.Dir(f.Path) != dir || path.Ext(f.Path) != ".mp4" {
			continue
		}
		clip := htmlClip{ID: strings.TrimSuffix(path.Base(f.Path), ".mp4"), File: f.Path}
		if poster := strings.TrimSuffix(f.Path, ".mp4") + ".jpg"; has(poster) {
			clip.Poster = poster
		}
		out = append(out, clip)
	}
	return out
}

// longTable is from how many rows on a table that few read, or that a chart shows, is folded away.
const longTable = 12

// fold moves such tables behind a summary that opens them: those over time, findings and evidence.
func (s *htmlSection) fold() {
	var kept []block
	for i, b := range s.Blocks {
		if b.Table == nil || len(b.Table.Rows) < longTable {
			kept = append(kept, b)
			continue
		}
		title := s.Title
		if i > 0 && s.Blocks[i-1].Level > 0 {
			title = s.Blocks[i-1].Text
		}
		switch {
		case strings.HasPrefix(title, "Over time"):
			kept = kept[:len(kept)-1]
		case title == "Findings", title == "Evidence":
		default:
			kept = append(kept, b)
			continue
		}
		s.More = append(s.More, htmlSection{Title: fmt.Sprintf("%s: %d rows", title, len(b.Table.Rows)), Blocks: []block{b}})
	}
	s.Blocks = kept
}

// anchor makes an id of a heading.
func anchor(title string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-':
			return c
		case c >= 'A' && c <= 'Z':
			return c + 'a' - 'A'
		}
		return '-'
	}, title)
}
