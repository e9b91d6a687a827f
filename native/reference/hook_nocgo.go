//go:build !cgo

package reference

// SetHook does nothing: without cgo there is no embedded runtime whose calls could be observed.
func SetHook(func(Event) Action) (remove func()) { return func() {} }

// LiveHooks returns 0.
func LiveHooks() int { return 0 }
