package qual

import (
	"errors"
	"fmt"
	"image/jpeg"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/trtmc-go/trtmc/serving/record"
	"github.com/trtmc-go/trtmc/video"
)

// VideoIdentity is how the frames of jobs compare with those of direct Task calls. Completed requests are compared, no
// others.
type VideoIdentity struct {
	// Made says that direct calls could be made: the run knows the bundle.
	Made     bool     `json:"made"`
	Measured Compared `json:"measured"`
	Warmup   Compared `json:"warmup"`
}

// identity compares the frames of every completed job with those of its direct Task call.
func (e *videoEvidence) identity() VideoIdentity {
	out := VideoIdentity{Made: e.directMade()}
	if !out.Made {
		return out
	}
	for _, c := range e.order {
		problem := e.directProblem(c)
		if problem != "" {
			e.find(KindDirect, c.id, "%s", problem)
		}
		if !e.j.completed(c.id) {
			continue
		}
		job, equal := c.job(), problem == ""
		if job != nil && c.direct != nil && job.FramesSHA256 != c.direct.FramesSHA256 {
			equal = false
			e.find(KindFrames, c.id, "frames of the job have sha256 %.12s, of the direct Task call %.12s", job.FramesSHA256, c.direct.FramesSHA256)
		}
		if c.warmup {
			out.Warmup.take(equal)
		} else {
			out.Measured.take(equal)
		}
	}
	return out
}

// directProblem says what keeps a direct call from being a fair judge of its job, or "". A request that did not
// complete may have a direct call that failed too.
func (e *videoEvidence) directProblem(c *madeClip) string {
	d, runtime, bundle := c.direct, e.j.run.Runtime, e.j.bundleOf(e.m.Request.Model).SHA256
	switch {
	case d == nil:
		return "was not generated directly"
	case d.BundleSHA256 != bundle:
		return fmt.Sprintf("generated directly with bundle %.12s, served from %.12s", d.BundleSHA256, bundle)
	case runtime.Version != "" && (d.Runtime != runtime.Version || d.Reference != runtime.Reference):
		return fmt.Sprintf("generated directly by %q (reference %t), served by %q (reference %t)", d.Runtime, d.Reference, runtime.Version, runtime.Reference)
	case !e.j.completed(c.id) || c.record == nil:
		return ""
	case d.Error != "":
		return "completed over HTTP, but the direct Task call failed: " + d.Error
	case !sameSettings(d.Settings, c.record.Settings):
		return fmt.Sprintf("generated directly with settings %s, served with %s", compactJSON(d.Settings), compactJSON(c.record.Settings))
	}
	return ""
}

// artifacts checks the saved clip and poster of every completed job and returns how many are sound.
func (e *videoEvidence) artifacts() Compared {
	var out Compared
	if e.j.replay != nil {
		return out // AIPerf drops what it downloads
	}
	for _, c := range e.completed() {
		problem := e.artifactProblem(c)
		if problem != "" {
			e.find(KindArtifact, c.id, "%s", problem)
		}
		out.take(problem == "")
	}
	return out
}

// artifactProblem says what is wrong with the saved files of a completed job, or "".
func (e *videoEvidence) artifactProblem(c *madeClip) string {
	job := c.job()
	switch {
	case job == nil:
		return "the record of a completed request is not that of a video job"
	case c.row == nil || c.row.Video == nil || c.row.Video.JobID != job.JobID:
		return "the client's row does not name the job of the record"
	}
	rel := workloadPath(e.name, ArtifactDir+"/"+c.id)
	digest, err := digestFile(e.j.dir, rel+".mp4")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return rel + ".mp4 is missing"
	case err != nil:
		return relative(e.j.dir, err)
	}
	for _, said := range []struct {
		who   string
		sum   string
		bytes int64
	}{{"record", job.FileSHA256, job.FileBytes}, {"client's row", c.row.Video.ArtifactSHA256, c.row.Video.ArtifactBytes}} {
		if digest.SHA256 != said.sum || digest.Bytes != said.bytes {
			return fmt.Sprintf("the saved clip has %d bytes and sha256 %.12s, the %s says %d and %.12s", digest.Bytes, digest.SHA256, said.who, said.bytes, said.sum)
		}
	}
	clip, err := e.checkSaved(rel+".mp4", digest.Bytes)
	if err != nil {
		return "the saved clip: " + relative(e.j.dir, err)
	}
	if got, want := clipWords(clip), jobWords(job); got != want {
		return fmt.Sprintf("the saved clip holds %s, the record says %s", got, want)
	}
	return e.posterProblem(rel+".jpg", job)
}

