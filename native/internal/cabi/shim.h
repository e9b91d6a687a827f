/* The C side of package cabi: one function per call that Go makes, each of which crosses the boundary once.
 *
 * Go cannot call a C function pointer, and some functions of the ABI pass structs by value; these shims do both. They
 * also check that a function is there, take and release the error object, and count live handles. */
#ifndef TRTMC_CABI_SHIM_H
#define TRTMC_CABI_SHIM_H

#include <stddef.h>

#include "trtmc_abi.h"

enum {
	CABI_MISSING = -1,     /* the table lacks a function; the message names it */
	CABI_NO_RESULT = -2,   /* status OK, but no result came with it */
	CABI_MESSAGE_CAP = 4096, /* bytes of a native message that are kept */
};

enum {
	CABI_STAGE_CALL = 0, /* the function that does the work */
	CABI_STAGE_VIEW = 1, /* reading its result */
};

/* What one call takes and gives. Lives in C memory, so it may hold pointers to C memory and to other frames. */
typedef struct cabi_frame {
	const trtmc_core_api_v1* core;
	trtmc_model* model;
	const trtmc_api_header* api;        /* Task table, or stream table for next */
	const trtmc_config_view_v1* config; /* NULL: no overrides */

	trtmc_status status;
	uint32_t stage;
	uint32_t message_size;
	trtmc_result* result; /* owned by the frame until taken or dropped */
	void* handle;         /* stream or bundle that a call made or uses */
	int64_t timeout_ms;
	uint64_t count;
	uint64_t index;
	float* scores; /* where a scorer's result is copied, room for scores_room */
	uint64_t scores_room;

	trtmc_text_continuation_request_v1 text_in;
	trtmc_text_conversation_request_v1 conversation_in;
	trtmc_text_pair_to_relevance_request_v1 pair_in;
	trtmc_text_query_documents_to_relevance_request_v1 documents_in;
	trtmc_text_to_embedding_request_v1 embedding_in;
	trtmc_text_to_video_request_v1 video_in;
	trtmc_batch_text_to_video_request_v1 videos_in;

	trtmc_text_result_view_v1 text_out;
	trtmc_conversation_result_view_v1 conversation_out;
	trtmc_relevance_view_v1 pair_out;
	trtmc_document_relevance_view_v1 documents_out;
	trtmc_semantic_embedding_view_v1 embedding_out;
	trtmc_video_result_view_v1 video_out;
	trtmc_text_stream_event_view_v1 text_event;
	trtmc_conversation_stream_event_view_v1 conversation_event;
	trtmc_model_info_v1 model_info;
	trtmc_task_info_v1 task_info;
	trtmc_config_field_v1 field;
	trtmc_bundle_info_v1 bundle_info;
	trtmc_bytes_view bytes;

	char message[CABI_MESSAGE_CAP];
} cabi_frame;

typedef struct cabi_counts {
	int64_t models, results, streams, bundles, blocks;
} cabi_counts;

/* status.c */
int cabi_need(cabi_frame* f, int present, const char* function);
void cabi_settle(cabi_frame* f, trtmc_error** error);
int cabi_keep(cabi_frame* f, trtmc_result* result);
void cabi_drop(cabi_frame* f);
void cabi_result_release(const trtmc_core_api_v1* core, trtmc_result* result);
void cabi_live(cabi_counts* out);
void cabi_count_model(int64_t n);
void cabi_count_result(int64_t n);
void cabi_count_stream(int64_t n);
void cabi_count_bundle(int64_t n);
void* cabi_block(size_t size);
void cabi_block_free(void* p);

/* load.c: on failure *text is a message of static or library storage copied into buf (cap bytes, NUL-terminated). */
enum { CABI_OPENED = 0, CABI_NO_LIBRARY = 1, CABI_NO_SYMBOL = 2, CABI_REFUSED = 3, CABI_NO_TABLE = 4 };
typedef struct cabi_opened {
	const trtmc_core_api_v1* core;
	int32_t outcome;
	trtmc_status status; /* of CABI_REFUSED */
	uint32_t offered_major, offered_minor; /* of CABI_REFUSED: a version that the runtime does answer, 0.0 if none found */
	char text[CABI_MESSAGE_CAP];
} cabi_opened;
void cabi_open_library(const char* path, cabi_opened* out);
void cabi_open_entry(void* entry, cabi_opened* out);
trtmc_string_view cabi_runtime_version(const trtmc_core_api_v1* core);

/* model.c */
void cabi_model_load(cabi_frame* f, trtmc_string_view path, const trtmc_load_options_v1* options);
void cabi_model_release(const trtmc_core_api_v1* core, trtmc_model* model);
void cabi_model_info(cabi_frame* f);
void cabi_model_task_count(cabi_frame* f);
void cabi_model_task_info(cabi_frame* f);
void cabi_model_get_task_api(cabi_frame* f, trtmc_string_view task, uint32_t major, uint32_t minor);
void cabi_config_field_count(cabi_frame* f, trtmc_string_view task, uint32_t major, uint32_t minor);
void cabi_config_field_info(cabi_frame* f, trtmc_string_view task, uint32_t major, uint32_t minor);
void cabi_model_get_lora_api(cabi_frame* f);

/* bundle.c: the bundle is f->handle. */
void cabi_bundle_open(cabi_frame* f, trtmc_string_view path);
void cabi_bundle_release(const trtmc_core_api_v1* core, void* bundle);
void cabi_bundle_info(cabi_frame* f);
void cabi_bundle_read_section(cabi_frame* f, trtmc_string_view name);

/* run.c: f->api is the Task table, the request is in f->..._in, the answer in f->..._out. The functions whose answer
 * is by value or copied (pair, documents) keep no result; the others leave it in f->result. */
void cabi_text_run(cabi_frame* f);
void cabi_conversation_run(cabi_frame* f);
void cabi_pair_run(cabi_frame* f);
void cabi_documents_run(cabi_frame* f, const char* base);
void cabi_embedding_run(cabi_frame* f);
void cabi_video_run(cabi_frame* f);
void cabi_videos_run(cabi_frame* f);
void cabi_videos_item(cabi_frame* f);

/* stream.c: the stream is f->handle; next drops the event before and leaves the new one in f->result. */
void cabi_text_start(cabi_frame* f);
void cabi_text_next(cabi_frame* f);
trtmc_status cabi_text_cancel(const trtmc_core_api_v1* core, const trtmc_text_stream_api_v1* api, void* stream);
void cabi_text_release(const trtmc_text_stream_api_v1* api, void* stream);
void cabi_conversation_start(cabi_frame* f);
void cabi_conversation_next(cabi_frame* f);
trtmc_status cabi_conversation_cancel(const trtmc_core_api_v1* core, const trtmc_conversation_stream_api_v1* api, void* stream);
void cabi_conversation_release(const trtmc_conversation_stream_api_v1* api, void* stream);

/* bench.c: the C end of the benchmarks. Both read the first byte of each view. */
uint64_t cabi_bench_documents(cabi_frame* f, const char* base);
uint64_t cabi_bench_strings(const trtmc_string_view* views, uint64_t n);

#endif
