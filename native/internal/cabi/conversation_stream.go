package cabi

// #include "shim.h"
import "C"

import (
	"time"
	"unsafe"
)

// ConversationStream is one running streaming_text_conversation. The model is taken until Close.
type ConversationStream struct{ stream }

// StartConversation starts a stream. It returns the instant just before the native call.
func (m *Model) StartConversation(req ConversationRequest) (*ConversationStream, time.Time, error) {
	f, err := m.begin("streaming_text_conversation")
	if err != nil {
		return nil, time.Time{}, err
	}
	m.conversationIn(f, &req)
	start := time.Now()
	C.cabi_conversation_start(f)
	if err := m.status("start stream"); err != nil {
		return nil, start, err
	}
	s := &ConversationStream{}
	s.take(m)
	s.cancel = func(api *C.trtmc_api_header, handle unsafe.Pointer) C.trtmc_status {
		return C.cabi_conversation_cancel(m.lib.core, (*C.trtmc_conversation_stream_api_v1)(unsafe.Pointer(api)), handle)
	}
	s.release = func(api *C.trtmc_api_header, handle unsafe.Pointer) {
		C.cabi_conversation_release((*C.trtmc_conversation_stream_api_v1)(unsafe.Pointer(api)), handle)
	}
	return s, start, nil
}

// Next waits at most timeout for an event. An error has ended the stream.
func (s *ConversationStream) Next(timeout time.Duration) (ConversationEvent, error) {
	const op = "next"
	f, ok := s.ready(timeout)
	if !ok {
		return ConversationEvent{Kind: EventEnd}, nil
	}
	C.cabi_conversation_next(f)
	switch f.status {
	case C.TRTMC_AGAIN:
		return ConversationEvent{}, nil
	case C.TRTMC_END:
		return ConversationEvent{Kind: EventEnd}, nil
	}
	if err := s.model.status(op); err != nil {
		return ConversationEvent{}, err
	}
	v := &f.conversation_event
	content := unsafe.Pointer(&v.content)
	switch v.kind {
	case C.TRTMC_CONVERSATION_STREAM_COMPLETE:
		final, err := conversationOut(op, (*C.trtmc_conversation_result_view_v1)(content))
		return ConversationEvent{Kind: EventComplete, Final: final}, err
	case C.TRTMC_CONVERSATION_STREAM_CANCELLED:
		return ConversationEvent{Kind: EventCancelled}, nil
	}
	return conversationDelta(op, uint32(v.kind), content)
}

func conversationDelta(op string, kind uint32, content unsafe.Pointer) (ev ConversationEvent, err error) {
	ev.Kind, ev.Native = EventDelta, kind
	switch kind {
	case C.TRTMC_CONVERSATION_STREAM_TEXT, C.TRTMC_CONVERSATION_STREAM_REASONING:
		d := (*C.trtmc_conversation_text_delta_v1)(content)
		ev.PartIndex = uint64(d.part_index)
		ev.Text, err = stringOut(op, "text_delta", d.text_delta)
	case C.TRTMC_CONVERSATION_STREAM_TOOL_DELTA:
		d := (*C.trtmc_conversation_tool_delta_v1)(content)
		ev.PartIndex = uint64(d.part_index)
		if d.has_call_id != 0 {
			if ev.CallID, err = stringOut(op, "call_id", d.call_id); err != nil {
				return ev, err
			}
		}
		if ev.Name, err = stringOut(op, "name_delta", d.name_delta); err != nil {
			return ev, err
		}
		ev.Arguments, err = stringOut(op, "arguments_delta", d.arguments_delta)
	case C.TRTMC_CONVERSATION_STREAM_TOOL_END:
		d := (*C.trtmc_conversation_tool_end_v1)(content)
		ev.PartIndex, ev.State = uint64(d.part_index), uint32(d.state)
	case C.TRTMC_CONVERSATION_STREAM_TOKENS:
		d := (*C.trtmc_i32_view)(content)
		ev.TokenIDs, err = copyOut[int32](op, "token_ids", d.data, d.size)
	default:
		return ConversationEvent{}, broken(op, "event has the unknown kind %d", kind)
	}
	return ev, err
}
