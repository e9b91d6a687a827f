package native

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/trtmc-go/trtmc/native/internal/cabi"
	"github.com/trtmc-go/trtmc/native/reference"
	"github.com/trtmc-go/trtmc/native/task"
)

// referencePrefix starts the version text of the reference runtime, linked in or shared.
const referencePrefix = "trtmc-reference/"

// Options say which runtime to open. The zero value is the CPU reference runtime that is linked in.
type Options struct {
	// Library is the absolute path of a libtrtmc_c.so.1; empty for the reference runtime that is linked in.
	Library string
	// RuntimeRoot is the directory of the backend and family libraries; empty for the directory of Library.
	RuntimeRoot string
}

// Runtime is an opened runtime. Safe for concurrent use; a nil Runtime behaves like a closed one.
type Runtime struct {
	state *runtimeState
}

type runtimeState struct {
	lib  *cabi.Library
	root string

	mu     sync.Mutex
	closed bool
	live   map[closer]struct{}
	done   sync.Once
}

// closer is a model or bundle that the runtime closes with itself.
type closer interface{ Close() error }

// Open opens a runtime and checks its core table before any other function of it is called.
//
// It returns ErrNoCgo, ErrNotFound, an error that wraps ErrVersion, or task.ErrInvalid for options that cannot be right.
func Open(opts Options) (*Runtime, error) {
	if opts.Library == "" {
		entry, ok := reference.Entry()
		if !ok {
			return nil, ErrNoCgo
		}
		lib, err := cabi.OpenEntry(entry)
		if err != nil {
			return nil, openError("linked in", err)
		}
		return newRuntime(lib, opts.RuntimeRoot), nil
	}
	if !filepath.IsAbs(opts.Library) || strings.ContainsRune(opts.Library, 0) {
		return nil, fmt.Errorf("open runtime %q: %w: the library must be an absolute path", opts.Library, task.ErrInvalid)
	}
	lib, err := cabi.OpenLibrary(opts.Library)
	if err != nil {
		return nil, openError(strconv.Quote(opts.Library), err)
	}
	root := opts.RuntimeRoot
	if root == "" {
		root = filepath.Dir(opts.Library)
	}
	return newRuntime(lib, root), nil
}

func newRuntime(lib *cabi.Library, root string) *Runtime {
	return &Runtime{&runtimeState{lib: lib, root: root, live: map[closer]struct{}{}}}
}

// Version returns the runtime's own version text, empty for a nil Runtime.
func (r *Runtime) Version() string {
	if r == nil || r.state == nil {
		return ""
	}
	return r.state.lib.Version()
}

// Reference reports whether this is the CPU reference runtime, linked in or as a shared library.
func (r *Runtime) Reference() bool { return strings.HasPrefix(r.Version(), referencePrefix) }

// Close closes every model and bundle that was opened through r and waits for their calls in flight. Later loads return
// task.ErrClosed. The library stays mapped. A second Close waits for the first and returns nil.
func (r *Runtime) Close() error {
	if r == nil || r.state == nil {
		return nil
	}
	var errs []error
	s := r.state
	s.done.Do(func() {
		s.mu.Lock()
		s.closed = true
		live := s.live
		s.live = nil
		s.mu.Unlock()
		for c := range live {
			errs = append(errs, c.Close())
		}
	})
	return errors.Join(errs...)
}

// open returns the library, or ErrClosed for an operation on a closed runtime.
func (r *Runtime) open(op string) (*runtimeState, error) {
	closed := &task.Error{Op: op, Detail: "the runtime is closed", Err: task.ErrClosed}
	if r == nil || r.state == nil {
		return nil, closed
	}
	r.state.mu.Lock()
	defer r.state.mu.Unlock()
	if r.state.closed {
		return nil, closed
	}
	return r.state, nil
}

// adopt makes c end with the runtime; false when that has been closed meanwhile.
func (s *runtimeState) adopt(c closer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.live[c] = struct{}{}
	return true
}

func (s *runtimeState) forget(c closer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.live, c)
}