func (e *videoEvidence) checkSaved(rel string, size int64) (video.Clip, error) {
	f, err := os.Open(filepath.Join(e.j.dir, filepath.FromSlash(rel)))
	if err != nil {
		return video.Clip{}, err
	}
	defer f.Close()
	return video.CheckMP4(f, size)
}

func clipWords(c video.Clip) string {
	return fmt.Sprintf("%d frames of %dx%d at %s over %.6f s", c.Frames, c.Width, c.Height, c.Rate, c.Duration.Seconds())
}

func jobWords(j *record.Video) string {
	return fmt.Sprintf("%d frames of %dx%d at %d/%d over %.6f s", j.Frames, j.Width, j.Height, j.FPSNum, j.FPSDen, j.DurationSeconds)
}

// posterProblem checks that the saved poster is a JPEG of the clip's size.
func (e *videoEvidence) posterProblem(rel string, job *record.Video) string {
	f, err := os.Open(filepath.Join(e.j.dir, filepath.FromSlash(rel)))
	if err != nil {
		return rel + " is missing"
	}
	defer f.Close()
	img, err := jpeg.DecodeConfig(f)
	switch {
	case err != nil:
		return fmt.Sprintf("the saved poster is no JPEG: %v", err)
	case img.Width != job.Width || img.Height != job.Height:
		return fmt.Sprintf("the saved poster is %dx%d, the clip %dx%d", img.Width, img.Height, job.Width, job.Height)
	}
	return ""
}

// clips compares what was recorded with what was asked for.
func (e *videoEvidence) clips() {
	for _, c := range e.completed() {
		job, s := c.job(), c.spec
		if job == nil {
			continue
		}
		differ := func(what string, got, want any) {
			if got != want {
				e.find(KindClip, c.id, "%s is %v, asked for was %v", what, got, want)
			}
		}
		if s.Frames > 0 {
			differ("the number of frames", job.Frames, s.Frames)
		}
		if s.Width > 0 {
			differ("the size", fmt.Sprintf("%dx%d", job.Width, job.Height), fmt.Sprintf("%dx%d", s.Width, s.Height))
		}
		if s.FPS.Known() {
			differ("the frame rate", video.Rate{Num: job.FPSNum, Den: job.FPSDen}, s.FPS)
		}
		if s.Steps != nil {
			differ("the number of steps", reported(job.Steps), reported(s.Steps))
		}
		if s.Seed != nil {
			differ("the seed", reported(job.Seed), reported(s.Seed))
		}
	}
}

// reported writes a number that may be unknown.
func reported(n *int64) string {
	if n == nil {
		return notReported
	}
	return fmt.Sprint(*n)
}

// checks turns the findings into checks.
func (e *videoEvidence) checks(r *VideoReport) []Check {
	same := fmt.Sprintf("%s measured and %s warm-up jobs: same sha256 over all float32 frames", r.Identity.Measured, r.Identity.Warmup)
	if !r.Identity.Made {
		same = "not compared: the run knows no bundle to call directly"
	}
	rules := []rule{
		{"videos equal direct Task calls", []Kind{KindFrames}, same},
		{"direct calls are made as serving makes them", []Kind{KindDirect}, "same bundle, runtime and settings, one call for every request"},
		{"clips are what was asked for", []Kind{KindClip}, "frames, size, rate, steps and seed, where they were asked for"},
	}
	if e.j.replay == nil { // AIPerf drops what it downloads, so that there is nothing to look at
		rules = append(rules, rule{"artifacts are whole and the recorded ones", []Kind{KindArtifact}, fmt.Sprintf("%s clips: digest, frames, size, rate, duration, structure and poster", r.Artifacts)})
	}
	var out []Check
	for _, r := range rules {
		out = append(out, r.check(e.name, e.findings))
	}
	if r.Identity.Made && r.Identity.Measured.Compared == 0 && out[0].Held {
		out[0].Held, out[0].Detail = false, "no measured job completed, so nothing was compared"
	}
	var busy []busySpan
	for _, c := range e.order {
		if c.row != nil && c.row.SentNS != 0 && !c.warmup {
			busy = append(busy, busySpan{c.row.SentNS, c.row.EndedNS})
		}
	}
	return append(out, concurrencyCheck(e.name, busy, e.m.Load.Concurrency))
}
