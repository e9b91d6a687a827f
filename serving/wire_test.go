package serving_test

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/serving"
	"github.com/trtmc-go/trtmc/serving/record"
)

// TestRequestOfAIPerfIsTakenAsItIs replays recorded bytes of the client over a bare connection.
func TestRequestOfAIPerfIsTakenAsItIs(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("testdata", "aiperf-chat-post.http"))
	require.NoError(t, err)
	l := start(t, serving.Config{Models: model2("demo-model", echoModel())})
	c := l.dial()
	_, err = c.Write(raw)
	require.NoError(t, err)
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	require.NoError(t, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Equal(t, 200, res.StatusCode, "%s", b)
	require.Empty(t, res.Header.Get("Content-Encoding"))
	const id = "2318c9ab-2685-431b-85db-97459e0bf4a4"
	require.Equal(t, id, res.Header.Get("X-Request-ID"))
	r := l.recs.one()
	require.Equal(t, record.Completed, r.Outcome)
	require.Equal(t, id, r.RequestID)
	require.EqualValues(t, 5, *r.Text.MaxTokens)
}

func TestPromptTokensAreNotClaimedForATemplateNobodyCounts(t *testing.T) {
	models := model(echoModel())
	models[0].CountTokens = func(p string) int { return len(p) }
	s, recs := newServer(t, serving.Config{Models: models})
	a := chatWith(s, `[{"role":"user","content":"hi"}]`, "")
	require.NotContains(t, a.json(t)["usage"], "prompt_tokens")
	require.Nil(t, recs.one().Text.PromptTokens)
	a = chatWith(s, `[{"role":"user","content":"hi"}]`, `,"use_chat_template":false`)
	require.Equal(t, 2.0, a.json(t)["usage"].(map[string]any)["prompt_tokens"])
}
