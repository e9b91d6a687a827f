/* Discovering and judging settings. */
#include "driver.h"

/* Kinds of all fields a Task declares, as a set of bits. */
static unsigned kinds_of(trtmc_model* m, const char* task, uint64_t* computed) {
	trtmc_error* err;
	uint64_t n = 0;
	unsigned kinds = 0;
	EXPECT(core->config_field_count(m, sv(task), 1, 0, &n, &err), TRTMC_OK, NULL);
	for (uint64_t i = 0; i < n; i++) {
		trtmc_config_field_v1 f;
		EXPECT(core->config_field_info(m, sv(task), 1, 0, i, &f, &err), TRTMC_OK, NULL);
		CHECK(f.name.size > 0 && f.has_fixed_default <= 1 && f.description.size > 0);
		CHECK(f.default_value.kind == (f.has_fixed_default ? f.kind : 0));
		*computed += !f.has_fixed_default;
		kinds |= 1u << f.kind;
	}
	trtmc_config_field_v1 f = {.kind = 9};
	EXPECT(core->config_field_info(m, sv(task), 1, 0, n, &f, &err), TRTMC_INVALID_ARGUMENT, "index");
	CHECK(f.kind == 0);
	return kinds;
}

static void test_discovery(trtmc_model* m) {
	trtmc_error* err;
	uint64_t computed = 0, n = 7;
	CHECK(kinds_of(m, TRTMC_TASK_TEXT_CONTINUATION, &computed) == 0xFE); /* kinds 1 to 7 */
	CHECK(computed == 1);                                                /* interpolation */
	CHECK(kinds_of(m, TRTMC_TASK_TEXT_TO_VIDEO, &computed) == (1u << 1 | 1u << 2 | 1u << 4));
	EXPECT(core->config_field_count(m, sv("nope"), 1, 0, &n, &err), TRTMC_UNSUPPORTED, "nope");
	CHECK(n == 0);
	EXPECT(core->config_field_count(m, sv(TRTMC_TASK_TEXT_TO_VIDEO), 3, 0, &n, &err), TRTMC_VERSION_MISMATCH, "3.0");
}

static void test_refusals(trtmc_model* m) {
	trtmc_error* err;
	uint64_t n = 0;
	const trtmc_text_continuation_api_v1* api = table(m, TRTMC_TASK_TEXT_CONTINUATION);
	trtmc_text_continuation_request_v1 q = {{TRTMC_TEXT_UTF8, {.text = sv("x")}}};
	trtmc_result* r = NULL;
	trtmc_config_view_v1 null_entries = {NULL, 1};
	trtmc_config_entry_v1 bad_kind = set_i64("seed", 1), bad_string = set_text("generation_mode", "x"),
						  no_name = set_i64("x", 1);
	bad_kind.value.kind = 8;
	bad_string.value.as.string = (trtmc_string_view){NULL, 4};
	no_name.name = (trtmc_string_view){NULL, 4};
	trtmc_config_entry_v1 long_list = {
		sv("stop_token_ids"), {TRTMC_CONFIG_I64_LIST, {.i64_list = {(const int64_t*)&n, UINT64_MAX / 2}}}};
	double weights[4] = {0.4, 0.3, 0.2, 0.1};
	trtmc_config_entry_v1 three = {sv("interpolation"), {TRTMC_CONFIG_F64_LIST, {.f64_list = {weights, 3}}}};
	trtmc_string_view nothing = {"", 0};
	trtmc_config_entry_v1 empty_stop = {sv("stop_strings"), {TRTMC_CONFIG_STRING_LIST, {.string_list = {&nothing, 1}}}};
	const struct {
		trtmc_config_view_v1* config;
		trtmc_status status;
		const char* text;
	} rows[] = {
		{&null_entries, TRTMC_INVALID_ARGUMENT, "malformed view"},
		{CONFIG(bad_kind), TRTMC_INVALID_ARGUMENT, "outside 1 to 7"},
		{CONFIG(bad_string), TRTMC_INVALID_ARGUMENT, "malformed string"},
		{CONFIG(no_name), TRTMC_INVALID_ARGUMENT, "name"},
		{CONFIG(long_list), TRTMC_INVALID_ARGUMENT, "malformed list"},
		{CONFIG(set_bool("ignore_eos", 2)), TRTMC_INVALID_ARGUMENT, "neither 0 nor 1"},
		{CONFIG(set_i64("nope", 1)), TRTMC_INVALID_CONFIG, "\"nope\" is not declared"},
		{CONFIG(set_i64("width", 64)), TRTMC_INVALID_CONFIG, "\"width\" is not declared"},
		{CONFIG(set_i64("seed", 1), set_i64("seed", 1)), TRTMC_INVALID_CONFIG, "twice"},
		{CONFIG(set_f64("seed", 1)), TRTMC_INVALID_CONFIG, "must be I64"},
		{CONFIG(set_i64("temperature", 1)), TRTMC_INVALID_CONFIG, "must be F64"},
		{CONFIG(set_i64("max_new_tokens", -1)), TRTMC_INVALID_CONFIG, "max_new_tokens"},
		{CONFIG(set_i64("max_new_tokens", 129)), TRTMC_INVALID_CONFIG, "at most 128"},
		{CONFIG(set_i64("max_new_tokens", 1ll << 40)), TRTMC_INVALID_CONFIG, "max_new_tokens"},
		{CONFIG(set_i64("min_tokens", 100)), TRTMC_INVALID_CONFIG, "above max_new_tokens"},
		{CONFIG(set_f64("temperature", -0.5)), TRTMC_INVALID_CONFIG, "temperature"},
		{CONFIG(set_f64("temperature", 0.0 / 0.0)), TRTMC_INVALID_CONFIG, "temperature"},
		{CONFIG(set_f64("top_p", 0)), TRTMC_INVALID_CONFIG, "top_p"},
		{CONFIG(set_f64("min_p", 2)), TRTMC_INVALID_CONFIG, "min_p"},
		{CONFIG(set_i64("top_k", -1)), TRTMC_INVALID_CONFIG, "top_k"},
		{CONFIG(set_f64("repetition_penalty", 1.1)), TRTMC_INVALID_CONFIG, "repetition_penalty"},
		{CONFIG(set_text("generation_mode", "beam")), TRTMC_INVALID_CONFIG, "generation_mode"},
		{CONFIG(set_i64("eos_token_id", 1000000)), TRTMC_INVALID_CONFIG, "eos_token_id"},
		{CONFIG(set_i64("stop_check_interval", 0)), TRTMC_INVALID_CONFIG, "stop_check_interval"},
		{CONFIG(three), TRTMC_INVALID_CONFIG, "interpolation"},
		{CONFIG(empty_stop), TRTMC_INVALID_CONFIG, "stop_strings"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		r = (trtmc_result*)m;
		EXPECT(api->run(m, &q, rows[i].config, &r, &err), rows[i].status, rows[i].text);
		CHECK(!r);
	}
}

void test_config(void) {
	trtmc_model* m = load("all");
	test_discovery(m);
	test_refusals(m);
	core->model_release(m);
}
