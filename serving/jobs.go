package serving

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync"

	"github.com/trtmc-go/trtmc/internal/monotime"
	"github.com/trtmc-go/trtmc/native/task"
	"github.com/trtmc-go/trtmc/serving/record"
	"github.com/trtmc-go/trtmc/video"
)

// accounts holds the observation of each job that is not final. The zero value is empty. It is safe for concurrent use.
type accounts struct {
	mu     sync.Mutex
	byJob  map[string]*observation
	byID   map[string]bool   // request ids of these jobs
	onLane map[string]string // job id to request id, of generator calls under way
}

// isJob reports whether the observation is that of a job.
func (o *observation) isJob() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.job
}

// add holds an observation for a job, unless there is one; it returns the one that is held.
func (a *accounts) add(jobID string, o *observation) *observation {
	a.mu.Lock()
	defer a.mu.Unlock()
	if held := a.byJob[jobID]; held != nil {
		return held
	}
	if a.byJob == nil {
		a.byJob, a.byID, a.onLane = map[string]*observation{}, map[string]bool{}, map[string]string{}
	}
	a.byJob[jobID], a.byID[o.id()] = o, true
	return o
}

func (a *accounts) of(jobID string) *observation {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.byJob[jobID]
}

func (a *accounts) remove(jobID string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if o := a.byJob[jobID]; o != nil {
		delete(a.byID, o.id())
		delete(a.byJob, jobID)
	}
}

func (a *accounts) holds(requestID string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.byID[requestID]
}

func (a *accounts) polled(jobID string) {
	if o := a.of(jobID); o != nil {
		o.note(func(r *record.Record) { r.Video.Polls++ })
	}
}

func (a *accounts) enter(jobID, requestID string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.onLane[jobID] = requestID
}

func (a *accounts) leave(jobID string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.onLane, jobID)
}

// inside returns the request ids of the generator calls under way, sorted.
func (a *accounts) inside() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var ids []string
	for _, id := range a.onLane {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// observe accounts for one step of a job.
func (v *videos) observe(e video.Event) {
	switch e.Kind {
	case video.EventCreated:
		v.created(e)
	case video.EventResumed:
		v.account(e.Job)
	case video.EventFinished:
		v.finished(e)
	}
}

// created turns the observation of the request that made a job into that of the job. The request is live now: the
// event comes while it is being served.
func (v *videos) created(e video.Event) {
	v.srv.mu.Lock()
	o := v.srv.live[e.Job.RequestID]
	v.srv.mu.Unlock()
	if o == nil {
		v.account(e.Job)
		return
	}
	if m := v.srv.model(e.Job.Model); m != nil {
		o.noteModel(m)
	}
	o.becomeJob(e.Job.ID, v.srv.cfg.Clock.At(e.At))
	v.jobs.add(e.Job.ID, o)
}

// becomeJob makes the observation that of a job, which waits for a lane from now on.
func (o *observation) becomeJob(jobID string, at monotime.Instant) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.job = true
	o.rec.Stage, o.rec.EnqueuedNS, o.rec.Status = record.StageQueued, int64(at), http.StatusOK
	o.rec.Video = &record.Video{JobID: jobID}
}

// finished writes the record of a job. Only then is its request id free.
func (v *videos) finished(e video.Event) {
	j, o := e.Job, v.account(e.Job)
	// The store shows a job as final just before the event comes, so the instant is that in the job.
	clock := v.srv.cfg.Clock
	at := min(int64(clock.At(e.Job.FinishedAt)), int64(clock.At(e.At)))
	o.note(func(r *record.Record) {
		m := v.srv.model(j.Model)
		got := record.Video{JobID: j.ID}
		if m != nil {
			decl, _ := m.info.Decl(task.TextToVideo)
			got = recordOf(j, decl)
		}
		got.Polls, got.AnsweredNS, got.FinishedNS = r.Video.Polls, r.Video.AnsweredNS, max(at, r.ArrivedNS, r.TaskCallEndNS)
		r.Video = &got
	})
	var f *fault
	if why := j.Failure; why != nil {
		f = &fault{status: http.StatusOK, reason: reasonOf(why.Code), msg: why.Message}
		if why.Detail != "" {
			f.msg = why.Message + ": " + why.Detail
		}
	}
	o.finish(f)
	v.jobs.remove(j.ID)
}

// jobTag is what a server keeps with a job to account for it after a restart.
type jobTag struct {
	Source        string `json:"source"` // of the request id
	ArrivedUnixNS int64  `json:"arrived_unix_ns"`
	BytesIn       int64  `json:"bytes_in"`
	QueueDepth    int    `json:"queue_depth"`
}

// tag returns the tag of the job that a request is about to make.
func (v *videos) tag(ctx context.Context, req video.Request) string {
	o, depth := observationOf(ctx), v.waiting(req.Model)
	var t jobTag
	o.note(func(r *record.Record) {
		r.QueueDepth = depth
		t = jobTag{r.RequestIDSource, r.WallBaseUnixNS + r.ArrivedNS, r.BytesIn, depth}
	})
	b, err := json.Marshal(t)
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	return string(b)
}

// account returns the observation of a job that is not final. For a job of an earlier process it makes one from what
// was stored: instants before now are those of the wall clock then, and the first of this clock where that is earlier.
func (v *videos) account(j video.Job) *observation {
	if o := v.jobs.of(j.ID); o != nil {
		return o
	}
	t := jobTag{Source: fromClient, ArrivedUnixNS: j.CreatedAt.UnixNano()}
	if json.Unmarshal([]byte(j.Tag), &t) != nil || j.RequestID == "" {
		t.Source = fromGenerate // a job that no server made
	}
	id := j.RequestID
	if id == "" {
		id = j.ID
	}
	clock := v.srv.cfg.Clock
	now := clock.Now()
	before := func(wall int64, least int64) int64 { return max(min(wall-clock.WallBase(), int64(now)), least) }
	arrived := before(t.ArrivedUnixNS, 1)
	o := v.srv.observe(video.RouteVideos, id, t.Source, monotime.Instant(arrived))
	if m := v.srv.model(j.Model); m != nil {
		o.noteModel(m)
	}
	o.becomeJob(j.ID, monotime.Instant(before(j.CreatedAt.UnixNano(), arrived)))
	o.note(func(r *record.Record) {
		r.BytesIn, r.QueueDepth = t.BytesIn, t.QueueDepth
		if !j.StartedAt.IsZero() {
			r.Stage, r.AdmittedNS = record.StageRunning, before(j.StartedAt.UnixNano(), r.EnqueuedNS)
			r.QueueNS = r.AdmittedNS - r.EnqueuedNS
		}
	})
	return v.jobs.add(j.ID, o)
}
