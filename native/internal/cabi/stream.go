package cabi

// #include "shim.h"
import "C"

import (
	"sync"
	"time"
	"unsafe"
)

// stream is what both kinds of stream share: the handle, and a guard that keeps Cancel away from the release.
//
// Next and Close are called by one goroutine; Cancel may come from any, at any time, also after Close.
type stream struct {
	model   *Model
	api     *C.trtmc_api_header
	mu      sync.Mutex // held by Cancel and by the release
	handle  unsafe.Pointer
	cancel  func(api *C.trtmc_api_header, handle unsafe.Pointer) C.trtmc_status
	release func(api *C.trtmc_api_header, handle unsafe.Pointer)
}

// take moves what a start call left in the model's frame into the stream.
func (s *stream) take(m *Model) {
	s.model, s.api, s.handle = m, m.frame.api, m.frame.handle
	m.frame.handle = nil
}

// Cancel asks the runtime to end the stream; a terminal event still follows. After Close it does nothing.
func (s *stream) Cancel() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.handle == nil {
		return nil
	}
	if st := s.cancel(s.api, s.handle); st != C.TRTMC_OK {
		return &CallError{Op: "cancel stream", Status: int32(st)}
	}
	return nil
}

// Close cancels what is unfinished, joins it and releases the stream. A second Close does nothing.
func (s *stream) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.handle == nil {
		return
	}
	C.cabi_drop(s.model.frame)
	s.release(s.api, s.handle)
	s.handle = nil
}

// ready puts the stream into the frame for a next call; false after Close.
func (s *stream) ready(timeout time.Duration) (*C.cabi_frame, bool) {
	if s.handle == nil {
		return nil, false
	}
	f := s.model.frame
	f.api, f.handle, f.timeout_ms = s.api, s.handle, C.int64_t(timeout.Milliseconds())
	return f, true
}

// TextStream is one running streaming_text_continuation. The model is taken until Close.
type TextStream struct{ stream }

// StartText starts a stream. It returns the instant just before the native call.
func (m *Model) StartText(req TextRequest) (*TextStream, time.Time, error) {
	f, err := m.begin("streaming_text_continuation")
	if err != nil {
		return nil, time.Time{}, err
	}
	m.textIn(f, &req)
	start := time.Now()
	C.cabi_text_start(f)
	if err := m.status("start stream"); err != nil {
		return nil, start, err
	}
	s := &TextStream{}
	s.take(m)
	s.cancel = func(api *C.trtmc_api_header, handle unsafe.Pointer) C.trtmc_status {
		return C.cabi_text_cancel(m.lib.core, (*C.trtmc_text_stream_api_v1)(unsafe.Pointer(api)), handle)
	}
	s.release = func(api *C.trtmc_api_header, handle unsafe.Pointer) {
		C.cabi_text_release((*C.trtmc_text_stream_api_v1)(unsafe.Pointer(api)), handle)
	}
	return s, start, nil
}

// Next waits at most timeout for an event. An error has ended the stream.
func (s *TextStream) Next(timeout time.Duration) (TextEvent, error) {
	const op = "next"
	f, ok := s.ready(timeout)
	if !ok {
		return TextEvent{Kind: EventEnd}, nil
	}
	C.cabi_text_next(f)
	switch f.status {
	case C.TRTMC_AGAIN:
		return TextEvent{}, nil
	case C.TRTMC_END:
		return TextEvent{Kind: EventEnd}, nil
	}
	if err := s.model.status(op); err != nil {
		return TextEvent{}, err
	}
	v := &f.text_event
	var err error
	switch v.kind {
	case C.TRTMC_STREAM_DELTA:
		ev := TextEvent{Kind: EventDelta}
		if ev.Text, err = stringOut(op, "text_delta", v.text_delta); err != nil {
			return TextEvent{}, err
		}
		ev.TokenIDs, err = copyOut[int32](op, "token_ids", v.token_ids.data, v.token_ids.size)
		return ev, err
	case C.TRTMC_STREAM_COMPLETE:
		ev := TextEvent{Kind: EventComplete}
		ev.Final, err = textOut(op, &v.final_result)
		return ev, err
	case C.TRTMC_STREAM_CANCELLED:
		return TextEvent{Kind: EventCancelled}, nil
	}
	return TextEvent{}, broken(op, "event has the unknown kind %d", uint32(v.kind))
}
