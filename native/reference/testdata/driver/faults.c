/* Faults that a bundle shows, hooks, and memory that runs out at every single allocation. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "driver.h"

static trtmc_status run_text(trtmc_model* m, trtmc_result** r, trtmc_error** err) {
	const trtmc_text_continuation_api_v1* api = table(m, TRTMC_TASK_TEXT_CONTINUATION);
	trtmc_text_continuation_request_v1 q = {{TRTMC_TEXT_UTF8, {.text = sv("We hold these")}}};
	*r = NULL;
	return api->run(m, &q, NULL, r, err);
}

static void test_statuses(void) {
	trtmc_error* err;
	trtmc_result* r;
	static const struct {
		const char *bundle, *text;
		trtmc_status status;
	} rows[] = {
		{"fault_error", "boom", TRTMC_INTERNAL_ERROR}, {"fault_error_after_tokens", "after 4 tokens", TRTMC_INTERNAL_ERROR}, {"fault_out_of_memory", "out_of_memory", TRTMC_OUT_OF_MEMORY},
		{"fault_busy", "busy", TRTMC_BUSY}, {"fault_non_utf8_message", "\xFF\xFE", TRTMC_INTERNAL_ERROR}, {"fault_hang", "hang", TRTMC_INTERNAL_ERROR},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		trtmc_model* m = load(rows[i].bundle);
		EXPECT(run_text(m, &r, &err), rows[i].status, rows[i].text);
		CHECK(!r);
		core->model_release(m);
	}
	trtmc_model* m = load("fault_error_without_object");
	err = (trtmc_error*)m;
	CHECK(run_text(m, &r, &err) == TRTMC_INTERNAL_ERROR && !err && !r);
	core->model_release(m);
	m = load("fault_fail_every");
	for (int i = 1; i <= 6; i++) {
		EXPECT(run_text(m, &r, &err), i % 3 ? TRTMC_OK : TRTMC_INTERNAL_ERROR, i % 3 ? NULL : "fail_every");
		core->result_release(r);
	}
	core->model_release(m);
	m = load("fault_slow");
	trtmc_text_result_view_v1 v;
	core->result_release(continue_text(m, "x", CONFIG(set_i64("max_new_tokens", 1)), &v));
	CHECK(v.setup_ms >= 30);
	core->model_release(m);
	m = load("fault_embedded_nul");
	r = continue_text(m, "We hold", CONFIG(set_i64("max_new_tokens", 5)), &v);
	CHECK(v.text.size && memchr(v.text.data, 0, v.text.size));
	core->result_release(r);
	core->model_release(m);
}

static void test_results(void) {
	trtmc_error* err;
	trtmc_result* r = NULL;
	trtmc_string_view documents[3] = {sv("a"), sv("b"), sv("c")};
	trtmc_text_query_documents_to_relevance_request_v1 q = {sv("a"), {documents, 3}};
	trtmc_document_relevance_view_v1 v = {0};
	for (int i = 0; i < 2; i++) {
		trtmc_model* m = load(i ? "fault_short_scores" : "fault_nan_score");
		const trtmc_text_query_documents_to_relevance_api_v1* api = table(m, TRTMC_TASK_TEXT_QUERY_DOCUMENTS_TO_RELEVANCE);
		EXPECT(api->run(m, &q, NULL, &r, &err), TRTMC_OK, NULL);
		EXPECT(api->result_view(r, &v, &err), TRTMC_OK, NULL);
		CHECK(i ? v.count == 2 : v.count == 3 && isnan(v.scores[0]) && !isnan(v.scores[1]));
		core->result_release(r);
		core->model_release(m);
	}
	static const char* const videos[] = {"fault_unequal_frames", "fault_zero_frames", "fault_nan_frame"};
	for (int i = 0; i < 3; i++) {
		trtmc_model* m = load(videos[i]);
		const trtmc_text_to_video_api_v1* api = table(m, TRTMC_TASK_TEXT_TO_VIDEO);
		trtmc_text_to_video_request_v1 c = {sv("x"), {NULL, 0}};
		trtmc_video_result_view_v1 w;
		EXPECT(api->run(m, &c, NULL, &r, &err), TRTMC_OK, NULL);
		EXPECT(api->result_view(r, &w, &err), TRTMC_OK, NULL);
		if (i == 0) CHECK(w.frames[w.frame_count - 1].height == w.frames[0].height - 1);
		if (i == 1) CHECK(w.frame_count == 0 && w.timestamps_seconds.size == 0);
		bool nan = false;
		for (uint64_t k = 0; i == 2 && k < w.frames[0].pixel_count; k++) nan = nan || isnan(w.frames[0].pixels[k]);
		CHECK(nan == (i == 2));
		core->result_release(r);
		core->model_release(m);
	}
}

/* Reads a stream to its end and counts what came; returns the first status that is not OK. */
static trtmc_status drain(trtmc_text_stream* s, const trtmc_text_stream_api_v1* api, int kinds[4], char* joined, char* final) {
	trtmc_error* err = NULL;
	for (;;) {
		trtmc_result* r;
		trtmc_text_stream_event_view_v1 v = {0};
		trtmc_status st = api->next(s, -1, &r, &err);
		core->error_release(err);
		if (st != TRTMC_OK) return st;
		api->event_view(r, &v, &err);
		kinds[v.kind]++;
		if (v.kind == TRTMC_STREAM_DELTA) snprintf(joined + strlen(joined), 64, "%.*s", (int)v.text_delta.size, v.text_delta.data);
		if (v.kind == TRTMC_STREAM_COMPLETE) snprintf(final, 4096, "%.*s", (int)v.final_result.text.size, v.final_result.text.data);
		core->result_release(r);
	}
}

