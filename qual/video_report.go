package qual

import (
	"fmt"
	"math"
	"time"

	"github.com/trtmc-go/trtmc/trace"
)

// VideoReport is what a report says of a video workload beyond what every workload has. The client latency of the
// workload runs from the creation to the answer that says the job is final. Figures are those of the measured phase
// unless they say otherwise; times are milliseconds.
type VideoReport struct {
	Manifest  *VideoManifest `json:"manifest"`
	Identity  VideoIdentity  `json:"identity"`
	Artifacts Compared       `json:"artifacts"` // clips of both phases that are sound
	Precision string         `json:"precision"` // as the bundle reports it
	// The rates are those of completed clips over Span, the time from the first creation to the last final answer.
	SpanSeconds     Figure `json:"span_seconds"`
	ClipsPerMinute  Figure `json:"clips_per_minute"`
	FramesPerSecond Figure `json:"frames_per_second"`
	Frames          int64  `json:"frames"` // of completed clips

	Encode        Distribution `json:"encode_ms"`        // server: converting, encoding, writing and checking
	PollingDelay  Distribution `json:"polling_delay_ms"` // from the end of the job at the server to the answer that says so
	Polls         Distribution `json:"polls"`            // questions a clip
	Download      Distribution `json:"download_ms"`      // client: the clip alone
	DirectCall    Distribution `json:"direct_task_call_ms"`
	WarmupLatency Distribution `json:"warmup_latency_ms"` // client latency of completed warm-up requests
	Clips         []VideoClip  `json:"clips"`             // completed ones of both phases, in the order of the workload
}

// VideoClip is one completed clip. Names of files are relative to the output folder.
type VideoClip struct {
	RequestID       string      `json:"request_id"`
	Phase           trace.Phase `json:"phase"`
	Frames          int         `json:"frames"`
	Width           int         `json:"width"`
	Height          int         `json:"height"`
	FPSNum          int         `json:"fps_num"`
	FPSDen          int         `json:"fps_den"`
	DurationSeconds float64     `json:"duration_seconds"`
	Steps           *int64      `json:"steps"` // null: not reported
	Seed            *int64      `json:"seed"`  // null: not reported
	LatencyMS       float64     `json:"latency_ms"`
	QueueMS         float64     `json:"queue_ms"`
	TaskCallMS      float64     `json:"public_task_call_wall_ms"`
	EncodeMS        float64     `json:"encode_ms"`
	File            string      `json:"file"`
	Bytes           int64       `json:"bytes"`
	SHA256          string      `json:"sha256"`
	FramesSHA256    string      `json:"frames_sha256"`
	Poster          string      `json:"poster"`
}

// notReported stands where a bundle says nothing.
const notReported = "not reported"

// video makes the video part of a report and its checks, and returns what it found.
func (j *judge) video(name string, m *VideoManifest) (*VideoReport, []Finding, error) {
	e, err := j.gatherVideo(name, m)
	if err != nil {
		return nil, nil, err
	}
	out := &VideoReport{Manifest: m, Identity: e.identity(), Artifacts: e.artifacts(), Precision: precisionOf(j.bundleOf(m.Request.Model))}
	e.clips()
	e.figures(out)
	j.checks = append(j.checks, e.checks(out)...)
	return out, e.findings, nil
}

func precisionOf(b BundleFacts) string {
	if text, ok := b.Params["precision"].(string); ok && text != "" {
		return text
	}
	return notReported
}

func inMS(ns int64) float64 { return float64(ns) / float64(time.Millisecond) }

func (e *videoEvidence) figures(out *VideoReport) {
	var encode, delay, polls, download, direct, warmup []float64
	first, last, done := int64(math.MaxInt64), int64(0), 0
	for _, c := range e.order {
		if !c.warmup && c.direct != nil && c.direct.Error == "" {
			direct = append(direct, inMS(c.direct.TaskCallNS))
		}
	}
	out.Clips = []VideoClip{}
	for _, c := range e.completed() {
		job, row := c.job(), c.row
		if job == nil || row == nil || row.Video == nil {
			continue // a finding
		}
		out.Clips = append(out.Clips, e.clip(c))
		if c.warmup {
			warmup = append(warmup, inMS(row.LastByteNS-row.SentNS))
			continue
		}
		done++
		first, last = min(first, row.SentNS), max(last, row.LastByteNS)
		out.Frames += int64(job.Frames)
		encode = append(encode, inMS(job.EncodeNS))
		polls = append(polls, float64(row.Video.Polls))
		download = append(download, inMS(row.Video.DownloadEndNS-row.Video.DownloadStartNS))
		if e.j.ledger.comparable() {
			delay = append(delay, inMS(row.LastByteNS-job.FinishedNS))
		}
	}
	out.Encode, out.PollingDelay, out.Polls, out.Download = distribution(encode), distribution(delay), distribution(polls), distribution(download)
	out.DirectCall, out.WarmupLatency = distribution(direct), distribution(warmup)
	out.SpanSeconds, out.ClipsPerMinute, out.FramesPerSecond = tooFew(), tooFew(), tooFew()
	if span := float64(last-first) / 1e9; done > 0 && span > 0 {
		out.SpanSeconds = Figure(span)
		out.ClipsPerMinute, out.FramesPerSecond = Figure(60*float64(done)/span), Figure(float64(out.Frames)/span)
	}
}

