/* Faults that a bundle shows. */
#include <math.h>

#include "driver.h"

static void test_statuses(void) {
	trtmc_error* err;
	trtmc_result* r;
	static const struct {
		const char *bundle, *text;
		trtmc_status status;
	} rows[] = {
		{"fault_error", "boom", TRTMC_INTERNAL_ERROR},
		{"fault_error_after_tokens", "after 4 tokens", TRTMC_INTERNAL_ERROR},
		{"fault_out_of_memory", "out_of_memory", TRTMC_OUT_OF_MEMORY},
		{"fault_busy", "busy", TRTMC_BUSY},
		{"fault_non_utf8_message", "\xFF\xFE", TRTMC_INTERNAL_ERROR},
		{"fault_hang", "hang", TRTMC_INTERNAL_ERROR},
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
		const trtmc_text_query_documents_to_relevance_api_v1* api = table(
			m, TRTMC_TASK_TEXT_QUERY_DOCUMENTS_TO_RELEVANCE);
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

static void test_streams(void) {
	static const struct {
		const char* bundle;
		int deltas, completes; /* deltas -1: any number */
		trtmc_status end;
		bool same;
	} rows[] = {
		{"fault_error_after_tokens", 4, 0, TRTMC_INTERNAL_ERROR, true},
		{"fault_two_terminals", -1, 2, TRTMC_END, true},
		{"fault_delta_mismatch", -1, 1, TRTMC_END, false},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		trtmc_model* m = load(rows[i].bundle);
		const trtmc_text_stream_api_v1* api = stream_table(m);
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
