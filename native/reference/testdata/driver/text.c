/* text_continuation: inputs, settings, stops, limits. */
#include "driver.h"

static void test_inputs(trtmc_model* m) {
	trtmc_error* err;
	const trtmc_text_continuation_api_v1* api = table(m, TRTMC_TASK_TEXT_CONTINUATION);
	trtmc_text_continuation_request_v1 q = {{TRTMC_TEXT_UTF8, {.text = sv("When in the Course")}}};
	trtmc_result* r = (trtmc_result*)m;
	CHECK(api->run(m, &q, NULL, &r, NULL) == TRTMC_INVALID_ARGUMENT && !r);
	EXPECT(api->run(m, &q, NULL, NULL, &err), TRTMC_INVALID_ARGUMENT, "NULL");
	EXPECT(api->run(NULL, &q, NULL, &r, &err), TRTMC_INVALID_ARGUMENT, "NULL");
	EXPECT(api->run(m, NULL, NULL, &r, &err), TRTMC_INVALID_ARGUMENT, "NULL");
	q.prefix.kind = 3;
	EXPECT(api->run(m, &q, NULL, &r, &err), TRTMC_INVALID_ARGUMENT, "kind 3");
	/* The source is judged before the settings. */
	EXPECT(api->run(m, &q, CONFIG(set_i64("nope", 1)), &r, &err), TRTMC_INVALID_ARGUMENT, "kind 3");
	q.prefix = (trtmc_text_source_v1){TRTMC_TEXT_UTF8, {.text = {NULL, 5}}};
	EXPECT(api->run(m, &q, NULL, &r, &err), TRTMC_INVALID_ARGUMENT, "malformed");
	q.prefix = (trtmc_text_source_v1){TRTMC_TEXT_TOKEN_IDS, {.token_ids = {NULL, 5}}};
	EXPECT(api->run(m, &q, NULL, &r, &err), TRTMC_INVALID_ARGUMENT, "malformed");
	int32_t ids[] = {300, -1, 400};
	q.prefix.as.token_ids = (trtmc_i32_view){ids, 3};
	EXPECT(api->run(m, &q, NULL, &r, &err), TRTMC_INVALID_ARGUMENT, "token id -1 at position 1");
	q.prefix.as.token_ids = (trtmc_i32_view){NULL, 0};
	EXPECT(api->run(m, &q, NULL, &r, &err), TRTMC_OK, NULL);
	core->result_release(r);
}

/* The tokens of a text, continued, give what the text gives. */
static void test_token_ids(trtmc_model* m) {
	trtmc_error* err;
	trtmc_text_result_view_v1 first, second, again;
	trtmc_result* a = continue_text(m, "We the People", CONFIG(set_i64("max_new_tokens", 20)), &first);
	const trtmc_text_continuation_api_v1* api = table(m, TRTMC_TASK_TEXT_CONTINUATION);
	trtmc_text_continuation_request_v1 q = {{TRTMC_TEXT_TOKEN_IDS, {.token_ids = first.token_ids}}};
	trtmc_result* b = NULL;
	EXPECT(api->run(m, &q, CONFIG(set_i64("max_new_tokens", 20)), &b, &err), TRTMC_OK, NULL);
	EXPECT(api->result_view(b, &second, &err), TRTMC_OK, NULL);
	char text[4096];
	snprintf(text, sizeof text, "%.*s", (int)first.text.size, first.text.data);
	trtmc_result* c = continue_text(m, text, CONFIG(set_i64("max_new_tokens", 20)), &again);
	CHECK(equal(second.text, again.text) && second.text.size > 0);
	core->result_release(a);
	core->result_release(b);
	core->result_release(c);
}

static void test_sampling(trtmc_model* m) {
	trtmc_text_result_view_v1 a, b, c, d;
	trtmc_result* r[4] = {
		continue_text(m, "It was the", CONFIG(set_i64("top_k", 0), set_i64("seed", 1)), &a),
		continue_text(m, "It was the", CONFIG(set_i64("top_k", 0), set_i64("seed", 1)), &b),
		continue_text(m, "It was the", CONFIG(set_i64("top_k", 0), set_i64("seed", 2)), &c),
		continue_text(m, "It was the", CONFIG(set_i64("top_k", 0), set_f64("temperature", 0)), &d),
	};
	CHECK(equal(a.text, b.text) && !equal(a.text, c.text) && !equal(a.text, d.text));
	for (int i = 0; i < 4; i++) core->result_release(r[i]);
	r[0] = continue_text(m, "It was the", NULL, &a);
	CHECK(equal(a.text,
		(r[1] = continue_text(m, "It was the", CONFIG(set_text("generation_mode", "greedy"), set_i64("top_k", 50)), &b),
			b.text)));
	r[2] = continue_text(m, "It was the", CONFIG(set_f64("top_p", 1e-9), set_i64("top_k", 0), set_i64("seed", 5)), &c);
	CHECK(equal(a.text, c.text));
	r[3] = continue_text(
		m, "It was the", CONFIG(set_f64("min_p", 1), set_text("generation_mode", "sample"), set_i64("seed", 5)), &d);
	CHECK(d.token_ids.size > 0 && d.setup_ms > 0 && d.decode_ms > 0);
	for (int i = 0; i < 4; i++) core->result_release(r[i]);
}

