// Package record is the server's account of each offered request: the schema, an append-only writer and a reader.
//
// A record is one JSON object on one line. Lines are only ever appended. A process that is killed may leave a torn
// last line; the next writer starts a new line after it, and a [Reader] reports the torn line as a [SyntaxError] with
// its position and reads on.
//
// # Schema
//
// A [Record] is what the server knows of one request, and [Record.Validate] says whether it contradicts itself. Fields
// may be added without a new [Schema] number, so a reader passes over names that it does not know; it refuses a higher
// number, an unknown outcome and a record without an identity, for those would falsify an account.
//
// # Writing
//
// A [Writer] takes records from any number of goroutines and writes them as one batch after another: a record costs
// its caller about half of what formatting it with encoding/json would, and waits neither for the disk nor for other
// callers. It is safe to kill the process at any moment.
package record
