package video

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native/task"
)

// The environment of a child: where its service lives, the seed of what it does, and at which step it kills itself.
const (
	crashDirVariable  = "TRTMC_TEST_CRASH_DIR"
	crashSeedVariable = "TRTMC_TEST_CRASH_SEED"
	crashAtVariable   = "TRTMC_TEST_CRASH_AT"
)

// crashChild makes and deletes jobs, and tells on standard output what was acknowledged, until it is killed.
func crashChild(dir string) int {
	seed, err := strconv.ParseUint(os.Getenv(crashSeedVariable), 10, 64)
	if err != nil {
		return 3
	}
	at, err := strconv.Atoi(os.Getenv(crashAtVariable))
	if err != nil {
		return 3
	}
	var mu sync.Mutex
	steps := 0
	finished := make(chan string, 1000)
	s, err := Open(Config{
		Dir: dir, Models: crashModels(),
		Observe: func(e Event) {
			if e.Kind == EventFinished {
				finished <- e.Job.ID
			}
		},
		crash: func(string) {
			mu.Lock()
			defer mu.Unlock()
			if steps++; steps == at {
				kill()
			}
		},
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 4
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	var ids []string
	seen := 0 // jobs whose end was waited for
	for range 30 {
		switch n := rng.IntN(10); {
		case n < 5:
			j, err := s.Create(context.Background(), Request{Spec: Spec{Prompt: "p"}})
			if err != nil {
				return 5
			}
			ids = append(ids, j.ID)
			fmt.Println("created", j.ID)
		case n < 7 && len(ids) > 0:
			id := ids[rng.IntN(len(ids))]
			fmt.Println("deleting", id)
			if _, err := s.Delete(context.Background(), id); err == nil {
				fmt.Println("deleted", id)
			}
		case seen < len(ids):
			<-finished
			seen++
		}
	}
	for ; seen < len(ids); seen++ {
		<-finished
	}
	return 0
}

// kill ends this process as kill -9 does.
func kill() {
	p, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = p.Kill()
	}
	if err != nil {
		panic(err)
	}
	select {}
}

func crashModels() []Model {
	return []Model{{Name: "m", Decl: declared(), Generators: []task.VideoGenerator{
		&fakeGenerator{defaults: scene{width: 32, height: 16, frames: 2, fps: 8}},
		&fakeGenerator{defaults: scene{width: 32, height: 16, frames: 2, fps: 8}},
	}}}
}

// acknowledged is what a child told before it died.
type acknowledged struct {
	created, deleting, deleted map[string]bool
}

// TestKilledProcessLosesNoJob kills a process at 60 places: at a step of a job chosen by a fixed seed, or from outside
// as soon as it has told so many things. After each kill the service starts again in its directory.
func TestKilledProcessLosesNoJob(t *testing.T) {
	if !HasEncoder {
		t.Skip(ErrNoEncoder)
	}
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(20, 26))
	killed := 0
	for round := range 60 {
		at, lines := 1+rng.IntN(70), 0
		if round%3 == 2 {
			at, lines = 0, 1+rng.IntN(25)
		}
		ack, died := runChild(t, dir, uint64(round), at, lines)
		if died {
			killed++
		}
		afterCrash(t, dir, ack)
	}
	require.GreaterOrEqual(t, killed, 50, "the point of the test is to kill")
}

// runChild runs a child until it dies; it kills it after so many lines when lines is not 0.
func runChild(t *testing.T, dir string, seed uint64, at, lines int) (acknowledged, bool) {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), crashDirVariable+"="+dir, crashSeedVariable+"="+strconv.FormatUint(seed, 10), crashAtVariable+"="+strconv.Itoa(at))
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	ack := acknowledged{map[string]bool{}, map[string]bool{}, map[string]bool{}}
	scan := bufio.NewScanner(out)
	for n := 1; scan.Scan(); n++ {
		what, id, ok := strings.Cut(scan.Text(), " ")
		if !ok || len(id) != len(newID(0)) {
			continue // a torn last line
		}
		switch what {
		case "created":
			ack.created[id] = true
		case "deleting":
			ack.deleting[id] = true
		case "deleted":
			ack.deleted[id] = true
		}
		if n == lines {
			require.NoError(t, cmd.Process.Kill())
		}
	}
	require.NoError(t, scan.Err())
	err = cmd.Wait()
	require.NotContains(t, []int{2, 3, 4, 5}, cmd.ProcessState.ExitCode(), "the child failed by itself: %v", err)
	return ack, err != nil
}

// afterCrash starts the service where a child died, lets it run what was queued, and looks at all that is left.
func afterCrash(t *testing.T, dir string, ack acknowledged) {
	t.Helper()
	l := newEventLog()
	s, err := Open(Config{Dir: dir, Models: crashModels(), Observe: l.observe})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	page, err := s.List(t.Context(), Query{Limit: 1000})
	require.NoError(t, err)
	require.False(t, page.More)
	found := map[string]bool{}
	for _, j := range page.Jobs {
		if !j.State.Final() {
			j = l.finished(t, j.ID)
		}
		found[j.ID] = true
	}
	for id := range ack.created {
		require.True(t, found[id] || ack.deleting[id], "job %s is lost", id)
	}
	for id := range ack.deleted {
		require.False(t, found[id], "deleted job %s is back", id)
	}

	page, err = s.List(t.Context(), Query{Limit: 1000})
	require.NoError(t, err)
	var want []string
	for _, j := range page.Jobs {
		require.True(t, j.State.Final(), "job %s is stuck in %s", j.ID, j.State)
		if j.State == Failed {
			require.Equal(t, CodeRestart, j.Failure.Code)
			require.Contains(t, j.Failure.Message, "restart")
			_, _, err := s.Content(t.Context(), j.ID, VideoMP4)
			require.ErrorIs(t, err, ErrJobFailed)
			continue
		}
		want = append(want, j.ID+jpegSuffix, j.ID+mp4Suffix)
		f, _, err := s.Content(t.Context(), j.ID, VideoMP4)
		require.NoError(t, err)
		require.NoError(t, j.Artifact.Verify(f, j.Artifact.Bytes), "half a file is served")
		require.NoError(t, f.Close())
	}
	require.ElementsMatch(t, want, filesOf(t, dir), "files without a job, or the other way round")
	for i, j := range page.Jobs {
		if i%3 > 0 { // some stay for the next round
			_, err := s.Delete(t.Context(), j.ID)
			require.NoError(t, err)
		}
	}
}
