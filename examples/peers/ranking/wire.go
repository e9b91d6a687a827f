package main

import (
	"encoding/json"
	"strings"

	"github.com/trtmc-go/trtmc/ranking"
)

// wireRequest and wireResponse are what a service writes by hand for encoding/json or sonic.
type wireRequest struct {
	Model    string     `json:"model"`
	Query    wireText   `json:"query"`
	Passages []wireText `json:"passages"`
	Truncate string     `json:"truncate"`
}

type wireText struct {
	Text string `json:"text"`
}

type wireResponse struct {
	Rankings []wireRanking `json:"rankings"`
}

type wireRanking struct {
	Index int     `json:"index"`
	Logit float32 `json:"logit"`
}

const query = "which passage speaks of the harbour at night"

// words returns a text of n words of differing lengths.
func words(n int) string {
	vocabulary := strings.Fields("the harbour lay quiet under a thin moon while boats creaked along wooden piers and gulls slept")
	out := make([]string, n)
	for i := range out {
		out[i] = vocabulary[(i*7+i/5)%len(vocabulary)]
	}
	return strings.Join(out, " ")
}

// requestBody returns a request of n passages. The passages differ in their first bytes, so that they do not tie.
func requestBody(model string, n int, text string) []byte {
	req := ranking.Request{Model: model, Query: query, Passages: make([]string, n)}
	for i := range req.Passages {
		req.Passages[i] = text[:len(text)-len(text)%(i+7)/2] + strings.Repeat("x", i%5)
	}
	req.Passages[n-1] = text
	b, err := json.Marshal(req)
	if err != nil {
		panic(err)
	}
	return b
}
