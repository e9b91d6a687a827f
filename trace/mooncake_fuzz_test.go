package trace_test

import (
	"bytes"
	"encoding/json"
	"math/big"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/trace"
)

// exactNS turns milliseconds into nanoseconds with rational arithmetic, halves up.
func exactNS(text string) (time.Duration, bool) {
	if i := strings.IndexAny(text, "eE"); i >= 0 && len(text)-i > 4 {
		return 0, false // such an exponent would only cost time here
	}
	ms, ok := new(big.Rat).SetString(text)
	if !ok || ms.Sign() < 0 {
		return 0, false
	}
	ns := ms.Mul(ms, big.NewRat(1e6, 1))
	ns.Add(ns, big.NewRat(1, 2))
	whole := new(big.Int).Quo(ns.Num(), ns.Denom())
	return time.Duration(whole.Int64()), whole.IsInt64()
}

// oracle decides by encoding/json what a line of the documented shape says.
func oracle(line []byte) (*trace.Request, bool) {
	members := map[string]json.RawMessage{}
	dec := json.NewDecoder(bytes.NewReader(line))
	if dec.Decode(&members) != nil || members == nil || len(bytes.TrimSpace(line[dec.InputOffset():])) > 0 {
		return nil, false
	}
	var row struct {
		Timestamp json.Number `json:"timestamp"`
		Input     *uint32     `json:"input_length"`
		Output    *uint32     `json:"output_length"`
		IDs       []uint32    `json:"hash_ids"`
	}
	known, _ := json.Marshal(members)
	for name := range members {
		switch name {
		case "timestamp", "input_length", "output_length", "hash_ids":
		default:
			return nil, false
		}
	}
	if json.Unmarshal(known, &row) != nil || row.Input == nil || *row.Input == 0 || *row.Input > 999_999_999 {
		return nil, false
	}
	if row.Output != nil && *row.Output > 999_999_999 || bytes.HasPrefix(members["timestamp"], []byte{'"'}) {
		return nil, false
	}
	ns, ok := exactNS(string(row.Timestamp))
	if !ok {
		return nil, false
	}
	n := len(row.IDs)
	if n > 0 && (int(*row.Input) <= (n-1)*512 || int(*row.Input) > n*512) {
		return nil, false
	}
	req := &trace.Request{Pos: trace.Pos{File: "in.jsonl", Line: 1}, Offset: ns, InputTokens: int(*row.Input), BlockIDs: row.IDs}
	if row.Output != nil {
		req.OutputTokens, req.Failed = int(*row.Output), *row.Output == 0
	}
	if n == 0 {
		req.BlockIDs = nil
	}
	return req, true
}

func FuzzMooncakeReader(f *testing.F) {
	for _, seed := range []string{
		`{"timestamp": 27482, "input_length": 600, "output_length": 52, "hash_ids": [46, 47]}`,
		"\xef\xbb\xbf{\"timestamp\":0.2,\"input_length\":5}\r\n\n {\"input_length\":1,\"timestamp\":1e2}\n",
		`{"timestamp":1,"text_input":"a\u0041\n","extra":{"a":[1,2,{}]},"session_id":"s"}`,
		`{"timestamp":1,"messages":[{"role":"user"}],"tools":[]}` + "\n{\n[1]\n" + `{"timestamp":1,"payload":{"a":1}}`,
		`{"timestamp":-0.0,"input_length":1,"hash_ids":[]}`,
		`{"timestamp":9223372036854.775807,"input_length":999999999}`,
		`{"timestamp":1,"input_length":512,"hash_ids":[12345678]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := trace.NewMooncakeReader(bytes.NewReader(data), "in.jsonl", trace.MooncakeOptions{})
		records := 0
		for rec := range r.All() {
			records++
			if req, ok := rec.(*trace.Request); ok && req.Kind != trace.LiteralNone && !json.Valid(req.Literal) {
				t.Fatalf("literal %q is not JSON", req.Literal)
			}
		}
		require.NoError(t, r.Err())
		lines := bytes.Count(data, []byte{'\n'})
		if len(data) > 0 && data[len(data)-1] != '\n' {
			lines++
		}
		require.Equal(t, lines, records+r.Blanks())
		if !bytes.Contains(data, []byte{'\n'}) && utf8.Valid(data) {
			compareWithOracle(t, data)
		}
	})
}

// compareWithOracle demands equal acceptance and equal values on lines that hold the documented members only, each once.
func compareWithOracle(t *testing.T, line []byte) {
	want, ok := oracle(bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")))
	r := trace.NewMooncakeReader(bytes.NewReader(line), "in.jsonl", trace.MooncakeOptions{})
	if !r.Scan() {
		require.False(t, ok)
		return
	}
	got, accepted := r.Record().(*trace.Request)
	if ok && !accepted {
		// encoding/json takes the last of doubled members; null for a length means absent to it.
		msg := r.Record().(*trace.SyntaxError).Msg
		if strings.Contains(msg, "there twice") || bytes.Contains(line, []byte("null")) {
			return
		}
		t.Fatalf("refused %q: %s", line, msg)
	}
	if ok {
		require.Equal(t, want, got)
	}
	if accepted && !json.Valid(bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))) {
		t.Fatalf("accepted %q, which is not JSON", line)
	}
}

func FuzzSSE(f *testing.F) {
	f.Add([]byte(": keep-alive\r\n\r\ndata:{\"t\":\"é\"}\r\n\r\ndata: {\"t\":\"b\"}\r\n\r\ndata: [DONE]\r\n\r\n"), uint8(1))
	f.Add([]byte("\xef\xbb\xbfevent: error\rdata: a\rdata:b\r\rid: 1\n\nevent:x\n\ndata"), uint8(2))
	f.Add([]byte("data:\n\n\n\r\n\r: c\ndata: x\r\n"), uint8(3))
	f.Fuzz(func(t *testing.T, data []byte, size uint8) {
		want := events(trace.NewSSEScanner(bytes.NewReader(data)))
		got := events(trace.NewSSEScanner(&chunked{data: data, size: int(size)%7 + 1}))
		require.Equal(t, want, got)
		// The three line ends mean the same.
		if !bytes.ContainsAny(data, "\r") {
			require.Equal(t, want, events(trace.NewSSEScanner(bytes.NewReader(bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n"))))))
			require.Equal(t, want, events(trace.NewSSEScanner(bytes.NewReader(bytes.ReplaceAll(data, []byte("\n"), []byte("\r"))))))
		}
	})
}
