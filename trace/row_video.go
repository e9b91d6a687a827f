package trace

// VideoRow is what a client adds to the row of a request that was answered with a video job. Instants are on the
// clock of the row, 0 when not reached. The row's SentNS and FirstByteNS are those of the creation, its LastByteNS is
// that of the answer which said that the job was final, and its EndedNS comes after the download.
type VideoRow struct {
	JobID     string `json:"job_id"`
	State     string `json:"state"` // the last one seen
	Polls     int    `json:"polls"` // questions that were answered
	PollNS    int64  `json:"poll_ns"`
	CreatedNS int64  `json:"created_ns"` // last byte of the answer to the creation

	DownloadStartNS int64  `json:"download_start_ns,omitempty"`
	DownloadEndNS   int64  `json:"download_end_ns,omitempty"`
	ArtifactBytes   int64  `json:"artifact_bytes,omitempty"`
	ArtifactSHA256  string `json:"artifact_sha256,omitempty"`

	// Durations as the job itself states them.
	QueueNS    int64 `json:"queue_ns,omitempty"`
	TaskCallNS int64 `json:"task_call_ns,omitempty"`
	EncodeNS   int64 `json:"encode_ns,omitempty"`
}
