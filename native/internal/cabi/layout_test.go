package cabi

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// layoutRow is one line of testdata/native-abi-v1-layout.tsv, whose columns its first lines explain.
type layoutRow struct {
	line                                                  int
	record, container, member, offset, size, ctype, notes string
}

func (r layoutRow) note(key string) string {
	for _, f := range strings.Fields(r.notes) {
		if v, ok := strings.CutPrefix(f, key+"="); ok {
			return v
		}
	}
	return ""
}

func readLayout(t *testing.T) []layoutRow {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "native-abi-v1-layout.tsv"))
	require.NoError(t, err)
	var rows []layoutRow
	for i, line := range strings.Split(strings.TrimRight(string(data), "\n"), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		c := strings.Split(line, "\t")
		require.Len(t, c, 7, "line %d", i+1)
		rows = append(rows, layoutRow{i + 1, c[0], c[1], c[2], c[3], c[4], c[5], c[6]})
	}
	return rows
}

// assertions turns the rows into C that compiles exactly when the header agrees with them.
func assertions(t *testing.T, rows []layoutRow) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("#include <stddef.h>\n#include \"trtmc_abi.h\"\n")
	for _, r := range rows {
		for _, cond := range conditions(t, r) {
			fmt.Fprintf(&b, "_Static_assert(%s, \"line %d: %s %s %s\");\n", cond, r.line, r.record, r.container, r.member)
		}
	}
	return b.String()
}

func conditions(t *testing.T, r layoutRow) []string {
	t.Helper()
	place := []string{
		fmt.Sprintf("offsetof(%s, %s) == %s", r.container, r.member, r.offset),
		fmt.Sprintf("sizeof(((%s*)0)->%s) == %s", r.container, r.member, r.size),
	}
	typed := func(ctype string) string {
		return fmt.Sprintf("__builtin_types_compatible_p(__typeof__(((%s*)0)->%s), %s)", r.container, r.member, ctype)
	}
	switch r.record {
	case "opaque":
		return []string{fmt.Sprintf("sizeof(%s*) == 8", r.container)}
	case "struct", "table":
		return []string{
			fmt.Sprintf("sizeof(%s) == %s", r.container, r.size),
			fmt.Sprintf("_Alignof(%s) == %s", r.container, r.note("align")),
		}
	case "union":
		return place
	case "field", "umember":
		return append(place, typed(r.ctype))
	case "fn":
		slot, err := strconv.Atoi(r.note("slot"))
		require.NoError(t, err)
		result, params, ok := strings.Cut(r.ctype, "(")
		require.True(t, ok)
		return append(place, fmt.Sprintf("offsetof(%s, %s) == %d", r.container, r.member, 16+8*slot), typed(result+"(*)("+params))
	case "const":
		return []string{fmt.Sprintf("%s == %s", r.member, r.note("value")), fmt.Sprintf("sizeof(%s) == %s", r.member, r.size)}
	case "task_id":
		return []string{fmt.Sprintf("__builtin_strcmp(%s, %q) == 0", r.member, r.note("value"))}
	}
	t.Fatalf("line %d: unknown record %q", r.line, r.record)
	return nil
}

// compiles gives the source to the C compiler and returns what it says.
func compiles(t *testing.T, source string) (string, bool) {
	t.Helper()
	cc := exec.Command(cmp.Or(os.Getenv("CC"), "cc"), "-std=gnu11", "-fsyntax-only", "-I.", "-x", "c", "-")
	cc.Stdin = strings.NewReader(source)
	said, err := cc.CombinedOutput()
	return string(said), err == nil
}

func TestLayout(t *testing.T) {
	said, ok := compiles(t, assertions(t, readLayout(t)))
	require.True(t, ok, said)
}

func TestEveryStructOfTheHeaderIsInTheLayout(t *testing.T) {
	header, err := os.ReadFile("trtmc_abi.h")
	require.NoError(t, err)
	known := map[string]int{}
	for _, r := range readLayout(t) {
		known[r.container]++
	}
	for _, m := range regexp.MustCompile(`(?ms)^typedef struct (\w+) \{(.*?)^\} \w+;`).FindAllStringSubmatch(string(header), -1) {
		body := regexp.MustCompile(`(?s)union \{.*?\} `).ReplaceAllStringFunc(m[2], func(u string) string {
			return strings.Repeat("x;", strings.Count(u, ";"))
		})
		require.Equal(t, known[m[1]]-1, strings.Count(body, ";"), "members of %s", m[1])
	}
}

func TestLayoutCatchesAChangedRow(t *testing.T) {
	changes := []struct {
		name   string
		member string
		record string
		change func(*layoutRow)
	}{
		{"offset of a field", "prefill_ms", "field", func(r *layoutRow) { r.offset += "0" }},
		{"type of a field", "cuda_graphs", "field", func(r *layoutRow) { r.ctype = "int32_t" }},
		{"size of a struct", "", "struct", func(r *layoutRow) { r.size += "0" }},
		{"size of a table", "", "table", func(r *layoutRow) { r.size += "0" }},
		{"value", "TRTMC_BUSY", "const", func(r *layoutRow) { r.notes = "value=8" }},
		{"slot", "bundle_open", "fn", func(r *layoutRow) { r.notes = "slot=14" }},
		{"parameters", "result_release", "fn", func(r *layoutRow) { r.ctype = "void(trtmc_model*)" }},
		{"union member", "as.boolean", "umember", func(r *layoutRow) { r.size = "8" }},
		{"task id", "TRTMC_TASK_TEXT_TO_VIDEO", "task_id", func(r *layoutRow) { r.notes = "value=text_to_videos" }},
	}
	for _, c := range changes {
		t.Run(c.name, func(t *testing.T) {
			rows := readLayout(t)
			for i := range rows {
				if rows[i].record == c.record && rows[i].member == c.member {
					c.change(&rows[i])
					said, ok := compiles(t, assertions(t, rows))
					require.False(t, ok)
					require.Contains(t, said, fmt.Sprintf("line %d:", rows[i].line))
					return
				}
			}
			t.Fatalf("no row %s %s", c.record, c.member)
		})
	}
}
