package trace_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/trtmc-go/trtmc/trace"
)

// A trace is read, prepared and replayed against a server, and the replay is measured.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		io.Copy(io.Discard, req.Body)
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"choices":[{"text":" word","finish_reason":"length"}],"usage":{"prompt_tokens":6,"completion_tokens":1}}`)
	}))
	defer server.Close()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)

	const rows = `{"timestamp": 0, "input_length": 600, "output_length": 8, "hash_ids": [0, 1]}
{"timestamp": 30, "input_length": 700, "output_length": 4, "hash_ids": [0, 2]}
`
	src, err := trace.NewSource(strings.NewReader(rows), "two-rows.jsonl")
	if err != nil {
		panic(err)
	}
	m, err := trace.Prepare(dir, src, trace.PrepareOptions{
		Model: "demo",
		Plan:  trace.Plan{Speed: 2},
		Fit:   trace.Fit{Policy: trace.FitScale, ContextTokens: 256},
	})
	if err != nil {
		panic(err)
	}
	fmt.Println("scaled by", m.Fit.Factor, "to", m.Prompts.Words, "words")

	items, err := trace.ReadWorkload(filepath.Join(dir, trace.WorkloadFile))
	if err != nil {
		panic(err)
	}
	sender := &trace.Sender{BaseURL: server.URL}
	defer sender.Close()
	var seen []trace.Row
	sum, err := (&trace.Replayer{Sender: sender}).Run(context.Background(), items, trace.PhaseMeasured, func(row trace.Row) error {
		seen = append(seen, row)
		return nil
	})
	if err != nil {
		panic(err)
	}
	f := trace.Compare(items, seen, nil, trace.ClockFacts{})
	fmt.Println(sum.Results, "last offset", items[1].Offset, "id", items[1].RequestID)
	fmt.Println("sent", f.Sent.Count, "of", f.Offered.Count)
	// Output:
	// scaled by 256/704 to 472 words
	// map[ok:2] last offset 15ms id two-rows-000002
	// sent 2 of 2
}

func ExampleMooncakeReader() {
	const text = `{"timestamp": 27482, "input_length": 600, "output_length": 52, "hash_ids": [46, 47]}
{"timestamp": 30535, "input_length": 2000, "hash_ids": [46]}
`
	r := trace.NewMooncakeReader(strings.NewReader(text), "trace.jsonl", trace.MooncakeOptions{})
	for rec := range r.All() {
		switch rec := rec.(type) {
		case *trace.Request:
			fmt.Println(rec.Pos, rec.Offset, rec.InputTokens, rec.BlockIDs)
		case *trace.SyntaxError:
			fmt.Println(rec)
		}
	}
	fmt.Println(r.Err())
	// Output:
	// trace.jsonl:1 27.482s 600 [46 47]
	// trace.jsonl:2: input_length 2000 does not fit 1 hash_ids at block size 512; 1 blocks hold 1 to 512 tokens
	// <nil>
}

func ExampleSchedule() {
	recorded := []time.Duration{100 * time.Second, 100500 * time.Millisecond, 101500 * time.Millisecond}
	s, err := trace.NewSchedule(recorded, trace.Plan{Speed: 2}) // twice as fast
	if err != nil {
		panic(err)
	}
	for i := range s.Len() {
		fmt.Println(s.Row(i), s.At(i))
	}
	// Output:
	// 0 0s
	// 1 250ms
	// 2 750ms
}
