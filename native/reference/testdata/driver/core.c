/* Entry point, errors, load options, metadata, bundles, configuration. */
#include "driver.h"

void test_core(void) {
	trtmc_error* err;
	const trtmc_core_api_v1* other = core;
	CHECK(trtmc_reference_get_api(1, 0, NULL) == TRTMC_INVALID_ARGUMENT);
	CHECK(trtmc_reference_get_api(2, 0, &other) == TRTMC_VERSION_MISMATCH && !other);
	CHECK(trtmc_reference_get_api(1, 1, &other) == TRTMC_VERSION_MISMATCH && !other);
	CHECK(core->header.major == 1 && core->header.minor == 0 && core->header.byte_size == sizeof *core);
	CHECK(contains(core->runtime_version(), "trtmc-reference/"));
	CHECK(core->error_code(NULL) == TRTMC_OK && core->error_message(NULL).size == 0);
	core->error_release(NULL);
	core->model_release(NULL);
	core->result_release(NULL);
	core->bundle_release(NULL);

	trtmc_model* m = (trtmc_model*)&err;
	CHECK(core->model_load(sv("x"), NULL, &m, NULL) == TRTMC_INVALID_ARGUMENT && !m);
	EXPECT(core->model_load(sv("x"), NULL, NULL, &err), TRTMC_INVALID_ARGUMENT, "output pointer");
	EXPECT(core->model_load(sv(""), NULL, &m, &err), TRTMC_INVALID_ARGUMENT, "is empty");
	EXPECT(core->model_load((trtmc_string_view){"a\0b", 3}, NULL, &m, &err), TRTMC_INVALID_ARGUMENT, "NUL");
	EXPECT(core->model_load((trtmc_string_view){NULL, 3}, NULL, &m, &err), TRTMC_INVALID_ARGUMENT, "malformed");
	EXPECT(core->model_load(sv("/nonexistent/x.bundle"), NULL, &m, &err), TRTMC_INTERNAL_ERROR, "/nonexistent/x.bundle");
	trtmc_load_options_v1 o = {0};
	EXPECT(core->model_load(sv("/nonexistent"), &o, &m, &err), TRTMC_INVALID_ARGUMENT, "struct_size is 0");
	o.struct_size = sizeof o;
	o.cuda_graphs = 2;
	EXPECT(core->model_load(sv("/nonexistent"), &o, &m, &err), TRTMC_INVALID_ARGUMENT, "cuda_graphs");
	char path[4096];
	snprintf(path, sizeof path, "%s/all.bundle", bundles);
	o.cuda_graphs = 1;
	EXPECT(core->model_load(sv(path), &o, &m, &err), TRTMC_INVALID_ARGUMENT, "trt_rtx");
	o.cuda_graphs = 0;
	o.runtime_cache_path = sv("/tmp");
	EXPECT(core->model_load(sv(path), &o, &m, &err), TRTMC_INVALID_ARGUMENT, "runtime_cache_path");
	o.runtime_cache_path = sv("");
	o.runtime_root = sv("/opt/trtmc");
	o.kv_cache_size_bytes = 1 << 20;
	EXPECT(core->model_load(sv(path), &o, &m, &err), TRTMC_OK, NULL);

	trtmc_model_info_v1 info;
	EXPECT(core->model_info(m, &info, &err), TRTMC_OK, NULL);
	CHECK(equal(info.family, sv("reference_all")) && equal(info.backend, sv("reference")) && equal(info.bundle_task, sv("everything")));
	CHECK(core->model_info(m, &info, NULL) == TRTMC_INVALID_ARGUMENT && info.family.size == 0);
	EXPECT(core->model_info(NULL, &info, &err), TRTMC_INVALID_ARGUMENT, "NULL");

	uint64_t count = 99;
	EXPECT(core->model_task_count(m, &count, &err), TRTMC_OK, NULL);
	CHECK(count == 9);
	for (uint64_t i = 0; i < count; i++) {
		trtmc_task_info_v1 t;
		const trtmc_api_header *a = NULL, *b = NULL;
		EXPECT(core->model_task_info(m, i, &t, &err), TRTMC_OK, NULL);
		CHECK(t.major == 1 && t.minor == 0);
		EXPECT(core->model_get_task_api(m, t.id, 1, 0, &a, &err), TRTMC_OK, NULL);
		EXPECT(core->model_get_task_api(m, t.id, 1, 0, &b, &err), TRTMC_OK, NULL);
		CHECK(a == b && a->major == 1 && a->minor == 0 && a->byte_size >= 32);
		EXPECT(core->model_get_task_api(m, t.id, 1, 1, &a, &err), TRTMC_VERSION_MISMATCH, "1.1");
		CHECK(!a);
	}
	trtmc_task_info_v1 t = {sv("x"), 7, 7};
	EXPECT(core->model_task_info(m, count, &t, &err), TRTMC_INVALID_ARGUMENT, "index 9");
	CHECK(t.id.size == 0 && t.major == 0);
	const trtmc_api_header* h = (const void*)core;
	EXPECT(core->model_get_task_api(m, sv("speech_transcription"), 1, 0, &h, &err), TRTMC_UNSUPPORTED, "speech_transcription");
	CHECK(!h);
	EXPECT(core->model_get_task_api(m, (trtmc_string_view){NULL, 1}, 1, 0, &h, &err), TRTMC_INVALID_ARGUMENT, "malformed");
	const trtmc_lora_api_v1* lora = (const void*)core;
	EXPECT(core->model_get_lora_api(m, 1, 0, &lora, &err), TRTMC_UNSUPPORTED, "LoRA");
	CHECK(!lora);
	EXPECT(core->model_get_lora_api(m, 2, 0, &lora, &err), TRTMC_VERSION_MISMATCH, "2.0");
	core->model_release(m);

	trtmc_byok_options_v1 k = {0};
	CHECK(core->byok_load(&k, NULL) == TRTMC_INVALID_ARGUMENT);
	EXPECT(core->byok_load(NULL, &err), TRTMC_INVALID_ARGUMENT, "NULL");
	EXPECT(core->byok_load(&k, &err), TRTMC_INVALID_ARGUMENT, "struct_size");
	k.struct_size = sizeof k;
	EXPECT(core->byok_load(&k, &err), TRTMC_INVALID_ARGUMENT, "library is empty");
	k.library = k.function = k.kernel_name = sv("x");
	EXPECT(core->byok_load(&k, &err), TRTMC_UNSUPPORTED, "kernels");

	/* A table got from one model refuses another that lacks the Task. */
	trtmc_model *all = load("all"), *ranking = load("ranking");
	const trtmc_text_continuation_api_v1* text = table(all, TRTMC_TASK_TEXT_CONTINUATION);
	trtmc_text_continuation_request_v1 request = {{TRTMC_TEXT_UTF8, {.text = sv("x")}}};
	trtmc_result* r = (trtmc_result*)all;
	EXPECT(text->run(ranking, &request, NULL, &r, &err), TRTMC_UNSUPPORTED, "text_continuation");
	CHECK(!r);
	core->model_release(all);
	core->model_release(ranking);
}

