package native

import (
	"errors"
	"fmt"
	"strings"

	"github.com/trtmc-go/trtmc/native/bundle"
	"github.com/trtmc-go/trtmc/native/internal/cabi"
	"github.com/trtmc-go/trtmc/native/task"
)

// Bundle is a bundle that a runtime opened without loading it: no backend, no family, no GPU is needed. Package bundle
// reads the same file without any runtime. Safe for concurrent use.
type Bundle struct {
	rt     *runtimeState
	path   string
	native *cabi.Bundle
}

// OpenBundle has the runtime open the bundle at path and check its header. Errors are those of Load with the Op
// "open bundle".
func (r *Runtime) OpenBundle(path string) (*Bundle, error) {
	const op = "open bundle"
	s, err := r.open(op)
	if err != nil {
		return nil, err
	}
	if path == "" || strings.ContainsRune(path, 0) {
		return nil, &task.Error{Op: op, Detail: fmt.Sprintf("bundle path %q; it must not be empty or hold a NUL", path), Err: task.ErrInvalid}
	}
	b, err := s.lib.OpenBundle(path)
	if err != nil {
		return nil, pathError(op, path, err)
	}
	out := &Bundle{rt: s, path: path, native: b}
	if !s.adopt(out) {
		b.Close()
		return nil, &task.Error{Op: op, Detail: "the runtime is closed", Err: task.ErrClosed}
	}
	return out, nil
}

// Info returns the header as the runtime read it. It stays valid after Close; the caller owns the slice of sections.
func (b *Bundle) Info() bundle.Info {
	if b == nil || b.native == nil {
		return bundle.Info{}
	}
	in := b.native.Info()
	out := bundle.Info{Format: int(in.Format), Header: bundle.Header{Family: in.Family, Task: in.Task, Backend: in.Backend}}
	for _, s := range in.Sections {
		out.Sections = append(out.Sections, bundle.Section(s))
	}
	return out
}

// ReadSection returns a copy of a section's bytes. The file must still be there. After Close it returns task.ErrClosed.
func (b *Bundle) ReadSection(name string) ([]byte, error) {
	const op = "read section"
	if b == nil || b.native == nil {
		return nil, &task.Error{Op: op, Detail: "the bundle is closed", Err: task.ErrClosed}
	}
	data, err := b.native.ReadSection(name)
	if errors.Is(err, cabi.ErrClosed) {
		return nil, &task.Error{Op: op, Detail: "the bundle is closed", Err: task.ErrClosed}
	}
	if err != nil {
		err = callError("", err)
		var e *task.Error
		if errors.As(err, &e) {
			e.Detail = fmt.Sprintf("section %q of bundle %q: %s", name, b.path, e.Detail)
		}
		return nil, err
	}
	return data, nil
}

// Close releases the bundle. It waits for a read in flight; a second Close does nothing. It always returns nil.
func (b *Bundle) Close() error {
	if b == nil || b.native == nil {
		return nil
	}
	b.native.Close()
	b.rt.forget(b)
	return nil
}
