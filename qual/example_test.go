package qual_test

import (
	"fmt"
	"time"

	"github.com/trtmc-go/trtmc/qual"
	"github.com/trtmc-go/trtmc/serving/record"
	"github.com/trtmc-go/trtmc/trace"
)

// Three requests were offered. One completed, one was refused, and of the third there is no trace.
func ExampleLedger() {
	var l qual.Ledger
	for i, id := range []string{"a", "b", "c"} {
		if err := l.Offer("text-trace", trace.PhaseMeasured, id, time.Duration(i)*time.Second); err != nil {
			fmt.Println(err)
		}
	}
	l.AddRow(&trace.Row{RequestID: "a", Phase: trace.PhaseMeasured, ScheduledNS: 1, SentNS: 1, LastByteNS: 9, Status: 200, Result: trace.ResultOK})
	l.AddRecord(&record.Record{
		Schema: 1, RequestID: "a", RequestIDSource: "client", Outcome: record.Completed, Stage: record.StageDone, Status: 200,
		ArrivedNS: 2, AdmittedNS: 3, TaskCallStartNS: 4, TaskCallEndNS: 6, TaskCallNS: 2, LastByteNS: 7, HandlingNS: 5,
	})
	l.AddRow(&trace.Row{
		RequestID: "b", Phase: trace.PhaseMeasured, OfferedOffsetNS: 1e9, ScheduledNS: 1e9 + 1, SentNS: 1e9 + 1, LastByteNS: 1e9 + 9,
		Status: 429, Result: trace.ResultHTTPError,
	})
	l.AddRecord(&record.Record{
		Schema: 1, RequestID: "b", RequestIDSource: "client", Outcome: record.Rejected, Reason: record.ReasonQueueFull, Stage: record.StageQueued, Status: 429, Lane: -1,
		ArrivedNS: 1e9 + 2, LastByteNS: 1e9 + 7, HandlingNS: 5,
	})

	account, err := l.Close()
	fmt.Printf("%+v\n", account.Workloads[0].Measured)
	fmt.Println(err)
	// Output:
	// {Offered:3 Completed:1 Rejected:1 Failed:1}
	// requests not accounted for: 1 (c)
}
