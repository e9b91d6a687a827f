package serving

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/trtmc-go/trtmc/serving/record"
	"github.com/trtmc-go/trtmc/video"
)

// metrics are the counts and times of one server, in a registry of its own. Label values come from fixed sets:
// served names or "other", route patterns or "other", and the words of package record.
type metrics struct {
	registry       *prometheus.Registry
	requests       *prometheus.CounterVec
	probes         *prometheus.CounterVec
	queue          *prometheus.HistogramVec
	taskCall       *prometheus.HistogramVec
	handling       *prometheus.HistogramVec
	firstToken     *prometheus.HistogramVec
	tokens         *prometheus.CounterVec
	passages       *prometheus.CounterVec
	videoJobs      *prometheus.CounterVec
	videoFrames    *prometheus.CounterVec
	recordFailures prometheus.Counter
}

func newMetrics(s *Server) *metrics {
	// From 0.1 ms, which an idle lane takes, to beyond 30 minutes, which a video takes.
	buckets := prometheus.ExponentialBucketsRange(0.0001, 2000, 25)
	histogram := func(name, help string, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	m := &metrics{
		registry:       prometheus.NewRegistry(),
		requests:       counter("trtmc_requests_total", "Offered requests by how they ended.", "route", "model", "outcome", "reason"),
		probes:         counter("trtmc_probes_total", "Requests that are not offered work: health, metrics, lists.", "route"),
		queue:          histogram("trtmc_queue_seconds", "Time from reading and checking to a lane or to giving up.", "route", "model"),
		taskCall:       histogram("trtmc_task_call_seconds", "Time round the native Task call alone.", "task", "model"),
		handling:       histogram("trtmc_handling_seconds", "Time from arrival to the last byte handed to the connection.", "route", "model"),
		firstToken:     histogram("trtmc_time_to_first_token_seconds", "Time from arrival to the first streamed content.", "route", "model"),
		tokens:         counter("trtmc_output_tokens_total", "Tokens generated, where the Task reports them.", "model"),
		passages:       counter("trtmc_ranking_passages_total", "Passages of completed ranking requests.", "model"),
		videoJobs:      counter("trtmc_video_jobs_total", "Video jobs by the state in which they ended.", "model", "state"),
		videoFrames:    counter("trtmc_video_frames_total", "Frames of completed video jobs.", "model"),
		recordFailures: prometheus.NewCounter(prometheus.CounterOpts{Name: "trtmc_record_failures_total", Help: "Records that could not be written."}),
	}
	m.registry.MustRegister(m.requests, m.probes, m.queue, m.taskCall, m.handling, m.firstToken, m.tokens, m.passages, m.videoJobs, m.videoFrames, m.recordFailures)
	m.registry.MustRegister(gauges{s}, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// count takes a finished record in; ttft is 0 when nothing was streamed.
func (m *metrics) count(r *record.Record, ttft time.Duration) {
	model := r.Model
	if model == "" {
		model = otherRoute
	}
	seconds := func(ns int64) float64 { return time.Duration(ns).Seconds() }
	m.requests.WithLabelValues(r.Route, model, string(r.Outcome), string(r.Reason)).Inc()
	m.handling.WithLabelValues(r.Route, model).Observe(seconds(r.HandlingNS))
	if r.EnqueuedNS != 0 {
		m.queue.WithLabelValues(r.Route, model).Observe(seconds(r.QueueNS))
	}
	if r.TaskCallEndNS != 0 {
		m.taskCall.WithLabelValues(r.Task, model).Observe(seconds(r.TaskCallNS))
	}
	if ttft > 0 {
		m.firstToken.WithLabelValues(r.Route, model).Observe(ttft.Seconds())
	}
	if r.Text != nil && r.Text.CompletionTokens != nil {
		m.tokens.WithLabelValues(model).Add(float64(*r.Text.CompletionTokens))
	}
	if r.Ranking != nil && r.Outcome == record.Completed {
		m.passages.WithLabelValues(model).Add(float64(r.Ranking.Passages))
	}
	if r.Video != nil {
		m.videoJobs.WithLabelValues(model, string(r.Outcome)).Inc()
		if r.Outcome == record.Completed {
			m.videoFrames.WithLabelValues(model).Add(float64(r.Video.Frames))
		}
	}
}

// gauges reads the state of the pools at each scrape.
type gauges struct{ s *Server }

// Describe sends nothing: the registry then takes the gauges as Collect sends them.
func (gauges) Describe(chan<- *prometheus.Desc) {}

// Collect sends the gauges.
func (g gauges) Collect(ch chan<- prometheus.Metric) {
	send := func(name, help string, v float64, labels ...string) {
		d := prometheus.NewDesc(name, help, []string{"model"}[:len(labels)], nil)
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	for _, m := range g.s.models {
		busy, waiting, bytes := m.pool.state()
		send("trtmc_lanes", "Execution lanes.", float64(len(m.Lanes)), m.Name)
		send("trtmc_lanes_busy", "Lanes held by a request.", float64(busy), m.Name)
		send("trtmc_queue_depth", "Requests waiting for a lane.", float64(waiting), m.Name)
		send("trtmc_queue_bytes", "Body bytes of the waiting requests.", float64(bytes), m.Name)
	}
	if g.s.videos != nil {
		d := prometheus.NewDesc("trtmc_video_jobs", "Video jobs that are not final, by state.", []string{"model", "state"}, nil)
		for _, l := range g.s.videos.service.Loads() {
			ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(l.Queued), l.Model, string(video.Queued))
			ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(l.InProgress), l.Model, string(video.InProgress))
		}
	}
	g.s.mu.Lock()
	draining, live := g.s.draining, len(g.s.live)
	g.s.mu.Unlock()
	send("trtmc_live_requests", "Offered requests under way.", float64(live))
	v := 0.0
	if draining {
		v = 1
	}
	send("trtmc_draining", "1 while the server shuts down.", v)
}

func (s *Server) scrape(d *delivery, r *http.Request) error {
	promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{ErrorLog: nil}).ServeHTTP(d, r)
	return nil
}
