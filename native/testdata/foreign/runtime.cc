// A runtime in C++ with one Task, written for the tests of package native. Its run throws what the prefix names, or
// answers with a result that breaks the rules of the ABI. Like the published runtime it lets nothing out of an entry
// point: bad_alloc becomes OUT_OF_MEMORY, everything else INTERNAL_ERROR. It shares no code with the reference runtime.
// -DOFFER_MAJOR=2 -DOFFER_MINOR=1 make it answer that version alone; -DREFUSE makes it refuse every caller.
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>

#include "trtmc_abi.h"

#ifndef OFFER_MAJOR
#define OFFER_MAJOR 1
#endif
#ifndef OFFER_MINOR
#define OFFER_MINOR 0
#endif

struct trtmc_error {
	trtmc_status code;
	std::string text;
};
struct trtmc_model {
	int unused;
};
struct trtmc_result {
	std::string text;
};

namespace {

trtmc_status fail(trtmc_error** error, trtmc_status code, const char* text)
{
	*error = new (std::nothrow) trtmc_error{code, text};
	return code;
}

template <class Work>
trtmc_status guard(trtmc_error** error, Work work)
{
	if (!error)
		return TRTMC_INVALID_ARGUMENT;
	*error = nullptr;
	try {
		return work();
	} catch (const std::bad_alloc&) {
		return fail(error, TRTMC_OUT_OF_MEMORY, "std::bad_alloc");
	} catch (const std::exception& e) {
		return fail(error, TRTMC_INTERNAL_ERROR, e.what());
	} catch (...) {
		return fail(error, TRTMC_INTERNAL_ERROR, "unknown exception");
	}
}

trtmc_string_view view(const std::string& s) { return {s.data(), s.size()}; }
trtmc_string_view literal(const char* s) { return {s, std::strlen(s)}; }

trtmc_string_view runtime_version() { return literal("foreign/1"); }
trtmc_status error_code(const trtmc_error* e) { return e ? e->code : TRTMC_OK; }
trtmc_string_view error_message(const trtmc_error* e) { return e ? view(e->text) : trtmc_string_view{}; }
void error_release(trtmc_error* e) { delete e; }
void model_release(trtmc_model* m) { delete m; }
void result_release(trtmc_result* r) { delete r; }

trtmc_status model_load(trtmc_string_view path, const trtmc_load_options_v1*, trtmc_model** out, trtmc_error** error)
{
	return guard(error, [&] {
		if (std::string(path.data, path.size).find("throw") != std::string::npos)
			throw std::runtime_error("boom while loading");
		*out = new trtmc_model{};
		return TRTMC_OK;
	});
}

trtmc_status model_info(const trtmc_model*, trtmc_model_info_v1* out, trtmc_error** error)
{
	return guard(error, [&] {
		*out = {literal("foreign"), literal("none"), literal("text")};
		return TRTMC_OK;
	});
}

trtmc_status task_count(const trtmc_model*, uint64_t* out, trtmc_error** error)
{
	return guard(error, [&] {
		*out = 1;
		return TRTMC_OK;
	});
}

trtmc_status task_info(const trtmc_model*, uint64_t, trtmc_task_info_v1* out, trtmc_error** error)
{
	return guard(error, [&] {
		*out = {literal(TRTMC_TASK_TEXT_CONTINUATION), 1, 0};
		return TRTMC_OK;
	});
}

trtmc_status field_count(const trtmc_model*, trtmc_string_view, uint32_t, uint32_t, uint64_t* out, trtmc_error** error)
{
	return guard(error, [&] {
		*out = 0;
		return TRTMC_OK;
	});
}

trtmc_status run(trtmc_model*, const trtmc_text_continuation_request_v1* request, const trtmc_config_view_v1*, trtmc_result** out, trtmc_error** error)
{
	return guard(error, [&]() -> trtmc_status {
		*out = nullptr;
		std::string prefix(request->prefix.as.text.data, request->prefix.as.text.size);
		if (prefix == "runtime_error")
			throw std::runtime_error("boom");
		if (prefix == "bad_alloc")
			throw std::bad_alloc();
		if (prefix == "int")
			throw 42;
		if (prefix == "no_result")
			return TRTMC_OK;
		if (prefix == "odd_status")
			return trtmc_status{77};
		*out = new trtmc_result{prefix};
		return TRTMC_OK;
	});
}

trtmc_status result_view(const trtmc_result* r, trtmc_text_result_view_v1* out, trtmc_error** error)
{
	return guard(error, [&] {
		*out = {};
		if (r->text == "view_fails")
			throw std::runtime_error("boom in the view");
		out->text = view(r->text);
		if (r->text == "null_text")
			out->text.data = nullptr;
		if (r->text == "huge_tokens")
			out->token_ids = {reinterpret_cast<const int32_t*>(out), UINT64_MAX};
		if (r->text == "odd_times")
			out->setup_ms = -1, out->prefill_ms = 1e300, out->decode_ms = __builtin_nan("");
		return TRTMC_OK;
	});
}

const trtmc_text_continuation_api_v1 text = {{1, 0, sizeof text}, run, result_view};

trtmc_status task_api(const trtmc_model*, trtmc_string_view, uint32_t, uint32_t, const trtmc_api_header** out, trtmc_error** error)
{
	return guard(error, [&] {
		*out = &text.header;
		return TRTMC_OK;
	});
}

} // namespace

extern "C" __attribute__((visibility("default"))) trtmc_status trtmc_get_api(uint32_t major, uint32_t minor, const trtmc_core_api_v1** out)
{
	static trtmc_core_api_v1 core;
	core.header = {1, 0, sizeof core};
	core.runtime_version = runtime_version;
	core.error_code = error_code;
	core.error_message = error_message;
	core.error_release = error_release;
	core.model_load = model_load;
	core.model_release = model_release;
	core.model_info = model_info;
	core.model_task_count = task_count;
	core.model_task_info = task_info;
	core.model_get_task_api = task_api;
	core.config_field_count = field_count;
	core.result_release = result_release;
	if (!out)
		return TRTMC_INVALID_ARGUMENT;
	*out = nullptr;
#ifdef REFUSE
	return TRTMC_INTERNAL_ERROR;
#endif
	if (major != OFFER_MAJOR || minor != OFFER_MINOR)
		return TRTMC_VERSION_MISMATCH;
	*out = &core;
	return TRTMC_OK;
}
