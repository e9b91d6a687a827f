package tasktest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/trtmc-go/trtmc/native/task"
	"github.com/trtmc-go/trtmc/native/tasktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestHonestFakePasses(t *testing.T) {
	tasktest.Run(t, tasktest.Config{
		Open: func() (task.Model, error) { return newFake(), nil },
		OpenNaN: func() (task.Model, error) {
			f := newFake()
			f.nan = true
			return f, nil
		},
		Live:  func() int { return 0 },
		Tasks: allTasks,
	})
}

func TestEveryCaseHasANameOfItsOwnAndARule(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range tasktest.Cases() {
		require.False(t, seen[c.Name], c.Name)
		seen[c.Name] = true
		require.True(t, strings.HasSuffix(c.Rule, "."), c.Name)
	}
}

func Example() {
	err := tasktest.Check(tasktest.Config{
		Open:       func() (task.Model, error) { return newFake(), nil },
		Tasks:      []task.ID{task.TextContinuation, task.TextToVideo},
		Deviations: map[string]string{"stream-equals-call": "streams sample with a seed of their own"},
	})
	fmt.Println(err)
	// Output: <nil>
}
