// Package video turns the Task text_to_video into jobs with playable, checked MP4 files, and serves them in the form of
// OpenAI's /v1/videos.
//
// A service mounts it in a few lines, with or without package serving:
//
//	model, err := video.ModelOf("my-video", lanes...)
//	jobs, err := video.Open(video.Config{Dir: "videos", Models: []video.Model{model}})
//	defer jobs.Close()
//	h := video.NewHandler(jobs, video.Options{})
//	mux.Handle("/v1/videos", h)
//	mux.Handle("/v1/videos/", h)
//
// # Jobs
//
// A job is stored before it starts and before its creation is answered. It is queued, in_progress, completed or failed,
// and nothing else is ever shown. A process that is killed leaves no job behind in progress: the next start makes it
// failed, with a message that says restart, runs the queued ones, and removes every file that is not of a completed
// job. Each lane, which is one generator, runs one job at a time; the queue before it is bounded, and a full one
// refuses the creation of a job with 429 and never a question about one. A finished job is removed after [Config].TTL,
// or earlier when the artifacts together pass [Config].DiskBytes.
//
// DELETE removes a job in any state, at once, and it never comes back. The Task text_to_video is one native call that
// cannot be cancelled: the context of a deleted job's call ends, but where the generator does not heed it the lane
// stays taken until the call returns, and only then does the next job start. A client that stops asking changes
// nothing of its job.
//
// # Requests
//
// A request is multipart/form-data or a JSON object; numbers may be written as text in both. Fields are mapped onto
// settings that the model declares for the Task; a field that is unknown, or that the model declares no setting for, is
// refused by name and never ignored:
//
//	request                 settings of the Task
//	prompt                  (the prompt)
//	size "832x480"          width, height; even numbers, 16 to 4096
//	num_frames              num_frames
//	seconds                 num_frames = seconds * fps, rounded; with num_frames given, the two must agree
//	fps                     fps; 1 to 60, kept as the exact decimal fraction
//	num_inference_steps     num_inference_steps
//	guidance_scale          guidance_scale
//	seed                    seed
//	negative_prompt         negative_prompt
//	model, user             (choose the model, are kept with the job)
//	extra_body              (an object of the fields above)
//
// For seconds, fps is the request's, else the default that the model declares. Num_frames and seconds agree when that
// many frames last that long, or one frame longer. A null in JSON is the same as an absent field. Pictures as input
// (input_reference) and clips with sound are out of scope; a Task with sound is not text_to_video.
//
// # Artifacts
//
// The frame rate of a clip is what the Task's timestamps say, checked against the fps of the request or of the model's
// declaration, or that declaration alone; when there is neither the job fails, because a rate is never made up. A clip
// without frames, of unequal frames, of odd size, with a sample that is not finite, or other than was asked for fails
// as well, each with its reason.
//
// Frames are read one at a time and become I420 (BT.709, limited range), constrained baseline H.264 by OpenH264 with
// settings that give the same bytes each time, and an MP4 file whose index comes first. The file is written under a
// temporary name, synced, read back and checked by [CheckMP4], and renamed; only then is the job completed. The job
// holds digests of the frames, of the planes and of the file: equal frame digests prove that a job and a direct Task
// call gave the same clip, whatever the encoder (see [FramesSHA256]). [Encoder] and [CheckMP4] work without a service.
// Both JPEG thumbnail and clip are served with ranges and entity tags.
//
// The time of the Task call (inference_time_s), of waiting (queue_time_s) and of making the file (encode_time_s) are
// three numbers. None of them contains the interval at which a client asks.
//
// # Builds
//
// OpenH264 is linked in by pion/mediadevices and needs cgo; in other builds all but encoding works, and [Open] and
// [NewEncoder] return [ErrNoEncoder]. It writes two warnings to standard error for each clip. Only one H.264 package
// of pion/mediadevices can be in a binary.
package video
