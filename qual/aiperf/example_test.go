package aiperf_test

import (
	"fmt"

	"github.com/trtmc-go/trtmc/qual/aiperf"
)

// A captured run in which two of six requests hung until the client's time was over: the client exits with 0, calls
// itself complete, and counts four requests and no error.
func Example() {
	export, err := aiperf.Open("testdata/text-lost-at-grace-end")
	if err != nil {
		fmt.Println(err)
		return
	}
	spec := aiperf.Spec{Workload: aiperf.TextTrace}
	offered := spec.Offered([]string{"row-000", "row-001", "row-002", "row-003", "row-004", "row-005"})
	exit := 0
	fmt.Println("complete:", export.Summary.IsComplete, "measured rows:", export.Rows.Measured.Rows)
	for _, f := range export.Findings(aiperf.Facts{ExitCode: &exit, Offered: offered}) {
		if f.Blocks {
			fmt.Println(f.Code, f.IDs)
		}
	}
	// Output:
	// complete: true measured rows: 4
	// rows-lost [row-002 row-005]
}
