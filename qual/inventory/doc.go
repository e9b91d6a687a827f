// Package inventory lists what is to be served and qualified: one row per checkpoint and workload, with the facts that
// are pinned, the controls that are known, and the gaps said aloud. It also holds the ladder of statuses, which are
// computed from evidence and never written into the data.
//
// The data is embedded (inventory.json). Its facts come from the upstream files and pull requests that each row names
// under sources; what is not pinned there is left empty rather than guessed. When a bundle is at hand, [Reconcile]
// compares a row with what the loaded model declares.
//
// Evidence comes from elsewhere: package qual computes it from the files of a run. A run on the CPU reference runtime
// proves the path and stops at [Implemented], whatever else it shows.
package inventory
