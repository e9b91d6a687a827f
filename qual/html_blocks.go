package qual

import (
	"regexp"
	"strings"
)

// block is one piece of a report: a heading, a paragraph, a list or a table. The HTML page is made from the blocks of
// the Markdown report, so that the two say the same.
type block struct {
	Level int // of a heading, else 0
	Text  string
	Items []string
	Table *blockTable
}

// blockTable is a table whose columns know whether they hold numbers.
type blockTable struct {
	Header  []blockCell
	Rows    [][]blockCell
	Headed  bool // the header has text
	Narrow  bool // two columns: a name and a text
	Verdict bool // the first column says held or FAILED
}

// blockCell is one cell.
type blockCell struct {
	Text   string
	Number bool // in a column of numbers
	Long   bool // in a column of sentences
}

// parseBlocks reads the Markdown that this package writes; it is no reader for any other.
func parseBlocks(markdown string) []block {
	var out []block
	lines := strings.Split(markdown, "\n")
	for i := 0; i < len(lines); {
		line := lines[i]
		switch {
		case strings.TrimSpace(line) == "":
			i++
		case strings.HasPrefix(line, "#"):
			level := len(line) - len(strings.TrimLeft(line, "#"))
			out = append(out, block{Level: level, Text: plainText(line[level:])})
			i++
		case strings.HasPrefix(line, "| "):
			n := countWhile(lines[i:], func(l string) bool { return strings.HasPrefix(l, "|") })
			out = append(out, block{Table: parseTable(lines[i : i+n])})
			i += n
		case strings.HasPrefix(line, "- "):
			n := countWhile(lines[i:], func(l string) bool { return strings.HasPrefix(l, "- ") })
			var b block
			for _, l := range lines[i : i+n] {
				b.Items = append(b.Items, plainText(l[2:]))
			}
			out = append(out, b)
			i += n
		default:
			n := countWhile(lines[i:], func(l string) bool {
				return l != "" && !strings.ContainsAny(l[:1], "#|") && !strings.HasPrefix(l, "- ")
			})
			n = max(n, 1)
			if text := plainText(strings.Join(lines[i:i+n], " ")); text != "" {
				out = append(out, block{Text: text})
			}
			i += n
		}
	}
	return out
}

func countWhile(lines []string, ok func(string) bool) int {
	for i, l := range lines {
		if !ok(l) {
			return i
		}
	}
	return len(lines)
}

// markdownLink is a link or, with the exclamation mark, a picture; the page has clips and posters of its own.
var markdownLink = regexp.MustCompile(`!?\[([^\[\]]*)\]\([^()\s]*\)`)

// plainText undoes what [escapeCell] and the writer's own marks did; of links their words stay.
func plainText(s string) string {
	s = markdownLink.ReplaceAllStringFunc(s, func(link string) string {
		if strings.HasPrefix(link, "!") {
			return ""
		}
		return markdownLink.FindStringSubmatch(link)[1]
	})
	return strings.TrimSpace(strings.NewReplacer(`\|`, "|", "&lt;", "<", "&gt;", ">", "**", "", "`", "").Replace(s))
}

// number matches what stands in columns of numbers.
var number = regexp.MustCompile(`^([-+]?[0-9][0-9.,]*( ?%| of [0-9]+)?|too few|not reached|)$`)

func parseTable(lines []string) *blockTable {
	t := &blockTable{Narrow: true}
	t.Header = parseRow(lines[0])
	for _, l := range lines[min(2, len(lines)):] {
		t.Rows = append(t.Rows, parseRow(l))
	}
	for _, h := range t.Header {
		t.Headed = t.Headed || h.Text != ""
	}
	t.Narrow = len(t.Header) == 2 && !t.Headed
	for col := range t.Header {
		numbers, verdicts, long := len(t.Rows) > 0, len(t.Rows) > 0, false
		for _, r := range t.Rows {
			long = long || col < len(r) && len(r[col].Text) > 28
			numbers = numbers && (col >= len(r) || number.MatchString(r[col].Text))
			verdicts = verdicts && col < len(r) && (r[col].Text == "held" || r[col].Text == "FAILED")
		}
		t.Verdict = t.Verdict || col == 0 && verdicts
		t.Header[col].Number = numbers
		for _, r := range t.Rows {
			if col < len(r) {
				r[col].Number, r[col].Long = numbers, long
			}
		}
	}
	return t
}

// parseRow splits a row at the bars that are not escaped.
func parseRow(line string) []blockCell {
	var out []blockCell
	line = strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|")
	start := 0
	for i := 0; i <= len(line); i++ {
		if i == len(line) || line[i] == '|' && (i == 0 || line[i-1] != '\\') {
			out = append(out, blockCell{Text: plainText(line[start:i])})
			start = i + 1
		}
	}
	return out
}
