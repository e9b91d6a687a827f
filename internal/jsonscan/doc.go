// Package jsonscan reads lines of JSON whose members are known: a table of names and destinations instead of
// reflection.
//
// It exists because accounts of a run are lines of JSON by the million. It checks all that RFC 8259 asks for, except
// that the caller checks the line's UTF-8 once, as a whole. What it accepts it reads as encoding/json does, with two
// differences, which make it stricter: names match exactly, not in any case, and a known name that stands twice in one
// object is an error.
package jsonscan
