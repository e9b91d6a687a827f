/* probe LIBRARY: opens a runtime and prints what its tables say of themselves, without calling one that is not there. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "../../trtmc_reference.h"

static void print(const char* name, const trtmc_api_header* h, size_t known) {
	printf("%s %u.%u %+d\n", name, h->major, h->minor, (int)h->byte_size - (int)known);
}

int main(int argc, char** argv) {
	void* library = argc > 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	if (!library) {
		printf("%s\n", argc > 2 ? dlerror() : "usage: probe LIBRARY BUNDLE");
		return 2;
	}
	void* symbol = dlsym(library, "trtmc_get_api");
	trtmc_get_api_fn get_api;
	memcpy(&get_api, &symbol, sizeof get_api);
	if (!get_api) {
		printf("no symbol\n");
		return 0;
	}
	const trtmc_core_api_v1* core = NULL;
	trtmc_status st = get_api(1, 0, &core);
	if (!core) {
		printf("status %d, no table\n", st);
		return 0;
	}
	print("core", &core->header, sizeof *core);
	if (!core->model_load) {
		printf("no model_load\n");
		return 0;
	}
	trtmc_error* error;
	trtmc_model* model;
	const trtmc_api_header *text, *stream;
	if (core->model_load((trtmc_string_view){argv[2], strlen(argv[2])}, NULL, &model, &error)) return 3;
	if (core->model_get_task_api(model, (trtmc_string_view){TRTMC_TASK_TEXT_CONTINUATION, 17}, 1, 0, &text, &error))
		return 4;
	if (core->model_get_task_api(
			model, (trtmc_string_view){TRTMC_TASK_STREAMING_TEXT_CONTINUATION, 27}, 1, 0, &stream, &error))
		return 5;
	print("task", text, sizeof(trtmc_text_continuation_api_v1));
	print("stream", &((const trtmc_streaming_text_continuation_api_v1*)stream)->stream_api->header,
		sizeof(trtmc_text_stream_api_v1));
	printf("run %s\n", ((const trtmc_text_continuation_api_v1*)text)->run ? "there" : "missing");
	core->model_release(model);
	return 0;
}