static void test_streams(void) {
	static const struct {
		const char* bundle;
		int deltas, completes; /* deltas -1: any number */
		trtmc_status end;
		bool same;
	} rows[] = {
		{"fault_error_after_tokens", 4, 0, TRTMC_INTERNAL_ERROR, true}, {"fault_two_terminals", -1, 2, TRTMC_END, true}, {"fault_delta_mismatch", -1, 1, TRTMC_END, false},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		trtmc_model* m = load(rows[i].bundle);
		const trtmc_text_stream_api_v1* api = ((const trtmc_streaming_text_continuation_api_v1*)table(m, TRTMC_TASK_STREAMING_TEXT_CONTINUATION))->stream_api;
		trtmc_text_stream* s = start_text(m, "We hold these", CONFIG(set_i64("max_new_tokens", 6)));
		char joined[4096] = "", final[4096] = "";
		int kinds[4] = {0};
		CHECK(drain(s, api, kinds, joined, final) == rows[i].end);
		CHECK((rows[i].deltas < 0 || kinds[1] == rows[i].deltas) && kinds[2] == rows[i].completes && kinds[3] == 0);
		if (rows[i].completes) CHECK((strcmp(joined, final) == 0) == rows[i].same);
		int more[4] = {0};
		CHECK(drain(s, api, more, joined, final) == TRTMC_END && more[1] + more[2] + more[3] == 0);
		if (rows[i].end != TRTMC_END) { /* a failed stream has given the model back */
			trtmc_text_stream* again = start_text(m, "x", NULL);
			api->release(again);
		}
		api->release(s);
		core->model_release(m);
	}
}

void test_faults(void) {
	test_statuses();
	test_results();
	test_streams();
}

typedef struct seen {
	atomic_int begins, finishes, cancelled, overlaps;
	atomic_int inside;
	trtmc_status inject;
	uint32_t inject_phase;
} seen;

static void observe(void* user, const trtmc_reference_event* e, trtmc_reference_action* a) {
	seen* s = user;
	if (e->phase == TRTMC_REFERENCE_BEGIN) {
		s->begins++;
		if (s->inside++ > 0) s->overlaps++;
	} else {
		s->inside--;
		s->finishes++;
		s->cancelled += e->status == TRTMC_END;
	}
	CHECK(e->task[0] && e->model && e->thread);
	if (s->inject && e->phase == s->inject_phase) {
		a->status = s->inject;
		a->message_size = 8;
		memcpy(a->message, "injected", 8);
	}
}

static void* run_three(void* m) {
	trtmc_error* err = NULL;
	trtmc_result* r;
	for (int i = 0; i < 3; i++) {
		run_text(m, &r, &err);
		core->error_release(err);
		core->result_release(r);
	}
	return NULL;
}

