package trace_test

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/trtmc-go/trtmc/trace"
)

const conversation = "testdata/mooncake-conversation-first-900s.jsonl.gz"

// scanner is what all readers have.
type scanner interface {
	Scan() bool
	Record() trace.Record
	Err() error
}

// readAll returns the requests and the bad lines.
func readAll(t testing.TB, r scanner) (good []*trace.Request, bad []*trace.SyntaxError) {
	t.Helper()
	for r.Scan() {
		switch rec := r.Record().(type) {
		case *trace.Request:
			good = append(good, rec)
		case *trace.SyntaxError:
			bad = append(bad, rec)
		default:
			t.Fatalf("record %T", rec)
		}
	}
	require.NoError(t, r.Err())
	return good, bad
}

func mooncake(t testing.TB, text string, opts trace.MooncakeOptions) ([]*trace.Request, []*trace.SyntaxError) {
	t.Helper()
	return readAll(t, trace.NewMooncakeReader(strings.NewReader(text), "in.jsonl", opts))
}

func offsets(reqs []*trace.Request) []time.Duration {
	out := make([]time.Duration, len(reqs))
	for i, r := range reqs {
		out[i] = r.Offset
	}
	return out
}

func TestMooncakeRow(t *testing.T) {
	good, bad := mooncake(t, `{"timestamp": 27482, "input_length": 600, "output_length": 52, "hash_ids": [46, 4294967295], "session_id": "a\u00e9", "x": {"y": [1, "\"}"]}}`, trace.MooncakeOptions{})
	require.Empty(t, bad)
	require.Equal(t, []*trace.Request{{
		Pos: trace.Pos{File: "in.jsonl", Line: 1}, Offset: 27482 * time.Millisecond,
		InputTokens: 600, OutputTokens: 52, BlockIDs: []uint32{46, 4294967295}, SessionID: "aé",
	}}, good)
}

func TestMooncakeMembersInAnyOrderAndLiteralRows(t *testing.T) {
	good, bad := mooncake(t, strings.Join([]string{
		`{"hash_ids":[],"output_length":null,"input_length":5,"timestamp":1}`,
		`{"text_input":"héllo \"you\"","timestamp":2,"output_length":7,"extra":{"min_tokens":3}}`,
		`{"messages":[{"role":"user","content":"x"}],"tools":[{"type":"function"}],"timestamp":3}`,
		"\t" + `{"payload": {"model":"m", "prompt":"p"} , "timestamp" : 4.5e0 , "\u0073ession_id":"s"}` + "\r",
	}, "\n"), trace.MooncakeOptions{})
	require.Empty(t, bad)
	require.Len(t, good, 4)
	require.Equal(t, trace.LiteralNone, good[0].Kind)
	require.Equal(t, `"héllo \"you\""`, string(good[1].Literal))
	require.Equal(t, trace.LiteralText, good[1].Kind)
	require.Equal(t, `{"min_tokens":3}`, string(good[1].Extra))
	require.Equal(t, 7, good[1].OutputTokens)
	require.Equal(t, trace.LiteralMessages, good[2].Kind)
	require.Equal(t, `[{"type":"function"}]`, string(good[2].Tools))
	require.Equal(t, trace.LiteralPayload, good[3].Kind)
	require.Equal(t, `{"model":"m", "prompt":"p"}`, string(good[3].Literal))
	require.Equal(t, 4500*time.Microsecond, good[3].Offset)
	require.Equal(t, "s", good[3].SessionID)
}

