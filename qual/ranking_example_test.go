package qual_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/trtmc-go/trtmc/qual"
	"github.com/trtmc-go/trtmc/trace"
)

func ExamplePrepareRanking() {
	dir, err := os.MkdirTemp("", "ranking")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	groups, err := qual.ReadRankingGroups(strings.NewReader(
		`{"session_id":"tea","texts":[{"name":"query","contents":["how hot is green tea brewed"]},{"name":"passages","contents":["At 70 to 80 degrees.","Coffee keeps people awake."]}]}`),
		"tea.jsonl")
	if err != nil {
		fmt.Println(err)
		return
	}
	load := qual.Load{Loop: qual.OpenLoop, Rate: 4}
	m, err := qual.PrepareRanking(dir, groups, qual.RankingOptions{Model: "ranker", Count: 3, Load: load})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d passages, %d words, %s\n", m.Lengths.Passages, m.Lengths.PassageWords, m.Load.Words())
	items, err := trace.ReadWorkload(filepath.Join(dir, qual.WorkloadFile))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, item := range items {
		fmt.Println(item.RequestID, item.Offset, item.Path)
	}
	fmt.Println(string(items[0].Body))
	// Output:
	// 6 passages, 27 words, open loop, 4 requests/s, equal gaps
	// tea 0s /v1/ranking
	// tea-r1 250ms /v1/ranking
	// tea-r2 500ms /v1/ranking
	// {"model":"ranker","query":{"text":"how hot is green tea brewed"},"passages":[{"text":"At 70 to 80 degrees."},{"text":"Coffee keeps people awake."}]}
}
