package native

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native/internal/cabi"
)

func TestDeltasAddUpToTheFinalResult(t *testing.T) {
	final := cabi.TextResult{Text: "one two", TokenIDs: []int32{1, 2}}
	require.NoError(t, sameText("one two", []int32{1, 2}, final))
	require.NoError(t, sameText("one two", nil, final), "token ids may come with the final result alone")
	require.ErrorContains(t, sameText("one tw", []int32{1, 2}, final), "differ at byte 6")
	require.ErrorContains(t, sameText("one two", []int32{1}, final), "1 token ids and the final result 2")
	require.ErrorContains(t, sameText("one two", []int32{1, 3}, final), "or others")
}
