package bundle_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/trtmc-go/trtmc/native/bundle"
)

func Example() {
	dir, err := os.MkdirTemp("", "bundle")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "tiny.bundle")

	head := bundle.Header{Family: "tiny", Task: "text_generation", Backend: "reference"}
	if err := bundle.Write(path, head, map[string][]byte{"engine.plan": []byte("PLAN")}); err != nil {
		panic(err)
	}
	b, err := bundle.Open(path)
	if err != nil {
		panic(err)
	}
	for _, s := range b.Info().Sections {
		data, err := b.ReadSection(s.Name)
		fmt.Printf("%s: %s has %d bytes: %s (error: %v)\n", b.Info().Family, s.Name, s.Length, data, err)
	}
	_, err = b.ReadSection("weights")
	fmt.Println(err != nil)
	// Output:
	// tiny: engine.plan has 4 bytes: PLAN (error: <nil>)
	// true
}
