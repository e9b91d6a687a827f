package trace

import "github.com/trtmc-go/trtmc/internal/jsonscan"

// rowRoom is a row and what it points to.
type rowRoom struct {
	Row
	video VideoRow
}

// rowFields is the table of a row's members, in the order of the struct's, in which rows are written.
func rowFields(room *rowRoom) *jsonscan.Object {
	o, r := new(jsonscan.Object), &room.Row
	jsonscan.Int(o, "schema", &r.Schema)
	jsonscan.Text(o, "request_id", &r.RequestID)
	jsonscan.Word(o, "phase", &r.Phase)
	jsonscan.Word(o, "workload", &r.Workload)
	jsonscan.Word(o, "clock", &r.Clock)
	jsonscan.Int(o, "wall_base_unix_ns", &r.WallBaseUnixNS)
	jsonscan.Int(o, "offered_offset_ns", &r.OfferedOffsetNS)
	jsonscan.Int(o, "scheduled_ns", &r.ScheduledNS)
	jsonscan.Int(o, "sent_ns", &r.SentNS)
	jsonscan.Int(o, "first_byte_ns", &r.FirstByteNS)
	jsonscan.Int(o, "first_content_ns", &r.FirstContentNS)
	jsonscan.Int(o, "last_content_ns", &r.LastContentNS)
	jsonscan.Int(o, "last_byte_ns", &r.LastByteNS)
	jsonscan.Int(o, "ended_ns", &r.EndedNS)
	jsonscan.Int(o, "status", &r.Status)
	jsonscan.Word(o, "result", &r.Result)
	jsonscan.Text(o, "error", &r.Error)
	jsonscan.Word(o, "error_code", &r.ErrorCode)
	jsonscan.Float(o, "retry_after_ms", &r.RetryAfterMS)
	jsonscan.Int(o, "bytes_out", &r.BytesOut)
	jsonscan.Int(o, "bytes_in", &r.BytesIn)
	jsonscan.OptInt(o, "prompt_tokens", &r.PromptTokens)
	jsonscan.OptInt(o, "completion_tokens", &r.CompletionTokens)
	jsonscan.Int(o, "content_chunks", &r.ContentChunks)
	jsonscan.Word(o, "finish_reason", &r.FinishReason)
	jsonscan.Bool(o, "new_connection", &r.NewConnection)
	jsonscan.Raw(o, "response", &r.Response)
	jsonscan.Text(o, "response_sha256", &r.ResponseSHA256)
	jsonscan.Optional(o, "video", &r.Video, &room.video, videoRowFields(&room.video))
	return o
}

func videoRowFields(r *VideoRow) *jsonscan.Object {
	o := new(jsonscan.Object)
	jsonscan.Text(o, "job_id", &r.JobID)
	jsonscan.Word(o, "state", &r.State)
	jsonscan.Int(o, "polls", &r.Polls)
	jsonscan.Int(o, "poll_ns", &r.PollNS)
	jsonscan.Int(o, "created_ns", &r.CreatedNS)
	jsonscan.Int(o, "download_start_ns", &r.DownloadStartNS)
	jsonscan.Int(o, "download_end_ns", &r.DownloadEndNS)
	jsonscan.Int(o, "artifact_bytes", &r.ArtifactBytes)
	jsonscan.Text(o, "artifact_sha256", &r.ArtifactSHA256)
	jsonscan.Int(o, "queue_ns", &r.QueueNS)
	jsonscan.Int(o, "task_call_ns", &r.TaskCallNS)
	jsonscan.Int(o, "encode_ns", &r.EncodeNS)
	return o
}

// clone returns a copy that shares nothing with r that a reader overwrites.
func (r *Row) clone() *Row {
	c := *r
	c.PromptTokens, c.CompletionTokens, c.Video = clone(r.PromptTokens), clone(r.CompletionTokens), clone(r.Video)
	return &c
}

func clone[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}
