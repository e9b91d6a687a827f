/* Results: one owner of all the memory that a view shows. */
#include "ref_private.h"

trtmc_result* trf_result_new(trf_result_kind kind) {
	trtmc_result* r = trf_alloc(sizeof *r);
	if (!r) return NULL;
	r->kind = kind;
	trf_count(TRF_RESULTS, 1);
	return r;
}

void trf_result_release(trtmc_result* result) {
	if (!result) return;
	trf_arena_free(&result->arena);
	trf_count(TRF_RESULTS, -1);
	trf_free(result);
}

static const char* kind_name(trf_result_kind kind) {
	static const char* const names[] = {
		"",
		"section bytes",
		"a text",
		"a conversation turn",
		"a pair's relevance",
		"relevance scores",
		"an embedding",
		"a video",
		"a batch of videos",
		"a text stream event",
		"a conversation stream event",
	};
	return names[kind];
}

trtmc_status trf_view_begin(
	const trtmc_result* result, trf_result_kind kind, void* out, size_t size, trtmc_error** error) {
	if (out) memset(out, 0, size);
	if (!error) return TRTMC_INVALID_ARGUMENT;
	*error = NULL;
	if (!out) return trf_fail(error, TRTMC_INVALID_ARGUMENT, "the output pointer is NULL");
	if (!result) return trf_fail(error, TRTMC_INVALID_ARGUMENT, "the result is NULL");
	if (result->kind != kind)
		return trf_fail(
			error, TRTMC_INVALID_ARGUMENT, "the result holds %s, not %s", kind_name(result->kind), kind_name(kind));
	return TRTMC_OK;
}
