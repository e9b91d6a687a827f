package qual_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/qual"
	"github.com/trtmc-go/trtmc/serving/record"
	"github.com/trtmc-go/trtmc/trace"
)

// https://github.com/Layr-Labs/d-inference/pull/915: a load client stopped its clock at the headers and took a broken
// body for a success.
func TestCase_F14(t *testing.T) {
	const delay = 300 * time.Millisecond
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/cut" {
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write(make([]byte, 40))
			panic(http.ErrAbortHandler) // closes the connection
		}
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		<-time.After(delay)
		_, _ = w.Write([]byte(`{"choices":[{"text":"late"}]}`))
	}))
	defer server.Close()
	sender := &trace.Sender{BaseURL: server.URL, Workload: "w"}
	defer sender.Close()
	replayer := trace.Replayer{Sender: sender}
	items := []trace.Item{{RequestID: "cut", Path: "/cut", Body: []byte("{}")}, {RequestID: "late", Path: "/late", Body: []byte("{}")}}

	var l qual.Ledger
	rows := map[string]trace.Row{}
	for _, item := range items {
		require.NoError(t, l.Offer("w", trace.PhaseMeasured, item.RequestID, item.Offset))
	}
	_, err := replayer.Run(context.Background(), items, trace.PhaseMeasured, func(row trace.Row) error {
		rows[row.RequestID] = row
		l.AddRow(&row)
		rec := record.Record{
			Schema: 1, RequestID: row.RequestID, RequestIDSource: "client", Outcome: record.Completed, Stage: record.StageDone,
			Status: 200, ArrivedNS: row.SentNS + 1, TaskCallStartNS: row.SentNS + 2, TaskCallEndNS: row.SentNS + 3, TaskCallNS: 1,
		}
		l.AddRecord(&rec)
		return nil
	})
	require.NoError(t, err)
	account, err := l.Close()
	require.NoError(t, err)

	require.NotEqual(t, trace.ResultOK, rows["cut"].Result)
	require.Equal(t, trace.ResultOK, rows["late"].Result)
	require.Equal(t, qual.Counts{Offered: 2, Completed: 1, Failed: 1}, account.Workloads[0].Measured)
	require.Equal(t, []string{"cut"}, kinds(account)[qual.KindDisagree])
	require.GreaterOrEqual(t, float64(account.Workloads[0].Client.Latency.Max), 300.0)
	require.Less(t, rows["late"].FirstByteNS, rows["late"].LastByteNS, "the headers are an instant of their own")
}
