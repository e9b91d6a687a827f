package record_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/trtmc-go/trtmc/serving/record"
)

// childFile makes this test binary write records to the file it names until it is killed.
const childFile = "RECORD_TEST_CHILD_FILE"

func TestMain(m *testing.M) {
	if path := os.Getenv(childFile); path != "" {
		writeForever(path)
	}
	goleak.VerifyTestMain(m)
}

// writeForever appends records and says on standard output how many have surely been handed to the file.
func writeForever(path string) {
	w, err := record.OpenWriter(path)
	if err != nil {
		panic(err)
	}
	for i := 0; ; i++ {
		if err := w.Append(completed(strconv.Itoa(i))); err != nil {
			panic(err)
		}
		if i%100 == 99 {
			if err := w.Flush(); err != nil {
				panic(err)
			}
			fmt.Println(i + 1)
		}
	}
}

func readFile(t *testing.T, path string) (recs []*record.Record, bad []*record.SyntaxError) {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	r := record.NewReader(f, filepath.Base(path))
	for r.Scan() {
		if rec, b := r.Entry(); b != nil {
			bad = append(bad, b)
		} else {
			recs = append(recs, rec)
		}
	}
	require.NoError(t, r.Err())
	return recs, bad
}

func TestRecordsSurviveAKillAndTheNextWriterGoesOnBehindThem(t *testing.T) {
	path := filepath.Join(t.TempDir(), "records.jsonl")
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childFile+"="+path)
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	child.Stderr = os.Stderr
	require.NoError(t, child.Start())
	surely := 0
	for lines := bufio.NewScanner(out); surely < 500 && lines.Scan(); {
		surely, err = strconv.Atoi(lines.Text())
		require.NoError(t, err)
	}
	require.NoError(t, child.Process.Kill())
	require.Error(t, child.Wait())

	recs, bad := readFile(t, path)
	require.GreaterOrEqual(t, len(recs), surely)
	for i, r := range recs {
		require.Equal(t, strconv.Itoa(i), r.RequestID)
		require.NoError(t, r.Validate())
	}
	require.LessOrEqual(t, len(bad), 1, "at most the last line is torn")

	// Whatever the kill left, tear the last line and write on.
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.Truncate(path, int64(len(whole)-20)))
	w, err := record.OpenWriter(path)
	require.NoError(t, err)
	require.NoError(t, w.Append(completed("next")))
	require.NoError(t, w.Close())
	recs, bad = readFile(t, path)
	require.Len(t, bad, 1)
	require.False(t, bad[0].Torn, "it has a line end by now")
	require.Equal(t, "next", recs[len(recs)-1].RequestID)
}

func TestWriterStartsANewLineOnlyAfterATornOne(t *testing.T) {
	for before, lines := range map[string]int{"": 1, good + "\n": 2, good: 2, good[:30]: 2} {
		path := filepath.Join(t.TempDir(), "r.jsonl")
		require.NoError(t, os.WriteFile(path, []byte(before), 0o644))
		w, err := record.OpenWriter(path)
		require.NoError(t, err)
		require.NoError(t, w.Append(completed("b")))
		require.NoError(t, w.Close())
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, lines, strings.Count(string(text), "\n"), "%q", text)
		require.NotContains(t, string(text), "\n\n")
	}
}

func TestConcurrentAppendsAreAllWrittenWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.jsonl")
	w, err := record.OpenWriter(path)
	require.NoError(t, err)
	const writers, each = 8, 200
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			for j := range each {
				if err := w.Append(completed(fmt.Sprint(i, "-", j))); err != nil {
					t.Error(err)
				}
				if j%50 == 0 {
					if err := w.Flush(); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	require.NoError(t, w.Flush())
	recs, bad := readFile(t, path)
	require.Empty(t, bad)
	require.Len(t, recs, writers*each, "Flush leaves nothing behind")
	next := map[string]int{}
	for _, r := range recs {
		who, n, _ := strings.Cut(r.RequestID, "-")
		require.Equal(t, strconv.Itoa(next[who]), strings.TrimSpace(n), "order of one appender")
		next[who]++
	}
	require.NoError(t, w.Close())
}

func TestClosedWriterSaysSo(t *testing.T) {
	w, err := record.OpenWriter(filepath.Join(t.TempDir(), "r.jsonl"))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, w.Close())
	require.ErrorIs(t, w.Append(completed("a")), record.ErrClosed)
	require.ErrorIs(t, w.Flush(), record.ErrClosed)
}

func TestWriteErrorStays(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("needs a device that is always full: ", err)
	}
	w, err := record.OpenWriter("/dev/full")
	require.NoError(t, err)
	require.NoError(t, w.Append(completed("a")), "it is handed over")
	require.ErrorContains(t, w.Flush(), "write record file")
	require.ErrorContains(t, w.Append(completed("b")), "write record file")
	require.Error(t, w.Close())
}

func TestFileThatCannotBeOpenedIsNamed(t *testing.T) {
	_, err := record.OpenWriter(filepath.Join(t.TempDir(), "missing", "r.jsonl"))
	require.ErrorContains(t, err, "open record file")
	require.ErrorContains(t, err, "missing")
}

func ExampleWriter() {
	dir, err := os.MkdirTemp("", "record")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "records.jsonl")
	w, err := record.OpenWriter(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	err = w.Append(record.Record{
		RequestID: "r-1", RequestIDSource: "client", Route: "/v1/completions", Lane: -1, Status: 429,
		Outcome: record.Rejected, Reason: record.ReasonQueueFull, Stage: record.StageQueued, ArrivedNS: 12,
	})
	fmt.Println(err, w.Close())

	f, err := os.Open(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	for r := record.NewReader(f, "records.jsonl"); r.Scan(); {
		rec, bad := r.Entry()
		fmt.Println(rec.RequestID, rec.Outcome, rec.Reason, bad == nil)
	}
	// Output:
	// <nil> <nil>
	// r-1 rejected queue_full true
}
