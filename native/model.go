package native

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/trtmc-go/trtmc/native/bundle"
	"github.com/trtmc-go/trtmc/native/internal/cabi"
	"github.com/trtmc-go/trtmc/native/task"
)

// LoadOptions are what a load passes to the runtime beside the path; the zero value leaves all to its defaults.
type LoadOptions struct {
	KVCacheBytes     uint64 // size of the key-value cache; 0 leaves it to the family
	RuntimeCachePath string // only for the backend trt_rtx
	CUDAGraphs       bool   // only for the backend trt_rtx
}

// Model is one loaded model handle, which is one execution lane. It implements task.Model.
//
// A copy of a Model is the same model.
type Model struct {
	h *handle
}

var _ task.Model = (*Model)(nil)

type handle struct {
	rt       *runtimeState
	native   *cabi.Model
	lane     *lane
	info     task.Info
	settings []cabi.Setting // of the call inside the lane, kept for its memory
}

// Load loads the bundle at path.
//
// A failure is a *task.Error with Op "load", the native status and the path. It wraps task.ErrInvalid, and what package
// bundle found, when the file itself is missing or breaks a rule of the format.
func (r *Runtime) Load(path string, opts LoadOptions) (*Model, error) {
	s, err := r.open("load")
	if err != nil {
		return nil, err
	}
	if path == "" || strings.ContainsRune(path, 0) {
		return nil, &task.Error{Op: "load", Detail: fmt.Sprintf("bundle path %q; it must not be empty or hold a NUL", path), Err: task.ErrInvalid}
	}
	m, err := s.lib.Load(path, cabi.LoadOptions{
		RuntimeRoot: s.root, KVCacheBytes: opts.KVCacheBytes, RuntimeCachePath: opts.RuntimeCachePath, CUDAGraphs: opts.CUDAGraphs,
	})
	if err != nil {
		return nil, pathError("load", path, err)
	}
	h := &handle{rt: s, native: m, lane: newLane(), info: infoOut(r, m.Info())}
	if !s.adopt(h) {
		h.Close()
		return nil, &task.Error{Op: "load", Detail: "the runtime is closed", Err: task.ErrClosed}
	}
	return &Model{h}, nil
}

// pathError is callError for an operation on a bundle file: it names the file, and looks whether the file is at fault.
func pathError(op, path string, err error) error {
	out := callError("", err)
	var e *task.Error
	if !errors.As(out, &e) {
		return out
	}
	if e.Op != op {
		e.Detail = strings.TrimSuffix(e.Op+": "+e.Detail, ": ")
	}
	e.Op = op
	if !strings.Contains(e.Detail, path) {
		e.Detail = strings.TrimSuffix(fmt.Sprintf("bundle %q: %s", path, e.Detail), ": ")
	}
	if _, bad := bundle.Open(path); bad != nil && e.Err == task.ErrInternal {
		e.Err = fmt.Errorf("%w: %w", task.ErrInvalid, bad)
	}
	return e
}

// Info says what the model is. It stays valid after Close; the caller owns the slice of Tasks.
func (m *Model) Info() task.Info {
	if m == nil || m.h == nil {
		return task.Info{}
	}
	info := m.h.info
	info.Tasks = slices.Clone(info.Tasks)
	return info
}

// Lookup returns the implementation of a Task: use the functions of package task that name it, such as ScorerOf.
//
// It wraps task.ErrUnsupported when the model does not declare the Task, when the table lacks a function, or when the
// table is of another version; in the last case it wraps ErrVersion too.
func (m *Model) Lookup(id task.ID) (any, error) {
	if m == nil || m.h == nil {
		return nil, closed(id)
	}
	impl := m.h.implementation(id)
	if _, declared := m.h.info.Decl(id); !declared || impl == nil {
		return nil, task.Unsupported(id)
	}
	if err := m.h.native.Check(string(id)); err != nil {
		return nil, callError(id, err)
	}
	return impl, nil
}

func (h *handle) implementation(id task.ID) any {
	switch id {
	case task.TextContinuation:
		return textContinuer{h}
	case task.StreamingTextContinuation:
		return textStreamer{h}
	case task.TextConversation:
		return converser{h}
	case task.StreamingTextConversation:
		return conversationStreamer{h}
	case task.TextPairToRelevance:
		return pairScorer{h}
	case task.TextQueryDocumentsToRelevance:
		return scorer{h}
	case task.TextToEmbedding:
		return embedder{h}
	case task.TextToVideo:
		return videoGenerator{h}
	case task.BatchTextToVideo:
		return batchVideoGenerator{h}
	}
	return nil
}

// CheckLoRA returns nil when the model offers version 1.0 of the adapter table, and an error that wraps
// task.ErrUnsupported when it does not. Adapters themselves are not managed by this package.
func (m *Model) CheckLoRA() error {
	if m == nil || m.h == nil {
		return closed("")
	}
	h := m.h
	if err := h.lane.enter(context.Background(), ""); err != nil {
		return err
	}
	defer h.lane.leave()
	if err := h.native.LoRA(); err != nil {
		return callError("", err)
	}
	return nil
}

// Close waits for the call in flight and releases the handle. Callers that wait for their turn get task.ErrClosed, and
// so do later calls. Videos outlive their model. A second Close waits for the first; Close always returns nil.
func (m *Model) Close() error {
	if m == nil || m.h == nil {
		return nil
	}
	return m.h.Close()
}

func (h *handle) Close() error {
	h.lane.close(func() {
		h.native.Close()
		h.rt.forget(h)
	})
	return nil
}
