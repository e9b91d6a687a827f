/* driver check DIR: runs every check on the bundles in DIR. driver print DIR: prints results, for comparing two runs. */
#include <stdlib.h>

#include "driver.h"

const trtmc_core_api_v1* core;
const char* bundles;
_Atomic int checks, failures;
_Thread_local trtmc_status last_status;

bool check(bool ok, const char* what, const char* file, int line) {
	checks++;
	if (ok) return true;
	failures++;
	printf("FAIL %s:%d: %s\n", file, line, what);
	return false;
}

bool expect(trtmc_status got, trtmc_status want, trtmc_error* error, const char* text, const char* what,
	const char* file, int line) {
	trtmc_string_view m = core->error_message(error);
	bool ok = got == want && (!text || contains(m, text)) && (!error || core->error_code(error) == got);
	if (got != TRTMC_OK && got != TRTMC_END && got != TRTMC_AGAIN && text) ok = ok && error;
	if (!ok) printf("status %d, wanted %d; message \"%.*s\"\n", got, want, (int)m.size, m.data ? m.data : "");
	core->error_release(error);
	return check(ok, what, file, line);
}

trtmc_string_view sv(const char* text) { return (trtmc_string_view){text, strlen(text)}; }

bool contains(trtmc_string_view text, const char* part) {
	size_t n = strlen(part);
	for (uint64_t i = 0; i + n <= text.size; i++)
		if (memcmp(text.data + i, part, n) == 0) return true;
	return false;
}

bool equal(trtmc_string_view a, trtmc_string_view b) {
	return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

trtmc_model* load(const char* bundle) {
	char path[4096];
	trtmc_error* err;
	trtmc_model* m = NULL;
	snprintf(path, sizeof path, "%s/%s.bundle", bundles, bundle);
	if (!EXPECT(core->model_load(sv(path), NULL, &m, &err), TRTMC_OK, NULL)) exit(1);
	return m;
}

const void* table(const trtmc_model* model, const char* task) {
	trtmc_error* err;
	const trtmc_api_header* h = NULL;
	if (!EXPECT(core->model_get_task_api(model, sv(task), 1, 0, &h, &err), TRTMC_OK, NULL)) exit(1);
	return h;
}

uint64_t digest(const void* data, size_t size) {
	uint64_t h = 0xCBF29CE484222325u;
	for (size_t i = 0; i < size; i++) h = (h ^ ((const unsigned char*)data)[i]) * 0x100000001B3u;
	return h;
}

trtmc_config_entry_v1 set_i64(const char* name, int64_t v) {
	return (trtmc_config_entry_v1){sv(name), {TRTMC_CONFIG_I64, {.i64 = v}}};
}
trtmc_config_entry_v1 set_f64(const char* name, double v) {
	return (trtmc_config_entry_v1){sv(name), {TRTMC_CONFIG_F64, {.f64 = v}}};
}
trtmc_config_entry_v1 set_bool(const char* name, uint32_t v) {
	return (trtmc_config_entry_v1){sv(name), {TRTMC_CONFIG_BOOL, {.boolean = v}}};
}
trtmc_config_entry_v1 set_text(const char* name, const char* v) {
	return (trtmc_config_entry_v1){sv(name), {TRTMC_CONFIG_STRING, {.string = sv(v)}}};
}

static void check_nothing_left(const char* after) {
	trtmc_reference_counts c;
	trtmc_reference_live(&c);
	if (c.models || c.results || c.errors || c.bundles || c.streams)
		printf("after %s: %d models, %d results, %d errors, %d bundles, %d streams live\n", after, (int)c.models,
			(int)c.results, (int)c.errors, (int)c.bundles, (int)c.streams);
	CHECK(c.models == 0 && c.results == 0 && c.errors == 0 && c.bundles == 0 && c.streams == 0);
}

int main(int argc, char** argv) {
	static const struct {
		const char* name;
		void (*run)(void);
	} tests[] = {
		{"memory", test_memory}, /* first, so that building the language model is part of it */
		{"internals", test_internals},
		{"core", test_core},
		{"bundles", test_bundles},
		{"config", test_config},
		{"text", test_text},
		{"stream", test_stream},
		{"chat", test_chat},
		{"relevance", test_relevance},
		{"embedding", test_embedding},
		{"video", test_video},
		{"faults", test_faults},
		{"hooks", test_hooks},
		{"memory", test_memory},
	};
	if (argc != 3) return 2;
	bundles = argv[2];
	if (!CHECK(trtmc_reference_get_api(1, 0, &core) == TRTMC_OK)) return 1;
	if (strcmp(argv[1], "print") == 0) {
		print_results();
		return failures ? 1 : 0;
	}
	for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
		tests[i].run();
		check_nothing_left(tests[i].name);
	}
	printf("%d checks, %d failed\n", checks, failures);
	return failures ? 1 : 0;
}
