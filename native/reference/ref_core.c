/* The core table, the list of Tasks, and the entry points. Faults of the tables are chosen when compiling:
 *   -DTRTMC_FAULT_MAJOR=2         the core table says major 2
 *   -DTRTMC_FAULT_MINOR=1         the core table says minor 1
 *   -DTRTMC_FAULT_SHORT=8         the core table's byte_size is 8 too small
 *   -DTRTMC_FAULT_LONG=8          every table's byte_size is 8 too large
 *   -DTRTMC_FAULT_NULL_SLOT=name  the core table's function name is NULL
 *   -DTRTMC_FAULT_TASK_MAJOR=2    the Task tables say major 2
 *   -DTRTMC_FAULT_TASK_SHORT=8    the Task tables' byte_size is 8 too small
 *   -DTRTMC_FAULT_STREAM_SHORT=8  the stream tables' byte_size is 8 too small
 *   -DTRTMC_FAULT_NULL_RUN        run of text_continuation is NULL
 *   -DTRTMC_FAULT_NO_API          get_api answers OK with a NULL table
 *   -DTRTMC_FAULT_NO_SYMBOL       the shared library does not export trtmc_get_api
 */
#include "ref_private.h"

#ifndef TRTMC_REFERENCE_VERSION
#define TRTMC_REFERENCE_VERSION "trtmc-reference/1.0"
#endif

static const trf_task tasks[] = {
	[TRF_TEXT] = {TRTMC_TASK_TEXT_CONTINUATION, TRF_GROUP_TEXT, &trf_text_api.header},
	[TRF_TEXT_STREAM] = {TRTMC_TASK_STREAMING_TEXT_CONTINUATION, TRF_GROUP_TEXT, &trf_text_stream_api.header},
	[TRF_CONVERSATION] = {TRTMC_TASK_TEXT_CONVERSATION, TRF_GROUP_CONVERSATION, &trf_conversation_api.header},
	[TRF_CONVERSATION_STREAM] = {TRTMC_TASK_STREAMING_TEXT_CONVERSATION, TRF_GROUP_CONVERSATION,
		&trf_conversation_stream_api.header},
	[TRF_PAIR] = {TRTMC_TASK_TEXT_PAIR_TO_RELEVANCE, TRF_GROUP_RELEVANCE, &trf_pair_api.header},
	[TRF_DOCUMENTS] = {TRTMC_TASK_TEXT_QUERY_DOCUMENTS_TO_RELEVANCE, TRF_GROUP_RELEVANCE, &trf_documents_api.header},
	[TRF_EMBEDDING] = {TRTMC_TASK_TEXT_TO_EMBEDDING, TRF_GROUP_EMBEDDING, &trf_embedding_api.header},
	[TRF_VIDEO] = {TRTMC_TASK_TEXT_TO_VIDEO, TRF_GROUP_VIDEO, &trf_video_api.header},
	[TRF_VIDEO_BATCH] = {TRTMC_TASK_BATCH_TEXT_TO_VIDEO, TRF_GROUP_VIDEO, &trf_video_batch_api.header},
};

const trf_task* trf_task_at(trf_task_id id) { return &tasks[id]; }

trf_task_id trf_task_find(trtmc_string_view id) {
	int i = 0;
	while (i < TRF_NO_TASK && !trf_is(id, tasks[i].id)) i++;
	return (trf_task_id)i;
}

static trtmc_string_view runtime_version(void) { return trf_view(TRTMC_REFERENCE_VERSION); }

/* There are no kernels to bring here: after its argument checks the call always answers UNSUPPORTED. */
static trtmc_status byok_load(const trtmc_byok_options_v1* options, trtmc_error** error) {
	if (!error) return TRTMC_INVALID_ARGUMENT;
	*error = NULL;
	if (!options) return trf_fail(error, TRTMC_INVALID_ARGUMENT, "the options are NULL");
	if (options->struct_size < sizeof *options)
		return trf_fail(error, TRTMC_INVALID_ARGUMENT, "byok options: struct_size is %llu; it must be at least %zu",
			(unsigned long long)options->struct_size, sizeof *options);
	trtmc_status st = trf_path_check(options->runtime_root, "byok options: runtime_root", true, error);
	if (st == TRTMC_OK) st = trf_path_check(options->library, "byok options: library", false, error);
	if (st == TRTMC_OK) st = trf_path_check(options->function, "byok options: function", false, error);
	if (st == TRTMC_OK) st = trf_path_check(options->kernel_name, "byok options: kernel_name", false, error);
	return st == TRTMC_OK ? trf_fail(error, TRTMC_UNSUPPORTED, "the reference runtime loads no kernels") : st;
}

#ifdef TRTMC_FAULT_NULL_SLOT
/* The later initializer of the same member wins, which is the point here. */
#pragma GCC diagnostic ignored "-Woverride-init"
#endif

static const trtmc_core_api_v1 core = {
	.header = TRF_CORE_HEADER(trtmc_core_api_v1),
	.runtime_version = runtime_version,
	.error_code = trf_error_code,
	.error_message = trf_error_message,
	.error_release = trf_error_release,
	.model_load = trf_model_load,
	.model_release = trf_model_release,
	.model_info = trf_model_info,
	.model_task_count = trf_model_task_count,
	.model_task_info = trf_model_task_info,
	.model_get_task_api = trf_model_get_task_api,
	.config_field_count = trf_config_field_count,
	.config_field_info = trf_config_field_info,
	.result_release = trf_result_release,
	.bundle_open = trf_bundle_open,
	.bundle_release = trf_bundle_release,
	.bundle_info = trf_bundle_info,
	.bundle_read_section = trf_bundle_read_section,
	.bytes_result_view = trf_bytes_result_view,
	.byok_load = byok_load,
	.model_get_lora_api = trf_model_get_lora_api,
#ifdef TRTMC_FAULT_NULL_SLOT
	.TRTMC_FAULT_NULL_SLOT = NULL,
#endif
};

trtmc_status trtmc_reference_get_api(uint32_t major, uint32_t minor, const trtmc_core_api_v1** out) {
	if (!out) return TRTMC_INVALID_ARGUMENT;
	*out = NULL;
	if (major != 1 || minor != 0) return TRTMC_VERSION_MISMATCH;
#ifndef TRTMC_FAULT_NO_API
	*out = &core;
#endif
	return TRTMC_OK;
}

#if defined(TRTMC_SHARED) && !defined(TRTMC_FAULT_NO_SYMBOL)
__attribute__((visibility("default"))) trtmc_status trtmc_get_api(
	uint32_t major, uint32_t minor, const trtmc_core_api_v1** out);

trtmc_status trtmc_get_api(uint32_t major, uint32_t minor, const trtmc_core_api_v1** out) {
	return trtmc_reference_get_api(major, minor, out);
}
#endif
