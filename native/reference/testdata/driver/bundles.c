/* Bundles: broken ones, unloadable ones, and reading sections. */
#include "driver.h"

static void test_broken(void) {
	char path[4096];
	trtmc_error* err;
	trtmc_bundle* b = (trtmc_bundle*)&err;
	CHECK(core->bundle_open(sv("x"), &b, NULL) == TRTMC_INVALID_ARGUMENT && !b);
	EXPECT(core->bundle_open(sv("x"), NULL, &err), TRTMC_INVALID_ARGUMENT, "output");
	EXPECT(core->bundle_open(sv(""), &b, &err), TRTMC_INVALID_ARGUMENT, "empty");
	EXPECT(core->bundle_open(sv(bundles), &b, &err), TRTMC_INTERNAL_ERROR, "regular file");
	/* Each name is a broken bundle made by the test that runs this program; its text is what the message must say. */
	static const char* const broken[][2] = {
		{"bad_magic", "magic"},
		{"bad_short", "shorter"},
		{"bad_length", "above"},
		{"bad_past_end", "passes the end"},
		{"bad_json", "not valid JSON"},
		{"bad_format", "integer 1"},
		{"bad_missing", "lacks the key \"backend\""},
		{"bad_extra", "unknown key \"more\""},
		{"bad_twice", "key twice"},
		{"bad_empty", "family must be a non-empty"},
		{"bad_section", "exactly offset and length"},
		{"bad_negative", "non-negative"},
		{"bad_range", "of the payload, which has 4"},
		{"bad_utf8", "UTF-8"},
		{"bad_name", "empty name"},
	};
	for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
		snprintf(path, sizeof path, "%s/%s.bundle", bundles, broken[i][0]);
		EXPECT(core->bundle_open(sv(path), &b, &err), TRTMC_INTERNAL_ERROR, broken[i][1]);
		CHECK(!b);
		trtmc_model* m = NULL;
		EXPECT(core->model_load(sv(path), NULL, &m, &err), TRTMC_INTERNAL_ERROR, broken[i][1]);
	}
}

static void test_unloadable(void) {
	char path[4096];
	trtmc_error* err;
	trtmc_bundle* b = NULL;
	/* These open as bundles, yet do not load as models. */
	static const char* const unloadable[][2] = {
		{"foreign", "backend \"trt\""},
		{"no_section", "no section \"reference.json\""},
		{"bad_family_word", "family \"Big\""},
		{"unlike", "its header says"},
		{"bad_params", "not a known key"},
		{"bad_task", "is not a Task"},
		{"bad_field", "is not known"},
		{"twice_field", "declared twice"},
		{"bad_default", "another kind"},
		{"lacks_text", "text is missing"},
		{"load_error", "load_error"},
	};
	for (size_t i = 0; i < sizeof unloadable / sizeof unloadable[0]; i++) {
		trtmc_model* m = NULL;
		snprintf(path, sizeof path, "%s/%s.bundle", bundles, unloadable[i][0]);
		EXPECT(core->bundle_open(sv(path), &b, &err), TRTMC_OK, NULL);
		core->bundle_release(b);
		EXPECT(core->model_load(sv(path), NULL, &m, &err), TRTMC_INTERNAL_ERROR, unloadable[i][1]);
		CHECK(!m);
	}
}

static void test_sections(void) {
	char path[4096];
	trtmc_error* err;
	trtmc_bundle* b = NULL;
	snprintf(path, sizeof path, "%s/plain.bundle", bundles);
	EXPECT(core->bundle_open(sv(path), &b, &err), TRTMC_OK, NULL);
	trtmc_bundle_info_v1 info;
	EXPECT(core->bundle_info(b, &info, &err), TRTMC_OK, NULL);
	CHECK(info.format == 1 && equal(info.family, sv("qwen")) && info.section_count == 2);
	CHECK(equal(info.sections[0].name, sv("engine.plan")) && info.sections[0].length == 4 &&
		equal(info.sections[1].name, sv("void")));
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

void test_bundles(void) {
	test_broken();
	test_unloadable();
	test_sections();
}
