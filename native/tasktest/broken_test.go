package tasktest_test

import (
	"errors"
	"fmt"
	"maps"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native/task"
	"github.com/trtmc-go/trtmc/native/tasktest"
)

// liars maps each case to a model that breaks its rule and no other.
func liars(t *testing.T) map[string]func() task.Model {
	all := map[string]func() task.Model{}
	for _, group := range []map[string]func() task.Model{modelLiars(), settingLiars(), callLiars(t), streamLiars(), scoreLiars(), answerLiars()} {
		maps.Copy(all, group)
	}
	return all
}

func TestEachWrongModelIsCaughtByExactlyItsCase(t *testing.T) {
	for name, open := range liars(t) {
		t.Run(name, func(t *testing.T) {
			err := tasktest.Check(tasktest.Config{
				Open: func() (task.Model, error) { return open(), nil }, Tasks: allTasks, LongText: 1 << 12, Timeout: 5 * time.Second,
			})
			require.Equal(t, []string{name}, caught(err), "%v", err)
		})
	}
}

// caught returns the names of the cases that failed.
func caught(err error) []string {
	var names []string
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			var v *tasktest.Violation
			if errors.As(e, &v) {
				names = append(names, v.Name)
			}
		}
	}
	return names
}

func TestNaNThatIsMadeANumberIsCaught(t *testing.T) {
	err := tasktest.Check(tasktest.Config{
		Open:    func() (task.Model, error) { return newFake(), nil },
		OpenNaN: func() (task.Model, error) { return newFake(), nil },
	})
	require.Equal(t, []string{"score-nan-visible"}, caught(err))
}

func TestHandleThatStaysIsCaught(t *testing.T) {
	var live atomic.Int64
	err := tasktest.Check(tasktest.Config{
		Open: func() (task.Model, error) {
			live.Add(1)
			return newFake(), nil
		},
		Live: func() int { return int(live.Load()) },
	})
	require.Equal(t, []string{"nothing-left"}, caught(err))
}

func TestMissingTaskIsCaught(t *testing.T) {
	err := tasktest.Check(tasktest.Config{
		Open:  func() (task.Model, error) { return newFake(), nil },
		Tasks: []task.ID{"text_to_smell"},
	})
	require.Equal(t, []string{"tasks-declared"}, caught(err))
	require.ErrorContains(t, err, "text_to_smell is expected and not declared")
}

func TestModelThatDoesNotOpenIsAnErrorOfEveryCase(t *testing.T) {
	err := tasktest.Check(tasktest.Config{Open: func() (task.Model, error) { return nil, fmt.Errorf("no model today") }})
	require.Len(t, caught(err), len(tasktest.Cases()))
	require.ErrorContains(t, err, "no model today")
}

func TestDeclaredDeviationIsNotJudged(t *testing.T) {
	open := liars(t)["score-order"]
	cfg := tasktest.Config{
		Open:       func() (task.Model, error) { return open(), nil },
		Deviations: map[string]string{"score-order": "this model sorts"},
	}
	require.NoError(t, tasktest.Check(cfg))
	cfg.Deviations = map[string]string{"score-ordr": "a slip"}
	require.ErrorContains(t, tasktest.Check(cfg), `deviation "score-ordr"`)
	require.ErrorContains(t, tasktest.Check(tasktest.Config{}), "Config.Open is nil")
}
