package serving_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/trtmc-go/trtmc/native/task"
	"github.com/trtmc-go/trtmc/serving"
	"github.com/trtmc-go/trtmc/serving/record"
)

// Example serves a model, asks it, drains, and reads the record. The model here is made of Go functions; a program on
// a GPU host passes handles of package native in its place.
func Example() {
	dir, err := os.MkdirTemp("", "serving")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	records, err := record.OpenWriter(filepath.Join(dir, "records.jsonl"))
	if err != nil {
		fmt.Println(err)
		return
	}
	server, err := serving.New(serving.Config{
		Models:  []serving.Model{{Name: "echo", Lanes: []task.Model{echoModel()}}},
		Records: records,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	done := make(chan error)
	go func() { done <- server.Serve(ctx, ln) }()

	req, _ := http.NewRequest("POST", "http://"+ln.Addr().String()+"/v1/completions", strings.NewReader(`{"model":"echo","prompt":"to be or","stream":true}`))
	req.Header.Set("X-Request-ID", "first")
	req.Close = true
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		fmt.Println(err)
		return
	}
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		if _, rest, ok := strings.Cut(lines.Text(), `"choices":`); ok {
			fmt.Println(rest)
		}
	}
	res.Body.Close()
	stop()
	fmt.Println(<-done, records.Close())

	f, _ := os.Open(filepath.Join(dir, "records.jsonl"))
	defer f.Close()
	for r := record.NewReader(f, "records.jsonl"); r.Scan(); {
		rec, _ := r.Entry()
		fmt.Println(rec.RequestID, rec.Route, rec.Outcome, *rec.Text.CompletionTokens, "tokens")
	}
	// Output:
	// [{"index":0,"text":"to","logprobs":null,"finish_reason":null}]}
	// [{"index":0,"text":"be","logprobs":null,"finish_reason":null}]}
	// [{"index":0,"text":"or","logprobs":null,"finish_reason":null}]}
	// [{"index":0,"text":"","logprobs":null,"finish_reason":"stop"}]}
	// <nil> <nil>
	// first /v1/completions completed 3 tokens
}
