package trace_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/trace"
)

func azure(t *testing.T, text string) ([]*trace.Request, []*trace.SyntaxError) {
	t.Helper()
	return readAll(t, trace.NewAzureReader(strings.NewReader(text), "a.csv"))
}

func TestCase_A01(t *testing.T) {
	good, bad := azure(t, "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.0010000,100,10\n"+
		"2023-11-16 18:15:46.0020000,101,11\n2023-11-16 18:15:46.0090000,102,12\n2023-11-16 18:15:46.0110000,103,13\n")
	require.Empty(t, bad)
	require.Equal(t, []time.Duration{0, 1_000_000, 8_000_000, 10_000_000}, offsets(good))
}

func TestCase_A02(t *testing.T) {
	good, bad := azure(t, "TIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-11-16 18:15:46.6805900,374,44\r\n"+
		"2023-11-16 18:15:50.9951690,396,109\r\n2023-11-16 18:15:51.2224670,879,55")
	require.Empty(t, bad)
	require.Equal(t, []time.Duration{0, 4314579000, 4541877000}, offsets(good))
	require.Equal(t, []int{44, 109, 55}, []int{good[0].OutputTokens, good[1].OutputTokens, good[2].OutputTokens})

	src, err := trace.Open("testdata/azure-code-2023-excerpt.csv")
	require.NoError(t, err)
	defer src.Close()
	r := trace.NewAzureReader(src, src.Name())
	good, bad = readAll(t, r)
	require.Empty(t, bad)
	require.Len(t, good, 200)
	require.Equal(t, time.Date(2023, 11, 16, 18, 17, 3, 979960000, time.UTC), r.Base())
	for i := 1; i < len(good); i++ {
		require.Greater(t, good[i].Offset, good[i-1].Offset, "sorted, none equal")
	}
	require.Equal(t, 173, good[199].OutputTokens)
	require.Equal(t, 201, good[199].Line)
}

func TestAzureZonesAndBadRows(t *testing.T) {
	good, bad := azure(t, "TIMESTAMP,ContextTokens,GeneratedTokens\n"+
		"2024-05-10 00:00:00.009930+00:00,1,1\n"+
		"2024-05-10 02:00:01.009930+02:00,1,0\n"+
		"2024-05-09 23:59:59+00:00,1,1\n"+ // before the first
		"yesterday,1,1\n"+
		"2024-05-10 00:00:02+00:00,0,1\n"+
		"2024-05-10 00:00:02+00:00,1.5,1\n"+
		"2024-05-10 00:00:02+00:00,1\n"+
		"2024-05-10 00:00:02+00:00,\"1,1\n"+
		"2024-05-10 00:00:03.00993+00:00,\"2\",\"3\"\n")
	require.Equal(t, []time.Duration{0, time.Second, 3 * time.Second}, offsets(good))
	require.True(t, good[1].Failed)
	require.Equal(t, 3, good[2].OutputTokens)
	want := []string{"before that of the first row", "is no time", "want 1 or more", "whole number", "2 columns; the header has 3", "quote"}
	require.Len(t, bad, len(want))
	for i, b := range bad {
		require.Equal(t, i+4, b.Line)
		require.Contains(t, b.Msg, want[i])
	}
}

func TestTableWithoutUsableHeader(t *testing.T) {
	for text, want := range map[string]string{
		"a,b\n1,2\n": `column "TIMESTAMP" is missing`,
		"TIMESTAMP,TIMESTAMP,ContextTokens,GeneratedTokens\n": "there twice",
		"\"TIMESTAMP\n": "quote",
	} {
		good, bad := azure(t, text)
		require.Empty(t, good)
		require.Len(t, bad, 1, text)
		require.Contains(t, bad[0].Error(), "a.csv:1: header: ")
		require.Contains(t, bad[0].Msg, want)
	}
	good, bad := azure(t, "")
	require.Empty(t, good)
	require.Empty(t, bad)
}

func TestCase_A12(t *testing.T) {
	text := "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type\n" +
		"5,,1.2,ChatGPT,472,18,490,API log\n45,,0.1,GPT-4,1087,0,1087,API log\n118,s-1,2.0,ChatGPT,417,276,693,Conversation log"
	good, bad := readAll(t, trace.NewBurstGPTReader(strings.NewReader(text), "b.csv"))
	require.Empty(t, bad)
	require.Len(t, good, 3)
	require.Equal(t, []bool{false, true, false}, []bool{good[0].Failed, good[1].Failed, good[2].Failed})
	require.Equal(t, "s-1", good[2].SessionID)
	plan, err := trace.NewSchedule(offsets(good), trace.Plan{Speed: 1})
	require.NoError(t, err)
	require.Equal(t, []time.Duration{0, 40 * time.Second, 113 * time.Second}, []time.Duration{plan.At(0), plan.At(1), plan.At(2)})

	older := "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n0.5,GPT-4,1,2,3,API log\n-1,GPT-4,1,2,3,x\nx,GPT-4,1,2,3,x\n"
	good, bad = readAll(t, trace.NewBurstGPTReader(strings.NewReader(older), "b.csv"))
	require.Equal(t, []time.Duration{500 * time.Millisecond}, offsets(good))
	require.Len(t, bad, 2)
}
