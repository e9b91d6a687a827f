package inventory_test

import (
	"fmt"

	"github.com/trtmc-go/trtmc/qual/inventory"
)

func Example() {
	inv, err := inventory.Load()
	if err != nil {
		fmt.Println(err)
		return
	}
	row, err := inv.Row("wan22-ti2v-5b")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(row.Checkpoint, row.Tasks, row.Shape.Width, row.Shape.Height, row.Shape.Frames)

	// A run of the reference runtime in which every check held:
	status, missing := inventory.StatusOf(inventory.Evidence{AdapterChecks: true})
	fmt.Println(status)
	fmt.Println(missing[0])
	// Output:
	// Wan-AI/Wan2.2-TI2V-5B [text_to_video] 1280 704 121
	// implemented
	// family-validated: the vendor's runtime (the reference runtime proves the path and qualifies nothing)
}
