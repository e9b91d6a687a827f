package bundle

import "errors"

var (
	// ErrFormat is returned when a file, or what is to be written into one, breaks a rule of the bundle format.
	ErrFormat = errors.New("not a valid bundle")
	// ErrNoSection is returned when a bundle has no section of the wanted name.
	ErrNoSection = errors.New("no such section")
)
