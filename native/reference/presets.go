package reference

// TextParams returns a small language model with the Tasks text_continuation and streaming_text_continuation: 256
// tokens of context, 64 new tokens by default and 128 at most, 2 ms setup, 60 µs per prompt token, 1.5 ms per new
// token. Its settings are those of a well-known model family, and ignore_eos, min_tokens, stop_token_ids,
// stop_strings and interpolation beside them.
func TextParams() Params {
	return Params{
		Family:     "reference_lm",
		BundleTask: "text_generation",
		Tasks:      []string{"text_continuation", "streaming_text_continuation"},
		Fields:     textFields(true),
		Timing:     Timing{SetupMS: 2, PrefillUSPerToken: 60, DecodeUSPerToken: 1500},
		Text:       &Text{ContextTokens: 256, DefaultMaxNewTokens: 64, MaxNewTokens: 128},
	}
}

// ConversationParams returns TextParams with the Tasks text_conversation and streaming_text_conversation besides.
// Its enable_thinking is false unless a request sets it.
func ConversationParams() Params {
	p := TextParams()
	p.BundleTask = "text_conversation"
	p.Tasks = append(p.Tasks, "text_conversation", "streaming_text_conversation")
	p.Fields = textFields(false)
	p.Text.ContextTokens = 1024
	return p
}

// RankingParams returns a scorer with both relevance Tasks: 1 ms setup, 200 µs per document, documents of at most 685
// tokens.
func RankingParams() Params {
	return Params{
		Family:     "reference_ranker",
		BundleTask: "text_ranking",
		Tasks:      []string{"text_query_documents_to_relevance", "text_pair_to_relevance"},
		Fields:     []Field{{"truncate", "string", "NONE", "NONE refuses a document that is too long, END cuts it"}},
		Timing:     Timing{SetupMS: 1, DocumentUS: 200},
		Relevance:  &Relevance{MaxDocumentTokens: 685},
	}
}

// EmbeddingParams returns an embedder with the Task text_to_embedding: vectors of 256 numbers, 1 ms per text.
func EmbeddingParams() Params {
	return Params{
		Family:     "reference_embedder",
		BundleTask: "text_embedding",
		Tasks:      []string{"text_to_embedding"},
		Fields:     []Field{{"dimensions", "i64", nil, "leading numbers of the vector to keep, normalised again"}},
		Timing:     Timing{DocumentUS: 1000},
		Embedding:  &Embedding{Dimensions: 256},
	}
}

// VideoParams returns a scene painter with both video Tasks and the given defaults. Fps 0 declares no rate, so that
// clips have no timestamps. Timing: 1 ms setup, 2 ms per step, 1 ms per frame.
func VideoParams(width, height, frames, fps, steps int) Params {
	return Params{
		Family:     "reference_video",
		BundleTask: "text_to_video",
		Tasks:      []string{"text_to_video", "batch_text_to_video"},
		Fields:     videoFields(),
		Timing:     Timing{SetupMS: 1, StepMS: 2, FrameMS: 1},
		Video:      &Video{Width: width, Height: height, Frames: frames, Steps: steps, GuidanceScale: 5, FPS: float64(fps)},
	}
}

// AllParams returns one model with every Task of this runtime: ConversationParams, RankingParams, EmbeddingParams and
// small clips (128x96, 9 frames at 8 a second, 4 steps).
func AllParams() Params {
	p := ConversationParams()
	r, e, v := RankingParams(), EmbeddingParams(), VideoParams(128, 96, 9, 8, 4)
	p.Family, p.BundleTask = "reference_all", "everything"
	for _, q := range []Params{r, e, v} {
		p.Tasks = append(p.Tasks, q.Tasks...)
		for _, f := range q.Fields {
			if f.Name != "seed" { // shared with the text fields
				p.Fields = append(p.Fields, f)
			}
		}
	}
	p.Timing.DocumentUS, p.Timing.StepMS, p.Timing.FrameMS = r.Timing.DocumentUS, v.Timing.StepMS, v.Timing.FrameMS
	p.Relevance, p.Embedding, p.Video = r.Relevance, e.Embedding, v.Video
	return p
}

func textFields(thinking bool) []Field {
	return []Field{
		{"max_new_tokens", "i64", nil, "most tokens to generate; 0 gives an empty text"},
		{"temperature", "f64", 1.0, "0 picks the likeliest token"},
		{"top_k", "i64", int64(1), "sample among this many likeliest tokens; 0 is no limit, 1 is greedy"},
		{"top_p", "f64", 1.0, "sample among the likeliest tokens that hold this much probability"},
		{"min_p", "f64", 0.0, "drop tokens below this part of the likeliest one's probability"},
		{"seed", "i64", int64(-1), "random seed; a negative one is a fixed seed of the family"},
		{"eos_token_id", "i64", int64(-1), "token that ends the text besides the model's own; negative is none"},
		{"generation_mode", "string", "auto", "auto, greedy or sample"},
		{"use_chat_template", "bool", false, "continue the prefix as a user's turn"},
		{"enable_thinking", "bool", thinking, "put a reasoning part before the answer of a conversation"},
		{"stop_on_boxed_answer", "bool", false, "end after a \\boxed{} answer"},
		{"stop_check_interval", "i64", int64(16), "tokens between two looks for a boxed answer"},
		{"repetition_penalty", "f64", 1.0, "only 1 is accepted"},
		{"ignore_eos", "bool", false, "never end by itself"},
		{"min_tokens", "i64", int64(0), "fewest tokens to generate"},
		{"stop_token_ids", "i64_list", []int64{}, "tokens that end the text, as its last token"},
		{"stop_strings", "string_list", []string{}, "strings that end the text, which is cut before them"},
		{"interpolation", "f64_list", nil, "weights of the 1-gram to the 4-gram model; by default computed from the context"},
	}
}

func videoFields() []Field {
	return []Field{
		{"width", "i64", nil, "pixels"},
		{"height", "i64", nil, "pixels"},
		{"num_frames", "i64", nil, "frames of the clip"},
		{"num_inference_steps", "i64", nil, "steps; more leave less noise"},
		{"guidance_scale", "f64", nil, "contrast"},
		{"seed", "i64", int64(-1), "random seed; a negative one is a fixed seed of the family"},
		{"negative_prompt", "string", "", "text whose colours are avoided"},
		{"fps", "f64", nil, "frames per second; refused when the bundle declares no rate"},
	}
}
