// Package qual judges a run: it joins what a client saw with what the server recorded, accounts for every offered
// request, checks the evidence and writes one report from it.
//
// A [Ledger] takes the offered set (the prepared workload, never the rows that happen to exist), then client rows and
// server records in any order, and settles each request as exactly one of completed, rejected and failed. What is
// missing, doubled, unknown or contradicted is listed by RequestID. [Judge] does this for a finished output folder
// from its files alone and reads no clock, so judging again gives the same bytes.
//
// A report never says more than its evidence: numbers come with their sample sizes, doubts stand beside the numbers,
// and the status is computed by package inventory. Results of the CPU reference runtime are marked in the first lines and qualify nothing.
package qual
