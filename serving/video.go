package serving

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/trtmc-go/trtmc/native/task"
	"github.com/trtmc-go/trtmc/serving/record"
	"github.com/trtmc-go/trtmc/video"
)

// VideoOptions configure the jobs of /v1/videos. The zero value serves none.
type VideoOptions struct {
	// Dir holds jobs and artifacts and belongs to one server at a time. It is made when it is not there. Empty:
	// /v1/videos is not served; else at least one model must declare text_to_video.
	Dir string
	// Queue is how many jobs of one model may wait for a lane; default 64. Jobs that wait at a restart are not counted.
	Queue int
	// TTL is how long a finished job and its artifact are kept; default 24 h, negative for ever.
	TTL time.Duration
	// DiskBytes is how much all artifacts together may take before the oldest are removed; default 16 GiB, negative for
	// no budget.
	DiskBytes int64
}

// videos serves /v1/videos: package video owns jobs and artifacts, this type gives its jobs lanes and accounts for
// them. A nil one serves nothing.
type videos struct {
	srv     *Server
	service *video.Service
	handler http.Handler
	jobs    accounts
}

// openVideos opens the jobs of the models that declare text_to_video; nil when there is no Dir for them.
func openVideos(s *Server) (*videos, error) {
	opts := s.cfg.Video
	if opts.Dir == "" {
		return nil, nil
	}
	v := &videos{srv: s}
	cfg := video.Config{
		Dir: opts.Dir, Queue: opts.Queue, TTL: opts.TTL, DiskBytes: opts.DiskBytes, Observe: v.observe, Logger: s.cfg.Logger,
	}
	for _, m := range s.models {
		decl, ok := m.info.Decl(task.TextToVideo)
		if !ok {
			continue
		}
		model := video.Model{Name: m.Name, Decl: decl}
		for range m.Lanes {
			model.Generators = append(model.Generators, laneGenerator{v, m})
		}
		cfg.Models = append(cfg.Models, model)
	}
	if len(cfg.Models) == 0 {
		return nil, errors.New("a directory for videos is given, but no model declares text_to_video")
	}
	var err error
	if v.service, err = video.Open(cfg); err != nil {
		return nil, err
	}
	v.handler = video.NewHandler(v.service, video.Options{
		Limits:    video.Limits{BodyBytes: s.cfg.Limits.BodyBytes},
		RequestID: v.requestID, Tag: v.tag, Observe: v.seen,
	})
	return v, nil
}

func (v *videos) routes() []*route {
	if v == nil {
		return nil
	}
	get := []string{http.MethodGet, http.MethodHead}
	return []*route{
		{pattern: video.RouteVideos, methods: append([]string{http.MethodPost}, get...), work: true, looks: get, serve: v.serve},
		{pattern: video.RouteVideo, methods: append([]string{http.MethodDelete}, get...), serve: v.serve},
		{pattern: video.RouteContent, methods: get, serve: v.serve},
	}
}

func (v *videos) serve(d *delivery, r *http.Request) error {
	if d.o != nil {
		return v.srv.serveForeign(v.handler, d, r)
	}
	v.handler.ServeHTTP(patient{d}, r)
	return nil
}

// patient gives each piece of a file its own time to be taken.
type patient struct{ *delivery }

// Write writes one piece.
func (p patient) Write(b []byte) (int, error) {
	p.deadline(p.srv.cfg.Limits.WriteTime)
	return p.delivery.Write(b)
}

func (v *videos) requestID(r *http.Request) string {
	if o := observationOf(r.Context()); o != nil {
		return o.id()
	}
	id, _, _ := identify(r.Header) // a look needs no identity, so a bad one is not refused
	return id
}

// seen takes over what the handler knows of a request: why a creation was refused, or that a job was asked about.
func (v *videos) seen(ctx context.Context, got video.Observation) {
	o := observationOf(ctx)
	if o == nil {
		if got.Route == video.RouteVideo && got.Method == http.MethodGet && got.JobID != "" {
			v.jobs.polled(got.JobID)
		}
		return
	}
	if m := v.srv.model(got.Model); m != nil {
		o.noteModel(m)
	}
	if got.Err == nil {
		return
	}
	if got.Code == video.CodeQueueFull {
		o.noteEnqueued(v.waiting(got.Model))
	}
	o.foreign = foreignFault(got.Status, got.Code, got.Err)
}

