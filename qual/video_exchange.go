package qual

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/trtmc-go/trtmc/trace"
	"github.com/trtmc-go/trtmc/video"
)

// maxAnswer bounds the answers about a job.
const maxAnswer = 1 << 20

// jobAnswer is what the client reads of a job.
type jobAnswer struct {
	ID            string  `json:"id"`
	Status        string  `json:"status"`
	QueueTime     float64 `json:"queue_time_s"`
	InferenceTime float64 `json:"inference_time_s"`
	EncodeTime    float64 `json:"encode_time_s"`
	Error         *struct {
		Message string `json:"message"`
		Code    string `json:"code"`
	} `json:"error"`
	Artifact *video.Artifact `json:"artifact"`
}

// final reports whether the job stays as it is. The word is compared as AIPerf does, in any letter case.
func (a *jobAnswer) final() bool {
	return strings.EqualFold(a.Status, string(video.Completed)) || strings.EqualFold(a.Status, string(video.Failed))
}

// videoExchange is one job from its creation to its download.
type videoExchange struct {
	run *videoRun
	row trace.Row
}

// ended is how an exchange ends early: with a result, and why.
type ended struct {
	result trace.Result
	code   string
	msg    string
}

func (e *ended) Error() string { return e.msg }

// make makes one clip and says what became of it. It returns a row in any case.
func (r *videoRun) make(ctx context.Context, phase trace.Phase, item trace.Item) trace.Row {
	x := &videoExchange{run: r, row: trace.Row{
		RequestID: item.RequestID, Phase: phase, Workload: r.m.Workload, Clock: r.clock.Name(), WallBaseUnixNS: r.clock.WallBase(),
		ScheduledNS: int64(r.clock.Now()), Result: trace.ResultOK, Video: &trace.VideoRow{PollNS: r.m.PollNS},
	}}
	if err := x.do(ctx, item); err != nil {
		var early *ended
		if !errors.As(err, &early) {
			early = x.classify(ctx, err)
		}
		x.row.Result, x.row.ErrorCode, x.row.Error = early.result, early.code, early.msg
	}
	x.row.EndedNS = int64(r.clock.Now())
	return x.row
}

// classify names an error of the connection, or of the client's own limits.
func (x *videoExchange) classify(ctx context.Context, err error) *ended {
	var timeout net.Error
	e := &ended{result: trace.ResultTransportError, msg: err.Error()}
	late := errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
	switch {
	case ctx.Err() != nil && x.row.SentNS == 0:
		e.result, e.code = trace.ResultNotSent, trace.CodeCancelled
	case ctx.Err() != nil:
		e.result, e.code = trace.ResultCancelled, trace.CodeCancelled
	case x.row.SentNS == 0 && late:
		e.result, e.code = trace.ResultNotSent, trace.CodeDialTimeout
	case x.row.SentNS == 0:
		e.result, e.code = trace.ResultNotSent, trace.CodeDialFailed
	case late:
		e.result, e.code = trace.ResultTimeout, trace.CodeUnfinished
	}
	return e
}

func (x *videoExchange) do(ctx context.Context, item trace.Item) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	kind, form, err := videoForm(item.Body)
	if err != nil {
		return &ended{trace.ResultNotSent, trace.CodeInvalidItem, err.Error()}
	}
	timeout := x.run.client.Timeout
	if timeout <= 0 {
		timeout = DefaultVideoTimeout
	}
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	job, err := x.create(limited, item.Path, kind, form)
	if err == nil {
		job, err = x.follow(ctx, limited, item.Path, job)
	}
	if err != nil {
		return err
	}
	if !strings.EqualFold(job.Status, string(video.Completed)) {
		e := &ended{result: trace.ResultJobFailed, msg: "the job failed and says no reason"}
		if job.Error != nil && job.Error.Message != "" {
			e.code, e.msg = job.Error.Code, job.Error.Message
		}
		return e
	}
	if err := x.download(ctx, item.Path, job); err != nil {
		var early *ended
		if errors.As(err, &early) || ctx.Err() != nil {
			return err
		}
		return &ended{trace.ResultBadResponse, "", "download: " + err.Error()}
	}
	return nil
}

