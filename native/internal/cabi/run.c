#include "shim.h"

#include <string.h>

/* One Task call: run, keep the result, read its view. Returns 1 when the view in out is good. */
#define CALL(table, in, out)                                                                          \
	const table* api = (const table*)f->api;                                                          \
	trtmc_error* error = NULL;                                                                        \
	trtmc_result* result = NULL;                                                                      \
	if (!cabi_need(f, api->run != NULL, "run") ||                                                     \
	    !cabi_need(f, api->result_view != NULL, "result_view") ||                                     \
	    !cabi_need(f, f->core->result_release != NULL, "result_release"))                             \
		return 0;                                                                                     \
	f->status = api->run(f->model, &f->in, f->config, &result, &error);                               \
	cabi_settle(f, &error);                                                                           \
	if (!cabi_keep(f, result))                                                                        \
		return 0;                                                                                     \
	f->stage = CABI_STAGE_VIEW;                                                                       \
	f->status = api->result_view(result, &f->out, &error);                                            \
	cabi_settle(f, &error);                                                                           \
	if (f->status != TRTMC_OK)                                                                        \
		cabi_drop(f);                                                                                 \
	return f->status == TRTMC_OK;

static int text(cabi_frame* f) { CALL(trtmc_text_continuation_api_v1, text_in, text_out) }
static int conversation(cabi_frame* f) { CALL(trtmc_text_conversation_api_v1, conversation_in, conversation_out) }
static int pair(cabi_frame* f) { CALL(trtmc_text_pair_to_relevance_api_v1, pair_in, pair_out) }
static int documents(cabi_frame* f) { CALL(trtmc_text_query_documents_to_relevance_api_v1, documents_in, documents_out) }
static int embedding(cabi_frame* f) { CALL(trtmc_text_to_embedding_api_v1, embedding_in, embedding_out) }
static int video(cabi_frame* f) { CALL(trtmc_text_to_video_api_v1, video_in, video_out) }

void cabi_text_run(cabi_frame* f) { text(f); }
void cabi_conversation_run(cabi_frame* f) { conversation(f); }
void cabi_embedding_run(cabi_frame* f) { embedding(f); }
void cabi_video_run(cabi_frame* f) { video(f); }

void cabi_pair_run(cabi_frame* f)
{
	if (pair(f))
		cabi_drop(f);
}

/* With base, the documents' data are offsets from it: Go hands over its own buffer for the time of this call, and no
 * pointer to it stays behind. */
void cabi_documents_run(cabi_frame* f, const char* base)
{
	trtmc_string_view* views = (trtmc_string_view*)f->documents_in.documents.data;
	uint64_t n = f->documents_in.documents.size;
	for (uint64_t i = 0; base && i < n; i++)
		views[i].data = base + (uintptr_t)views[i].data;
	int ok = documents(f);
	if (base)
		memset(views, 0, n * sizeof *views);
	if (!ok)
		return;
	const trtmc_document_relevance_view_v1* out = &f->documents_out;
	if (out->count == f->scores_room && out->count && out->scores)
		memcpy(f->scores, out->scores, out->count * sizeof *f->scores);
	cabi_drop(f);
}

void cabi_videos_run(cabi_frame* f)
{
	const trtmc_batch_text_to_video_api_v1* api = (const trtmc_batch_text_to_video_api_v1*)f->api;
	trtmc_error* error = NULL;
	trtmc_result* result = NULL;
	if (!cabi_need(f, api->run != NULL, "run") || !cabi_need(f, api->result_count != NULL, "result_count") ||
	    !cabi_need(f, api->result_item_view != NULL, "result_item_view") ||
	    !cabi_need(f, f->core->result_release != NULL, "result_release"))
		return;
	f->status = api->run(f->model, &f->videos_in, &result, &error);
	cabi_settle(f, &error);
	if (!cabi_keep(f, result))
		return;
	f->stage = CABI_STAGE_VIEW;
	f->status = api->result_count(result, &f->count, &error);
	cabi_settle(f, &error);
	if (f->status != TRTMC_OK)
		cabi_drop(f);
}

void cabi_videos_item(cabi_frame* f)
{
	const trtmc_batch_text_to_video_api_v1* api = (const trtmc_batch_text_to_video_api_v1*)f->api;
	trtmc_error* error = NULL;
	f->stage = CABI_STAGE_VIEW;
	f->status = api->result_item_view(f->result, f->index, &f->video_out, &error);
	cabi_settle(f, &error);
}
