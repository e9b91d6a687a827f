/* Memory that runs out at every single allocation. */
#include "driver.h"

#ifdef TRTMC_TEST_ALLOC
/* One of everything; releases whatever came of it. Returns the first failure. */
static trtmc_status everything(void) {
	char path[4096];
	trtmc_error* err = NULL;
	trtmc_model* m = NULL;
	trtmc_result* r = NULL;
	snprintf(path, sizeof path, "%s/quick.bundle", bundles);
	trtmc_status st = core->model_load(sv(path), NULL, &m, &err);
	core->error_release(err);
	if (st != TRTMC_OK) return st;
	trtmc_string_view stop = sv("zzz"),
					  schema = sv("{\"properties\":{\"a\":{\"type\":\"string\"}},\"required\":[\"a\"]}");
	trtmc_config_entry_v1 settings[] = {{sv("stop_strings"), {TRTMC_CONFIG_STRING_LIST, {.string_list = {&stop, 1}}}},
		set_bool("enable_thinking", 1), set_i64("max_new_tokens", 8)};
	trtmc_config_view_v1 config = {settings, 3};
	trtmc_text_continuation_request_v1 text = {{TRTMC_TEXT_UTF8, {.text = sv("We hold")}}};
	trtmc_conversation_part_v1 part = {1, {.text = sv("call f")}};
	trtmc_conversation_message_v1 message = {TRTMC_ROLE_USER, &part, 1};
	trtmc_tool_definition_v1 tool = {sv("f"), sv("d"), schema};
	trtmc_text_conversation_request_v1 talk = {&message, 1, &tool, 1}, plain = {&message, 1, NULL, 0};
	trtmc_text_query_documents_to_relevance_request_v1 rank = {sv("q"), {&stop, 1}};
	trtmc_text_to_embedding_request_v1 embed = {sv("q"), 0};
	trtmc_batch_text_to_video_item_v1 item = {{sv("x"), {NULL, 0}}, {NULL, 0}};
	trtmc_batch_text_to_video_request_v1 batch = {&item, 1};
	const trtmc_text_conversation_api_v1* chat = table(m, TRTMC_TASK_TEXT_CONVERSATION);
	for (int i = 0; st == TRTMC_OK && i < 6; i++) {
		err = NULL;
		switch (i) {
		case 0:
			st = ((const trtmc_text_continuation_api_v1*)table(m, TRTMC_TASK_TEXT_CONTINUATION))
					 ->run(m, &text, &config, &r, &err);
			break;
		case 1:
			st = chat->run(m, &talk, &config, &r, &err);
			break;
		case 2:
			st = chat->run(m, &plain, &config, &r, &err);
			break;
		case 3:
			st = ((const trtmc_text_query_documents_to_relevance_api_v1*)table(
					  m, TRTMC_TASK_TEXT_QUERY_DOCUMENTS_TO_RELEVANCE))
					 ->run(m, &rank, NULL, &r, &err);
			break;
		case 4:
			st = ((const trtmc_text_to_embedding_api_v1*)table(m, TRTMC_TASK_TEXT_TO_EMBEDDING))
					 ->run(m, &embed, NULL, &r, &err);
			break;
		default:
			st = ((const trtmc_batch_text_to_video_api_v1*)table(m, TRTMC_TASK_BATCH_TEXT_TO_VIDEO))
					 ->run(m, &batch, &r, &err);
		}
		CHECK((st == TRTMC_OK) == (r != NULL));
		core->error_release(err);
		core->result_release(r);
		r = NULL;
	}
	const trtmc_streaming_text_conversation_api_v1* streaming = table(m, TRTMC_TASK_STREAMING_TEXT_CONVERSATION);
	const trtmc_streaming_text_continuation_api_v1* text_streaming = table(m, TRTMC_TASK_STREAMING_TEXT_CONTINUATION);
	trtmc_conversation_stream* s = NULL;
	trtmc_text_stream* ts = NULL;
	err = NULL;
	if (st == TRTMC_OK) st = streaming->start(m, &talk, &config, &s, &err);
	core->error_release(err);
	while (st == TRTMC_OK) {
		st = streaming->stream_api->next(s, -1, &r, &err);
		core->error_release(err);
		core->result_release(r);
	}
	streaming->stream_api->release(s);
	if (st == TRTMC_END) st = text_streaming->start(m, &text, &config, &ts, &err), core->error_release(err);
	while (st == TRTMC_OK) {
		st = text_streaming->stream_api->next(ts, -1, &r, &err);
		core->error_release(err);
		core->result_release(r);
	}
	text_streaming->stream_api->release(ts);
	core->model_release(m);
	return st;
}

/* Lets every allocation fail in turn: each time the answer is OUT_OF_MEMORY, nothing leaks, and the next try works. */
void test_memory(void) {
	int64_t n = 1;
	for (trtmc_status st = TRTMC_OUT_OF_MEMORY; st != TRTMC_END; n++) {
		trtmc_reference_counts c;
		trtmc_reference_fail_allocation(n);
		st = everything();
		trtmc_reference_fail_allocation(0);
		trtmc_reference_live(&c);
		if (!CHECK(st == TRTMC_OUT_OF_MEMORY || st == TRTMC_END) ||
			!CHECK(c.models + c.results + c.errors + c.bundles + c.streams == 0)) {
			printf("allocation %d, status %d\n", (int)n, st);
			return;
		}
	}
	printf("%d allocations\n", (int)n - 2);
	CHECK(n > 100);
}
#else
void test_memory(void) {}
#endif
