#include "shim.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static void note(cabi_opened* out, int32_t outcome, const char* text)
{
	out->outcome = outcome;
	snprintf(out->text, sizeof out->text, "%s", text ? text : "the loader gave no reason");
}

/* A runtime that does not answer 1.0 may answer a neighbour; naming it makes the error useful. */
static void probe(trtmc_get_api_fn get_api, cabi_opened* out)
{
	for (uint32_t major = 1; major <= 3; major++) {
		for (uint32_t minor = 0; minor <= 3; minor++) {
			const trtmc_core_api_v1* other = NULL;
			if (get_api(major, minor, &other) == TRTMC_OK && other) {
				out->offered_major = major;
				out->offered_minor = minor;
				return;
			}
		}
	}
}

static void negotiate(trtmc_get_api_fn get_api, cabi_opened* out)
{
	out->status = get_api(1, 0, &out->core);
	if (out->status != TRTMC_OK) {
		out->core = NULL;
		out->outcome = CABI_REFUSED;
		if (out->status == TRTMC_VERSION_MISMATCH)
			probe(get_api, out);
	} else {
		out->outcome = out->core ? CABI_OPENED : CABI_NO_TABLE;
	}
}

/* Never closes a library: runtimes keep threads and state until the process ends. dlerror is read on the thread that
 * made it, because all of this is one call. */
void cabi_open_library(const char* path, cabi_opened* out)
{
	void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		note(out, CABI_NO_LIBRARY, dlerror());
		return;
	}
	dlerror();
	void* symbol = dlsym(library, "trtmc_get_api");
	if (!symbol) {
		note(out, CABI_NO_SYMBOL, dlerror());
		return;
	}
	cabi_open_entry(symbol, out);
}

void cabi_open_entry(void* entry, cabi_opened* out)
{
	trtmc_get_api_fn get_api;
	memcpy(&get_api, &entry, sizeof get_api);
	negotiate(get_api, out);
}

trtmc_string_view cabi_runtime_version(const trtmc_core_api_v1* core)
{
	trtmc_string_view none = {NULL, 0};
	return core->runtime_version ? core->runtime_version() : none;
}