void test_bundles(void) {
	char path[4096];
	trtmc_error* err;
	trtmc_bundle* b = (trtmc_bundle*)&err;
	CHECK(core->bundle_open(sv("x"), &b, NULL) == TRTMC_INVALID_ARGUMENT && !b);
	EXPECT(core->bundle_open(sv("x"), NULL, &err), TRTMC_INVALID_ARGUMENT, "output");
	EXPECT(core->bundle_open(sv(""), &b, &err), TRTMC_INVALID_ARGUMENT, "empty");
	EXPECT(core->bundle_open(sv(bundles), &b, &err), TRTMC_INTERNAL_ERROR, "regular file");
	/* Each name is a broken bundle made by the test that runs this program; its text is what the message must say. */
	static const char* const broken[][2] = {
		{"bad_magic", "magic"}, {"bad_short", "shorter"}, {"bad_length", "above"}, {"bad_past_end", "passes the end"}, {"bad_json", "not valid JSON"},
		{"bad_format", "integer 1"}, {"bad_missing", "lacks the key \"backend\""}, {"bad_extra", "unknown key \"more\""}, {"bad_twice", "key twice"},
		{"bad_empty", "family must be a non-empty"}, {"bad_section", "exactly offset and length"}, {"bad_negative", "non-negative"}, {"bad_range", "of the payload, which has 4"},
		{"bad_utf8", "UTF-8"}, {"bad_name", "empty name"},
	};
	for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
		snprintf(path, sizeof path, "%s/%s.bundle", bundles, broken[i][0]);
		EXPECT(core->bundle_open(sv(path), &b, &err), TRTMC_INTERNAL_ERROR, broken[i][1]);
		CHECK(!b);
		trtmc_model* m = NULL;
		EXPECT(core->model_load(sv(path), NULL, &m, &err), TRTMC_INTERNAL_ERROR, broken[i][1]);
	}
	/* These open as bundles, yet do not load as models. */
	static const char* const unloadable[][2] = {
		{"foreign", "backend \"trt\""}, {"no_section", "no section \"reference.json\""}, {"bad_family_word", "family \"Big\""}, {"unlike", "its header says"},
		{"bad_params", "not a known key"}, {"bad_task", "is not a Task"}, {"bad_field", "is not known"}, {"twice_field", "declared twice"}, {"bad_default", "another kind"},
		{"lacks_text", "text is missing"}, {"load_error", "load_error"},
	};
	for (size_t i = 0; i < sizeof unloadable / sizeof unloadable[0]; i++) {
		trtmc_model* m = NULL;
		snprintf(path, sizeof path, "%s/%s.bundle", bundles, unloadable[i][0]);
		EXPECT(core->bundle_open(sv(path), &b, &err), TRTMC_OK, NULL);
		core->bundle_release(b);
		EXPECT(core->model_load(sv(path), NULL, &m, &err), TRTMC_INTERNAL_ERROR, unloadable[i][1]);
		CHECK(!m);
	}
	snprintf(path, sizeof path, "%s/plain.bundle", bundles);
	EXPECT(core->bundle_open(sv(path), &b, &err), TRTMC_OK, NULL);
	trtmc_bundle_info_v1 info;
	EXPECT(core->bundle_info(b, &info, &err), TRTMC_OK, NULL);
	CHECK(info.format == 1 && equal(info.family, sv("qwen")) && info.section_count == 2);
	CHECK(equal(info.sections[0].name, sv("engine.plan")) && info.sections[0].length == 4 && equal(info.sections[1].name, sv("void")));
	CHECK(core->bundle_info(b, &info, NULL) == TRTMC_INVALID_ARGUMENT && info.section_count == 0);
	trtmc_result *r = NULL, *empty = NULL;
	EXPECT(core->bundle_read_section(b, sv("engine.plan"), &r, &err), TRTMC_OK, NULL);
	EXPECT(core->bundle_read_section(b, sv("void"), &empty, &err), TRTMC_OK, NULL);
	trtmc_result* none = r;
	EXPECT(core->bundle_read_section(b, sv("weights"), &none, &err), TRTMC_INTERNAL_ERROR, "no section \"weights\"");
	CHECK(!none);
	core->bundle_release(b);
	trtmc_bytes_view bytes;
	EXPECT(core->bytes_result_view(r, &bytes, &err), TRTMC_OK, NULL);
	CHECK(bytes.size == 4 && memcmp(bytes.data, "PLAN", 4) == 0);
	trtmc_text_result_view_v1 text = {.setup_ms = 1};
	trtmc_model* m = load("all");
	const trtmc_text_continuation_api_v1* api = table(m, TRTMC_TASK_TEXT_CONTINUATION);
	EXPECT(api->result_view(r, &text, &err), TRTMC_INVALID_ARGUMENT, "section bytes");
	CHECK(text.setup_ms == 0);
	core->model_release(m);
	EXPECT(core->bytes_result_view(empty, &bytes, &err), TRTMC_OK, NULL);
	CHECK(bytes.size == 0);
	EXPECT(core->bytes_result_view(NULL, &bytes, &err), TRTMC_INVALID_ARGUMENT, "NULL");
	EXPECT(core->bytes_result_view(r, NULL, &err), TRTMC_INVALID_ARGUMENT, "output");
	core->result_release(r);
	core->result_release(empty);
}

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

