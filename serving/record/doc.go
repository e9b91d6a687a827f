// Package record is the server's account of each offered request: the schema, an append-only writer and a reader.
//
// A record is one JSON object on one line. Lines are only ever appended. A process that is killed may leave a torn
// last line; the next writer starts a new line after it, and a [Reader] reports the torn line as a [SyntaxError] with
// its position and reads on.
package record
