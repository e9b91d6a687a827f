package qual_test

import (
	"context"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/qual"
	"github.com/trtmc-go/trtmc/trace"
)

// studio answers as a server of videos does, with jobs whose states a test decides. It counts what it is asked.
type studio struct {
	// state returns what the nth question about a job, from 1 on, is answered with: JSON members behind the id.
	state func(id string, nth int) string
	// refuse, when not 0, is the status of every creation.
	refuse int

	mu      sync.Mutex
	polls   map[string]int
	ids     []string // of requests, in order
	forms   []map[string]string
	deletes int
}

func (s *studio) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := r.Header.Get("X-Request-ID")
	s.ids = append(s.ids, id)
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.Method == http.MethodDelete:
		s.deletes++
	case r.Method == http.MethodPost && s.refuse != 0:
		w.Header().Set("Retry-After", "3")
		w.WriteHeader(s.refuse)
		fmt.Fprint(w, `{"error":{"code":"queue_full","message":"too many video jobs are waiting"}}`)
	case r.Method == http.MethodPost:
		s.forms = append(s.forms, readForm(r))
		fmt.Fprintf(w, `{"id":"job-%s","status":"queued"}`, id)
	case strings.HasSuffix(r.URL.Path, "/content"):
		w.WriteHeader(http.StatusNotFound)
	default:
		if s.polls == nil {
			s.polls = map[string]int{}
		}
		s.polls[id]++
		fmt.Fprintf(w, `{"id":"job-%s",%s}`, id, s.state(id, s.polls[id]))
	}
}

func readForm(r *http.Request) map[string]string {
	_, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	form := map[string]string{}
	for parts := multipart.NewReader(r.Body, params["boundary"]); ; {
		p, err := parts.NextPart()
		if err != nil {
			return form
		}
		value, _ := io.ReadAll(p)
		form[p.FormName()] = string(value)
	}
}

// film drives n clips against a handler and returns the rows by id.
func film(t *testing.T, h http.Handler, n int, timeout time.Duration) map[string]*trace.Row {
	t.Helper()
	web := httptest.NewServer(h)
	defer web.Close()
	dir := prepareFilm(t, n, 4)
	require.NoError(t, (&qual.VideoClient{BaseURL: web.URL, Timeout: timeout}).Run(t.Context(), dir))
	return rowsOf(t, dir)
}

func prepareFilm(t *testing.T, n, concurrency int) string {
	t.Helper()
	dir := t.TempDir()
	_, err := qual.PrepareVideo(dir, readPrompts(t), qual.VideoOptions{Model: "v", Count: n, Concurrency: concurrency, Poll: time.Millisecond})
	require.NoError(t, err)
	return dir
}

func rowsOf(t *testing.T, dir string) map[string]*trace.Row {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, qual.ClientFile))
	require.NoError(t, err)
	defer f.Close()
	rows := map[string]*trace.Row{}
	for r := trace.NewRowReader(f, "client.jsonl"); r.Scan(); {
		row, bad := r.Row()
		require.Nil(t, bad)
		require.NotContains(t, rows, row.RequestID, "one row a request")
		rows[row.RequestID] = row
	}
	return rows
}

func TestCreationIsTheFormOfAIPerf(t *testing.T) {
	s := &studio{state: func(string, int) string { return `"status":"failed","error":{"message":"no","code":"task_error"}` }}
	rows := film(t, s, 1, time.Minute)
	require.Equal(t, []map[string]string{{
		"prompt": "A red paper boat drifts down a narrow stream between mossy stones, morning light", "model": "v", "size": "832x480",
		"num_frames": "17", "fps": "16", "num_inference_steps": "8", "guidance_scale": "5.0", "seed": "100",
	}}, s.forms)
	require.Equal(t, []string{"vid-000", "vid-000"}, s.ids, "every request of a job has the identity of the creation")
	row := rows["vid-000"]
	require.Equal(t, []any{trace.ResultJobFailed, "task_error", "no", 200}, []any{row.Result, row.ErrorCode, row.Error, row.Status})
	require.Greater(t, row.BytesOut, int64(900), "head and form")
}

// TestCase_C01: the client asks on through every state that is not final, known or not, and counts its questions.
func TestCase_C01(t *testing.T) {
	states := []string{"queued", "queued", "in_progress", "processing", "completed"}
	s := &studio{state: func(_ string, nth int) string { return `"status":"` + states[nth-1] + `"` }}
	row := film(t, s, 1, time.Minute)["vid-000"]
	require.Equal(t, 5, row.Video.Polls)
	require.Equal(t, "completed", row.Video.State)
	require.Equal(t, trace.ResultBadResponse, row.Result, "completed is not yet a clip: there was no content")
	require.Contains(t, row.Error, "404")
	require.Positive(t, row.LastByteNS)
}