static void test_stops(trtmc_model* m) {
	trtmc_text_result_view_v1 v, w;
	trtmc_result* r = continue_text(m, "We hold these", CONFIG(set_i64("max_new_tokens", 0)), &v);
	CHECK(v.text.size == 0 && v.token_ids.size == 0);
	core->result_release(r);
	r = continue_text(m, "all men are created", CONFIG(set_i64("max_new_tokens", 30), set_bool("ignore_eos", 1)), &v);
	CHECK(v.token_ids.size == 30);
	core->result_release(r);
	/* These words end a sonnet, and so the greedy continuation of them ends by itself. */
	r = continue_text(m, "So long lives this, and this gives life to", NULL, &v);
	CHECK(equal(v.text, sv(" thee.\n")) && v.token_ids.size == 3);
	trtmc_result* q = continue_text(
		m, "So long lives this, and this gives life to", CONFIG(set_i64("min_tokens", 20)), &w);
	CHECK(w.token_ids.size >= 20);
	core->result_release(r);
	core->result_release(q);

	trtmc_string_view stops[2] = {sv("never here"), sv("truths to")};
	trtmc_config_entry_v1 stop = {sv("stop_strings"), {TRTMC_CONFIG_STRING_LIST, {.string_list = {stops, 2}}}};
	r = continue_text(m, "We hold", CONFIG(stop), &v);
	CHECK(equal(v.text, sv(" these ")));
	core->result_release(r);

	r = continue_text(m, "We hold", CONFIG(set_i64("max_new_tokens", 8)), &v);
	int64_t id = v.token_ids.size > 3 ? v.token_ids.data[3] : 0;
	trtmc_config_entry_v1 stop_id = {sv("stop_token_ids"), {TRTMC_CONFIG_I64_LIST, {.i64_list = {&id, 1}}}};
	q = continue_text(m, "We hold", CONFIG(stop_id), &w);
	CHECK(w.token_ids.size == 4 && w.token_ids.data[3] == id);
	core->result_release(q);
	q = continue_text(m, "We hold", CONFIG(set_i64("eos_token_id", id)), &w);
	CHECK(w.token_ids.size == 3);
	core->result_release(q);
	core->result_release(r);

	double weights[4] = {0.01, 0.01, 0.01, 0.97};
	trtmc_config_entry_v1 mix = {sv("interpolation"), {TRTMC_CONFIG_F64_LIST, {.f64_list = {weights, 4}}}};
	r = continue_text(m, "In the beginning God created", CONFIG(mix, set_i64("max_new_tokens", 3)), &v);
	CHECK(equal(v.text, sv(" the heaven and")));
	core->result_release(r);
	r = continue_text(
		m, "\\boxed{1}", CONFIG(set_bool("stop_on_boxed_answer", 1), set_bool("use_chat_template", 1)), &v);
	CHECK(v.token_ids.size > 0);
	core->result_release(r);
}

/* Any bytes make a prompt; their number of tokens shows in the refusal of one that is too long. */
static void test_context(trtmc_model* m) {
	trtmc_error* err;
	const trtmc_text_continuation_api_v1* api = table(m, TRTMC_TASK_TEXT_CONTINUATION);
	char text[8000];
	size_t n = 0;
	for (int i = 0; i < 1000; i++) n += (size_t)snprintf(text + n, sizeof text - n, " people");
	trtmc_text_continuation_request_v1 q = {{TRTMC_TEXT_UTF8, {.text = {text, n}}}};
	trtmc_result* r = (trtmc_result*)m;
	EXPECT(api->run(m, &q, NULL, &r, &err), TRTMC_INVALID_ARGUMENT,
		"context length exceeded: the prompt has 1000 tokens and max_new_tokens is 64, together 1064; the limit is 1024");
	CHECK(!r);
	q.prefix.as.text.size = 7 * 960; /* exactly full */
	EXPECT(api->run(m, &q, CONFIG(set_i64("max_new_tokens", 64)), &r, &err), TRTMC_OK, NULL);
	core->result_release(r);
	EXPECT(api->run(m, &q, CONFIG(set_i64("max_new_tokens", 65)), &r, &err), TRTMC_INVALID_ARGUMENT, "context length");
	for (int i = 0; i < 256; i++) text[i] = (char)i;
	q.prefix.as.text = (trtmc_string_view){text, 256};
	EXPECT(api->run(m, &q, CONFIG(set_i64("max_new_tokens", 4)), &r, &err), TRTMC_OK, NULL);
	core->result_release(r);
}

void test_text(void) {
	trtmc_model* m = load("all");
	test_inputs(m);
	test_token_ids(m);
	test_sampling(m);
	test_stops(m);
	test_context(m);
	trtmc_text_result_view_v1 v;
	trtmc_result* r = continue_text(m, "Four score and", NULL, &v);
	core->model_release(m); /* results outlive their model */
	CHECK(contains(v.text, "seven years ago our fathers brought forth"));
	core->result_release(r);
}
