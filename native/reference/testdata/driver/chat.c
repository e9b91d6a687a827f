/* text_conversation and its stream: roles, parts, tools, reasoning, usage. */
#include "driver.h"

static trtmc_conversation_part_v1 text_part(uint32_t kind, const char* text) {
	return (trtmc_conversation_part_v1){kind, {.text = sv(text)}};
}

static trtmc_conversation_part_v1 call_part(const char* id, const char* name, const char* arguments, uint32_t state) {
	return (trtmc_conversation_part_v1){
		TRTMC_CONVERSATION_TOOL_CALL, {.tool_call = {sv(id), sv(name), sv(arguments), state}}};
}

static trtmc_conversation_part_v1 result_part(const char* id, const char* text, uint32_t is_error) {
	return (trtmc_conversation_part_v1){TRTMC_CONVERSATION_TOOL_RESULT, {.tool_result = {sv(id), sv(text), is_error}}};
}

/* A request of one message with one part. */
#define ONE(role, part)                                                                                                \
	&(trtmc_text_conversation_request_v1){&(trtmc_conversation_message_v1){role, &(part), 1}, 1, NULL, 0}

static void test_rules(trtmc_model* m) {
	trtmc_error* err;
	const trtmc_text_conversation_api_v1* api = table(m, TRTMC_TASK_TEXT_CONVERSATION);
	const trtmc_streaming_text_conversation_api_v1* streaming = table(m, TRTMC_TASK_STREAMING_TEXT_CONVERSATION);
	trtmc_conversation_part_v1 text = text_part(1, "hi"), reasoning = text_part(2, "hm"), strange = text_part(5, "x");
	trtmc_conversation_part_v1 call = call_part("c", "f", "{}", 1), no_id = call_part("", "f", "{}", 1),
							   state = call_part("c", "f", "", 4);
	trtmc_conversation_part_v1 result = result_part("c", "r", 0), no_call = result_part("", "r", 0),
							   odd = result_part("c", "r", 2);
	trtmc_conversation_part_v1 broken = {1, {.text = {NULL, 3}}};
	trtmc_conversation_message_v1 hello = {TRTMC_ROLE_USER, &text, 1}, no_parts = {TRTMC_ROLE_USER, NULL, 1},
								  no_role = {0, &text, 1}, high_role = {6, &text, 1};
	trtmc_tool_definition_v1 unnamed = {.name = sv("")};
	const struct {
		const trtmc_text_conversation_request_v1* request;
		const char* text;
	} rows[] = {
		{&(trtmc_text_conversation_request_v1){0}, "at least one"},
		{&(trtmc_text_conversation_request_v1){NULL, 2, NULL, 0}, "messages: malformed"},
		{&(trtmc_text_conversation_request_v1){&hello, 1, NULL, 1}, "tools: malformed"},
		{&(trtmc_text_conversation_request_v1){&no_parts, 1, NULL, 0}, "messages[0].parts: malformed"},
		{&(trtmc_text_conversation_request_v1){&no_role, 1, NULL, 0}, "role 0"},
		{&(trtmc_text_conversation_request_v1){&high_role, 1, NULL, 0}, "role 6"},
		{&(trtmc_text_conversation_request_v1){&hello, 1, &unnamed, 1}, "tools[0]: the name is empty"},
		{ONE(TRTMC_ROLE_USER, strange), "kind outside 1 to 4"},
		{ONE(TRTMC_ROLE_USER, broken), "malformed string"},
		{ONE(TRTMC_ROLE_USER, reasoning), "outside an assistant"},
		{ONE(TRTMC_ROLE_SYSTEM, call), "outside an assistant"},
		{ONE(TRTMC_ROLE_ASSISTANT, no_id), "without id or name"},
		{ONE(TRTMC_ROLE_ASSISTANT, state), "state above 3"},
		{ONE(TRTMC_ROLE_ASSISTANT, result), "outside a tool message"},
		{ONE(TRTMC_ROLE_TOOL, text), "holds nothing else"},
		{ONE(TRTMC_ROLE_TOOL, no_call), "without call_id"},
		{ONE(TRTMC_ROLE_TOOL, odd), "is_error"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		trtmc_result* r = (trtmc_result*)m;
		trtmc_conversation_stream* s = (trtmc_conversation_stream*)m;
		EXPECT(
			api->run(m, rows[i].request, CONFIG(set_i64("nope", 1)), &r, &err), TRTMC_INVALID_ARGUMENT, rows[i].text);
		CHECK(!r);
		EXPECT(streaming->start(m, rows[i].request, NULL, &s, &err), TRTMC_INVALID_ARGUMENT, rows[i].text);
		CHECK(!s);
		EXPECT(
			streaming->start(m, rows[i].request, CONFIG(set_i64("nope", 1)), &s, &err), TRTMC_INVALID_CONFIG, "nope");
	}
	trtmc_result* r = NULL;
	CHECK(api->run(m, rows[0].request, NULL, &r, NULL) == TRTMC_INVALID_ARGUMENT);
	EXPECT(api->run(m, NULL, NULL, &r, &err), TRTMC_INVALID_ARGUMENT, "NULL");
}

/* What is asked in the tests below: several turns with every kind of part. */
static trtmc_result* ask(trtmc_model* m, const char* question, const trtmc_tool_definition_v1* tools, uint64_t count,
	const trtmc_config_view_v1* config, trtmc_conversation_result_view_v1* v) {
	trtmc_error* err;
	trtmc_result* r = NULL;
	const trtmc_text_conversation_api_v1* api = table(m, TRTMC_TASK_TEXT_CONVERSATION);
	trtmc_conversation_part_v1 system = text_part(1, "Be brief."),
							   first = text_part(1, "Who was tired of sitting by her sister?"),
							   last = text_part(1, question);
	trtmc_conversation_part_v1 said[] = {text_part(2, "A book."), text_part(1, "Alice."),
		call_part("call_1", "look_up", "{}", 1)},
							   found = result_part("call_1", "Alice", 0);
	trtmc_conversation_message_v1 messages[] = {
		{TRTMC_ROLE_SYSTEM, &system, 1},
		{TRTMC_ROLE_USER, &first, 1},
		{TRTMC_ROLE_ASSISTANT, said, 3},
		{TRTMC_ROLE_TOOL, &found, 1},
		{TRTMC_ROLE_USER, &last, 1},
	};
	trtmc_text_conversation_request_v1 q = {messages, 5, tools, count};
	EXPECT(api->run(m, &q, config, &r, &err), TRTMC_OK, NULL);
	EXPECT(api->result_view(r, v, &err), TRTMC_OK, NULL);
	CHECK(v->usage.has_input_tokens == 1 && v->usage.has_output_tokens == 1 && v->usage.has_total_tokens == 1);
	CHECK(v->usage.output_tokens == v->token_ids.size &&
		v->usage.total_tokens == v->usage.input_tokens + v->usage.output_tokens && v->usage.input_tokens > 20);
	CHECK(v->other_finish_reason.size == 0);
	return r;
}

static void test_answers(trtmc_model* m) {
	trtmc_conversation_result_view_v1 v, w;
	trtmc_result* r = ask(
		m, "What happened next?", NULL, 0, CONFIG(set_i64("max_new_tokens", 12), set_bool("ignore_eos", 1)), &v);
	CHECK(v.part_count == 1 && v.parts[0].kind == TRTMC_CONVERSATION_TEXT && v.parts[0].content.text.size > 0);
	CHECK(v.finish_reason == TRTMC_FINISH_LENGTH && v.token_ids.size == 12);
	trtmc_result* q = ask(
		m, "What happened next?", NULL, 0, CONFIG(set_i64("max_new_tokens", 40), set_bool("enable_thinking", 1)), &w);
	CHECK(w.part_count == 2 && w.parts[0].kind == TRTMC_CONVERSATION_REASONING &&
		w.parts[1].kind == TRTMC_CONVERSATION_TEXT);
	core->result_release(q);
	core->result_release(r);
	r = ask(m, "What happened next?", NULL, 0, CONFIG(set_i64("max_new_tokens", 0)), &v);
	CHECK(v.part_count == 0 && v.token_ids.size == 0 && v.finish_reason == TRTMC_FINISH_LENGTH);
	core->result_release(r);
	trtmc_string_view stop = sv(" the");
	trtmc_config_entry_v1 stops = {sv("stop_strings"), {TRTMC_CONFIG_STRING_LIST, {.string_list = {&stop, 1}}}};
	r = ask(m, "What happened next?", NULL, 0, CONFIG(stops, set_bool("ignore_eos", 1), set_i64("max_new_tokens", 128)),
		&v);
	CHECK(v.finish_reason == TRTMC_FINISH_STOP);
	core->result_release(r);
}

static const trtmc_tool_definition_v1 tools[2] = {
	{{"get_time", 8}, {"the time", 8}, {"", 0}},
	{{"get_weather", 11}, {"weather of a city", 17},
		{"{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\"},\"days\":{\"type\":\"integer\"},\"unit\":{\"enum\":[\"celsius\",\"kelvin\"]},\"more\":{\"type\":\"boolean\"}},\"required\":[\"city\",\"days\",\"unit\"]}",
			175}},
};

static void test_tools(trtmc_model* m) {
	trtmc_error* err;
	trtmc_conversation_result_view_v1 v;
	trtmc_tool_definition_v1 list[2] = {tools[0], tools[1]};
	list[1].parameters_schema_json.size = strlen(list[1].parameters_schema_json.data);
	trtmc_result* r = ask(m, "Call get_weather for \"Paris\", 3 days, in kelvin", list, 2, NULL, &v);
	CHECK(v.part_count == 1 && v.parts[0].kind == TRTMC_CONVERSATION_TOOL_CALL &&
		v.finish_reason == TRTMC_FINISH_TOOL_CALLS);
	trtmc_tool_call_v1 c = v.parts[0].content.tool_call;
	CHECK(c.state == TRTMC_TOOL_CALL_COMPLETE && equal(c.name, sv("get_weather")) && c.call_id.size == 21);
	CHECK(equal(c.arguments_json,
		sv("{\"city\":\"Call get_weather for \\\"Paris\\\", 3 days, in kelvin\",\"days\":3,\"unit\":\"kelvin\"}")));
	core->result_release(r);
	r = ask(m, "get_time now", list, 2, NULL, &v);
	CHECK(v.part_count == 1 && equal(v.parts[0].content.tool_call.arguments_json, sv("{}")));
	core->result_release(r);
	r = ask(m, "get_weather please", list, 2, CONFIG(set_i64("max_new_tokens", 9)), &v);
	CHECK(v.finish_reason == TRTMC_FINISH_LENGTH && v.parts[0].content.tool_call.state == TRTMC_TOOL_CALL_INCOMPLETE &&
		v.token_ids.size == 9);
	core->result_release(r);
	r = ask(m, "get_weather please", list, 2, CONFIG(set_bool("enable_thinking", 1)), &v);
	CHECK(v.part_count == 2 && v.parts[0].kind == TRTMC_CONVERSATION_REASONING &&
		v.parts[1].kind == TRTMC_CONVERSATION_TOOL_CALL);
	core->result_release(r);
	r = ask(m, "nothing of that kind", list, 2, CONFIG(set_i64("max_new_tokens", 3), set_bool("ignore_eos", 1)), &v);
	CHECK(v.part_count == 1 && v.parts[0].kind == TRTMC_CONVERSATION_TEXT);
	core->result_release(r);
	list[0].parameters_schema_json = sv("{\"type\":");
	const trtmc_text_conversation_api_v1* api = table(m, TRTMC_TASK_TEXT_CONVERSATION);
	trtmc_conversation_part_v1 text = text_part(1, "get_time");
	trtmc_conversation_message_v1 message = {TRTMC_ROLE_USER, &text, 1};
	trtmc_text_conversation_request_v1 q = {&message, 1, list, 1};
	EXPECT(api->run(m, &q, NULL, &r, &err), TRTMC_INVALID_ARGUMENT, "tools[0].parameters_schema_json");
}

/* A streamed turn, put together from its deltas. */
typedef struct told {
	char text[2][4096]; /* of part 0 and 1; a tool's arguments */
	size_t size[2];
	uint32_t kinds[2];
	uint64_t tokens;
	uint32_t end_state, ends;
	char name[64];
} told;

static void tell(told* t, const trtmc_conversation_stream_event_view_v1* v) {
	if (v->kind == TRTMC_CONVERSATION_STREAM_COMPLETE) return;
	trtmc_string_view delta = {NULL, 0};
	uint64_t part = 0;
	switch (v->kind) {
	case TRTMC_CONVERSATION_STREAM_TEXT:
	case TRTMC_CONVERSATION_STREAM_REASONING:
		part = v->content.text.part_index;
		delta = v->content.text.text_delta;
		break;
	case TRTMC_CONVERSATION_STREAM_TOOL_DELTA:
		part = v->content.tool_delta.part_index;
		delta = v->content.tool_delta.arguments_delta;
		if (v->content.tool_delta.has_call_id)
			snprintf(t->name, sizeof t->name, "%.*s", (int)v->content.tool_delta.name_delta.size,
				v->content.tool_delta.name_delta.data);
		break;
	case TRTMC_CONVERSATION_STREAM_TOOL_END:
		t->ends++;
		t->end_state = v->content.tool_end.state;
		return;
	case TRTMC_CONVERSATION_STREAM_TOKENS:
		t->tokens += v->content.token_ids.size;
		return;
	}
	if (!CHECK(part < 2)) return;
	t->kinds[part] = v->kind;
	if (delta.size) memcpy(t->text[part] + t->size[part], delta.data, delta.size);
	t->size[part] += delta.size;
}

static void test_streamed(trtmc_model* m, const char* question, const trtmc_config_view_v1* config) {
	trtmc_error* err;
	const trtmc_streaming_text_conversation_api_v1* streaming = table(m, TRTMC_TASK_STREAMING_TEXT_CONVERSATION);
	const trtmc_conversation_stream_api_v1* api = streaming->stream_api;
	trtmc_tool_definition_v1 list[2] = {tools[0], tools[1]};
	list[1].parameters_schema_json.size = strlen(list[1].parameters_schema_json.data);
	trtmc_conversation_part_v1 text = text_part(1, question);
	trtmc_conversation_message_v1 message = {TRTMC_ROLE_USER, &text, 1};
	trtmc_text_conversation_request_v1 q = {&message, 1, list, 2};
	trtmc_conversation_stream* s = NULL;
	EXPECT(streaming->start(m, &q, config, &s, &err), TRTMC_OK, NULL);
	told t = {0};
	for (;;) {
		trtmc_result* r = NULL;
		trtmc_conversation_stream_event_view_v1 v = {0};
		if (!EXPECT(api->next(s, -1, &r, &err), TRTMC_OK, NULL)) return;
		EXPECT(api->event_view(r, &v, &err), TRTMC_OK, NULL);
		tell(&t, &v);
		if (v.kind != TRTMC_CONVERSATION_STREAM_COMPLETE) {
			core->result_release(r);
			continue;
		}
		const trtmc_conversation_result_view_v1* w = &v.content.complete;
		CHECK(w->token_ids.size == t.tokens && w->usage.output_tokens == t.tokens && w->part_count <= 2);
		for (uint64_t i = 0; i < w->part_count; i++) {
			bool tool = w->parts[i].kind == TRTMC_CONVERSATION_TOOL_CALL;
			CHECK(equal(tool ? w->parts[i].content.tool_call.arguments_json : w->parts[i].content.text,
				(trtmc_string_view){t.text[i], t.size[i]}));
			CHECK(t.kinds[i] == w->parts[i].kind);
			if (tool)
				CHECK(equal(w->parts[i].content.tool_call.name, sv(t.name)) && t.ends == 1 &&
					t.end_state == w->parts[i].content.tool_call.state);
		}
		core->result_release(r);
		break;
	}
	trtmc_result* r;
	CHECK(api->next(s, 0, &r, &err) == TRTMC_END);
	EXPECT(api->cancel(s, &err), TRTMC_OK, NULL);
	api->release(s);
}

void test_chat(void) {
	trtmc_model* m = load("all");
	test_rules(m);
	test_answers(m);
	test_tools(m);
	test_streamed(m, "What is in the garden?", NULL);
	test_streamed(m, "What is in the garden?", CONFIG(set_bool("enable_thinking", 1), set_i64("top_k", 20)));
	test_streamed(m, "get_weather in 12 days", NULL);
	test_streamed(m, "get_weather in 12 days", CONFIG(set_i64("max_new_tokens", 10)));
	core->model_release(m);
}