func TestMooncakeBadLines(t *testing.T) {
	for line, want := range map[string]string{
		`[]`:                                   "want a JSON object",
		`{}`:                                   "timestamp is missing",
		`{"timestamp":1}`:                      "the prompt is missing",
		`{"input_length":1}`:                   "timestamp is missing",
		`{"timestamp":null,"input_length":1}`:  "timestamp",
		`{"timestamp":"1","input_length":1}`:   `found "\"1\",`,
		`{"timestamp":01,"input_length":1}`:    "timestamp",
		`{"timestamp":1.,"input_length":1}`:    "timestamp",
		`{"timestamp":1e,"input_length":1}`:    "timestamp",
		`{"timestamp":-1,"input_length":1}`:    "timestamp -1 is out of range",
		`{"timestamp":1e400,"input_length":1}`: "out of range",
		`{"timestamp":1e99999999999999999999,"input_length":1}`:                  "out of range",
		`{"timestamp":9223372036855,"input_length":1}`:                           "out of range",
		`{"timestamp":1,"timestamp":1,"input_length":1}`:                         "timestamp is there twice",
		`{"timestamp":1,"\u0074imestamp":1,"input_length":1}`:                    "timestamp is there twice",
		`{"timestamp":1,"input_length":01}`:                                      "leading zeros",
		`{"timestamp":1,"input_length":-1}`:                                      "whole number",
		`{"timestamp":1,"input_length":1e3}`:                                     "whole number",
		`{"timestamp":1,"input_length":1000000000}`:                              "input_length is out of range",
		`{"timestamp":1,"input_length":1,"text_input":"x"}`:                      "more than one prompt",
		`{"timestamp":1,"text_input":"x","hash_ids":[1]}`:                        "hash_ids without input_length",
		`{"timestamp":1,"text_input":["x"]}`:                                     "text_input: ",
		`{"timestamp":1,"messages":"x"}`:                                         "messages: ",
		`{"timestamp":1,"payload":[]}`:                                           "payload: ",
		`{"timestamp":1,"input_length":1,"delay":5}`:                             "no delay",
		`{"timestamp":1,"input_length":1,"hash_ids":[01]}`:                       "hash_ids: ",
		`{"timestamp":1,"input_length":1,"hash_ids":[4294967296]}`:               "hash_ids: ",
		`{"timestamp":1,"input_length":1,"hash_ids":[1.5]}`:                      "hash_ids: ",
		`{"timestamp":1,"input_length":1,"hash_ids":[-1]}`:                       "hash_ids: ",
		`{"timestamp":1,"input_length":1,"hash_ids":[1,]}`:                       "hash_ids: ",
		`{"timestamp":1,"input_length":1,"hash_ids":[1 2]}`:                      "hash_ids: ",
		`{"timestamp":1,"input_length":1,"hash_ids":[1`:                          "hash_ids: ",
		`{"timestamp":1,"input_length":1`:                                        "line ends",
		`{"timestamp":1,"input_length":1,}`:                                      "member name",
		`{"timestamp":1 "input_length":1}`:                                       "want ','",
		`{"timestamp":1,"input_length":1,"x":tru}`:                               "a value",
		`{"timestamp":1,"input_length":1,"x":"` + "\x01" + `"}`:                  "valid string",
		`{"timestamp":1,"input_length":1,"x":"` + "\xff" + `"}`:                  "UTF-8",
		`{"timestamp":1,"input_length":1,"x":"\q"}`:                              "valid string",
		`{"timestamp":1,"input_length":1}{}`:                                     "nothing after the row",
		`{"timestamp":1,"input_length":1,"x":` + strings.Repeat("[", 5000) + `}`: "nested deeper",
	} {
		good, bad := mooncake(t, "\n"+line+"\n{\"timestamp\":1,\"input_length\":1}\n", trace.MooncakeOptions{})
		require.Len(t, bad, 1, line)
		require.Contains(t, bad[0].Error(), "in.jsonl:2: ", line)
		require.Contains(t, bad[0].Msg, want, line)
		require.Len(t, good, 1, "reading goes on after %s", line)
	}
}

func TestCase_A03(t *testing.T) {
	text := `{"timestamp":0,"input_length":10,"output_length":5,"hash_ids":[0]}
{"timestamp":200,"input_length":20,"output_length":8,"hash_ids":[0,1]}
{"timestamp":400,"input_length":15,"output_length":6,"hash_ids":[2]}
`
	good, bad := mooncake(t, text, trace.MooncakeOptions{BlockSize: 512})
	require.Len(t, good, 2)
	require.Len(t, bad, 1)
	require.Equal(t, 2, bad[0].Line)
	for _, part := range []string{"input_length 20", "2 hash_ids", "block size 512"} {
		require.Contains(t, bad[0].Msg, part)
	}
	good, bad = mooncake(t, text, trace.MooncakeOptions{BlockSize: 15})
	require.Empty(t, bad)
	require.Len(t, good, 3)
	// The neighbour: more tokens than the blocks hold.
	_, bad = mooncake(t, `{"timestamp":0,"input_length":513,"hash_ids":[7]}`, trace.MooncakeOptions{})
	require.Len(t, bad, 1)
}

func TestCase_A04(t *testing.T) {
	src, err := trace.Open("testdata/mooncake-conversation-rows-7728-7729-7733.jsonl")
	require.NoError(t, err)
	defer src.Close()
	good, bad := readAll(t, trace.NewMooncakeReader(src, src.Name(), trace.MooncakeOptions{}))
	require.Empty(t, bad)
	require.Equal(t, []time.Duration{2369999e6, 2369999e6, 2369999e6}, offsets(good))
	require.Equal(t, good[0].BlockIDs, good[2].BlockIDs, "the equal rows of the published file")
	require.Equal(t, []int{901, 4531, 901}, []int{good[0].InputTokens, good[1].InputTokens, good[2].InputTokens})

	plan, err := trace.NewSchedule(offsets(good), trace.Plan{Speed: 1})
	require.NoError(t, err)
	require.Equal(t, 3, plan.Len())
	for i := range 3 {
		require.Equal(t, i, plan.Row(i), "file order is kept")
		require.Zero(t, plan.At(i))
	}
}

