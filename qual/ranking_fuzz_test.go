package qual_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/trtmc-go/trtmc/qual"
)

// FuzzReadRankingGroups holds the reader against encoding/json: what it accepts, encoding/json reads to the same texts.
func FuzzReadRankingGroups(f *testing.F) {
	f.Add([]byte(groupLine("a", "q", "p", "é\u0000\"")))
	f.Add([]byte(groupLine("a", "q", "p") + "\n\n" + groupLine("b", "q", "p")))
	f.Add([]byte(`{"session_id":"a","texts":[{"contents":["\ud800"],"name":"query"}]}`))
	f.Add([]byte(`{"texts":[[]],"session_id":{}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := qual.ReadRankingGroups(bytes.NewReader(data), "fuzz")
		if err != nil {
			return
		}
		type list struct {
			Name     string
			Contents []string
		}
		dec := json.NewDecoder(bytes.NewReader(data))
		for _, g := range got.Groups {
			var want struct {
				SessionID string `json:"session_id"`
				Texts     []list
			}
			if err := dec.Decode(&want); err != nil {
				t.Fatalf("accepted what encoding/json refuses: %v", err)
			}
			texts := map[string][]string{}
			for _, l := range want.Texts {
				texts[l.Name] = l.Contents
			}
			if g.ID != want.SessionID || len(texts["query"]) != 1 || g.Query != texts["query"][0] || len(g.Passages) != len(texts["passages"]) {
				t.Fatalf("%+v is not %+v", g, want)
			}
			for i, p := range g.Passages {
				if p != texts["passages"][i] {
					t.Fatalf("passage %d is %q, want %q", i, p, texts["passages"][i])
				}
			}
		}
	})
}
