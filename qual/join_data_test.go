package qual_test

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/trtmc-go/trtmc/serving/record"
	"github.com/trtmc-go/trtmc/trace"
)

// The files of a generated run.
const (
	joinRowsFile    = "client.jsonl"
	joinRecordsFile = "records.jsonl"
)

// joinID is written by hand so that naming a request costs next to nothing beside joining it.
func joinID(i int) string {
	const digits = "0123456789abcdef"
	id := [32]byte([]byte("7d41c0de5f1e4b0a9c3f000000000000"))
	for at := len(id) - 1; i > 0; at-- {
		id[at] = digits[i%16]
		i /= 16
	}
	return string(id[:])
}

func joinOffset(i int) time.Duration { return time.Duration(i) * 2 * time.Millisecond }

// joinFiles writes the client rows and server records of n streamed requests, each file in an order of its own. Every
// 1000th request has no record, every 50th was refused, every 97th failed.
func joinFiles(dir string, n int) error {
	f, err := os.Create(filepath.Join(dir, joinRowsFile))
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(f, 1<<20)
	rows := trace.NewRowWriter(out)
	for _, i := range shuffled(n, 1) {
		if err := rows.Append(joinRow(i)); err != nil {
			return err
		}
	}
	if err := errors.Join(out.Flush(), f.Close()); err != nil {
		return err
	}
	w, err := record.OpenWriter(filepath.Join(dir, joinRecordsFile))
	if err != nil {
		return err
	}
	for _, i := range shuffled(n, 2) {
		if i%1000 == 999 {
			continue
		}
		if err := w.Append(joinRecord(i)); err != nil {
			return err
		}
	}
	return w.Close()
}

// shuffled returns 0 to n-1 as a run leaves them: out of order within the requests that are under way at one time.
func shuffled(n int, seed uint64) []int {
	random := rand.New(rand.NewPCG(seed, seed))
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	const window = 512
	for i := 0; i < n; i += window {
		part := out[i:min(i+window, n)]
		random.Shuffle(len(part), func(a, b int) { part[a], part[b] = part[b], part[a] })
	}
	return out
}

func joinRow(i int) trace.Row {
	latency := time.Duration(40+i%977) * time.Millisecond
	row := rowAt(joinID(i), joinOffset(i), latency)
	row.WallBaseUnixNS = 1_764_554_400_123_456_789
	row.ScheduledNS = row.SentNS
	row.SentNS += int64(i % 4093)
	row.FirstContentNS, row.LastContentNS = row.FirstByteNS+1000, row.LastByteNS-1000
	row.EndedNS = row.LastByteNS + 500
	row.BytesOut, row.BytesIn = int64(800+i%5000), int64(2000+i%9000)
	prompt, completion := int64(200+i%1500), int64(1+i%300)
	row.PromptTokens, row.CompletionTokens, row.ContentChunks, row.FinishReason = &prompt, &completion, int(completion), "length"
	row.ResponseSHA256 = fmt.Sprintf("%016x", uint64(i)*0x9e3779b97f4a7c15) + strings.Repeat("c0ffee00", 6)
	switch {
	case i%50 == 7:
		row.Status, row.Result, row.ErrorCode, row.RetryAfterMS = 429, trace.ResultHTTPError, "queue_full", 1000
		row.PromptTokens, row.CompletionTokens, row.ContentChunks, row.FinishReason = nil, nil, 0, ""
	case i%97 == 3:
		row.Result, row.Error = trace.ResultStreamError, `the stream said "internal_error"`
	}
	return row
}

func joinRecord(i int) record.Record {
	row := joinRow(i)
	rec := recordAt(row.RequestID, joinOffset(i), time.Duration(row.LastByteNS-row.ScheduledNS))
	rec.WallBaseUnixNS, rec.Model, rec.Runtime, rec.Lane, rec.Streaming = row.WallBaseUnixNS, "qwen3-0.6b", "trtmc-reference/1", i%1024, true
	rec.ArrivedNS += int64(i % 4093)
	rec.EnqueuedNS, rec.AdmittedNS, rec.TaskCallStartNS = rec.ArrivedNS+1000, rec.ArrivedNS+2000, rec.ArrivedNS+3000
	rec.TaskCallNS, rec.HandlingNS = rec.TaskCallEndNS-rec.TaskCallStartNS, rec.LastByteNS-rec.ArrivedNS
	rec.BytesIn, rec.BytesOut, rec.QueueDepth = row.BytesOut-180, row.BytesIn, i%12
	rec.Task = "text_continuation"
	rec.Text = &record.Text{PromptBytes: int(rec.BytesIn) - 60, PromptWords: 100, TokenSource: record.TokensFromTaskIDs}
	switch {
	case i%50 == 7:
		refuse(&row, &rec)
		return rec
	case i%97 == 3:
		rec.Outcome, rec.Reason, rec.Stage = record.Failed, record.ReasonTaskError, record.StageRunning
	}
	rec.Settings = map[string]any{"max_new_tokens": float64(1 + i%300), "ignore_eos": true}
	limit := int64(1 + i%300)
	rec.Text.PromptTokens, rec.Text.CompletionTokens, rec.Text.MaxTokens = row.PromptTokens, row.CompletionTokens, &limit
	rec.Text.FinishReason, rec.Text.Deltas, rec.Text.PrefillMS, rec.Text.DecodeMS = row.FinishReason, row.ContentChunks, 3.125, float64(i%977)/4
	return rec
}
