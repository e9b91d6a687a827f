//go:build cgo && asan

package native_test

// foreignFlags: AddressSanitizer can intercept a C++ throw only when the C++ library was there at its start, and here it
// comes with dlopen. So the library gets one of its own.
var foreignFlags = []string{"-static-libstdc++", "-static-libgcc", "-Wl,--exclude-libs,ALL", "-Wl,-Bsymbolic"}
