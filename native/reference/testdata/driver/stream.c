/* streaming_text_continuation: events, ends, cancelling, readers, the model's state. */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "driver.h"

static const trtmc_text_stream_api_v1* api;
static const trtmc_streaming_text_continuation_api_v1* starter;

static void pause_ms(int ms) {
	struct timespec t = {0, ms * 1000000};
	nanosleep(&t, NULL);
}

/* Reads one event's view; the caller releases *r. */
static trtmc_text_stream_event_view_v1 read_event(trtmc_text_stream* s, trtmc_result** r) {
	trtmc_error* err;
	trtmc_text_stream_event_view_v1 v = {0};
	if (EXPECT(api->next(s, -1, r, &err), TRTMC_OK, NULL)) EXPECT(api->event_view(*r, &v, &err), TRTMC_OK, NULL);
	return v;
}

static void test_whole(trtmc_model* m) {
	trtmc_error* err;
	trtmc_text_result_view_v1 want;
	trtmc_result *whole = continue_text(m, "It was the best", CONFIG(set_i64("top_k", 30), set_i64("seed", 3)), &want),
				 *r;
	trtmc_text_stream* s = start_text(m, "It was the best", CONFIG(set_i64("top_k", 30), set_i64("seed", 3)));
	char text[8000];
	size_t size = 0, tokens = 0;
	for (;;) {
		trtmc_text_stream_event_view_v1 v = read_event(s, &r);
		if (v.kind == TRTMC_STREAM_DELTA) {
			CHECK(v.final_result.text.size == 0 && v.final_result.token_ids.size == 0);
			memcpy(text + size, v.text_delta.data, v.text_delta.size);
			size += v.text_delta.size;
			for (uint64_t i = 0; i < v.token_ids.size; i++) CHECK(v.token_ids.data[i] == want.token_ids.data[tokens++]);
			core->result_release(r);
			continue;
		}
		CHECK(v.kind == TRTMC_STREAM_COMPLETE && v.text_delta.size == 0 && v.token_ids.size == 0);
		CHECK(equal(v.final_result.text, want.text) && v.final_result.token_ids.size == want.token_ids.size &&
			v.final_result.decode_ms > 0);
		core->result_release(r);
		break;
	}
	CHECK(tokens == want.token_ids.size && equal((trtmc_string_view){text, size}, want.text));
	core->result_release(whole);
	/* The model is idle although the stream is not released. */
	core->result_release(continue_text(m, "x", CONFIG(set_i64("max_new_tokens", 1)), NULL));
	CHECK(api->next(s, -1, &r, &err) == TRTMC_END && !r && !err);
	EXPECT(api->cancel(s, &err), TRTMC_OK, NULL);
	CHECK(api->next(s, 0, &r, &err) == TRTMC_END);
	api->release(s);
}

static void test_refusals(trtmc_model* m) {
	trtmc_error* err;
	trtmc_text_continuation_request_v1 q = {{9, {.text = sv("x")}}};
	trtmc_text_stream* s = (trtmc_text_stream*)m;
	trtmc_result* r = (trtmc_result*)m;
	CHECK(starter->start(m, &q, NULL, &s, NULL) == TRTMC_INVALID_ARGUMENT && !s);
	EXPECT(starter->start(m, NULL, NULL, &s, &err), TRTMC_INVALID_ARGUMENT, "NULL");
	EXPECT(starter->start(m, &q, NULL, &s, &err), TRTMC_INVALID_ARGUMENT, "kind 9");
	/* Settings are judged before the source. */
	EXPECT(starter->start(m, &q, CONFIG(set_i64("nope", 1)), &s, &err), TRTMC_INVALID_CONFIG, "nope");
	EXPECT(api->next(NULL, 0, &r, &err), TRTMC_INVALID_ARGUMENT, "NULL");
	CHECK(!r);
	EXPECT(api->cancel(NULL, &err), TRTMC_INVALID_ARGUMENT, "NULL");
	api->release(NULL);
	/* A failed start leaves the model free. */
	s = start_text(m, "x", CONFIG(set_i64("max_new_tokens", 2)));
	EXPECT(api->next(s, -2, &r, &err), TRTMC_INVALID_ARGUMENT, "-2");
	CHECK(api->next(s, 0, &r, NULL) == TRTMC_INVALID_ARGUMENT);
	CHECK(api->cancel(s, NULL) == TRTMC_INVALID_ARGUMENT);
	while (read_event(s, &r).kind == TRTMC_STREAM_DELTA) core->result_release(r);
	trtmc_text_result_view_v1 v;
	const trtmc_text_continuation_api_v1* text = table(m, TRTMC_TASK_TEXT_CONTINUATION);
	EXPECT(text->result_view(r, &v, &err), TRTMC_INVALID_ARGUMENT, "stream event");
	core->result_release(r);
	api->release(s);
}