func TestRealConversationTrace(t *testing.T) {
	src, err := trace.Open(conversation)
	require.NoError(t, err)
	defer src.Close()
	good, bad := readAll(t, trace.NewMooncakeReader(src, src.Name(), trace.MooncakeOptions{}))
	require.Empty(t, bad)
	require.Len(t, good, 2728)
	require.Equal(t, 899999*time.Millisecond, good[2727].Offset)
	sum, err := src.SHA256()
	require.NoError(t, err)
	readme, err := os.ReadFile("testdata/README.md")
	require.NoError(t, err)
	require.Contains(t, string(readme), sum)
}

func TestCase_A06(t *testing.T) {
	text := `{"timestamp":0.0,"input_length":600,"output_length":5,"hash_ids":[0,1]}
{"timestamp":0.2,"input_length":620,"output_length":8,"hash_ids":[0,1]}
{"timestamp":0.4,"input_length":640,"output_length":6,"hash_ids":[0,2]}
`
	ms, bad := mooncake(t, text, trace.MooncakeOptions{Unit: trace.Milliseconds})
	require.Empty(t, bad)
	require.Equal(t, []time.Duration{0, 200_000, 400_000}, offsets(ms))
	s, bad := mooncake(t, text, trace.MooncakeOptions{Unit: trace.Seconds})
	require.Empty(t, bad)
	require.Equal(t, []time.Duration{0, 200_000_000, 400_000_000}, offsets(s))

	r := trace.NewMooncakeReader(strings.NewReader(text), "in.jsonl", trace.MooncakeOptions{Unit: "minutes"})
	require.False(t, r.Scan())
	require.ErrorContains(t, r.Err(), `time unit "minutes"`)
}

func TestTimestampsAreExact(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0.1": 100_000, "1234567.891011": 1234567891011, "27.482000000000003": 27_482_000, "1e3": 1e9, "1E-6": 1, "0.0000005": 1,
		"0.0000004999": 0, "9007199254740.993": 9007199254740993000, "9223372036854.775807": math.MaxInt64, "-0": 0, "1e-400": 0,
	} {
		good, bad := mooncake(t, `{"timestamp":`+text+`,"input_length":1}`, trace.MooncakeOptions{})
		require.Empty(t, bad, text)
		require.Equal(t, want, good[0].Offset, text)
	}
}

func TestCase_A13(t *testing.T) {
	text := `{"timestamp":0,"input_length":8}` + "\n" + `{"timestamp":5,"input_length":9}` + "\n"
	plain, bad := mooncake(t, text, trace.MooncakeOptions{})
	require.Empty(t, bad)
	marked, bad := mooncake(t, "\xef\xbb\xbf"+text, trace.MooncakeOptions{})
	require.Empty(t, bad)
	require.Equal(t, plain, marked)

	good, bad := mooncake(t, text+"\xef\xbb\xbf"+text, trace.MooncakeOptions{})
	require.Len(t, good, 3)
	require.Len(t, bad, 1)
	require.Equal(t, 3, bad[0].Line)
	require.Contains(t, bad[0].Msg, "byte order mark")
}

func TestCase_A15(t *testing.T) {
	for _, line := range []string{
		`{"timestamp":NaN,"input_length":8}`,
		`{"timestamp":1e400,"input_length":8}`,
		`{"timestamp":-5,"input_length":8}`,
		`{"timestamp":0,"input_length":0}`,
		`{"timestamp":0,"input_length":8.5}`,
		`{"timestamp":0,"input_length":8}, `,
		`{"timestamp":0,"input_length":8} {"timestamp":1,"input_length":8}`,
		`{"timestamp":0}`,
		`{"timestamp":Infinity,"input_length":8}`,
		`{"timestamp":0,"input_length":8,"output_length":-1}`,
	} {
		good, bad := mooncake(t, line, trace.MooncakeOptions{})
		require.Empty(t, good, line)
		require.Len(t, bad, 1, line)
		require.Equal(t, 1, bad[0].Line)
		require.NotEmpty(t, bad[0].Msg)
	}
}

func TestCase_A18(t *testing.T) {
	small := `{"timestamp":0,"input_length":8}` + "\n"
	long := `{"timestamp":1,"text_input":"` + strings.Repeat("x", 70_000) + `"}` + "\n"
	good, bad := mooncake(t, small+long+small, trace.MooncakeOptions{})
	require.Empty(t, bad)
	require.Len(t, good, 3)
	require.Len(t, good[1].Literal, 70_002)

	good, bad = mooncake(t, small+long+small, trace.MooncakeOptions{MaxLine: 60_000})
	require.Len(t, good, 2)
	require.Len(t, bad, 1)
	require.Equal(t, 2, bad[0].Line)
	require.Contains(t, bad[0].Msg, "60000 bytes")
	require.Equal(t, 3, good[1].Line)
}

