package trace_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/trace"
)

// A burst after a pause finds a connection for each of its requests, although earlier ones needed fewer.
func TestBurstAfterAPauseFindsItsConnectionsMade(t *testing.T) {
	bubble(t, func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(10 * time.Millisecond) // virtual
		writeAnswer(w)
	}, func(t *testing.T, r *trace.Replayer) {
		burst := 5 * time.Second
		plan := items(0, burst, burst, burst, burst, burst+time.Millisecond)
		var got rows
		_, err := r.Run(t.Context(), plan, trace.PhaseMeasured, got.take)
		require.NoError(t, err)
		for i := range plan {
			row := got.byID(t, fmt.Sprintf("row-%d", i+1))
			require.Equal(t, trace.ResultOK, row.Result)
			require.False(t, row.NewConnection, "row %d had to make its connection", i+1)
			require.Equal(t, row.ScheduledNS, row.SentNS)
		}
	})
}
