package record_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/internal/jsonscan/scantest"
	"github.com/trtmc-go/trtmc/serving/record"
)

// full has every member of a record, in values that are hard to read.
const full = `{"schema":1,"request_id":"a\ud83d\ude00\ud800b","request_id_source":"client","route":"/v1/\u0063\/","model":"é","runtime":"r","reference":true,"lane":-0,` +
	`"streaming":true,"outcome":"failed","reason":"task_error","stage":"running","status":500,"error":"a \"b\" \\","clock":"CLOCK_MONOTONIC",` +
	`"wall_base_unix_ns":9223372036854775807,"arrived_ns":-9223372036854775808,"enqueued_ns":12345678,"admitted_ns":1234567890123456,"task_call_start_ns":4,` +
	`"task_call_end_ns":null,"first_byte_ns":6,"last_byte_ns":7,"queue_ns":8,"public_task_call_wall_ns":9,"handling_ns":10,"queue_depth":11,"bytes_in":12,"bytes_out":13,` +
	`"settings":{"a":1,"b":[true,null,"x",{"c":-1.5e3}],"a":2},"task":"t","text":{"prompt_bytes":1,"prompt_words":2,"prompt_tokens":3,"completion_tokens":4,` +
	`"token_source":"unavailable","max_tokens":5,"finish_reason":"stop","deltas":6,"setup_ms":0.1,"prefill_ms":1E-3,"decode_ms":5e-324,"forced_length":true},` +
	`"ranking":{"passages":1,"query_bytes":2,"query_words":3,"passage_bytes":4,"passage_words":5,"tokens":6,"score_kind":"k"},"video":{"job_id":"j","frames":1,` +
	`"width":2,"height":3,"fps_num":4,"fps_den":5,"duration_seconds":6.5,"steps":7,"seed":8,"setup_ms":9.5,"inference_ms":10.25,"encode_ns":11,"frames_sha256":"f",` +
	`"planes_sha256":"p","file_sha256":"s","file_bytes":12,"polls":13,"answered_ns":14,"finished_ns":15}}`

// checkAgainstOracle compares what a Reader makes of lines with what encoding/json does. Lines hold no line feed.
func checkAgainstOracle(t testing.TB, reuse bool, lines []string) {
	r := record.NewReader(strings.NewReader(strings.Join(lines, "\n")+"\n"), "f")
	r.Reuse = reuse
	for _, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		if !r.Scan() {
			t.Fatalf("no entry for %q", line)
		}
		got, bad := r.Entry()
		want := record.Record{Lane: -1}
		verdict := scantest.Decode([]byte(line), &want)
		if verdict == scantest.Unsure {
			continue
		}
		known := want.Outcome == record.Completed || want.Outcome == record.Rejected || want.Outcome == record.Failed
		accept := verdict == scantest.Accept && want.Schema == record.Schema && want.RequestID != "" && known
		if accept != (bad == nil) {
			t.Fatalf("accepted %t, want %t (%v): %s", bad == nil, accept, bad, line)
		}
		if accept && !reflect.DeepEqual(want, *got) {
			require.Equal(t, want, *got, "%s", line)
		}
	}
}

func TestReaderReadsAsEncodingJSONDoes(t *testing.T) {
	checkAgainstOracle(t, false, []string{full, good, full})
	scantest.Mutants(full, func(lines []string) { checkAgainstOracle(t, len(lines[0])%2 == 0, lines) })
}

func FuzzReaderAgainstEncodingJSON(f *testing.F) {
	f.Add(full)
	f.Add(good + "\n" + full)
	f.Add(" { } ")
	f.Fuzz(func(t *testing.T, text string) {
		for _, reuse := range []bool{false, true} {
			checkAgainstOracle(t, reuse, strings.Split(text, "\n"))
		}
	})
}

func TestKnownNameTwiceIsRefused(t *testing.T) {
	for line, name := range map[string]string{
		strings.Replace(good, `"status":429`, `"status":429,"status":429`, 1):                       "status",
		strings.Replace(good, `"status":429`, `"status":429,"st\u0061tus":200`, 1):                  "status",
		strings.Replace(good, `"status":429`, `"text":{"deltas":1,"prompt_bytes":1,"deltas":2}`, 1): "deltas",
	} {
		require.Equal(t, []string{`f:1: not a record: "` + name + `" stands twice in one object`}, read(t, strings.NewReader(line)))
	}
}

func TestRecordsAreTheCallersUnlessReused(t *testing.T) {
	other := strings.NewReplacer(`"a\ud83d\ude00\ud800b"`, `"b"`, `:5`, `:7`, `"seed":8`, `"seed":9`, `"a":2`, `"a":3`).Replace(full)
	r := record.NewReader(strings.NewReader(full+"\n"+other), "f")
	require.True(t, r.Scan())
	first, _ := r.Entry()
	require.True(t, r.Scan())
	second, _ := r.Entry()
	var want record.Record
	require.Equal(t, scantest.Accept, scantest.Decode([]byte(full), &want))
	require.Equal(t, want, *first)
	require.NotEqual(t, want, *second)

	r = record.NewReader(strings.NewReader(full+"\n"+other), "f")
	r.Reuse = true
	require.True(t, r.Scan())
	first, _ = r.Entry()
	require.True(t, r.Scan())
	second, _ = r.Entry()
	require.Same(t, first, second)
}

func TestReusedRecordsCostHardlyAnyMemory(t *testing.T) {
	const n = 2000
	rec := completed("0123456789abcdef0123456789abcdef")
	line, err := record.AppendRecord(nil, &rec)
	require.NoError(t, err)
	r := record.NewReader(strings.NewReader(strings.Repeat(string(line), n)), "f")
	r.Reuse = true
	allocs := testing.AllocsPerRun(n-100, func() {
		if !r.Scan() {
			t.Fatal("no record")
		}
	})
	require.LessOrEqual(t, allocs, 2.0, "two settings are numbers")
}