func TestLongLineIsDroppedWithoutBeingHeld(t *testing.T) {
	const limit = 1000
	long := strings.Repeat("x", 3<<20)
	good, bad := mooncake(t, long+"\n"+`{"timestamp":0,"input_length":8}`, trace.MooncakeOptions{MaxLine: limit})
	require.Len(t, bad, 1)
	require.False(t, bad[0].Torn)
	require.Len(t, good, 1)
	_, bad = mooncake(t, long, trace.MooncakeOptions{MaxLine: limit})
	require.Len(t, bad, 1)
	require.True(t, bad[0].Torn)
}

func TestReadErrorIsNotABadLine(t *testing.T) {
	text := `{"timestamp":0,"input_length":8}` + "\n" + `{"timestamp":1,"inp`
	r := trace.NewMooncakeReader(io.MultiReader(strings.NewReader(text), iotest.ErrReader(io.ErrClosedPipe)), "in.jsonl", trace.MooncakeOptions{})
	require.True(t, r.Scan())
	require.IsType(t, &trace.Request{}, r.Record())
	require.False(t, r.Scan())
	require.ErrorIs(t, r.Err(), io.ErrClosedPipe)
	require.ErrorContains(t, r.Err(), "in.jsonl")
}

func TestReuseGivesTheSameRequests(t *testing.T) {
	src, err := trace.Open(conversation)
	require.NoError(t, err)
	defer src.Close()
	data, err := io.ReadAll(src)
	require.NoError(t, err)
	fresh, bad := mooncake(t, string(data), trace.MooncakeOptions{})
	require.Empty(t, bad)
	r := trace.NewMooncakeReader(iotest.HalfReader(bytes.NewReader(data)), "in.jsonl", trace.MooncakeOptions{Reuse: true})
	i := 0
	for rec := range r.All() {
		req := rec.(*trace.Request)
		require.Equal(t, fresh[i].Pos, req.Pos)
		require.Equal(t, fresh[i].Offset, req.Offset)
		require.Equal(t, fresh[i].BlockIDs, req.BlockIDs)
		require.Equal(t, fresh[i].InputTokens, req.InputTokens)
		require.Equal(t, fresh[i].OutputTokens, req.OutputTokens)
		i++
	}
	require.Len(t, fresh, i)
	require.NoError(t, r.Err())
}

// loop repeats a text without end.
type loop struct {
	text []byte
	at   int
}

func (l *loop) Read(p []byte) (int, error) {
	n := copy(p, l.text[l.at:])
	l.at = (l.at + n) % len(l.text)
	return n, nil
}

func TestReuseAllocatesNothing(t *testing.T) {
	src, err := trace.Open(conversation)
	require.NoError(t, err)
	defer src.Close()
	data, err := io.ReadAll(src)
	require.NoError(t, err)
	r := trace.NewMooncakeReader(&loop{text: data}, "in.jsonl", trace.MooncakeOptions{Reuse: true})
	scan := func() {
		for range 2728 {
			if !r.Scan() {
				t.Fatal(r.Err())
			}
		}
	}
	scan()
	require.Zero(t, testing.AllocsPerRun(3, scan))
}

func TestAnyRowReadsAsEncodingJSONReadsIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 30).Draw(t, "blocks")
		ids := rapid.SliceOfN(rapid.Uint32(), n, n).Draw(t, "ids")
		input := rapid.IntRange(1, 512).Draw(t, "input") + max(n-1, 0)*512
		sep := rapid.SampledFrom([]string{", ", ",", " ,\t"}).Draw(t, "separator")
		text := strings.ReplaceAll(strings.Trim(fmt.Sprint(ids), "[]"), " ", sep)
		stamp := fmt.Sprintf("%d.%d", rapid.Int64Range(0, 1e12).Draw(t, "ms"), rapid.Uint32().Draw(t, "fraction"))
		line := fmt.Sprintf(`{"hash_ids":[%s]%s"timestamp":%s%s"output_length":%d%s"input_length":%d}`,
			text, sep, stamp, sep, rapid.IntRange(0, 5000).Draw(t, "output"), sep, input)
		want, ok := oracle([]byte(line))
		if !ok {
			t.Fatalf("oracle refuses %s", line)
		}
		r := trace.NewMooncakeReader(strings.NewReader(line), "in.jsonl", trace.MooncakeOptions{})
		if !r.Scan() {
			t.Fatal("no record")
		}
		require.Equal(t, trace.Record(want), r.Record(), line)
	})
}
