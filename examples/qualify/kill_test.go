package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native"
	"github.com/trtmc-go/trtmc/native/reference"
	"github.com/trtmc-go/trtmc/native/task"
	"github.com/trtmc-go/trtmc/qual"
	"github.com/trtmc-go/trtmc/serving"
	"github.com/trtmc-go/trtmc/serving/record"
)

// childServer makes this test binary serve a bundle until it is killed; its value is the bundle and the record file.
const childServer = "QUALIFY_TEST_SERVER"

// serveForever is the child. Its first line of output is its URL.
func serveForever(bundle, records string) error {
	rt, err := native.Open(native.Options{})
	if err != nil {
		return err
	}
	var lanes []task.Model
	for range 2 {
		m, err := rt.Load(bundle, native.LoadOptions{})
		if err != nil {
			return err
		}
		lanes = append(lanes, m)
	}
	w, err := record.OpenWriter(records)
	if err != nil {
		return err
	}
	s, err := serving.New(serving.Config{Models: []serving.Model{{Name: "demo", Lanes: lanes, ContextTokens: 256}}, Records: w})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s\n", listener.Addr())
	return s.Serve(context.Background(), listener)
}

// startChild starts the child and returns its URL and a function that kills it with SIGKILL.
func startChild(t *testing.T, bundle, records string) (url string, kill func()) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	child := exec.Command(self)
	child.Env = append(os.Environ(), childServer+"="+bundle+"\n"+records)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	kill = func() {
		_ = child.Process.Kill() // it may be dead already
		_ = child.Wait()
	}
	t.Cleanup(kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(line), kill
}

// readRecords returns the whole records of a file and its unreadable lines.
func readRecords(t *testing.T, data []byte) (whole map[string]record.Record, bad []*record.SyntaxError) {
	t.Helper()
	whole = map[string]record.Record{}
	r := record.NewReader(bytes.NewReader(data), "records")
	for r.Scan() {
		rec, syntax := r.Entry()
		if syntax != nil {
			bad = append(bad, syntax)
			continue
		}
		require.NotContains(t, whole, rec.RequestID)
		whole[rec.RequestID] = *rec
	}
	require.NoError(t, r.Err())
	return whole, bad
}

// TestKilledServerLosesNoRecordAndItsRequestsAreNamed kills a server with SIGKILL in the middle of a replay.
func TestKilledServerLosesNoRecordAndItsRequestsAreNamed(t *testing.T) {
	dir := t.TempDir()
	bundle, file := filepath.Join(dir, "slow.bundle"), filepath.Join(dir, "records.jsonl")
	p := reference.TextParams()
	p.Fault = &reference.Fault{Kind: reference.FaultSlow, MS: 150}
	require.NoError(t, reference.WriteBundle(bundle, p))

	url, kill := startChild(t, bundle, file)
	out := filepath.Join(dir, "killed")
	args := []string{"-out", out, "-url", url, "-records", file, "-model", "demo", "-workloads", textTrace, "-window", "20s", "-scale", "10", "-warmup", "1", "-max-lateness", "1m"}
	ended := make(chan int, 1)
	go func() {
		var b bytes.Buffer
		ended <- run(context.Background(), append([]string{"qualify"}, args...), &b, &b)
	}()
	require.Eventually(t, func() bool { // the burst of the first instant has seven requests for two lanes
		data, _ := os.ReadFile(file)
		return bytes.Count(data, []byte("\n")) >= 3
	}, 30*time.Second, time.Millisecond)
	kill()
	require.Equal(t, exitFailed, <-ended)

	killed, err := os.ReadFile(file)
	require.NoError(t, err)
	whole, bad := readRecords(t, killed)
	require.GreaterOrEqual(t, len(whole), 3)
	require.LessOrEqual(t, len(bad), 1, "at most the line under way is torn")
	r := judged(t, out)
	w := r.Workloads[textTrace]
	require.Equal(t, w.Measured.Offered, w.Measured.Completed+w.Measured.Rejected+w.Measured.Failed)
	require.Positive(t, w.Measured.Completed)
	lost := map[string]bool{}
	failed := map[string]bool{}
	for _, f := range r.Findings {
		switch f.Kind {
		case qual.KindNoRecord:
			lost[f.RequestID] = true
		case qual.KindFailed:
			failed[f.RequestID] = true
		}
	}
	require.NotEmpty(t, lost, "requests were under way when the server died")
	for id := range lost {
		require.NotContains(t, whole, id)
		require.True(t, failed[id], "%s is lost and so failed", id)
	}
	require.Len(t, failed, w.Measured.Failed+w.Warmup.Failed)
	require.Contains(t, r.Verdict.Failed, "one server record for every sent request")

	// A restart appends after what is there, on a line of its own.
	url, _ = startChild(t, bundle, file)
	again := filepath.Join(dir, "again")
	code, stdout, stderr := start(t, "-out", again, "-url", url, "-records", file, "-model", "demo", "-workloads", textTrace, "-window", "300ms", "-warmup", "0", "-seed", "2", "-max-lateness", "1m")
	require.Equal(t, exitHeld, code, "%s%s", stdout, stderr)
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	require.True(t, bytes.HasPrefix(data, killed))
	require.Equal(t, 7, judged(t, again).Workloads[textTrace].Measured.Completed)
}

func TestForeignServerThatIsNotThereIsOneLine(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	url := "http://" + listener.Addr().String()
	require.NoError(t, listener.Close())
	_, code, _, stderr := qualifyWith(t, "-url", url, "-records", filepath.Join(t.TempDir(), "r.jsonl"), "-model", "demo")
	require.Equal(t, exitFailed, code)
	require.Contains(t, stderr, "refused")
	require.Equal(t, 1, strings.Count(stderr, "\n"))
}
