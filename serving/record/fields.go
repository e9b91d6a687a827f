package record

import "github.com/trtmc-go/trtmc/internal/jsonscan"

func recordFields(room *recordRoom) *jsonscan.Object {
	o, r := new(jsonscan.Object), &room.Record
	jsonscan.Int(o, "schema", &r.Schema)
	jsonscan.Text(o, "request_id", &r.RequestID)
	jsonscan.Word(o, "request_id_source", &r.RequestIDSource)
	jsonscan.Word(o, "route", &r.Route)
	jsonscan.Word(o, "model", &r.Model)
	jsonscan.Word(o, "runtime", &r.Runtime)
	jsonscan.Bool(o, "reference", &r.Reference)
	jsonscan.Int(o, "lane", &r.Lane)
	jsonscan.Bool(o, "streaming", &r.Streaming)
	jsonscan.Word(o, "outcome", &r.Outcome)
	jsonscan.Word(o, "reason", &r.Reason)
	jsonscan.Word(o, "stage", &r.Stage)
	jsonscan.Int(o, "status", &r.Status)
	jsonscan.Text(o, "error", &r.Error)
	timeFields(o, r)
	jsonscan.Int(o, "bytes_in", &r.BytesIn)
	jsonscan.Int(o, "bytes_out", &r.BytesOut)
	jsonscan.Map(o, "settings", &r.Settings)
	jsonscan.Word(o, "task", &r.Task)
	jsonscan.Optional(o, "text", &r.Text, &room.text, textFields(&room.text))
	jsonscan.Optional(o, "ranking", &r.Ranking, &room.ranking, rankingFields(&room.ranking))
	jsonscan.Optional(o, "video", &r.Video, &room.video, videoFields(&room.video))
	return o
}

func timeFields(o *jsonscan.Object, r *Record) {
	jsonscan.Word(o, "clock", &r.Clock)
	jsonscan.Int(o, "wall_base_unix_ns", &r.WallBaseUnixNS)
	jsonscan.Int(o, "arrived_ns", &r.ArrivedNS)
	jsonscan.Int(o, "enqueued_ns", &r.EnqueuedNS)
	jsonscan.Int(o, "admitted_ns", &r.AdmittedNS)
	jsonscan.Int(o, "task_call_start_ns", &r.TaskCallStartNS)
	jsonscan.Int(o, "task_call_end_ns", &r.TaskCallEndNS)
	jsonscan.Int(o, "first_byte_ns", &r.FirstByteNS)
	jsonscan.Int(o, "last_byte_ns", &r.LastByteNS)
	jsonscan.Int(o, "queue_ns", &r.QueueNS)
	jsonscan.Int(o, "public_task_call_wall_ns", &r.TaskCallNS)
	jsonscan.Int(o, "handling_ns", &r.HandlingNS)
	jsonscan.Int(o, "queue_depth", &r.QueueDepth)
}

func textFields(r *Text) *jsonscan.Object {
	o := new(jsonscan.Object)
	jsonscan.Int(o, "prompt_bytes", &r.PromptBytes)
	jsonscan.Int(o, "prompt_words", &r.PromptWords)
	jsonscan.OptInt(o, "prompt_tokens", &r.PromptTokens)
	jsonscan.OptInt(o, "completion_tokens", &r.CompletionTokens)
	jsonscan.Word(o, "token_source", &r.TokenSource)
	jsonscan.OptInt(o, "max_tokens", &r.MaxTokens)
	jsonscan.Word(o, "finish_reason", &r.FinishReason)
	jsonscan.Int(o, "deltas", &r.Deltas)
	jsonscan.Float(o, "setup_ms", &r.SetupMS)
	jsonscan.Float(o, "prefill_ms", &r.PrefillMS)
	jsonscan.Float(o, "decode_ms", &r.DecodeMS)
	jsonscan.Bool(o, "forced_length", &r.ForcedLength)
	return o
}

func rankingFields(r *Ranking) *jsonscan.Object {
	o := new(jsonscan.Object)
	jsonscan.Int(o, "passages", &r.Passages)
	jsonscan.Int(o, "query_bytes", &r.QueryBytes)
	jsonscan.Int(o, "query_words", &r.QueryWords)
	jsonscan.Int(o, "passage_bytes", &r.PassageBytes)
	jsonscan.Int(o, "passage_words", &r.PassageWords)
	jsonscan.OptInt(o, "tokens", &r.Tokens)
	jsonscan.Word(o, "score_kind", &r.ScoreKind)
	return o
}

func videoFields(r *Video) *jsonscan.Object {
	o := new(jsonscan.Object)
	jsonscan.Text(o, "job_id", &r.JobID)
	jsonscan.Int(o, "frames", &r.Frames)
	jsonscan.Int(o, "width", &r.Width)
	jsonscan.Int(o, "height", &r.Height)
	jsonscan.Int(o, "fps_num", &r.FPSNum)
	jsonscan.Int(o, "fps_den", &r.FPSDen)
	jsonscan.Float(o, "duration_seconds", &r.DurationSeconds)
	jsonscan.OptInt(o, "steps", &r.Steps)
	jsonscan.OptInt(o, "seed", &r.Seed)
	jsonscan.Float(o, "setup_ms", &r.SetupMS)
	jsonscan.Float(o, "inference_ms", &r.InferenceMS)
	jsonscan.Int(o, "encode_ns", &r.EncodeNS)
	jsonscan.Text(o, "frames_sha256", &r.FramesSHA256)
	jsonscan.Text(o, "planes_sha256", &r.PlanesSHA256)
	jsonscan.Text(o, "file_sha256", &r.FileSHA256)
	jsonscan.Int(o, "file_bytes", &r.FileBytes)
	jsonscan.Int(o, "polls", &r.Polls)
	jsonscan.Int(o, "answered_ns", &r.AnsweredNS)
	jsonscan.Int(o, "finished_ns", &r.FinishedNS)
	return o
}
