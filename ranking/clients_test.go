package ranking_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/ranking"
)

// TestBodiesOfRealClientsAreRead holds bodies as the clients put them on the wire, byte for byte in their own spacing.
func TestBodiesOfRealClientsAreRead(t *testing.T) {
	paris := []string{"Paris is the capital.", "Berlin is in Germany.", "Cats purr."}
	const model = "nvidia/llama-3.2-nv-rerankqa-1b-v2"
	tests := []struct {
		client, body string
		decode       func([]byte, ranking.Limits) (*ranking.Request, error)
		want         ranking.Request
	}{
		{
			"langchain-nvidia-ai-endpoints 1.5.0", `{"model": "my-model", "query": {"text": "What is the capital of France?"}, "passages": [{"text": "Paris is the capital."}, {"text": "Berlin is in Germany."}, {"text": "Cats purr."}], "truncate": "END"}`,
			ranking.Decode, ranking.Request{Model: "my-model", Query: "What is the capital of France?", Passages: paris, Truncate: ranking.TruncateEnd},
		},
		{
			"litellm 1.110.2, ranking", `{"model": "` + model + `", "query": {"text": "What is the capital of France?"}, "passages": [{"text": "Paris is the capital."}, {"text": "Berlin is in Germany."}, {"text": "Cats purr."}]}`,
			ranking.Decode, ranking.Request{Model: model, Query: "What is the capital of France?", Passages: paris},
		},
		{
			"litellm 1.110.2, retrieval", `{"model": "` + model + `", "query": {"text": "What is the capital of France?"}, "passages": [{"text": "Paris is the capital."}, {"text": "Berlin is in Germany."}, {"text": "Cats purr."}], "top_k": 2}`,
			ranking.DecodeReranking, ranking.Request{Model: model, Query: "What is the capital of France?", Passages: paris, TopK: 2},
		},
		{
			"aiperf 0.13.0", `{"model":"demo-model","query":{"text":"boiling point"},"passages":[{"text":"p0"},{"text":"p1"}],"truncate":"END"}`,
			ranking.Decode, ranking.Request{Model: "demo-model", Query: "boiling point", Passages: []string{"p0", "p1"}, Truncate: ranking.TruncateEnd},
		},
	}
	for _, tt := range tests {
		got, err := tt.decode([]byte(tt.body), ranking.Limits{})
		require.NoError(t, err, tt.client)
		require.Equal(t, tt.want, texts(got), tt.client)
	}
}
