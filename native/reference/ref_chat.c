/* Conversation requests: the rules of roles and parts, and the text that the model reads. */
#include "ref_private.h"

#define BAD(error, ...) trf_fail(error, TRTMC_INVALID_ARGUMENT, __VA_ARGS__)

static bool text_ok(trtmc_string_view v) { return trf_span_ok(v.data, v.size, 1); }

static const char* call_fault(const trtmc_tool_call_v1* c) {
	if (!text_ok(c->call_id) || !text_ok(c->name) || !text_ok(c->arguments_json)) return "has a malformed string view";
	if (c->state > TRTMC_TOOL_CALL_MALFORMED) return "has a state above 3";
	if (c->state == TRTMC_TOOL_CALL_COMPLETE && (c->call_id.size == 0 || c->name.size == 0))
		return "is a complete tool call without id or name";
	return NULL;
}

static const char* result_fault(const trtmc_tool_result_v1* r) {
	if (!text_ok(r->call_id) || !text_ok(r->content_text)) return "has a malformed string view";
	if (r->call_id.size == 0) return "is a tool result without call_id";
	return r->is_error > 1 ? "has an is_error that is neither 0 nor 1" : NULL;
}

/* NULL when the part is right in a message of that role, else what is wrong. */
static const char* part_fault(uint32_t role, const trtmc_conversation_part_v1* p) {
	if (p->kind < TRTMC_CONVERSATION_TEXT || p->kind > TRTMC_CONVERSATION_TOOL_RESULT)
		return "has a kind outside 1 to 4";
	bool result = p->kind == TRTMC_CONVERSATION_TOOL_RESULT;
	if (result != (role == TRTMC_ROLE_TOOL))
		return result ? "is a tool result outside a tool message" :
						"is no tool result, and a tool message holds nothing else";
	if ((p->kind == TRTMC_CONVERSATION_REASONING || p->kind == TRTMC_CONVERSATION_TOOL_CALL) &&
		role != TRTMC_ROLE_ASSISTANT)
		return "is reasoning or a tool call outside an assistant message";
	if (result) return result_fault(&p->content.tool_result);
	if (p->kind == TRTMC_CONVERSATION_TOOL_CALL) return call_fault(&p->content.tool_call);
	return text_ok(p->content.text) ? NULL : "has a malformed string view";
}

trtmc_status trf_chat_check(const trtmc_text_conversation_request_v1* r, trtmc_error** error) {
	if (r->message_count == 0) return BAD(error, "messages: there must be at least one");
	if (!trf_span_ok(r->messages, r->message_count, sizeof *r->messages)) return BAD(error, "messages: malformed view");
	if (!trf_span_ok(r->tools, r->tool_count, sizeof *r->tools)) return BAD(error, "tools: malformed view");
	for (uint64_t i = 0; i < r->message_count; i++) {
		const trtmc_conversation_message_v1* m = &r->messages[i];
		if (m->role < TRTMC_ROLE_SYSTEM || m->role > TRTMC_ROLE_TOOL)
			return BAD(error, "messages[%llu]: role %u; it must be 1 to 5", (unsigned long long)i, m->role);
		if (!trf_span_ok(m->parts, m->part_count, sizeof *m->parts))
			return BAD(error, "messages[%llu].parts: malformed view", (unsigned long long)i);
		for (uint64_t k = 0; k < m->part_count; k++) {
			const char* why = part_fault(m->role, &m->parts[k]);
			if (why)
				return BAD(error, "messages[%llu].parts[%llu] %s", (unsigned long long)i, (unsigned long long)k, why);
		}
	}
	for (uint64_t i = 0; i < r->tool_count; i++) {
		const trtmc_tool_definition_v1* t = &r->tools[i];
		if (!text_ok(t->name) || !text_ok(t->description) || !text_ok(t->parameters_schema_json))
			return BAD(error, "tools[%llu]: malformed string view", (unsigned long long)i);
		if (t->name.size == 0) return BAD(error, "tools[%llu]: the name is empty", (unsigned long long)i);
	}
	return TRTMC_OK;
}

static void put(trf_buffer* out, trtmc_string_view v) { trf_buffer_add(out, v.data, (size_t)v.size); }

static void render_part(const trtmc_conversation_part_v1* p, trf_buffer* out) {
	switch (p->kind) {
	case TRTMC_CONVERSATION_TOOL_CALL:
		trf_buffer_text(out, "[call ");
		put(out, p->content.tool_call.name);
		trf_buffer_text(out, " ");
		put(out, p->content.tool_call.arguments_json);
		trf_buffer_text(out, "]");
		break;
	case TRTMC_CONVERSATION_TOOL_RESULT:
		trf_buffer_text(out, p->content.tool_result.is_error ? "[error " : "[result ");
		put(out, p->content.tool_result.content_text);
		trf_buffer_text(out, "]");
		break;
	default:
		put(out, p->content.text);
	}
}

void trf_chat_render(const trtmc_text_conversation_request_v1* r, trf_buffer* out) {
	static const char* const roles[] = {"", "system: ", "developer: ", "user: ", "assistant: ", "tool: "};
	for (uint64_t i = 0; i < r->tool_count; i++) {
		trf_buffer_text(out, "function: ");
		put(out, r->tools[i].name);
		trf_buffer_text(out, " ");
		put(out, r->tools[i].description);
		trf_buffer_text(out, "\n");
	}
	for (uint64_t i = 0; i < r->message_count; i++) {
		const trtmc_conversation_message_v1* m = &r->messages[i];
		trf_buffer_text(out, roles[m->role]);
		for (uint64_t k = 0; k < m->part_count; k++) render_part(&m->parts[k], out);
		/* A last message of the assistant is continued, not answered. */
		if (m->role != TRTMC_ROLE_ASSISTANT || i + 1 < r->message_count) trf_buffer_text(out, "\n");
	}
}
