package inventory

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// WriteJSON writes the inventory as indented JSON. Equal inventories give equal bytes.
func (inv Inventory) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(inv); err != nil {
		return fmt.Errorf("write inventory: %w", err)
	}
	return nil
}

// WriteMarkdown writes one table per scope and, below them, gaps, controls and sources row by row. evidence gives the
// evidence of a row; nil leaves the status column out, because without evidence there is no status to print.
func (inv Inventory) WriteMarkdown(w io.Writer, evidence func(profile string) Evidence) error {
	var b strings.Builder
	for _, part := range []struct {
		scope Scope
		title string
	}{{InScope, "In scope"}, {Gap, "Gaps"}, {Variant, "Variants"}} {
		fmt.Fprintf(&b, "## %s\n", part.title)
		inv.table(&b, part.scope, evidence)
		b.WriteString("\n")
	}
	b.WriteString("## Details\n")
	for i := range inv.Rows {
		inv.Rows[i].details(&b)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write inventory: %w", err)
	}
	return nil
}

func (inv Inventory) table(b *strings.Builder, scope Scope, evidence func(string) Evidence) {
	head := []string{"profile", "workload", "checkpoint", "revision", "precision", "shape", "steps / guidance / seed", "native Task"}
	if evidence != nil {
		head = append(head, "status")
	}
	line(b, head)
	line(b, strings.Split(strings.Repeat("---,", len(head)-1)+"---", ","))
	for _, r := range inv.Rows {
		if r.Scope != scope {
			continue
		}
		cells := []string{r.Profile, r.Workload, or(r.Checkpoint), r.revision(), or(r.Precision), r.shape(), r.sampling(), r.tasks()}
		if evidence != nil {
			status, _ := StatusOf(evidence(r.Profile))
			cells = append(cells, string(status))
		}
		line(b, cells)
	}
}

func line(b *strings.Builder, cells []string) {
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(c, "|", "\\|")
	}
	b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}

// or returns a dash for what is not pinned.
func or(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func (r *Row) revision() string {
	switch {
	case r.Revision == "":
		return "not pinned"
	case r.RevisionNote != "":
		return r.Revision + "..."
	}
	return r.Revision
}

func (r *Row) shape() string {
	switch {
	case r.Shape != nil && r.Shape.FPS > 0:
		return fmt.Sprintf("%dx%d, %d frames, %g fps", r.Shape.Width, r.Shape.Height, r.Shape.Frames, r.Shape.FPS)
	case r.Shape != nil:
		return fmt.Sprintf("%dx%d, %d frames", r.Shape.Width, r.Shape.Height, r.Shape.Frames)
	case r.MaxTokens > 0:
		return fmt.Sprintf("%d tokens", r.MaxTokens)
	}
	return "-"
}

func (r *Row) sampling() string {
	if r.Steps == 0 && r.Guidance == 0 && r.Seed == nil {
		return "-"
	}
	parts := []string{"-", "-", "-"}
	if r.Steps > 0 {
		parts[0] = fmt.Sprint(r.Steps)
	}
	if r.Guidance > 0 {
		parts[1] = fmt.Sprintf("%.1f", r.Guidance)
	}
	if r.Seed != nil {
		parts[2] = fmt.Sprint(*r.Seed)
	}
	return strings.Join(parts, " / ")
}

func (r *Row) tasks() string {
	names := make([]string, len(r.Tasks))
	for i, id := range r.Tasks {
		names[i] = string(id)
	}
	return strings.Join(names, ", ")
}

func (r *Row) details(b *strings.Builder) {
	fmt.Fprintf(b, "\n### %s\n", r.Profile)
	item := func(label, text string) {
		if text != "" {
			fmt.Fprintf(b, "- %s: %s\n", label, text)
		}
	}
	item("variant of", r.Of)
	item("gap", r.Gap)
	item("revision", r.RevisionNote)
	item("Task of the manifest", string(r.ManifestTask))
	item("conditions", r.Conditions)
	names := make([]string, len(r.Controls))
	for i, c := range r.Controls {
		names[i] = fmt.Sprintf("%s (%s, default %s)", c.Name, c.Kind, plain(c.Default))
	}
	item("pinned controls", strings.Join(names, ", "))
	item("controls", r.ControlsNote)
	item("sources", strings.Join(r.Sources, ", "))
}

// WriteMarkdown writes the comparison as a section.
func (r Reconciliation) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s against the loaded model\nRuntime %s, family %s.\n", r.Profile, r.Runtime, or(r.Family))
	if r.Reference {
		b.WriteString("This is the CPU reference runtime: the model stands in for the checkpoint and is not it.\n")
	}
	for _, s := range r.Agree {
		b.WriteString("- agrees: " + s + "\n")
	}
	for _, s := range r.Disagree {
		b.WriteString("- disagrees: " + s + "\n")
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write reconciliation: %w", err)
	}
	return nil
}
