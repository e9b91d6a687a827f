// Package videotest judges implementations of [video.Store].
//
// The embedded store passes it, and so must one that keeps jobs elsewhere:
//
//	func TestStore(t *testing.T) {
//		videotest.Store(t, func(t testing.TB) video.Store { return openMine(t) })
//	}
package videotest
