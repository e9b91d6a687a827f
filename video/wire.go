package video

import (
	"strconv"
	"time"
)

// jobJSON is a job as clients of /v1/videos know it, and fields of our own behind it. There is no url, because clients
// that find none ask for {job}/content, and error is null unless the job failed.
type jobJSON struct {
	ID          string     `json:"id"`
	Object      string     `json:"object"`
	Model       string     `json:"model"`
	Status      State      `json:"status"`
	Progress    int        `json:"progress"`
	Prompt      string     `json:"prompt"`
	Seconds     string     `json:"seconds,omitempty"`
	Size        string     `json:"size,omitempty"`
	CreatedAt   int64      `json:"created_at"` // Unix seconds, as the other instants
	CompletedAt *int64     `json:"completed_at"`
	ExpiresAt   *int64     `json:"expires_at"`
	Error       *errorJSON `json:"error"`
	RemixedFrom *string    `json:"remixed_from_video_id"`

	RequestID string  `json:"request_id,omitempty"`
	NumFrames int     `json:"num_frames,omitempty"` // asked for
	Frames    int     `json:"frames,omitempty"`     // in the artifact
	FPS       float64 `json:"fps,omitempty"`        // of the artifact, else asked for
	// Three durations that clients must not add up from polls: waiting for a lane, the Task call, making the file.
	QueueTime     float64   `json:"queue_time_s,omitempty"`
	InferenceTime float64   `json:"inference_time_s,omitempty"`
	EncodeTime    float64   `json:"encode_time_s,omitempty"`
	Artifact      *Artifact `json:"artifact,omitempty"`
}

func (j Job) wire() jobJSON {
	w := jobJSON{
		ID: j.ID, Object: "video", Model: j.Model, Status: j.State, Progress: j.Progress, Prompt: j.Spec.Prompt,
		Seconds: j.seconds(), Size: j.Spec.size(), CreatedAt: j.CreatedAt.Unix(), ExpiresAt: unix(j.ExpiresAt),
		RequestID: j.RequestID, NumFrames: j.Spec.Frames, FPS: j.Spec.FPS.Float(),
		QueueTime: j.Times.Queue.Seconds(), InferenceTime: j.Times.TaskCall.Seconds(), EncodeTime: j.Times.Encode.Seconds(),
		Artifact: j.Artifact,
	}
	if j.State == Completed {
		w.CompletedAt = unix(j.FinishedAt)
	}
	if a := j.Artifact; a != nil {
		w.Frames, w.FPS, w.Size = a.Frames, a.Rate.Float(), strconv.Itoa(a.Width)+"x"+strconv.Itoa(a.Height)
	}
	if f := j.Failure; f != nil {
		w.Error = &errorJSON{Code: f.Code, Message: f.Message, Type: "server_error"}
	}
	return w
}

// seconds is the length asked for, as it was asked; without that the length of the artifact, or what frames and fps
// asked for come to; empty while none is known.
func (j Job) seconds() string {
	s := j.Spec.Seconds
	if s == 0 && j.Artifact != nil {
		s = j.Artifact.Duration.Seconds()
	} else if s == 0 {
		s = j.Spec.FPS.Duration(j.Spec.Frames).Seconds()
	}
	if s == 0 {
		return ""
	}
	return strconv.FormatFloat(s, 'f', -1, 64)
}

func unix(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	s := t.Unix()
	return &s
}

type listJSON struct {
	Object  string    `json:"object"`
	Data    []jobJSON `json:"data"`
	FirstID *string   `json:"first_id"`
	LastID  *string   `json:"last_id"`
	HasMore bool      `json:"has_more"`
}

func (p Page) wire() listJSON {
	l := listJSON{Object: "list", Data: []jobJSON{}, HasMore: p.More}
	for _, j := range p.Jobs {
		l.Data = append(l.Data, j.wire())
	}
	if n := len(p.Jobs); n > 0 {
		l.FirstID, l.LastID = &p.Jobs[0].ID, &p.Jobs[n-1].ID
	}
	return l
}

type deletedJSON struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Deleted bool   `json:"deleted"`
}

// errorJSON is the error of a failed job and of a refused request.
type errorJSON struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    string  `json:"code"`
}

// refusalJSON is the body of a refused request: error for OpenAI's clients, message and detail for those that read
// the top level.
type refusalJSON struct {
	Error   errorJSON `json:"error"`
	Message string    `json:"message"`
	Detail  string    `json:"detail"`
}
