package inventory

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrUnproven is returned when a status is claimed that the evidence does not carry; see UnprovenError.
	ErrUnproven = errors.New("status not proven")
	// ErrData is returned when inventory data breaks its own rules.
	ErrData = errors.New("invalid inventory")
	// ErrNoRow is returned when no row has the profile asked for.
	ErrNoRow = errors.New("no such profile")
)

// UnprovenError says which status was claimed, which one the evidence carries, and what is missing for the claim.
type UnprovenError struct {
	Claimed, Proven Status
	Missing         []string
}

// Error names both statuses and everything that is missing.
func (e *UnprovenError) Error() string {
	return fmt.Sprintf("%v: %s was claimed, the evidence carries %s; missing: %s", ErrUnproven, e.Claimed, e.Proven, strings.Join(e.Missing, "; "))
}

// Unwrap returns ErrUnproven.
func (e *UnprovenError) Unwrap() error { return ErrUnproven }
