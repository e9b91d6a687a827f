// Package trace reads production traces, prepares them as workload files, replays them open loop against an HTTP
// server and measures how faithful the replay was.
//
// It imports nothing but the standard library, klauspost/compress and x/sync, and no cgo.
//
// # Reading
//
// [Open] gives a [Source] (plain, gzip or zstd, told apart by their first bytes, never by name). A [MooncakeReader],
// [AzureReader] or [BurstGPTReader] turns it into a stream of [Record] values: a [*Request], or a [*SyntaxError] with
// file and line. A bad line never ends the reading and is never skipped silently; I/O failure is separate, in Err.
// Timestamps are decimal numbers in a stated unit and become whole nanoseconds without passing through a float.
// Nothing is dropped as a duplicate: real traces hold equal rows and many arrivals in one instant.
//
// # Preparing
//
// [Prepare] writes a workload that any client can send: one JSON line a request (timestamp, session_id, payload: the
// form that NVIDIA AIPerf calls mooncake_trace), its warm-up, and a [Manifest] that says where every row came from
// and what was done to it. A [Schedule] is the arithmetic: window, speed, shard. Zero is the smallest kept timestamp,
// or the start of the window when one is given, as in AIPerf; the window includes both ends.
//
// # Replaying
//
// A [Replayer] sends every [Item] at its instant whatever the server does, and hands out one [Row] for each, under
// overload, timeouts and cancellation too. It never retries, never follows a redirect and never moves the schedule. A
// request that could not leave (no connection, cancelled, over MaxInFlight) has result [ResultNotSent] and a reason.
//
// # Words
//
// Offered is what the trace says, scheduled is that after scaling and placed on the clock, sent is when the first byte
// was written, arrived is when the server took the request. [Measure] compares them and keeps its doubts beside the
// numbers.
//
// # Pacing
//
// On Linux one operating system thread sleeps to absolute instants of CLOCK_MONOTONIC and sends. Where the process may
// do so (root, or CAP_SYS_NICE), that thread gets priority over others while a run lasts; elsewhere a server on the same
// processors can delay the later requests of a burst by up to a millisecond, which their rows show as lateness.
package trace
