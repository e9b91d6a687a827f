package serving

import (
	"context"
	"sync"
	"time"

	"github.com/trtmc-go/trtmc/internal/monotime"
	"github.com/trtmc-go/trtmc/native/task"
	"github.com/trtmc-go/trtmc/serving/record"
)

// observation gathers the record of one offered request. It lives in the request's context, or beside a job that
// outlives its request. Everything that happens is noted through its methods, and finish, called once or more, writes
// the record the first time. It is safe for concurrent use.
type observation struct {
	srv *Server

	mu       sync.Mutex
	rec      record.Record
	content  monotime.Instant // first content of a stream
	held     int64            // bytes of the expanded body
	finished bool
	job      bool                    // the request was answered with a job, whose end is that of the observation
	foreign  error                   // a refusal that another package's handler has sent; of the request's goroutine alone
	cancel   context.CancelCauseFunc // ends the request's context; nil for none
}

// observe starts the observation of a request that has just arrived.
func (s *Server) observe(route, id, source string, arrived monotime.Instant) *observation {
	return &observation{srv: s, rec: record.Record{
		Schema: record.Schema, RequestID: id, RequestIDSource: source, Route: route, Lane: -1, Stage: record.StageReceived,
		Clock: s.cfg.Clock.Name(), WallBaseUnixNS: s.cfg.Clock.WallBase(), ArrivedNS: int64(arrived),
	}}
}

type observationKey struct{}

func withObservation(ctx context.Context, o *observation) context.Context {
	return context.WithValue(ctx, observationKey{}, o)
}

// observationOf returns the observation of the request whose context this is, or nil.
func observationOf(ctx context.Context) *observation {
	o, _ := ctx.Value(observationKey{}).(*observation)
	return o
}

// note changes the record, unless it has been written.
func (o *observation) note(change func(*record.Record)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.finished {
		change(&o.rec)
	}
}

func (o *observation) id() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.rec.RequestID
}

// bytes returns what the request's body takes in memory.
func (o *observation) bytes() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.held
}

func (o *observation) noteHeld(n int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.held += n
}

func (o *observation) noteModel(m *served) {
	o.note(func(r *record.Record) {
		r.Model, r.Runtime, r.Reference = m.Name, m.info.Runtime, m.info.Reference
	})
}

func (o *observation) noteEnqueued(depth int) {
	now := int64(o.srv.cfg.Clock.Now())
	o.note(func(r *record.Record) { r.Stage, r.EnqueuedNS, r.QueueDepth = record.StageQueued, now, depth })
}

// noteLeftQueue ends the time in the queue; lane -1 says that none was taken.
func (o *observation) noteLeftQueue(lane int) {
	now := int64(o.srv.cfg.Clock.Now())
	o.note(func(r *record.Record) {
		r.QueueNS, r.Lane = now-r.EnqueuedNS, lane
		if lane >= 0 {
			r.AdmittedNS = now
		}
	})
}

func (o *observation) noteCallStart(id task.ID, set task.Settings) {
	now := int64(o.srv.cfg.Clock.Now())
	o.note(func(r *record.Record) {
		r.Stage, r.Task, r.TaskCallStartNS = record.StageRunning, string(id), now
		if len(set) > 0 {
			r.Settings = make(map[string]any, len(set))
		}
		for _, x := range set {
			r.Settings[x.Name] = x.Value.Any()
		}
	})
}

// noteCallEnd ends the Task call. The Task's own measure of the native call is taken where it gave one that fits
// between the two instants; else the whole is the measure.
func (o *observation) noteCallEnd(t task.Timing, entered bool) {
	now := o.srv.cfg.Clock.Now()
	o.note(func(r *record.Record) {
		if !entered {
			r.Stage, r.TaskCallStartNS, r.Settings, r.Task = record.StageQueued, 0, nil, ""
			return
		}
		r.Stage, r.TaskCallEndNS = record.StageDelivering, int64(now)
		if start := o.srv.cfg.Clock.At(t.Start); !t.Start.IsZero() && t.Call > 0 && int64(start) >= r.TaskCallStartNS && start.Add(t.Call) <= now {
			r.TaskCallStartNS, r.TaskCallEndNS = int64(start), int64(start.Add(t.Call))
		}
		r.TaskCallNS = r.TaskCallEndNS - r.TaskCallStartNS
	})
}

// noteSent notes bytes that were handed to the connection between two instants.
func (o *observation) noteSent(before, after monotime.Instant, n int) {
	o.note(func(r *record.Record) {
		r.BytesOut += int64(n)
		if o.job { // what is sent says that there is a job, it is not the result
			r.Video.AnsweredNS = int64(after)
			return
		}
		if r.FirstByteNS == 0 {
			r.FirstByteNS = int64(before)
		}
		r.LastByteNS = int64(after)
	})
}

// noteContent notes one piece of streamed content that was sent.
func (o *observation) noteContent() {
	now := o.srv.cfg.Clock.Now()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.finished {
		return
	}
	if o.content == 0 {
		o.content = now
	}
	if o.rec.Text != nil {
		o.rec.Text.Deltas++
	}
}

// finish writes the record: completed when f is nil, else what f makes of it. Only the first call counts, so that a
// shutdown may give up a request whose handler still runs.
func (o *observation) finish(f *fault) {
	o.mu.Lock()
	if o.finished {
		o.mu.Unlock()
		return
	}
	o.finished = true
	r := &o.rec
	if f == nil {
		r.Stage = record.StageDone
	} else {
		r.Reason, r.Error = f.reason, f.full()
		if r.Status == 0 {
			r.Status = f.status
		}
	}
	r.Outcome = outcomeOf(r.Reason, r.TaskCallStartNS != 0 || o.job)
	switch {
	case o.job:
		r.HandlingNS = r.Video.FinishedNS - r.ArrivedNS
	case r.LastByteNS != 0:
		r.HandlingNS = r.LastByteNS - r.ArrivedNS
	default:
		r.HandlingNS = int64(o.srv.cfg.Clock.Now()) - r.ArrivedNS
	}
	rec, content := o.rec, o.content
	o.mu.Unlock()
	o.srv.account(rec, content)
}

// account is where a finished request becomes a record, a count and a log line.
func (s *Server) account(rec record.Record, content monotime.Instant) {
	var ttft time.Duration
	if content != 0 {
		ttft = time.Duration(int64(content) - rec.ArrivedNS)
	}
	s.metrics.count(&rec, ttft)
	if rec.Outcome == record.Failed {
		s.cfg.Logger.Warn("request failed", "request_id", rec.RequestID, "route", rec.Route, "model", rec.Model,
			"reason", string(rec.Reason), "stage", string(rec.Stage), "error", rec.Error)
	}
	if s.cfg.Records == nil {
		return
	}
	if err := s.cfg.Records.Append(rec); err != nil {
		s.metrics.recordFailures.Inc()
		s.cfg.Logger.Error("record not written", "request_id", rec.RequestID, "error", err)
	}
}

func (o *observation) noteStatus(status int) {
	o.note(func(r *record.Record) { r.Status = status })
}

func (o *observation) noteFlushed(at monotime.Instant) {
	o.note(func(r *record.Record) {
		switch {
		case o.job:
			r.Video.AnsweredNS = int64(at)
		case r.FirstByteNS != 0:
			r.LastByteNS = int64(at)
		}
	})
}

func (o *observation) cancelWith(cancel context.CancelCauseFunc) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.cancel = cancel
}
