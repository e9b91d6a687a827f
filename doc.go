// Package trtmc is the root of a module that calls TensorRT-Model-Connect bundles from Go, serves them over HTTP, and
// proves request by request what a benchmark or a trace replay of that server showed. The root holds no code; import
// the package that does the job:
//
//   - native/task: the vocabulary, free of cgo: what a model can be asked to do and how it fails.
//   - native: loads a runtime (the vendor's libtrtmc_c.so.1, or the CPU reference runtime that is linked in) and bundles.
//   - native/bundle: reads and writes the bundle file format.
//   - native/reference: the CPU reference runtime and the parameters its bundles carry.
//   - native/tasktest: judges any implementation of native/task.
//   - serving: text, ranking and video routes with identity, admission, records, metrics and drain.
//   - serving/record: the record of one offered request, its writer and reader.
//   - ranking, video: the adapters, usable without serving.
//   - trace: production traces, workloads, open-loop replay and its fidelity.
//   - qual: joins client rows with server records and judges a run.
//   - qual/aiperf: runs the published AIPerf client and reads its exports.
//   - qual/inventory: checkpoints, their pins and their gaps, as data.
//
// # Direction of imports
//
// serving and qual never import native, qual never imports serving (only the record schema), trace imports no sibling
// but the clock and the scanner of JSON lines under internal, and only native/internal/cabi and native/reference
// contain cgo. Programs under examples join them. TestLayering keeps it so.
package trtmc
