//go:build cgo && !asan

package native_test

var foreignFlags []string
