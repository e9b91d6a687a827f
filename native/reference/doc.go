// Package reference is the built-in CPU runtime.
package reference
