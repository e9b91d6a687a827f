package ranking_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/trtmc-go/trtmc/native/task"
	"github.com/trtmc-go/trtmc/ranking"
)

// shared scores a document with the number of its words that the query has too. A service would use a loaded model.
type shared struct{}

func (shared) Score(_ context.Context, req task.ScoreRequest) (task.ScoreResult, error) {
	res := task.ScoreResult{Kind: task.ScoreUnbounded}
	for _, d := range req.Documents {
		var n float32
		for _, word := range strings.Fields(d) {
			if strings.Contains(req.Query, word) {
				n++
			}
		}
		res.Scores = append(res.Scores, n)
	}
	return res, nil
}

func ExampleNewHandler() {
	mux := http.NewServeMux()
	h := ranking.NewHandler(shared{}, ranking.Options{Model: "org/shared"})
	mux.Handle(ranking.RouteRanking, h)
	mux.Handle(ranking.RouteReranking, h)

	ask := func(path, body string) {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest("POST", path, strings.NewReader(body)))
		fmt.Println(w.Code, w.Body)
	}
	passages := `"query":{"text":"capital of France"},"passages":[{"text":"cats purr"},{"text":"the capital of France"}]`
	ask("/v1/ranking", `{"model":"org/shared",`+passages+`}`)
	ask("/v1/retrieval/org/shared/reranking", `{`+passages+`,"top_k":1}`)
	// Output:
	// 200 {"rankings":[{"index":1,"logit":3},{"index":0,"logit":0}]}
	// 200 {"rankings":[{"index":1,"logit":3}]}
}

func ExampleRank() {
	rankings, err := ranking.Rank([]float32{0.1, 0.9, 0.5}, 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	passages, err := ranking.Apply(rankings, []string{"first", "second", "third"})
	fmt.Println(passages, err)
	// Output: [second third first] <nil>
}

func ExampleDecode() {
	_, err := ranking.Decode([]byte(`{"query":{"text":"q"},"passages":[{"text":"a"},{"image":"b"}]}`), ranking.Limits{})
	fmt.Println(err)
	// Output: passages[1].image: unknown field "image", want one of: text
}
