//go:build linux

package qual_test

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

var joinCount = flag.Int("join.rows", 1_000_000, "requests of BenchmarkJoinMillion")

// The sides of BenchmarkJoinMillion, and the variables that turn the test binary into one of them.
const (
	joinLedger  = "ledger"
	joinAccount = "account"
	joinMaps    = "maps"
	joinWrite   = "write" // writes the files

	joinSideVar = "QUAL_TEST_JOIN_SIDE"
	joinDirVar  = "QUAL_TEST_JOIN_DIR"
	joinRowsVar = "QUAL_TEST_JOIN_ROWS"
)

// joinReport is what a child process says on its standard output.
type joinReport struct {
	Wall   time.Duration
	Joined joined
}

func TestMain(m *testing.M) {
	if side := os.Getenv(joinSideVar); side != "" {
		os.Exit(joinChild(side))
	}
	goleak.VerifyTestMain(m)
}

func joinChild(side string) int {
	n, err := strconv.Atoi(os.Getenv(joinRowsVar))
	if err != nil {
		return 2
	}
	join := map[string]func(string, int) (joined, error){
		joinWrite: writeJoin, joinLedger: joinByLedger, joinAccount: accountByLedger, joinMaps: joinByMaps,
	}[side]
	began := time.Now()
	out, err := join(os.Getenv(joinDirVar), n)
	report := joinReport{Wall: time.Since(began), Joined: out}
	if err != nil || json.NewEncoder(os.Stdout).Encode(report) != nil {
		return 1
	}
	return 0
}

// joinCost is what one side took.
type joinCost struct {
	wall, cpu float64 // seconds
	peak      float64 // MiB
	joined    joined
}

func writeJoin(dir string, n int) (joined, error) { return joined{}, joinFiles(dir, n) }

// runJoin joins in a process of its own, so that its peak of resident memory is nobody else's. A child's peak begins
// with what its parent holds, which is why even the files are written by a child.
func runJoin(b *testing.B, side, dir string) joinCost {
	b.Helper()
	self, err := os.Executable()
	require.NoError(b, err)
	cmd := exec.CommandContext(b.Context(), self)
	cmd.Env = append(os.Environ(), joinSideVar+"="+side, joinDirVar+"="+dir, joinRowsVar+"="+strconv.Itoa(*joinCount))
	out, err := cmd.Output()
	require.NoError(b, err, side)
	var report joinReport
	require.NoError(b, json.Unmarshal(out, &report))
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	require.True(b, ok)
	cost := joinCost{
		wall: report.Wall.Seconds(), cpu: (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(),
		peak: float64(usage.Maxrss) / 1024, joined: report.Joined,
	}
	b.Logf("%s: %.2f s, %.2f s of CPU, %.0f MiB", side, cost.wall, cost.cpu, cost.peak)
	return cost
}

// BenchmarkJoinMillion joins a million client rows with their server records, each time before and after encoding/json
// and two maps do it over the same files. A whole account, with checks, distributions and series, is measured beside
// it. Run it with -benchtime 1x.
func BenchmarkJoinMillion(b *testing.B) {
	dir := b.TempDir()
	runJoin(b, joinWrite, dir)
	sums := map[string]float64{}
	for b.Loop() {
		before, peer, after := runJoin(b, joinLedger, dir), runJoin(b, joinMaps, dir), runJoin(b, joinLedger, dir)
		account := runJoin(b, joinAccount, dir)
		for _, ours := range []joinCost{before, after, account} {
			require.Equal(b, peer.joined, ours.joined)
		}
		sums["x-faster"] += 2 * peer.wall / (before.wall + after.wall)
		sums["x-less-cpu"] += 2 * peer.cpu / (before.cpu + after.cpu)
		sums["x-less-memory"] += peer.peak / max(before.peak, after.peak)
		sums["account-x-faster"] += peer.wall / account.wall
		sums["account-x-less-memory"] += peer.peak / account.peak
	}
	for name, sum := range sums {
		b.ReportMetric(sum/float64(b.N), name)
	}
}
