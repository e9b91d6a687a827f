// Package bundle reads and writes the bundle file: the one file that a TensorRT-Model-Connect model is loaded from.
//
// It knows the container only, not what the sections hold, and it uses no native code. A service reads a bundle's
// header and digest with it before any runtime is opened; tests and tools write bundles with it.
//
// # The file
//
//	8 bytes     "BUNDLE", 0x01, 0x00
//	8 bytes     little-endian length of the header, at most 100 MiB
//	header      UTF-8 JSON object with exactly the keys format (the integer 1), family, task, backend (non-empty
//	            strings) and sections: an object that maps a non-empty name to exactly {"offset": n, "length": n}
//	payload     to the end of the file; offsets count from its first byte
//	provenance  optional, at the very end: JSON, its little-endian length, "PROV" 0x01 0x00 0x00 0x00; never read here
//
// [Open] refuses whatever breaks one of these rules with an error that names the file, the rule and what would be
// right; such errors match [ErrFormat]. Whether family, task and backend name something that a runtime can load is
// the runtime's question, asked when a model is loaded.
package bundle
