#include "shim.h"

#define START(table, in, type)                                                \
	const table* api = (const table*)f->api;                                  \
	trtmc_error* error = NULL;                                                \
	type* stream = NULL;                                                      \
	if (!cabi_need(f, api->start != NULL, "start") ||                         \
	    !cabi_need(f, api->stream_api->next != NULL, "next") ||               \
	    !cabi_need(f, api->stream_api->event_view != NULL, "event_view") ||   \
	    !cabi_need(f, api->stream_api->cancel != NULL, "cancel") ||           \
	    !cabi_need(f, api->stream_api->release != NULL, "release") ||         \
	    !cabi_need(f, f->core->result_release != NULL, "result_release"))     \
		return;                                                               \
	f->status = api->start(f->model, &f->in, f->config, &stream, &error);     \
	cabi_settle(f, &error);                                                   \
	if (f->status == TRTMC_OK && !stream)                                     \
		f->status = CABI_NO_RESULT;                                           \
	if (f->status != TRTMC_OK)                                                \
		return;                                                               \
	f->handle = stream;                                                       \
	f->api = &api->stream_api->header;                                        \
	cabi_count_stream(1);

#define NEXT(table, out)                                                      \
	const table* api = (const table*)f->api;                                  \
	trtmc_error* error = NULL;                                                \
	trtmc_result* result = NULL;                                              \
	cabi_drop(f);                                                             \
	f->stage = CABI_STAGE_CALL;                                               \
	f->status = api->next(f->handle, f->timeout_ms, &result, &error);         \
	cabi_settle(f, &error);                                                   \
	if (!cabi_keep(f, result))                                                \
		return;                                                               \
	f->stage = CABI_STAGE_VIEW;                                               \
	f->status = api->event_view(result, &f->out, &error);                     \
	cabi_settle(f, &error);                                                   \
	if (f->status != TRTMC_OK)                                                \
		cabi_drop(f);

/* Cancel may run beside next, so it has no frame: its status is all that counts. */
#define CANCEL()                                                              \
	trtmc_error* error = NULL;                                                \
	trtmc_status status = api->cancel(stream, &error);                        \
	if (error && core->error_release)                                         \
		core->error_release(error);                                           \
	return status;

void cabi_text_start(cabi_frame* f) { START(trtmc_streaming_text_continuation_api_v1, text_in, trtmc_text_stream) }

void cabi_text_next(cabi_frame* f) { NEXT(trtmc_text_stream_api_v1, text_event) }

trtmc_status cabi_text_cancel(const trtmc_core_api_v1* core, const trtmc_text_stream_api_v1* api, void* stream)
{
	CANCEL()
}

void cabi_text_release(const trtmc_text_stream_api_v1* api, void* stream)
{
	api->release(stream);
	cabi_count_stream(-1);
}

void cabi_conversation_start(cabi_frame* f)
{
	START(trtmc_streaming_text_conversation_api_v1, conversation_in, trtmc_conversation_stream)
}

void cabi_conversation_next(cabi_frame* f) { NEXT(trtmc_conversation_stream_api_v1, conversation_event) }

trtmc_status cabi_conversation_cancel(const trtmc_core_api_v1* core, const trtmc_conversation_stream_api_v1* api, void* stream)
{
	CANCEL()
}

void cabi_conversation_release(const trtmc_conversation_stream_api_v1* api, void* stream)
{
	api->release(stream);
	cabi_count_stream(-1);
}
