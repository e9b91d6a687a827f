package reference

// FaultKind names a fault that a bundle shows; the package comment has the table.
type FaultKind string

// The faults. Those of one Task family leave the others alone.
const (
	FaultSlow               FaultKind = "slow"                 // every call takes MS more
	FaultHang               FaultKind = "hang_until_cancelled" // streams: until cancelled; one-shot: INTERNAL_ERROR after MS
	FaultError              FaultKind = "error"                // INTERNAL_ERROR with Message
	FaultErrorAfterTokens   FaultKind = "error_after_tokens"   // text: INTERNAL_ERROR once AfterTokens tokens are out; says how many
	FaultErrorWithoutObject FaultKind = "error_without_object" // INTERNAL_ERROR, no error object
	FaultNonUTF8Message     FaultKind = "non_utf8_message"     // INTERNAL_ERROR, message that is not UTF-8
	FaultEmbeddedNUL        FaultKind = "embedded_nul"         // text: a NUL byte is the second token
	FaultOutOfMemory        FaultKind = "out_of_memory"        // OUT_OF_MEMORY
	FaultBusy               FaultKind = "busy"                 // BUSY
	FaultFailEvery          FaultKind = "fail_every"           // every call whose number Every divides: INTERNAL_ERROR
	FaultLoad               FaultKind = "load_error"           // the model does not load: INTERNAL_ERROR
	FaultNaNScore           FaultKind = "nan_score"            // relevance: the first score is NaN
	FaultShortScores        FaultKind = "short_scores"         // relevance: one score too few
	FaultUnequalFrames      FaultKind = "unequal_frames"       // video: the last frame is one row shorter
	FaultZeroFrames         FaultKind = "zero_frames"          // video: no frame at all
	FaultNaNFrame           FaultKind = "nan_frame"            // video: one sample of the first frame is NaN
	FaultTwoTerminals       FaultKind = "two_terminals"        // streams: COMPLETE comes twice
	FaultDeltaMismatch      FaultKind = "delta_mismatch"       // streams: the final text is not the sum of the deltas
)

// Fault selects a fault. Only the numbers that its kind uses matter; 0 or "" stands for the kind's default.
type Fault struct {
	Kind        FaultKind `json:"kind"`
	Message     string    `json:"message,omitempty"`      // of error, fail_every, out_of_memory; default "reference fault: " and the kind
	AfterTokens int       `json:"after_tokens,omitempty"` // default 4
	Every       int       `json:"every,omitempty"`        // default 10
	MS          int       `json:"ms,omitempty"`           // default 200 (slow), 1000 (hang_until_cancelled)
}
