package cabi

// #include "shim.h"
import "C"

import (
	"time"
	"unsafe"
)

// Converse makes one text_conversation call. It returns when the native call has ended.
func (m *Model) Converse(req ConversationRequest) (ConversationResult, error) {
	const op = "run"
	f, err := m.begin("text_conversation")
	if err != nil {
		return ConversationResult{}, err
	}
	m.conversationIn(f, &req)
	start := time.Now()
	C.cabi_conversation_run(f)
	wall := time.Since(start)
	if err := m.status(op); err != nil {
		return ConversationResult{}, err
	}
	defer C.cabi_drop(f)
	out, err := conversationOut(op, &f.conversation_out)
	out.Span = Span{start, wall}
	return out, err
}

func (m *Model) conversationIn(f *C.cabi_frame, req *ConversationRequest) {
	a := &m.arena
	messages := array[C.trtmc_conversation_message_v1](a, len(req.Messages))
	for i := range req.Messages {
		in := &req.Messages[i]
		parts := array[C.trtmc_conversation_part_v1](a, len(in.Parts))
		for k := range in.Parts {
			a.part(&parts[k], &in.Parts[k])
		}
		messages[i] = C.trtmc_conversation_message_v1{
			role: C.uint32_t(in.Role), parts: unsafe.SliceData(parts), part_count: C.uint64_t(len(parts)),
		}
	}
	tools := array[C.trtmc_tool_definition_v1](a, len(req.Tools))
	for i, t := range req.Tools {
		tools[i] = C.trtmc_tool_definition_v1{
			name: a.text(t.Name), description: a.text(t.Description), parameters_schema_json: a.text(t.Schema),
		}
	}
	f.conversation_in = C.trtmc_text_conversation_request_v1{
		messages: unsafe.SliceData(messages), message_count: C.uint64_t(len(messages)),
		tools: unsafe.SliceData(tools), tool_count: C.uint64_t(len(tools)),
	}
	f.config = a.config(req.Settings)
}

func (a *arena) part(out *C.trtmc_conversation_part_v1, in *Part) {
	*out = C.trtmc_conversation_part_v1{kind: C.uint32_t(in.Kind)}
	content := unsafe.Pointer(&out.content)
	switch in.Kind {
	case C.TRTMC_CONVERSATION_TEXT, C.TRTMC_CONVERSATION_REASONING:
		*(*C.trtmc_string_view)(content) = a.text(in.Text)
	case C.TRTMC_CONVERSATION_TOOL_CALL:
		*(*C.trtmc_tool_call_v1)(content) = C.trtmc_tool_call_v1{
			call_id: a.text(in.CallID), name: a.text(in.Name), arguments_json: a.text(in.Arguments), state: C.uint32_t(in.State),
		}
	case C.TRTMC_CONVERSATION_TOOL_RESULT:
		result := C.trtmc_tool_result_v1{call_id: a.text(in.CallID), content_text: a.text(in.Text)}
		if in.IsError {
			result.is_error = 1
		}
		*(*C.trtmc_tool_result_v1)(content) = result
	}
}

func conversationOut(op string, v *C.trtmc_conversation_result_view_v1) (out ConversationResult, err error) {
	parts, err := borrowed(op, "parts", v.parts, v.part_count)
	if err != nil {
		return out, err
	}
	out.Parts = make([]Part, len(parts))
	for i := range parts {
		if out.Parts[i], err = partOut(op, &parts[i]); err != nil {
			return ConversationResult{}, err
		}
	}
	if out.TokenIDs, err = copyOut[int32](op, "token_ids", v.token_ids.data, v.token_ids.size); err != nil {
		return ConversationResult{}, err
	}
	out.SetupMS, out.PrefillMS, out.DecodeMS = float64(v.setup_ms), float64(v.prefill_ms), float64(v.decode_ms)
	out.Finish = uint32(v.finish_reason)
	if out.OtherFinish = nameOut(v.other_finish_reason); (out.OtherFinish != "") != (out.Finish == C.TRTMC_FINISH_OTHER) {
		return ConversationResult{}, broken(op, "finish reason %d with other_finish_reason %q; that text belongs to reason 5 alone", out.Finish, out.OtherFinish)
	}
	if out.Finish > C.TRTMC_FINISH_OTHER {
		return ConversationResult{}, broken(op, "finish reason %d; it is 0 to 5", out.Finish)
	}
	out.Input = present(v.usage.has_input_tokens, v.usage.input_tokens)
	out.Output = present(v.usage.has_output_tokens, v.usage.output_tokens)
	out.Total = present(v.usage.has_total_tokens, v.usage.total_tokens)
	return out, nil
}

func present(has C.uint32_t, n C.uint64_t) *uint64 {
	if has == 0 {
		return nil
	}
	v := uint64(n)
	return &v
}

func partOut(op string, in *C.trtmc_conversation_part_v1) (p Part, err error) {
	p.Kind = uint32(in.kind)
	content := unsafe.Pointer(&in.content)
	switch p.Kind {
	case C.TRTMC_CONVERSATION_TEXT, C.TRTMC_CONVERSATION_REASONING:
		p.Text, err = stringOut(op, "text", *(*C.trtmc_string_view)(content))
		return p, err
	case C.TRTMC_CONVERSATION_TOOL_CALL:
		call := (*C.trtmc_tool_call_v1)(content)
		if p.CallID, err = stringOut(op, "call_id", call.call_id); err != nil {
			return p, err
		}
		if p.Name, err = stringOut(op, "name", call.name); err != nil {
			return p, err
		}
		p.State = uint32(call.state)
		p.Arguments, err = stringOut(op, "arguments_json", call.arguments_json)
		return p, err
	}
	return p, broken(op, "part of kind %d in an answer; it is 1, 2 or 3", p.Kind)
}
