package qual

import (
	"fmt"
	"strings"
)

// page builds Markdown.
type page struct{ strings.Builder }

func (p *page) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// head writes a heading with blank lines round it.
func (p *page) head(level int, format string, args ...any) {
	if !strings.HasSuffix(p.String(), "\n\n") {
		p.line("")
	}
	p.line("%s %s\n", strings.Repeat("#", level), fmt.Sprintf(format, args...))
}

// table writes a table; cells are escaped.
func (p *page) table(header []string, rows [][]string) {
	p.row(header)
	p.line("|%s", strings.Repeat("---|", len(header)))
	for _, r := range rows {
		p.row(r)
	}
}

func (p *page) row(cells []string) {
	for _, c := range cells {
		p.WriteString("| " + escapeCell(c) + " ")
	}
	p.line("|")
}

// escapeCell keeps a text from breaking the table or becoming markup: evidence is untrusted.
func escapeCell(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "\r", " ", "<", "&lt;", ">", "&gt;", "`", "'").Replace(s)
}

// list writes a bullet list, at most limit items and then how many more there are.
func (p *page) list(items []string, limit int) {
	for i, s := range items {
		if i == limit {
			p.line("- and %d more in report.json", len(items)-limit)
			return
		}
		p.line("- %s", escapeCell(s))
	}
}

// maxListed is how many findings of one kind the Markdown report names; the JSON report has all.
const maxListed = 20

// Markdown returns report.md.
func (r *Report) Markdown() []byte {
	var p page
	p.line("# Qualification report\n")
	if r.Reference {
		p.line("**%s**\n", ReferenceNotice)
	}
	verdict := "every check held"
	if !r.Verdict.Held {
		verdict = "CHECKS FAILED: " + strings.Join(r.Verdict.Failed, ", ")
	}
	p.line("- Verdict: %s", verdict)
	p.line("- Status: %s", r.Status.Status)
	for _, m := range r.Status.Missing {
		p.line("- Missing: %s", escapeCell(m))
	}
	p.results(r)
	p.accounting(r)
	p.checks(r.Checks)
	if len(r.Doubts) > 0 {
		p.head(2, "Doubts")
		p.list(r.Doubts, 100)
	}
	for _, name := range r.Names() {
		p.workload(r.Workloads[name])
	}
	p.findings(r.Findings)
	p.environment(r.Run)
	p.inventory(r.Inventory)
	p.evidence(r.Evidence)
	return []byte(p.String())
}

func (p *page) accounting(r *Report) {
	p.head(2, "Accounting")
	var rows [][]string
	for _, name := range r.Names() {
		w := r.Workloads[name]
		for _, phase := range []struct {
			name string
			c    Counts
		}{{"measured", w.Measured}, {"warm-up", w.Warmup}} {
			rows = append(rows, []string{name, phase.name, itoa(phase.c.Offered), itoa(phase.c.Completed), itoa(phase.c.Rejected), itoa(phase.c.Failed)})
		}
	}
	p.table([]string{"workload", "phase", "offered", "completed", "rejected", "failed"}, rows)
}

func (p *page) checks(checks []Check) {
	p.head(2, "Checks")
	var rows [][]string
	for _, c := range checks {
		held := "held"
		if !c.Held {
			held = "FAILED"
		}
		rows = append(rows, []string{held, c.Workload, c.Name, c.Detail})
	}
	p.table([]string{"", "workload", "check", "why"}, rows)
}

func (p *page) findings(all []Finding) {
	if len(all) == 0 {
		return
	}
	p.head(2, "Findings")
	shown := map[string]int{}
	var rows [][]string
	for _, f := range all {
		group := f.Workload + "/" + string(f.Kind)
		if shown[group]++; shown[group] <= maxListed {
			rows = append(rows, []string{f.Workload, string(f.Kind), f.RequestID, f.Detail})
		}
	}
	p.table([]string{"workload", "kind", "request", "detail"}, rows)
	if len(rows) < len(all) {
		p.line("\n%d more are in report.json.", len(all)-len(rows))
	}
}

func (p *page) evidence(files []FileDigest) {
	p.head(2, "Evidence")
	var rows [][]string
	for _, f := range files {
		rows = append(rows, []string{f.Path, fmt.Sprint(f.Bytes), f.SHA256})
	}
	p.table([]string{"file", "bytes", "sha256"}, rows)
}

func itoa(n int) string { return fmt.Sprint(n) }
