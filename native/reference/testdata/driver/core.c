/* Entry point, load options, metadata, what is not supported. */
#include "driver.h"

static void test_entry(void) {
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
}

static void test_load(void) {
	trtmc_error* err;
	trtmc_model* m = (trtmc_model*)&err;
	CHECK(core->model_load(sv("x"), NULL, &m, NULL) == TRTMC_INVALID_ARGUMENT && !m);
	EXPECT(core->model_load(sv("x"), NULL, NULL, &err), TRTMC_INVALID_ARGUMENT, "output pointer");
	EXPECT(core->model_load(sv(""), NULL, &m, &err), TRTMC_INVALID_ARGUMENT, "is empty");
	EXPECT(core->model_load((trtmc_string_view){"a\0b", 3}, NULL, &m, &err), TRTMC_INVALID_ARGUMENT, "NUL");
	EXPECT(core->model_load((trtmc_string_view){NULL, 3}, NULL, &m, &err), TRTMC_INVALID_ARGUMENT, "malformed");
	EXPECT(
		core->model_load(sv("/nonexistent/x.bundle"), NULL, &m, &err), TRTMC_INTERNAL_ERROR, "/nonexistent/x.bundle");
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
	core->model_release(m);
}

static void test_metadata(trtmc_model* m) {
	trtmc_error* err;
	trtmc_model_info_v1 info;
	EXPECT(core->model_info(m, &info, &err), TRTMC_OK, NULL);
	CHECK(equal(info.family, sv("reference_all")) && equal(info.backend, sv("reference")) &&
		equal(info.bundle_task, sv("everything")));
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
}

static void test_absent(trtmc_model* m) {
	trtmc_error* err;
	const trtmc_api_header* h = (const void*)core;
	EXPECT(core->model_get_task_api(m, sv("speech_transcription"), 1, 0, &h, &err), TRTMC_UNSUPPORTED,
		"speech_transcription");
	CHECK(!h);
	EXPECT(
		core->model_get_task_api(m, (trtmc_string_view){NULL, 1}, 1, 0, &h, &err), TRTMC_INVALID_ARGUMENT, "malformed");
	const trtmc_lora_api_v1* lora = (const void*)core;
	EXPECT(core->model_get_lora_api(m, 1, 0, &lora, &err), TRTMC_UNSUPPORTED, "LoRA");
	CHECK(!lora);
	EXPECT(core->model_get_lora_api(m, 2, 0, &lora, &err), TRTMC_VERSION_MISMATCH, "2.0");

	trtmc_byok_options_v1 k = {0};
	CHECK(core->byok_load(&k, NULL) == TRTMC_INVALID_ARGUMENT);
	EXPECT(core->byok_load(NULL, &err), TRTMC_INVALID_ARGUMENT, "NULL");
	EXPECT(core->byok_load(&k, &err), TRTMC_INVALID_ARGUMENT, "struct_size");
	k.struct_size = sizeof k;
	EXPECT(core->byok_load(&k, &err), TRTMC_INVALID_ARGUMENT, "library is empty");
	k.library = k.function = k.kernel_name = sv("x");
	EXPECT(core->byok_load(&k, &err), TRTMC_UNSUPPORTED, "kernels");
}

/* A table got from one model refuses another that lacks the Task. */
static void test_foreign_table(void) {
	trtmc_error* err;
	trtmc_model *all = load("all"), *ranking = load("ranking");
	const trtmc_text_continuation_api_v1* text = table(all, TRTMC_TASK_TEXT_CONTINUATION);
	trtmc_text_continuation_request_v1 request = {{TRTMC_TEXT_UTF8, {.text = sv("x")}}};
	trtmc_result* r = (trtmc_result*)all;
	EXPECT(text->run(ranking, &request, NULL, &r, &err), TRTMC_UNSUPPORTED, "text_continuation");
	CHECK(!r);
	core->model_release(all);
	core->model_release(ranking);
}

void test_core(void) {
	test_entry();
	test_load();
	trtmc_model* m = load("all");
	test_metadata(m);
	test_absent(m);
	core->model_release(m);
	test_foreign_table();
}