void test_config(void) {
	trtmc_error* err;
	trtmc_model* m = load("all");
	uint64_t computed = 0, n = 7;
	CHECK(kinds_of(m, TRTMC_TASK_TEXT_CONTINUATION, &computed) == 0xFE); /* kinds 1 to 7 */
	CHECK(computed == 1);                                              /* interpolation */
	CHECK(kinds_of(m, TRTMC_TASK_TEXT_TO_VIDEO, &computed) == (1u << 1 | 1u << 2 | 1u << 4));
	EXPECT(core->config_field_count(m, sv("nope"), 1, 0, &n, &err), TRTMC_UNSUPPORTED, "nope");
	CHECK(n == 0);
	EXPECT(core->config_field_count(m, sv(TRTMC_TASK_TEXT_TO_VIDEO), 3, 0, &n, &err), TRTMC_VERSION_MISMATCH, "3.0");

	const trtmc_text_continuation_api_v1* api = table(m, TRTMC_TASK_TEXT_CONTINUATION);
	trtmc_text_continuation_request_v1 q = {{TRTMC_TEXT_UTF8, {.text = sv("x")}}};
	trtmc_result* r = NULL;
	trtmc_config_view_v1 null_entries = {NULL, 1};
	trtmc_config_entry_v1 bad_kind = set_i64("seed", 1), bad_string = set_text("generation_mode", "x"), no_name = set_i64("x", 1);
	bad_kind.value.kind = 8;
	bad_string.value.as.string = (trtmc_string_view){NULL, 4};
	no_name.name = (trtmc_string_view){NULL, 4};
	trtmc_config_entry_v1 long_list = {sv("stop_token_ids"), {TRTMC_CONFIG_I64_LIST, {.i64_list = {(const int64_t*)&n, UINT64_MAX / 2}}}};
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
	core->model_release(m);
}