static void test_busy(trtmc_model* m) {
	trtmc_error* err;
	trtmc_result* r = NULL;
	trtmc_text_stream *s = start_text(m, "x", NULL), *other = NULL;
	const trtmc_text_continuation_api_v1* text = table(m, TRTMC_TASK_TEXT_CONTINUATION);
	const trtmc_text_to_video_api_v1* video = table(m, TRTMC_TASK_TEXT_TO_VIDEO);
	trtmc_text_continuation_request_v1 q = {{TRTMC_TEXT_UTF8, {.text = sv("x")}}}, bad = {{9, {.text = sv("x")}}};
	trtmc_text_to_video_request_v1 clip = {.prompt = sv("x")};
	EXPECT(text->run(m, &q, NULL, &r, &err), TRTMC_BUSY, "live stream");
	EXPECT(text->run(m, &bad, NULL, &r, &err), TRTMC_BUSY, "live stream"); /* BUSY comes before the source */
	EXPECT(starter->start(m, &bad, NULL, &other, &err), TRTMC_BUSY, "live stream");
	EXPECT(video->run(m, &clip, CONFIG(set_i64("nope", 1)), &r, &err), TRTMC_BUSY, "live stream");
	clip.prompt.data = NULL;
	EXPECT(video->run(m, &clip, NULL, &r, &err), TRTMC_INVALID_ARGUMENT, "prompt"); /* the input comes before BUSY */
	api->release(s); /* unfinished: cancelled and joined */
	core->result_release(continue_text(m, "x", CONFIG(set_i64("max_new_tokens", 1)), NULL));
}

static void test_cancel(trtmc_model* m) {
	trtmc_error* err;
	trtmc_result* r;
	trtmc_text_stream* s = start_text(m, "x", CONFIG(set_bool("ignore_eos", 1), set_i64("max_new_tokens", 128)));
	CHECK(read_event(s, &r).kind == TRTMC_STREAM_DELTA);
	core->result_release(r);
	EXPECT(api->cancel(s, &err), TRTMC_OK, NULL);
	EXPECT(api->cancel(s, &err), TRTMC_OK, NULL);
	trtmc_text_stream_event_view_v1 v = read_event(s, &r); /* queued events are gone */
	CHECK(v.kind == TRTMC_STREAM_CANCELLED && v.text_delta.size == 0 && v.final_result.text.size == 0);
	core->result_release(r);
	CHECK(api->next(s, -1, &r, &err) == TRTMC_END);
	core->result_release(continue_text(m, "x", CONFIG(set_i64("max_new_tokens", 1)), NULL));
	api->release(s);
}

static void* cancel_soon(void* s) {
	trtmc_error* err;
	pause_ms(20);
	api->cancel(s, &err);
	return NULL;
}

/* A stream that hangs: polls and bounded waits end, a cancel from another thread wakes the reader. */
static void test_hang(void) {
	trtmc_error* err;
	trtmc_result* r;
	pthread_t thread;
	trtmc_model* m = load("fault_hang");
	trtmc_text_stream* s = start_text(m, "x", NULL);
	CHECK(api->next(s, 0, &r, &err) == TRTMC_AGAIN && !r && !err);
	CHECK(api->next(s, 10, &r, &err) == TRTMC_AGAIN);
	pthread_create(&thread, NULL, cancel_soon, s);
	CHECK(read_event(s, &r).kind == TRTMC_STREAM_CANCELLED);
	core->result_release(r);
	pthread_join(thread, NULL);
	api->release(s);
	s = start_text(m, "x", NULL);
	core->model_release(m); /* the stream keeps the model */
	CHECK(api->next(s, 5, &r, &err) == TRTMC_AGAIN);
	api->release(s);
}

typedef struct reader {
	trtmc_text_stream* s;
	atomic_int busy, events, inside;
} reader;

static void* read_all(void* arg) {
	reader* x = arg;
	trtmc_error* err;
	for (;;) {
		trtmc_result* r;
		trtmc_status st = api->next(x->s, -1, &r, &err);
		core->result_release(r);
		core->error_release(err);
		if (st == TRTMC_END) return NULL;
		if (st == TRTMC_BUSY) {
			x->busy++;
			pause_ms(1);
		}
		if (st == TRTMC_OK) x->events++;
	}
}

/* Of several readers one at a time gets in, and together they see every event once. */
static void test_readers(trtmc_model* m) {
	pthread_t threads[4];
	reader x = {.s = start_text(m, "x", CONFIG(set_bool("ignore_eos", 1), set_i64("max_new_tokens", 40)))};
	for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, read_all, &x);
	for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
	CHECK(x.events == 41 && x.busy > 0);
	api->release(x.s);
}

static void* run_some(void* m) {
	for (int i = 0; i < 5; i++) core->result_release(continue_text(m, "x", CONFIG(set_i64("max_new_tokens", 2)), NULL));
	return NULL;
}

static void test_serialised(trtmc_model* m) {
	pthread_t threads[4];
	for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, run_some, m);
	for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
	core->result_release(continue_text(m, "x", CONFIG(set_i64("max_new_tokens", 1)), NULL));
}

void test_stream(void) {
	trtmc_model* m = load("all");
	starter = table(m, TRTMC_TASK_STREAMING_TEXT_CONTINUATION);
	api = starter->stream_api;
	CHECK(api->header.major == 1 && api->header.byte_size == sizeof *api);
	test_whole(m);
	test_refusals(m);
	test_busy(m);
	test_cancel(m);
	test_readers(m);
	test_serialised(m);
	core->model_release(m);
	test_hang();
}
