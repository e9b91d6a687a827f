/* Tool calls: which tool a message asks for by name, and arguments that fit its JSON Schema. */
#include "ref_private.h"

static bool contains(trtmc_string_view text, trtmc_string_view word) {
	return word.size && text.size >= word.size && memmem(text.data, (size_t)text.size, word.data, (size_t)word.size);
}

trf_tool_choice trf_tool_choose(const trtmc_text_conversation_request_v1* r) {
	const trtmc_conversation_message_v1* last = &r->messages[r->message_count - 1];
	for (uint64_t k = 0; last->role == TRTMC_ROLE_USER && k < last->part_count; k++) {
		trtmc_string_view text = last->parts[k].content.text; /* a user's parts are texts */
		for (uint64_t i = 0; i < r->tool_count; i++)
			if (contains(text, r->tools[i].name))
				return (trf_tool_choice){r->tools[i].name, r->tools[i].parameters_schema_json, text, i};
	}
	return (trf_tool_choice){0};
}

/* Takes the next number that stands in the rest of the message; 0 when there is none. */
static trtmc_string_view take_number(trtmc_string_view* rest, bool fraction) {
	size_t i = 0, n = (size_t)rest->size;
	const char* p = rest->data;
	while (i < n && (p[i] < '0' || p[i] > '9')) i++;
	while (i + 1 < n && p[i] == '0' && p[i + 1] >= '0' && p[i + 1] <= '9') i++; /* JSON has no leading zeros */
	size_t from = i;
	while (i < n && p[i] >= '0' && p[i] <= '9') i++;
	if (fraction && i + 1 < n && p[i] == '.' && p[i + 1] >= '0' && p[i + 1] <= '9')
		for (i++; i < n && p[i] >= '0' && p[i] <= '9';) i++;
	trtmc_string_view found = i > from ? (trtmc_string_view){p + from, i - from} : trf_view("0");
	*rest = (trtmc_string_view){p + i, n - i};
	return found;
}

/* The first of the allowed strings that the message names, else the first of them; NULL when the list has none. */
static const trf_json* pick_allowed(const trf_json* allowed, trtmc_string_view message) {
	const trf_json* first = NULL;
	for (const trf_json* v = allowed ? allowed->first : NULL; v; v = v->next) {
		if (v->kind != TRF_STRING) continue;
		if (!first) first = v;
		if (contains(message, v->text)) return v;
	}
	return first;
}

static void write_value(
	const trf_json* property, const trf_tool_choice* c, trtmc_string_view* numbers, trf_buffer* out) {
	const trf_json *type = trf_json_get(property, "type"),
				   *allowed = pick_allowed(trf_json_get(property, "enum"), c->message);
	trtmc_string_view t = type && type->kind == TRF_STRING ? type->text : trf_view("string");
	if (allowed) {
		trf_json_quote(out, allowed->text);
	} else if (trf_is(t, "integer") || trf_is(t, "number")) {
		trtmc_string_view n = take_number(numbers, trf_is(t, "number"));
		trf_buffer_add(out, n.data, (size_t)n.size);
	} else if (trf_is(t, "boolean")) {
		trf_buffer_text(out, "true");
	} else if (trf_is(t, "array")) {
		trf_buffer_text(out, "[]");
	} else if (trf_is(t, "object")) {
		trf_buffer_text(out, "{}");
	} else if (trf_is(t, "null")) {
		trf_buffer_text(out, "null");
	} else {
		trf_json_quote(out, c->message);
	}
}

trtmc_status trf_tool_arguments(const trf_tool_choice* c, trf_buffer* out, trtmc_error** error) {
	trf_arena arena = {0};
	const char* why;
	size_t at;
	const trf_json* schema = NULL;
	trtmc_status st = TRTMC_OK;
	if (c->schema.size) {
		schema = trf_json_parse(&arena, c->schema.data, (size_t)c->schema.size, &why, &at);
		if (!schema && !why)
			st = trf_out_of_memory(error);
		else if (!schema || schema->kind != TRF_OBJECT)
			st = trf_fail(error, TRTMC_INVALID_ARGUMENT,
				"tools[%llu].parameters_schema_json is not a JSON object: %s at byte %zu", (unsigned long long)c->index,
				schema ? "another value" : why, at);
	}
	const trf_json *properties = trf_json_get(schema, "properties"), *required = trf_json_get(schema, "required");
	trtmc_string_view numbers = c->message;
	const char* before = "{";
	for (const trf_json* v = required ? required->first : NULL; st == TRTMC_OK && v; v = v->next) {
		if (v->kind != TRF_STRING) continue;
		const trf_json* property = properties ? properties->first : NULL;
		while (property && !trf_equal(property->key, v->text)) property = property->next;
		trf_buffer_text(out, before);
		trf_json_quote(out, v->text);
		trf_buffer_text(out, ":");
		write_value(property, c, &numbers, out);
		before = ",";
	}
	trf_buffer_text(out, *before == '{' ? "{}" : "}");
	trf_arena_free(&arena);
	return st == TRTMC_OK && out->failed ? trf_out_of_memory(error) : st;
}
