package ranking_test

import (
	"strings"
	"testing"

	"github.com/trtmc-go/trtmc/ranking"
)

func BenchmarkDecodeSmall(b *testing.B) {
	many := make([]string, 32)
	for i := range many {
		many[i] = strings.Repeat("alpha beta g, ", 9)
	}
	in := body("query", many...)
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ranking.Decode(in, ranking.Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	for name, text := range map[string]string{
		"ascii": strings.Repeat("alpha beta g, ", 94), "accents": strings.Repeat("zwölf Boxkämpfer ", 80), "escapes": strings.Repeat("she said \"no\",\nthen left ", 50),
	} {
		many := make([]string, 100)
		for i := range many {
			many[i] = text
		}
		in := body("query", many...)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(in)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ranking.Decode(in, ranking.Limits{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
