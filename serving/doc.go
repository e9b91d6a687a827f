// Package serving serves models over HTTP in the forms that existing clients speak, and keeps one record of every
// request that it is offered.
//
// A [Server] is made of [Model] values, each a served name with its lanes. A lane is one model handle and runs one
// Task call at a time; requests for a model wait for its lanes in one bounded queue, first come, first served. The
// package imports no native code: whatever implements package task can be served.
//
// # Routes
//
//	POST /v1/completions                               text_continuation, streaming_text_continuation
//	POST /v1/chat/completions                          the conversation Tasks, else the continuation Tasks
//	POST /v1/ranking                                   text_query_documents_to_relevance; see package ranking
//	POST /v1/retrieval/{org}/{model}/reranking         the same, with top_k
//	POST /v1/videos, GET and DELETE /v1/videos/{id}    text_to_video; see package video
//	GET  /v1/models, /v1/models/{model}, /v1/serving/info, /health/live, /health/ready, /metrics
//
// # Requests
//
// A body is read strictly: unknown, wrongly cased and doubled fields, values of another type and data after the body
// are refused with the place as a JSON path. Fields beyond the documented shape are settings: each must be declared by
// the Task (the lists are in /v1/serving/info) and is converted to its declared kind exactly. max_tokens and
// max_completion_tokens set the Task's max_new_tokens. A setting that the Task does not declare is refused, unless its
// value asks for nothing, such as n 1; user is the one field that is accepted and not used. stop is refused.
//
// A model with only continuation Tasks takes chat messages as one prompt: the system message, if any, then the user
// messages, with a blank line between two. Where it declares use_chat_template that is set true, where it declares
// system_prompt the system message goes there. Other roles and tools are refused by name.
//
// # Answers
//
// finish_reason is length when as many tokens came as might have, stop when fewer came, and null when token ids or the
// limit are not known. usage holds the counts that are known and is absent when none is. Streams are server-sent
// events with the header X-TRTMC-Streaming: incremental for a streaming Task, whose deltas leave one by one, or
// buffered. A failure within a stream is one event with a comment, "event: error" and data, and no [DONE] follows.
// Errors have the body {"error": {"message", "type", "param", "code"}, "message", "detail"}, whose text is constant
// for one cause.
//
// # Accounting
//
// A request to a work route, and one that sends anything to an unknown route, is offered work: it has an identity and
// ends in exactly one record. Health checks, scrapes, lists, and HEAD requests are only counted.
//
// X-Request-ID is taken as it is, 1 to 128 characters from A-Z a-z 0-9 . _ : -, and echoed. Another value, or two
// different ones, is 400; the id of a request that is being served is 409. A refusal has a generated id, as has a
// request without one.
//
// The outcome is rejected when the server refused before any Task call began, completed when the whole answer was
// handed to the connection, and failed otherwise, also for a client that went away while it waited. A one-shot native
// call cannot be stopped: when its client goes away, its lane stays taken until it returns, and the record shows how
// long that was. Streams are cancelled.
//
// # Video jobs
//
// With Config.Video a request to make a video is answered with a job, and the job's end is the end of the request: one
// record, under the identity of the creation, written when the job is completed, failed or deleted, whose handling time
// runs to that instant. A creation that is refused has its record at once; one whose identity a job that is not final
// has is 409. Jobs have a bounded queue of their own, and only a creation is ever answered 429 for it. Questions about
// a job, its content, lists and deletions are only counted, whatever identity they carry, and need no lane; the record
// says how many questions came before the end.
//
// A job that the end of a process interrupted has its record, with reason server_restarted, when a server opens the
// directory again; one that waited goes on then and has its record in the end. A process that is killed between the end
// of a job and the writing of its record loses that record, not the job.
//
// # Metrics
//
// /metrics holds, by fixed labels, trtmc_requests_total, trtmc_probes_total, trtmc_queue_seconds,
// trtmc_task_call_seconds, trtmc_handling_seconds, trtmc_time_to_first_token_seconds, trtmc_output_tokens_total,
// trtmc_ranking_passages_total, trtmc_video_jobs_total, trtmc_video_frames_total, trtmc_record_failures_total and the
// gauges trtmc_video_jobs, trtmc_lanes, trtmc_lanes_busy, trtmc_queue_depth, trtmc_queue_bytes, trtmc_live_requests and
// trtmc_draining.
package serving
