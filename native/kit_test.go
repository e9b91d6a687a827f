//go:build cgo

package native_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native"
	"github.com/trtmc-go/trtmc/native/internal/cabi"
	"github.com/trtmc-go/trtmc/native/reference"
	"github.com/trtmc-go/trtmc/native/task"
	"github.com/trtmc-go/trtmc/native/tasktest"
)

var referenceTasks = []task.ID{
	task.TextContinuation, task.StreamingTextContinuation, task.TextConversation, task.StreamingTextConversation,
	task.TextPairToRelevance, task.TextQueryDocumentsToRelevance, task.TextToEmbedding, task.TextToVideo, task.BatchTextToVideo,
}

func TestKitOnEmbeddedRuntime(t *testing.T) { judgeReference(t, native.Options{}) }

func TestKitOnSharedLibrary(t *testing.T) {
	judgeReference(t, native.Options{Library: sharedLibrary(t)})
}

func judgeReference(t *testing.T, opts native.Options) {
	rt := openRuntime(t, opts)
	p := fast(reference.AllParams())
	p.Timing.DecodeUSPerToken = 100 // long enough that calls which come at once meet
	path := writeBundle(t, p)
	nan := writeBundle(t, faulty(reference.RankingParams(), reference.Fault{Kind: reference.FaultNaNScore}))
	tasktest.Run(t, tasktest.Config{
		Open:    func() (task.Model, error) { return rt.Load(path, native.LoadOptions{}) },
		OpenNaN: func() (task.Model, error) { return rt.Load(nan, native.LoadOptions{}) },
		Tasks:   referenceTasks,
		Live:    live,
	})
}

// TestKitOnNamedLibrary judges any runtime and bundle, the vendor's included. A reference runtime needs no bundle.
func TestKitOnNamedLibrary(t *testing.T) {
	library, bundle := os.Getenv("TRTMC_TEST_LIBRARY"), os.Getenv("TRTMC_TEST_BUNDLE")
	if library == "" {
		t.Skip("TRTMC_TEST_LIBRARY is not set to the path of a runtime library")
	}
	rt := openRuntime(t, native.Options{Library: library})
	t.Logf("runtime %s", rt.Version())
	switch {
	case bundle == "" && rt.Reference():
		bundle = writeBundle(t, fast(reference.AllParams()))
	case bundle == "":
		t.Skip("TRTMC_TEST_BUNDLE is not set to the path of a bundle for that library")
	}
	tasktest.Run(t, tasktest.Config{
		Open: func() (task.Model, error) { return rt.Load(bundle, native.LoadOptions{}) },
		Live: live,
	})
}

// live adds up the handles of this process.
func live() int {
	c := cabi.Live()
	return c.Models + c.Results + c.Streams + c.Bundles + c.Blocks
}

func TestLookupGivesOnlyDeclaredTasks(t *testing.T) {
	m := load(t, embedded(t), fast(reference.RankingParams()))
	defer m.Close()
	_, err := task.TextContinuerOf(m)
	require.ErrorIs(t, err, task.ErrUnsupported)
	require.EqualError(t, err, "text_continuation: lookup: unsupported: the model does not declare this task")
	require.ErrorIs(t, m.CheckLoRA(), task.ErrUnsupported)
}
