package qual

import "fmt"

// Same reports whether nothing at all differs: no warning, the same workloads, and no difference in any figure.
func (c *Comparison) Same() bool {
	if len(c.Warnings) > 0 {
		return false
	}
	for _, w := range c.Workloads {
		if w.Missing != "" {
			return false
		}
		for _, r := range w.Rates {
			if r.A.Count != r.B.Count || r.A.PerSecond.String() != r.B.PerSecond.String() {
				return false
			}
		}
		for _, s := range w.Shares {
			if s.A != s.B || s.OfferedA != s.OfferedB {
				return false
			}
		}
		for _, t := range w.Times {
			if t.SamplesA != t.SamplesB || t.A.String() != t.B.String() {
				return false
			}
		}
	}
	return true
}

// Markdown describes the comparison for people.
func (c *Comparison) Markdown() []byte {
	var p page
	p.line("# Comparison of A and B\n")
	if c.Same() {
		p.line("**%s**\n", NoDifference)
	}
	for _, w := range c.Warnings {
		p.line("- Warning: %s", escapeCell(w))
	}
	for _, w := range c.Workloads {
		p.compared(w)
	}
	p.line("\nTimes are those of completed requests: where outcomes differ, they are those of different requests.")
	p.line("\nRule: a median needs %d samples in both runs, p90 %d, a share %d requests. The interval of a ratio is a seeded bootstrap (95 %%, %d resamples) over", fewestForMedian, fewestForTail, fewestForShare, resamples)
	p.line("single requests, taken as independent; an interval that holds 1 is no difference. What differs from run to run on one")
	p.line("machine is in no interval: repeat a run before believing a small difference.")
	return []byte(p.String())
}

func (p *page) compared(w WorkloadComparison) {
	p.head(2, "Workload %s", w.Name)
	if w.Missing != "" {
		p.line("%s does not have it.", w.Missing)
		return
	}
	var rows [][]string
	for _, s := range w.Shares {
		rows = append(rows, []string{s.Name, fmt.Sprintf("%d of %d", s.A, s.OfferedA), fmt.Sprintf("%d of %d", s.B, s.OfferedB), s.Finding})
	}
	p.table([]string{"outcome", "A", "B", "finding"}, rows)
	p.line("")
	rows = nil
	for _, r := range w.Rates {
		ratio := "-"
		if r.A.PerSecond.Known() && r.B.PerSecond.Known() && r.A.PerSecond > 0 {
			ratio = (r.B.PerSecond / r.A.PerSecond).String()
		}
		rows = append(rows, []string{r.Name, itoa(r.A.Count), itoa(r.B.Count), r.A.PerSecond.String(), r.B.PerSecond.String(), ratio})
	}
	p.table([]string{"requests per second", "count A", "count B", "A", "B", "B / A"}, rows)
	p.line("")
	rows = nil
	for _, t := range w.Times {
		interval := "-"
		if t.Low.Known() {
			interval = fmt.Sprintf("%s to %s", t.Low, t.High)
		}
		rows = append(rows, []string{t.Name, itoa(t.SamplesA), itoa(t.SamplesB), t.A.String(), t.B.String(), t.Ratio.String(), interval, t.Finding})
	}
	p.table([]string{"time, ms", "samples A", "samples B", "A", "B", "B / A", "95 % interval", "finding"}, rows)
}
