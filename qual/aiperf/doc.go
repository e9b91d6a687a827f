// Package aiperf runs NVIDIA AIPerf 0.13.0 as a client, reads what it exports, and finds what the exports hide.
//
// [Find] and [Installation.Verify] tell whether an installation is the published package, [Run] runs it and keeps the
// evidence, [Open] reads an artifact folder, [Export.Findings] lists contradictions, and [RowReader] and [RawReader]
// stream the rows. Everything said here of the client was seen in real runs of that release; other releases may differ,
// so unknown fields are ignored and a field that is relied on must be there and of its kind.
//
// # Joining a trace row with its Task call
//
//	prepared row     session_id                        the offered request; the offered set is this file, never an export
//	AIPerf row       metadata.conversation_id          [Meta].ConversationID; equals session_id
//	                 metadata.x_request_id             [Meta].RequestID; a fresh UUID for every HTTP request
//	HTTP request     X-Request-ID header               polls and downloads of a video job repeat that of its submit
//	server record    request_id                        may exist without a row: lost requests, probes, scrapes
//	Task call        task_call_start_ns, task_call_end_ns of that record
//
// One conversation_id stands in several rows: warm-up requests are taken from the same file as measured ones, and
// rankings and videos without a schedule walk round it ([Spec.Offered] gives how often each is sent). So join
// (benchmark_phase, conversation_id) to the file and x_request_id to the server. Never join by order or by time:
// session_num restarts after the warm-up, and rows with equal timestamps arrive in any order. A row without
// x_request_id joins nothing.
//
// # Placing a request in time
//
// A row with timestamp t of a fixed schedule was due at zero + t - the smallest timestamp of the file, see
// [Export.ScheduleZero]. Lateness at the credit, at the start and at the server is the difference of that instant from
// credit_issued_ns, from request_start_ns, and from the server's arrival. The first two are wall clock of the client's
// host; compare them with a server on the same host only. start_perf_ns of a raw row and perf_ns of its events are
// CLOCK_MONOTONIC on Linux, as are the instants of server records: the one exact way to place a video submit.
//
// # What cannot be trusted
//
//   - The number of rows: requests in flight when the client stops have no row, and every total leaves them out.
//   - The exit code: 0 with failures, with lost rows and after an early stop; 1 when everything failed.
//   - The credit: it is on time while requests leave seconds late. Judge a replay by arrival at the server.
//   - request_start_ns and request_end_ns of video jobs and of cancelled requests: the start is the request's end
//     ([Row.Shifted]). The client's own throughput, effective latency and schedule lag inherit this.
//   - The duration of an answer other than 2xx, which is 0, and of a request that failed midway, which ends at the last
//     event before the failure; a video job that fails or times out shows the time of its submit.
//   - A success: a stream that just stops, and one whose last event is an error object, are successes to the client
//     ([RawRow.Ending] tells). Scores, their order and their number are not looked at.
//   - replay_sched_lag: it is relative to the least late request of the run, so that constant lateness is invisible.
//   - Video latency: it ends at the poll that saw the end, so it is as coarse as [Spec.PollInterval], and it leaves the
//     download out.
//   - Token counts: with --use-server-token-count they are the server's own; rankings have none.
//
// The folder install pins what is installed; the script .ci/aiperf uses it.
package aiperf