// create makes the job. The instants of the creation go into the row.
func (x *videoExchange) create(ctx context.Context, path, kind string, form []byte) (*jobAnswer, error) {
	var sent, first atomic.Int64 // the transport may still be at it when a request is given up
	var out atomic.Pointer[meteredConn]
	var before atomic.Int64
	var reused atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) {
			if c, ok := info.Conn.(*meteredConn); ok {
				before.Store(c.written.Load())
				out.Store(c)
			}
			reused.Store(info.Reused)
			sent.Store(int64(x.run.clock.Now()))
		},
		GotFirstResponseByte: func() { first.Store(int64(x.run.clock.Now())) },
	})
	req, err := x.request(ctx, http.MethodPost, path, bytes.NewReader(form))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", kind)
	job, err := x.ask(req)
	x.row.SentNS, x.row.FirstByteNS, x.row.NewConnection = sent.Load(), first.Load(), sent.Load() != 0 && !reused.Load()
	if c := out.Load(); c != nil {
		x.row.BytesOut = c.written.Load() - before.Load()
	}
	if err != nil {
		return nil, err
	}
	x.row.Video.CreatedNS, x.row.Video.JobID = x.row.LastByteNS, job.ID
	if job.ID == "" {
		return nil, &ended{trace.ResultBadResponse, "", "the answer to the creation has no id"}
	}
	return job, nil
}

// follow asks about the job until it is final or the time for it is over, and then once more.
func (x *videoExchange) follow(ctx, limited context.Context, path string, job *jobAnswer) (*jobAnswer, error) {
	wait := time.NewTimer(0)
	defer wait.Stop()
	for {
		select {
		case <-wait.C:
		case <-limited.Done():
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		asking, cancel, last := limited, context.CancelFunc(func() {}), limited.Err() != nil
		if last {
			asking, cancel = context.WithTimeout(ctx, lastQuestion)
		}
		next, err := x.poll(asking, path+"/"+job.ID)
		cancel()
		switch {
		case err != nil && limited.Err() != nil && ctx.Err() == nil && !last && isDeadline(err):
			continue // the time ran out while it asked
		case err != nil:
			return nil, err
		case next.final():
			return next, nil
		case last:
			return nil, &ended{trace.ResultTimeout, trace.CodeUnfinished, fmt.Sprintf("timeout: the job was still %q when the time for it was over", next.Status)}
		}
		wait.Reset(time.Duration(x.run.m.PollNS))
	}
}

func isDeadline(err error) bool { return errors.Is(err, context.DeadlineExceeded) }

// poll asks about the job once.
func (x *videoExchange) poll(ctx context.Context, path string) (*jobAnswer, error) {
	req, err := x.request(ctx, http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	job, err := x.ask(req)
	if err != nil {
		return nil, err
	}
	v := x.row.Video
	v.Polls++
	v.State = strings.ToLower(job.Status)
	ns := func(s float64) int64 { return int64(s * float64(time.Second)) }
	v.QueueNS, v.TaskCallNS, v.EncodeNS = ns(job.QueueTime), ns(job.InferenceTime), ns(job.EncodeTime)
	return job, nil
}

func (x *videoExchange) request(ctx context.Context, method, path string, body io.Reader) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimRight(x.run.client.BaseURL, "/")+path, body)
	if err != nil {
		return nil, &ended{trace.ResultNotSent, trace.CodeInvalidItem, err.Error()}
	}
	for name, values := range x.run.client.Header {
		req.Header[name] = values
	}
	req.Header.Set("X-Request-ID", x.row.RequestID)
	req.Header.Set("Accept", "application/json")
	return req, nil
}

// ask sends a request whose answer is a job. LastByteNS, Status and BytesIn are those of the last answer.
func (x *videoExchange) ask(req *http.Request) (*jobAnswer, error) {
	res, err := x.run.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	x.row.LastByteNS, x.row.Status, x.row.BytesIn = int64(x.run.clock.Now()), res.StatusCode, int64(len(data))
	if err != nil {
		return nil, err
	}
	if res.StatusCode/100 != 2 {
		return nil, x.refused(res, data)
	}
	job := new(jobAnswer)
	if err := json.Unmarshal(data, job); err != nil {
		return nil, &ended{trace.ResultBadResponse, "", "the answer is no job: " + err.Error()}
	}
	return job, nil
}

// refused is the end by an answer with another status.
func (x *videoExchange) refused(res *http.Response, data []byte) *ended {
	var body struct {
		Error struct{ Code, Message string }
	}
	// A body in another form leaves the code empty; the status says what there is to say.
	_ = json.Unmarshal(data, &body)
	if s, err := strconv.ParseFloat(res.Header.Get("Retry-After"), 64); err == nil {
		x.row.RetryAfterMS = s * 1000
	}
	msg := body.Error.Message
	if msg == "" {
		msg = res.Status
	}
	return &ended{trace.ResultHTTPError, body.Error.Code, msg}
}