// TestCase_C07: clips that never finish, that fail, and one that finishes just when the time is over have one outcome
// each, with a text, and giving up deletes nothing.
func TestCase_C07(t *testing.T) {
	const total = 24
	began := time.Now()
	timeout := 300 * time.Millisecond
	s := &studio{}
	s.state = func(id string, nth int) string {
		switch {
		case strings.HasPrefix(id, "vid-001"), id == "vid-002":
			return `"status":"in_progress"`
		case strings.HasPrefix(id, "vid-003"):
			return `"status":"failed","error":{"message":"out of memory at step 3","code":"task_out_of_resources"}`
		case id == "vid-000" && time.Since(began) < timeout+50*time.Millisecond:
			return `"status":"in_progress"` // until after the time for it
		}
		return `"status":"completed"`
	}
	// The last question about vid-000 comes when its time is over; hold the answer until the job is done.
	late := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && r.Header.Get("X-Request-ID") == "vid-000" && time.Since(began) > timeout-50*time.Millisecond {
			for time.Since(began) < timeout+60*time.Millisecond {
				<-time.After(time.Millisecond)
			}
		}
		s.ServeHTTP(w, r)
	})
	rows := film(t, late, total, timeout)
	require.Len(t, rows, total)
	for id, row := range rows {
		switch {
		case strings.HasPrefix(id, "vid-001"), id == "vid-002":
			require.Equal(t, []any{trace.ResultTimeout, trace.CodeUnfinished}, []any{row.Result, row.ErrorCode}, id)
			require.Contains(t, row.Error, "timeout")
		case strings.HasPrefix(id, "vid-003"):
			require.Equal(t, []any{trace.ResultJobFailed, "out of memory at step 3"}, []any{row.Result, row.Error}, id)
		default:
			require.Equal(t, "completed", row.Video.State, "%s: %+v", id, row)
		}
	}
	require.Zero(t, s.deletes)
}

func TestRefusedCreationIsAnHTTPErrorWithItsCode(t *testing.T) {
	s := &studio{refuse: http.StatusTooManyRequests}
	row := film(t, s, 1, time.Minute)["vid-000"]
	require.Equal(t, []any{trace.ResultHTTPError, 429, "queue_full", 3000.0}, []any{row.Result, row.Status, row.ErrorCode, row.RetryAfterMS})
	require.Empty(t, row.Video.JobID)
	require.Len(t, s.ids, 1, "nothing is tried again")
}

func TestServerThatIsNotThereLeavesARowForEachClip(t *testing.T) {
	web := httptest.NewServer(http.NotFoundHandler())
	url := web.URL
	web.Close()
	dir := prepareFilm(t, 3, 2)
	require.NoError(t, (&qual.VideoClient{BaseURL: url}).Run(t.Context(), dir))
	rows := rowsOf(t, dir)
	require.Len(t, rows, 3)
	for _, row := range rows {
		require.Equal(t, []any{trace.ResultNotSent, trace.CodeDialFailed}, []any{row.Result, row.ErrorCode})
		require.Zero(t, row.SentNS)
	}
}

func TestCancelledRunListsUnfinishedJobsAsFailed(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	s := &studio{state: func(string, int) string { return `"status":"in_progress"` }}
	var asked atomic.Int64
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.ServeHTTP(w, r)
		if r.Method == http.MethodGet && asked.Add(1) == 3 {
			cancel(context.Canceled)
		}
	}))
	defer web.Close()
	dir := prepareFilm(t, 4, 1)
	require.ErrorIs(t, (&qual.VideoClient{BaseURL: web.URL}).Run(ctx, dir), context.Canceled)
	results := map[trace.Result]int{}
	for _, row := range rowsOf(t, dir) {
		results[row.Result]++
		require.Equal(t, trace.CodeCancelled, row.ErrorCode)
	}
	require.Equal(t, map[trace.Result]int{trace.ResultCancelled: 1, trace.ResultNotSent: 3}, results)
}

func TestAnswersThatAreNoJobsAreBadResponses(t *testing.T) {
	for name, body := range map[string]string{"no JSON": "<html>", "no id": `{"status":"queued"}`, "a list": "[]"} {
		t.Run(name, func(t *testing.T) {
			row := film(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }), 1, time.Minute)["vid-000"]
			require.Equal(t, trace.ResultBadResponse, row.Result)
			require.NotEmpty(t, row.Error)
		})
	}
}
