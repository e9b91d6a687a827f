// Package scantest holds tables of package jsonscan to encoding/json, which decides what is right.
package scantest
