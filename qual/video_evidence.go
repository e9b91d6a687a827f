package qual

import (
	"fmt"
	"path/filepath"

	"github.com/trtmc-go/trtmc/serving/record"
	"github.com/trtmc-go/trtmc/trace"
	"github.com/trtmc-go/trtmc/video"
)

// The kinds of finding that only video workloads have; each fails one check.
const (
	KindFrames   Kind = "frames_differ"  // the job's frames are not those of a direct Task call
	KindArtifact Kind = "artifact_wrong" // a saved clip is damaged, or not the one that was recorded
	KindClip     Kind = "clip_wrong"     // the clip is not what was asked for
)

// madeClip is what the files of a run say of one video request.
type madeClip struct {
	id     string
	warmup bool
	spec   video.Spec
	row    *trace.Row     // nil: none
	record *record.Record // the last of several; nil: none
	direct *DirectFrames
}

// job is what the record says of the job; nil when there was none.
func (c *madeClip) job() *record.Video {
	if c.record == nil {
		return nil
	}
	return c.record.Video
}

// videoEvidence is all that the files of a run say of a video workload.
type videoEvidence struct {
	j        *judge
	name     string
	m        *VideoManifest
	order    []*madeClip // warm-up, then measured as in the workload
	by       map[string]*madeClip
	findings []Finding
}

func (e *videoEvidence) find(kind Kind, id, format string, args ...any) {
	e.findings = append(e.findings, Finding{Kind: kind, Workload: e.name, RequestID: id, Detail: fmt.Sprintf(format, args...)})
}

// offerVideo reads the manifest of a video workload; nil for another workload, or when it cannot be read, which is a
// failed check.
func (j *judge) offerVideo(w RunWorkload) *VideoManifest {
	if w.Path != video.RouteVideos {
		return nil
	}
	m, err := ReadVideoManifest(filepath.Join(j.dir, WorkloadDir, w.Name))
	if err != nil {
		j.check("the video manifest is readable", w.Name, []string{relative(j.dir, err)}, "")
		return nil
	}
	j.ledger.ClosedLoop(w.Name)
	return m
}

// gatherVideo reads the files of a video workload. What cannot be read is a finding or a failed check; only I/O errors
// are returned.
func (j *judge) gatherVideo(name string, m *VideoManifest) (*videoEvidence, error) {
	e := &videoEvidence{j: j, name: name, m: m, by: map[string]*madeClip{}}
	e.offers(WarmupFile, true)
	e.offers(WorkloadFile, false)
	if e.directMade() {
		found, err := j.eachLine(name, DirectFile, e.takeDirect)
		e.findings = append(e.findings, found...)
		if err != nil {
			return nil, err
		}
	}
	err := j.eachRow(name, func(row *trace.Row) {
		if c := e.by[row.RequestID]; c != nil && c.row == nil {
			c.row = row
		}
	})
	if err != nil {
		return nil, err
	}
	return e, j.eachRecord(func(rec *record.Record) {
		if c := e.by[rec.RequestID]; c != nil {
			c.record = rec
		}
	})
}

// offers takes what the offered bodies ask for. A file that cannot be read is reported by the check of the workload.
func (e *videoEvidence) offers(file string, warmup bool) {
	items, err := trace.ReadWorkload(filepath.Join(e.j.dir, WorkloadDir, e.name, file))
	if err != nil {
		return
	}
	for _, item := range items {
		c := &madeClip{id: item.RequestID, warmup: warmup}
		e.order = append(e.order, c)
		e.by[c.id] = c
		req, err := video.DecodeJSON(item.Body, video.Limits{})
		if err != nil {
			e.find(KindClip, c.id, "the offered body is no request for a video: %v", err)
			continue
		}
		c.spec = req.Spec
	}
}

func (e *videoEvidence) takeDirect(line []byte) error {
	d, err := parseDirectFrames(line)
	if err != nil {
		return err
	}
	c := e.by[d.RequestID]
	switch {
	case c == nil:
		e.find(KindDirect, d.RequestID, "generated directly, but nobody offered it")
	case c.direct != nil:
		e.find(KindDirect, d.RequestID, "generated directly more than once; the first is kept")
	default:
		c.direct = d
	}
	return nil
}

// directMade reports whether the run could make direct Task calls: without a bundle there is nothing to call.
func (e *videoEvidence) directMade() bool { return e.j.bundleOf(e.m.Request.Model).SHA256 != "" }

// completed lists the clips that both sides say are there.
func (e *videoEvidence) completed() []*madeClip {
	var out []*madeClip
	for _, c := range e.order {
		if e.j.completed(c.id) {
			out = append(out, c)
		}
	}
	return out
}