void test_hooks(void) {
	trtmc_error* err;
	trtmc_result* r;
	pthread_t threads[4];
	seen s = {0};
	trtmc_model* m = load("all");
	CHECK(trtmc_reference_set_hook(observe, &s) == NULL);
	for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, run_three, m);
	for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
	CHECK(s.begins == 12 && s.finishes == 12 && s.overlaps == 0); /* calls on one handle never overlap */
	for (uint32_t phase = TRTMC_REFERENCE_BEGIN; phase <= TRTMC_REFERENCE_FINISH; phase++) {
		s.inject = TRTMC_OUT_OF_MEMORY;
		s.inject_phase = phase;
		EXPECT(run_text(m, &r, &err), TRTMC_OUT_OF_MEMORY, "injected");
		CHECK(!r);
	}
	s.inject = TRTMC_OK;
	const trtmc_text_stream_api_v1* api = ((const trtmc_streaming_text_continuation_api_v1*)table(m, TRTMC_TASK_STREAMING_TEXT_CONTINUATION))->stream_api;
	trtmc_text_stream* stream = start_text(m, "x", CONFIG(set_bool("ignore_eos", 1)));
	api->release(stream);
	CHECK(s.cancelled == 1);
	s.inject = TRTMC_INTERNAL_ERROR; /* at the end of a stream: next() fails */
	char joined[4096] = "", final[4096] = "";
	int kinds[4] = {0};
	stream = start_text(m, "x", CONFIG(set_i64("max_new_tokens", 3)));
	CHECK(drain(stream, api, kinds, joined, final) == TRTMC_INTERNAL_ERROR && kinds[2] == 0);
	api->release(stream);
	CHECK(trtmc_reference_remove_hook(m) == 0 && trtmc_reference_remove_hook(&s) == 1 && trtmc_reference_remove_hook(&s) == 0);
	int before = s.begins;
	run_three(m);
	CHECK(s.begins == before);
	core->model_release(m);
}

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
	trtmc_string_view stop = sv("zzz"), schema = sv("{\"properties\":{\"a\":{\"type\":\"string\"}},\"required\":[\"a\"]}");
	trtmc_config_entry_v1 settings[] = {{sv("stop_strings"), {TRTMC_CONFIG_STRING_LIST, {.string_list = {&stop, 1}}}}, set_bool("enable_thinking", 1), set_i64("max_new_tokens", 8)};
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
		case 0: st = ((const trtmc_text_continuation_api_v1*)table(m, TRTMC_TASK_TEXT_CONTINUATION))->run(m, &text, &config, &r, &err); break;
		case 1: st = chat->run(m, &talk, &config, &r, &err); break;
		case 2: st = chat->run(m, &plain, &config, &r, &err); break;
		case 3: st = ((const trtmc_text_query_documents_to_relevance_api_v1*)table(m, TRTMC_TASK_TEXT_QUERY_DOCUMENTS_TO_RELEVANCE))->run(m, &rank, NULL, &r, &err); break;
		case 4: st = ((const trtmc_text_to_embedding_api_v1*)table(m, TRTMC_TASK_TEXT_TO_EMBEDDING))->run(m, &embed, NULL, &r, &err); break;
		default: st = ((const trtmc_batch_text_to_video_api_v1*)table(m, TRTMC_TASK_BATCH_TEXT_TO_VIDEO))->run(m, &batch, &r, &err);
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
		if (!CHECK(st == TRTMC_OUT_OF_MEMORY || st == TRTMC_END) || !CHECK(c.models + c.results + c.errors + c.bundles + c.streams == 0)) {
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

/* Results of fixed calls as text: two runs, and two builds, must agree. */
void print_results(void) {
	trtmc_error* err;
	trtmc_model* m = load("all");
	static const char* const prompts[] = {"", "Once upon a time", "When in the Course", "What is the capital of France?", "caf\xC3\xA9 na\xC3\xAFve 123"};
	for (size_t i = 0; i < sizeof prompts / sizeof prompts[0]; i++) {
		for (int64_t seed = -1; seed < 3; seed++) {
			trtmc_text_result_view_v1 v;
			trtmc_result* r = continue_text(m, prompts[i], CONFIG(set_i64("seed", seed), set_i64("top_k", seed < 0 ? 1 : 0), set_f64("temperature", 0.9)), &v);
			printf("text %zu seed %d: %d tokens: %.*s\n", i, (int)seed, (int)v.token_ids.size, (int)v.text.size, v.text.data);
			core->result_release(r);
		}
	}
	const trtmc_text_to_video_api_v1* video = table(m, TRTMC_TASK_TEXT_TO_VIDEO);
	trtmc_text_to_video_request_v1 q = {sv("a ship at sea"), {NULL, 0}};
	trtmc_result* r = NULL;
	trtmc_video_result_view_v1 v = {0};
	EXPECT(video->run(m, &q, CONFIG(set_i64("seed", 9)), &r, &err), TRTMC_OK, NULL);
	EXPECT(video->result_view(r, &v, &err), TRTMC_OK, NULL);
	printf("video: %016llx\n", (unsigned long long)digest(v.frames[0].pixels, v.frame_count * v.frames[0].pixel_count * sizeof(float)));
	core->result_release(r);
	core->model_release(m);
}
