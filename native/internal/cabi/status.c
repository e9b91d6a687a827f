#include "shim.h"

#include <stdlib.h>
#include <string.h>

static cabi_counts live;

static void add(int64_t* counter, int64_t n)
{
	__atomic_add_fetch(counter, n, __ATOMIC_RELAXED);
}

void cabi_count_model(int64_t n) { add(&live.models, n); }
void cabi_count_result(int64_t n) { add(&live.results, n); }
void cabi_count_stream(int64_t n) { add(&live.streams, n); }
void cabi_count_bundle(int64_t n) { add(&live.bundles, n); }

void cabi_live(cabi_counts* out)
{
	out->models = __atomic_load_n(&live.models, __ATOMIC_RELAXED);
	out->results = __atomic_load_n(&live.results, __ATOMIC_RELAXED);
	out->streams = __atomic_load_n(&live.streams, __ATOMIC_RELAXED);
	out->bundles = __atomic_load_n(&live.bundles, __ATOMIC_RELAXED);
	out->blocks = __atomic_load_n(&live.blocks, __ATOMIC_RELAXED);
}

/* A zeroed block of C memory; NULL when there is none left. */
void* cabi_block(size_t size)
{
	void* p = calloc(1, size);
	if (p)
		add(&live.blocks, 1);
	return p;
}

void cabi_block_free(void* p)
{
	if (!p)
		return;
	free(p);
	add(&live.blocks, -1);
}

/* Returns 1 when the function is there; else makes its absence the outcome of the call. */
int cabi_need(cabi_frame* f, int present, const char* function)
{
	f->stage = CABI_STAGE_CALL;
	f->message_size = 0;
	f->status = TRTMC_OK;
	if (present)
		return 1;
	f->status = CABI_MISSING;
	f->message_size = (uint32_t)strlen(function);
	memcpy(f->message, function, f->message_size);
	return 0;
}

/* Takes the text of an error object and releases the object. The status has been stored already: it alone decides. */
void cabi_settle(cabi_frame* f, trtmc_error** error)
{
	f->message_size = 0;
	if (!*error)
		return;
	if (f->core->error_message) {
		trtmc_string_view text = f->core->error_message(*error);
		if (text.data && text.size) {
			f->message_size = text.size < CABI_MESSAGE_CAP ? (uint32_t)text.size : CABI_MESSAGE_CAP;
			memcpy(f->message, text.data, f->message_size);
		}
	}
	if (f->core->error_release)
		f->core->error_release(*error);
	*error = NULL;
}

/* Puts the result of a call into the frame. Returns 1 when the call went well and gave one. */
int cabi_keep(cabi_frame* f, trtmc_result* result)
{
	if (f->status != TRTMC_OK)
		return 0;
	if (!result) {
		f->status = CABI_NO_RESULT;
		return 0;
	}
	f->result = result;
	cabi_count_result(1);
	return 1;
}

void cabi_drop(cabi_frame* f)
{
	cabi_result_release(f->core, f->result);
	f->result = NULL;
}

void cabi_result_release(const trtmc_core_api_v1* core, trtmc_result* result)
{
	if (!result)
		return;
	core->result_release(result);
	cabi_count_result(-1);
}
