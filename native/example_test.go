//go:build cgo

package native_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/trtmc-go/trtmc/native"
	"github.com/trtmc-go/trtmc/native/reference"
	"github.com/trtmc-go/trtmc/native/task"
)

// Open the runtime that is linked in, write a bundle for it, and continue a text, whole and as a stream.
func Example() {
	dir, err := os.MkdirTemp("", "native")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "text.bundle")
	if err := reference.WriteBundle(path, reference.TextParams()); err != nil {
		panic(err)
	}

	rt, err := native.Open(native.Options{}) // on a GPU host: Options{Library: "/opt/trtmc/lib/libtrtmc_c.so.1"}
	if err != nil {
		panic(err)
	}
	defer rt.Close()
	m, err := rt.Load(path, native.LoadOptions{})
	if err != nil {
		panic(err)
	}
	text, err := task.TextContinuerOf(m)
	if err != nil {
		panic(err)
	}
	settings := task.Settings{{Name: "max_new_tokens", Value: task.Int(8)}}
	res, err := text.ContinueText(context.Background(), task.TextRequest{Text: "We the People", Settings: settings})
	if err != nil {
		panic(err)
	}
	fmt.Println("tokens:", len(res.TokenIDs), "measured:", res.Timing.Call > 0)

	stream, err := task.TextStreamerOf(m)
	if err != nil {
		panic(err)
	}
	var joined strings.Builder
	_, err = stream.StreamText(context.Background(), task.TextRequest{Text: "We the People", Settings: settings}, func(d task.TextDelta) error {
		joined.WriteString(d.Text)
		return nil
	})
	fmt.Println("streamed text equal:", joined.String() == res.Text, err)

	_, err = task.ScorerOf(m)
	fmt.Println(err)
	// Output:
	// tokens: 8 measured: true
	// streamed text equal: true <nil>
	// text_query_documents_to_relevance: lookup: unsupported: the model does not declare this task
}

// Score documents. They lie in one string, which is handed over as it is.
func ExampleModel_Lookup() {
	dir, err := os.MkdirTemp("", "native")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "ranking.bundle")
	if err := reference.WriteBundle(path, reference.RankingParams()); err != nil {
		panic(err)
	}
	rt, err := native.Open(native.Options{})
	if err != nil {
		panic(err)
	}
	defer rt.Close()
	m, err := rt.Load(path, native.LoadOptions{})
	if err != nil {
		panic(err)
	}
	scorer, err := task.ScorerOf(m)
	if err != nil {
		panic(err)
	}
	body := "a river in the north|the price of tea|tea from the river valley"
	res, err := scorer.Score(context.Background(), task.ScoreRequest{
		Query: "tea price", Documents: strings.Split(body, "|"), Backing: body,
	})
	if err != nil {
		panic(err)
	}
	best := 0
	for i, s := range res.Scores {
		if s > res.Scores[best] {
			best = i
		}
	}
	fmt.Println(len(res.Scores), "scores of kind", res.Kind, "- best is document", best)
	// Output: 3 scores of kind logit - best is document 1
}

// What goes wrong says what, where and why.
func ExampleRuntime_Load() {
	rt, err := native.Open(native.Options{})
	if err != nil {
		panic(err)
	}
	defer rt.Close()
	_, err = rt.Load("/nowhere/model.bundle", native.LoadOptions{})
	fmt.Println(err)
	// Output:
	// load: invalid input: open bundle: open /nowhere/model.bundle: no such file or directory (native status 7): bundle "/nowhere/model.bundle" cannot be opened: No such file or directory
}
