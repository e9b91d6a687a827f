// Package ranking serves the Task text_query_documents_to_relevance in the form of NVIDIA NIM's POST /v1/ranking, and
// holds the pieces of that mapping as pure functions: [Decode], [Rank], [AppendResponse], [Apply].
//
// A service mounts it in a few lines, with or without package serving:
//
//	mux := http.NewServeMux()
//	h := ranking.NewHandler(scorer, ranking.Options{Model: "my-reranker"})
//	mux.Handle(ranking.RouteRanking, h)
//	mux.Handle(ranking.RouteReranking, h)
//
// # Wire
//
// A request is {"model", "query": {"text"}, "passages": [{"text"}, ...], "truncate"}. An answer is
// {"rankings": [{"index", "logit"}, ...]} and nothing else: the score descends, equal scores keep the order of the
// passages, and the index is the passage's place in the request. Scores are the Task's float32 values exactly,
// whatever their kind; they are never squashed, clamped or rounded. There is no usage, because the Task reports no
// token counts.
//
// The route /v1/retrieval/{org}/{model}/reranking is the same mapping for clients that name the model in the path and
// cut on the server: it takes top_k as well and shortens the answer after ranking. /v1/ranking refuses top_k by name,
// because a client that sends it there would believe that it was honoured.
//
// # Strictness
//
// What the documented shape does not contain is refused, with the place as a JSON path such as passages[1].text:
// unknown and wrongly cased names, doubled names, null, values of another type, invalid UTF-8, lone surrogates,
// trailing data, a query or passage without text, no passages, and whatever passes [Limits]. A field that a strict
// reader ignores is a field whose effect the client only imagines.
//
// truncate says what to do with a passage that is too long for the model. END is accepted only when the model
// declares a control for it (see [TruncateField]); NONE, which is also what an absent field means, never cuts: such a
// passage is a 400 that names its index. NONE is sent to the Task where it declares the control.
//
// # Failures
//
// A score that is not finite, or a number of scores other than the number of passages, is the server's failure: 502
// with code task_result_invalid, never a 200 and never the client's error. The answer is encoded before the header is
// written, so a status is never contradicted by its body. Errors have the body
// {"error": {"message", "type", "param", "code"}, "message", "detail"}, which the clients of both families show.
package ranking
