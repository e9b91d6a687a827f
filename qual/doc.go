// Package qual judges a run: it joins what a client saw with what the server recorded, accounts for every offered
// request, checks the evidence and writes one report from it.
//
// A [Ledger] takes the offered set (the prepared workload, never the rows that happen to exist), then client rows and
// server records in any order, and settles each request as exactly one of completed, rejected and failed. What is
// missing, doubled, unknown or contradicted is listed by RequestID. [Judge] does this for a finished output folder
// from its files alone and reads no clock, so judging again gives the same bytes.
//
// # Ranking
//
// [ReadRankingGroups] and [PrepareRanking] make a workload of queries with passages, [RankingClient] sends it in a closed
// or an open loop, and [DirectScorer] scores the same requests by direct Task calls on a handle of its own. The judge
// then wants the same float32 scores, indices and order of every completed request, and permuted scores for permuted
// passages. None of it needs the others: rows of another client can be judged as well, as long as they keep the answers.
//
// # Video
//
// [ReadVideoPrompts] and [PrepareVideo] make a workload of prompts with pinned settings, [VideoClient] creates each job,
// asks about it at a stated interval and saves clip and poster, and [DirectGenerator] makes the same clips by direct Task
// calls. The judge then wants the same sha256 over all float32 frames of every completed job, checks each saved clip
// again from its bytes, and compares it with the record and with what was asked for. A job that was not final when the
// client gave up is a failed request.
//
// # AIPerf
//
// A workload may be sent once more, from the same prepared file, by the published AIPerf: [AIPerfSpec] says how to run it,
// [AIPerfRun] is kept beside its exports. The judge joins them under the ids of the prepared rows with a ledger of its own,
// row by conversation_id and phase, request by x_request_id, and never believes the client's counts or its exit code.
//
// # What a report may say
//
// A report never says more than its evidence: numbers come with their sample sizes, doubts stand beside the numbers,
// and the status of every checkpoint and workload is computed by package inventory from files of the run, such as
// validation commands ([Validation]); [Report.Claim] refuses a higher one. Results of the CPU reference runtime are marked
// in the first lines and qualify nothing.
package qual
