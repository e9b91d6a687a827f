package qual

import "strings"

// results writes the status of every result and what stands in its way.
func (p *page) results(r *Report) {
	p.head(2, "Results")
	var rows [][]string
	for _, row := range r.Results {
		rows = append(rows, []string{row.Workload, row.Model, dash(row.Profile), dash(row.Checkpoint), dash(row.Revision), string(row.Status), strings.Join(row.Missing, "; ")})
	}
	p.table([]string{"workload", "model", "profile", "checkpoint", "revision", "status", "what stands in the way"}, rows)
}

// inventory writes the rows of the inventory.
func (p *page) inventory(rows []InventoryRow) {
	p.head(2, "Inventory")
	p.line("Status is that of this run; what was not run here is planned.\n")
	var out [][]string
	for _, row := range rows {
		run := "no"
		if row.Run {
			run = "yes"
		}
		out = append(out, []string{row.Profile, string(row.Scope), row.Workload, dash(row.Checkpoint), dash(row.Revision), run, string(row.Status), row.Gap})
	}
	p.table([]string{"profile", "scope", "workload", "checkpoint", "revision", "run here", "status", "gap"}, out)
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
