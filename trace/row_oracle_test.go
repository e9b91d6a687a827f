package trace_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/internal/jsonscan/scantest"
	"github.com/trtmc-go/trtmc/trace"
)

// fullRow has every member of a row, in values that are hard to read.
const fullRow = `{"schema":1,"request_id":"a\ud83d\ude00\udc00","phase":"measured","workload":"w/\u00e9","clock":"CLOCK_MONOTONIC","wall_base_unix_ns":9223372036854775807,` +
	`"offered_offset_ns":-9223372036854775808,"scheduled_ns":12345678,"sent_ns":123456789,"first_byte_ns":-0,"first_content_ns":1234567890123456,"last_content_ns":12345678901234567,` +
	`"last_byte_ns":8,"ended_ns":9,"status":200,"result":"ok","error":"a \"b\" \\ é","error_code":"c","retry_after_ms":1.5e3,"bytes_out":10,"bytes_in":11,"prompt_tokens":12,` +
	`"completion_tokens":null,"content_chunks":2,"finish_reason":"stop","new_connection":true,"response":{"a":[1.5,{"b":null}],"a":"x"},"response_sha256":"00",` +
	`"video":{"job_id":"j","state":"completed","polls":2,"poll_ns":3,"created_ns":4,"download_start_ns":5,"download_end_ns":6,"artifact_bytes":7,"artifact_sha256":"s","queue_ns":8,"task_call_ns":9,"encode_ns":10}}`

// checkRowsAgainstOracle compares what a RowReader makes of lines with what encoding/json does. Lines hold no line feed.
func checkRowsAgainstOracle(t testing.TB, reuse bool, lines []string) {
	// The first line is there because a byte order mark before it would be passed over.
	r := trace.NewRowReader(strings.NewReader("first\n"+strings.Join(lines, "\n")+"\n"), "f")
	r.Reuse = reuse
	require.True(t, r.Scan())
	for _, line := range lines {
		if strings.Trim(line, " \t\r") == "" {
			continue
		}
		if !r.Scan() {
			t.Fatalf("no entry for %q", line)
		}
		got, bad := r.Row()
		var want trace.Row
		verdict := scantest.Decode([]byte(line), &want)
		if verdict == scantest.Unsure {
			continue
		}
		accept := verdict == scantest.Accept && want.Schema == trace.RowSchema && want.RequestID != "" && want.Result != ""
		if accept != (bad == nil) {
			t.Fatalf("accepted %t, want %t (%v): %s", bad == nil, accept, bad, line)
		}
		if accept && !reflect.DeepEqual(want, *got) {
			require.Equal(t, want, *got, "%s", line)
		}
	}
}

func TestRowReaderReadsAsEncodingJSONDoes(t *testing.T) {
	checkRowsAgainstOracle(t, false, []string{fullRow, fullRow})
	scantest.Mutants(fullRow, func(lines []string) { checkRowsAgainstOracle(t, len(lines[0])%2 == 0, lines) })
}

func FuzzRowReaderAgainstEncodingJSON(f *testing.F) {
	f.Add(fullRow)
	f.Add(`{"response":null,"schema":1,"result":"ok","request_id":"a","later":[{}]}` + "\n" + fullRow)
	f.Fuzz(func(t *testing.T, text string) {
		for _, reuse := range []bool{false, true} {
			checkRowsAgainstOracle(t, reuse, strings.Split(text, "\n"))
		}
	})
}

func TestRowsAreTheCallersUnlessReused(t *testing.T) {
	other := strings.NewReplacer(`"a\ud83d`, `"b\ud83d`, `:12,`, `:13,`, `"polls":2`, `"polls":3`, `1.5,`, `2.5,`).Replace(fullRow)
	r := trace.NewRowReader(strings.NewReader(fullRow+"\n"+other), "f")
	require.True(t, r.Scan())
	first, _ := r.Row()
	require.True(t, r.Scan())
	second, _ := r.Row()
	var want trace.Row
	require.Equal(t, scantest.Accept, scantest.Decode([]byte(fullRow), &want))
	require.Equal(t, want, *first)
	require.NotEqual(t, want, *second)

	r = trace.NewRowReader(strings.NewReader(fullRow+"\n"+other), "f")
	r.Reuse = true
	require.True(t, r.Scan())
	first, _ = r.Row()
	response := first.Response
	require.True(t, r.Scan())
	second, _ = r.Row()
	require.Same(t, first, second)
	require.Equal(t, want.Response, response, "answers are the caller's")
}

func TestReusedRowsCostHardlyAnyMemory(t *testing.T) {
	const n = 2000
	line := strings.Replace(fullRow, `"response":{"a":[1.5,{"b":null}],"a":"x"},`, "", 1)
	line = strings.NewReplacer(`a\ud83d\ude00\udc00`, strings.Repeat("a", 32), `w/\u00e9`, "w", `a \"b\" \\ é`, "refused").Replace(line) + "\n"
	r := trace.NewRowReader(strings.NewReader(strings.Repeat(line, n)), "f")
	r.Reuse = true
	require.Zero(t, testing.AllocsPerRun(n-100, func() {
		if !r.Scan() {
			t.Fatal("no row")
		}
	}))
}