// clip describes one completed clip.
func (e *videoEvidence) clip(c *madeClip) VideoClip {
	job, file := c.job(), workloadPath(e.name, ArtifactDir+"/"+c.id)
	return VideoClip{
		RequestID: c.id, Phase: phaseOf(c.warmup), Frames: job.Frames, Width: job.Width, Height: job.Height,
		FPSNum: job.FPSNum, FPSDen: job.FPSDen, DurationSeconds: job.DurationSeconds, Steps: job.Steps, Seed: job.Seed,
		LatencyMS: inMS(c.row.LastByteNS - c.row.SentNS), QueueMS: inMS(c.record.QueueNS), TaskCallMS: inMS(c.record.TaskCallNS), EncodeMS: inMS(job.EncodeNS),
		File: file + ".mp4", Bytes: job.FileBytes, SHA256: job.FileSHA256, FramesSHA256: job.FramesSHA256, Poster: file + ".jpg",
	}
}

// doubts says what the video figures cannot carry.
func (r *VideoReport) doubts() []string {
	if r == nil {
		return nil
	}
	out := []string{fmt.Sprintf("client latency is as coarse as the time between two questions about a job, %v", time.Duration(r.Manifest.PollNS))}
	if !r.Identity.Made {
		out = append(out, "frames were not compared with direct Task calls: the run knows no bundle of the served model")
	}
	return out
}

// video writes the video part of a workload.
func (p *page) video(w WorkloadReport) {
	r := w.Video
	m := r.Manifest
	p.head(3, "Video")
	p.line("Frames equal to a direct Task call: %s measured, %s warm-up. Saved clips that are whole and the recorded ones: %s.", r.Identity.Measured, r.Identity.Warmup, r.Artifacts)
	if !r.Identity.Made {
		p.line("\nNo direct Task call was made: the run knows no bundle of the served model.")
	}
	p.line("\nOver the %s s from the first creation to the last final answer of completed clips: %s clips/minute, %s frames/s. Precision: %s.",
		r.SpanSeconds, r.ClipsPerMinute, r.FramesPerSecond, r.Precision)
	p.line("")
	var rows [][]string
	for _, d := range []struct {
		name string
		d    Distribution
	}{
		{"client: creation to final answer, ms", w.Client.Latency}, {"client: the same, of warm-up, ms", r.WarmupLatency},
		{"server: waiting for a lane, ms", w.Server.Queue}, {"server: Task call, ms", w.Server.TaskCall}, {"server: making the file, ms", r.Encode},
		{"server: arrival to the end of the job, ms", w.Server.Handling}, {"polling delay, ms", r.PollingDelay}, {"polls a clip", r.Polls},
		{"client: download, ms", r.Download}, {"direct: Task call, ms", r.DirectCall},
	} {
		rows = append(rows, distributionRow(d.name, d.d))
	}
	p.table([]string{"", "samples", "min", "mean", "p50", "p90", "p99", "max"}, rows)
	p.line("")
	p.table([]string{"", ""}, [][]string{
		{"source", fmt.Sprintf("%s, sha256 %s, %d prompts", m.Source.Name, m.Source.SHA256, m.Source.Rows)},
		{"clips, warm-up", fmt.Sprintf("%d, %d", m.Requests, m.WarmupRequests)},
		{"load", fmt.Sprintf("%s, asked about every %v", m.Load.Words(), time.Duration(m.PollNS))},
		{"request", fmt.Sprintf("POST %s, model %s", m.Request.Path, m.Request.Model)},
		{"sha256 of the workload", m.Files[WorkloadFile].SHA256},
	})
	p.clips(r.Clips)
}

// clips lists the artifacts with their posters.
func (p *page) clips(clips []VideoClip) {
	if len(clips) == 0 {
		return
	}
	p.head(3, "Clips")
	var rows [][]string
	for _, c := range clips {
		rows = append(rows, []string{
			c.RequestID, fmt.Sprintf("%dx%d, %d frames, %d/%d fps, %.3f s", c.Width, c.Height, c.Frames, c.FPSNum, c.FPSDen, c.DurationSeconds),
			reported(c.Steps), reported(c.Seed), fmt.Sprintf("%.1f", c.TaskCallMS), fmt.Sprintf("%.1f", c.EncodeMS),
			fmt.Sprintf("[%d bytes](%s), sha256 %s", c.Bytes, c.File, c.SHA256), c.FramesSHA256,
		})
	}
	p.table([]string{"clip", "shape", "steps", "seed", "Task call ms", "file ms", "artifact", "sha256 of the frames"}, rows)
	p.line("")
	for _, c := range clips {
		p.line("![%s](%s)", c.RequestID, c.Poster)
	}
}
