/* The hook: what it sees, and what it can make of a call. */
#include <pthread.h>
#include <stdatomic.h>

#include "driver.h"

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
	const trtmc_text_stream_api_v1* api = stream_table(m);
	trtmc_text_stream* stream = start_text(m, "x", CONFIG(set_bool("ignore_eos", 1)));
	api->release(stream);
	CHECK(s.cancelled == 1);
	s.inject = TRTMC_INTERNAL_ERROR; /* at the end of a stream: next() fails */
	char joined[4096] = "", final[4096] = "";
	int kinds[4] = {0};
	stream = start_text(m, "x", CONFIG(set_i64("max_new_tokens", 3)));
	CHECK(drain(stream, api, kinds, joined, final) == TRTMC_INTERNAL_ERROR && kinds[2] == 0);
	api->release(stream);
	CHECK(trtmc_reference_remove_hook(m) == 0 && trtmc_reference_remove_hook(&s) == 1 &&
		trtmc_reference_remove_hook(&s) == 0);
	int before = s.begins;
	run_three(m);
	CHECK(s.begins == before);
	core->model_release(m);
}