// waiting is how many jobs of a model wait for a lane; an empty name is that of the only model.
func (v *videos) waiting(model string) int {
	loads := v.service.Loads()
	for _, l := range loads {
		if l.Model == model || model == "" && len(loads) == 1 {
			return l.Queued
		}
	}
	return 0
}

// laneGenerator generates on a lane of its model, for the job in the context it is called with.
type laneGenerator struct {
	v *videos
	m *served
}

// GenerateVideo implements task.VideoGenerator. The lane is free when the native call has returned, whatever became of
// the job meanwhile; the frames of the clip outlive that.
func (g laneGenerator) GenerateVideo(ctx context.Context, req task.VideoRequest) (clip task.Video, err error) {
	job, ok := video.JobOf(ctx)
	if !ok {
		return nil, fmt.Errorf("generate video of %q: no job in the context", g.m.Name)
	}
	o := g.v.account(job)
	g.v.jobs.enter(job.ID, o.id())
	defer g.v.jobs.leave(job.ID)
	lane, release, err := g.v.srv.admitJob(ctx, o, g.m)
	if err != nil {
		return nil, err
	}
	defer release()
	o.noteCallStart(task.TextToVideo, req.Settings)
	var timing task.Timing
	generator, err := task.VideoGeneratorOf(lane)
	if err == nil {
		if clip, err = generator.GenerateVideo(ctx, req); err == nil {
			timing = clip.Info().Timing
		}
	}
	o.noteCallEnd(timing, !errors.Is(err, task.ErrClosed))
	return clip, err
}

// shutdown stops taking jobs and waits for those on lanes until ctx ends; those that wait for a lane stay stored. It
// returns the request ids of the jobs that are still inside a Task call a moment later.
func (v *videos) shutdown(ctx context.Context) []string {
	if v == nil {
		return nil
	}
	if err := v.service.Shutdown(ctx); err != nil {
		v.srv.cfg.Logger.Warn("jobs were interrupted", "error", err)
	}
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		if err := v.service.Close(); err != nil {
			v.srv.cfg.Logger.Error("close video jobs", "error", err)
		}
	}()
	timer := time.NewTimer(cancelWait)
	defer timer.Stop()
	select {
	case <-closed:
		return nil
	case <-timer.C:
		return v.jobs.inside()
	}
}

// holds reports whether a job that is not final has that request id.
func (v *videos) holds(requestID string) bool { return v != nil && v.jobs.holds(requestID) }

// declaredOr returns what was asked for, else the declared default of a setting, else nil.
func declaredOr(asked *int64, decl task.Decl, name string) *int64 {
	f, _ := decl.Field(name)
	if asked == nil && f.Default.Kind() == task.KindInt {
		n := f.Default.Int()
		return &n
	}
	return asked
}

// recordOf returns what a record says of a job that is final.
func recordOf(j video.Job, decl task.Decl) record.Video {
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	r := record.Video{
		JobID: j.ID, Steps: declaredOr(j.Spec.Steps, decl, "num_inference_steps"), Seed: declaredOr(j.Spec.Seed, decl, "seed"),
		SetupMS: ms(j.Times.Setup), InferenceMS: ms(j.Times.Inference), EncodeNS: int64(j.Times.Encode),
	}
	if a := j.Artifact; a != nil {
		r.Frames, r.Width, r.Height, r.FPSNum, r.FPSDen = a.Frames, a.Width, a.Height, a.Rate.Num, a.Rate.Den
		r.DurationSeconds = a.Duration.Seconds()
		r.FramesSHA256, r.PlanesSHA256, r.FileSHA256, r.FileBytes = a.FramesSHA256, a.PlanesSHA256, a.SHA256, a.Bytes
	}
	return r
}
