package reference_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/trtmc-go/trtmc/native/reference"
)

func Example() {
	dir, err := os.MkdirTemp("", "reference")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)

	// A language model that answers slowly and fails every third call.
	p := reference.TextParams()
	p.Timing.DecodeUSPerToken = 20_000
	p.Fault = &reference.Fault{Kind: reference.FaultFailEvery, Every: 3}
	path := filepath.Join(dir, "text.bundle")
	if err := reference.WriteBundle(path, p); err != nil {
		panic(err)
	}

	q, err := reference.ReadBundle(path)
	if err != nil {
		panic(err)
	}
	fmt.Println(q.Family, q.Tasks, q.Text.ContextTokens, q.Fault.Kind)
	// Output: reference_lm [text_continuation streaming_text_continuation] 256 fail_every
}
