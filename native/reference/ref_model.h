/* What a bundle declares, the models loaded from it, the settings of a request, and one Task call. */
#ifndef TRTMC_REF_MODEL_H
#define TRTMC_REF_MODEL_H

#include "ref_base.h"

#pragma GCC visibility push(hidden)

/* ---- ref_params.c, ref_fields.c: what a bundle declares ---- */

enum { TRF_MAX_TASKS = 9, TRF_MAX_FIELDS = 32 };

typedef enum trf_task_id {
	TRF_TEXT,
	TRF_TEXT_STREAM,
	TRF_CONVERSATION,
	TRF_CONVERSATION_STREAM,
	TRF_PAIR,
	TRF_DOCUMENTS,
	TRF_EMBEDDING,
	TRF_VIDEO,
	TRF_VIDEO_BATCH,
	TRF_NO_TASK,
} trf_task_id;

typedef struct trf_task {
	const char* id;
	uint32_t group; /* TRF_GROUP_* */
	const trtmc_api_header* table;
} trf_task;

enum {
	TRF_GROUP_TEXT = 1,
	TRF_GROUP_CONVERSATION = 2,
	TRF_GROUP_RELEVANCE = 4,
	TRF_GROUP_EMBEDDING = 8,
	TRF_GROUP_VIDEO = 16
};

const trf_task* trf_task_at(trf_task_id id);
trf_task_id trf_task_find(trtmc_string_view id); /* TRF_NO_TASK when unknown */

/* Every field that some family understands; the order is that of the table in ref_fields.c. */
typedef enum trf_field_id {
	TRF_F_MAX_NEW_TOKENS,
	TRF_F_TEMPERATURE,
	TRF_F_TOP_K,
	TRF_F_TOP_P,
	TRF_F_MIN_P,
	TRF_F_SEED,
	TRF_F_EOS_TOKEN_ID,
	TRF_F_GENERATION_MODE,
	TRF_F_USE_CHAT_TEMPLATE,
	TRF_F_ENABLE_THINKING,
	TRF_F_STOP_ON_BOXED_ANSWER,
	TRF_F_STOP_CHECK_INTERVAL,
	TRF_F_REPETITION_PENALTY,
	TRF_F_IGNORE_EOS,
	TRF_F_MIN_TOKENS,
	TRF_F_STOP_TOKEN_IDS,
	TRF_F_STOP_STRINGS,
	TRF_F_INTERPOLATION,
	TRF_F_TRUNCATE,
	TRF_F_DIMENSIONS,
	TRF_F_WIDTH,
	TRF_F_HEIGHT,
	TRF_F_NUM_FRAMES,
	TRF_F_NUM_INFERENCE_STEPS,
	TRF_F_GUIDANCE_SCALE,
	TRF_F_NEGATIVE_PROMPT,
	TRF_F_FPS,
	TRF_FIELD_IDS,
} trf_field_id;

typedef struct trf_field {
	trf_field_id id;
	uint32_t groups;
	trtmc_config_field_v1 info;
} trf_field;

typedef struct trf_fault {
	trtmc_string_view kind; /* empty: none */
	trtmc_string_view message;
	int64_t after_tokens, every, ms;
} trf_fault;

typedef struct trf_params {
	trtmc_string_view family, bundle_task;
	trf_task_id tasks[TRF_MAX_TASKS];
	size_t task_count;
	trf_field fields[TRF_MAX_FIELDS];
	size_t field_count;
	struct {
		double setup_ms, prefill_us_per_token, decode_us_per_token, document_us, step_ms, frame_ms;
	} timing;
	struct {
		int64_t context_tokens, default_max_new_tokens, max_new_tokens;
	} text;
	int64_t max_document_tokens;
	int64_t dimensions;
	struct {
		int64_t width, height, frames, steps, max_pixels;
		double guidance_scale, fps;
	} video;
	trf_fault fault;
} trf_params;

/* Reads reference.json into p; its texts live in the arena. INTERNAL_ERROR with the reason when it is not right. */
trtmc_status trf_params_parse(trf_arena* a, const char* text, size_t size, trf_params* p, trtmc_error** error);
/* Adds the fields of the JSON list to p, which has its numbers already. */
trtmc_status trf_fields_parse(trf_arena* a, const trf_json* list, trf_params* p, trtmc_error** error);

/* ---- ref_config.c: settings of one request ---- */

typedef struct trf_config {
	const trtmc_config_value_v1* values[TRF_FIELD_IDS]; /* the caller's value, else the fixed default, else NULL */
} trf_config;

trtmc_status trf_config_wire(const trtmc_config_view_v1* view, const char* prefix, trtmc_error** error);
trtmc_status trf_config_read(const trf_params* p, trf_task_id task, const trtmc_config_view_v1* view,
	const char* prefix, trf_config* out, trtmc_error** error);
int64_t trf_config_i64(const trf_config* c, trf_field_id id, int64_t absent);
double trf_config_f64(const trf_config* c, trf_field_id id, double absent);
bool trf_config_bool(const trf_config* c, trf_field_id id, bool absent);
trtmc_string_view trf_config_string(const trf_config* c, trf_field_id id, const char* absent);
const trf_field* trf_config_field(const trf_params* p, trf_task_id task, uint64_t index);
uint64_t trf_config_count(const trf_params* p, trf_task_id task);

/* ---- ref_bundle.c ---- */

struct trtmc_bundle {
	trf_arena arena;
	char* path; /* absolute */
	trtmc_bundle_info_v1 info;
	uint64_t payload; /* file offset */
};

trtmc_status trf_bundle_open(trtmc_string_view path, trtmc_bundle** out, trtmc_error** error);
void trf_bundle_release(trtmc_bundle* bundle);
trtmc_status trf_bundle_info(const trtmc_bundle* bundle, trtmc_bundle_info_v1* out, trtmc_error** error);
trtmc_status trf_bundle_read_section(
	const trtmc_bundle* bundle, trtmc_string_view name, trtmc_result** out, trtmc_error** error);
trtmc_status trf_bytes_result_view(const trtmc_result* result, trtmc_bytes_view* out, trtmc_error** error);
trtmc_status trf_path_check(trtmc_string_view path, const char* what, bool may_be_empty, trtmc_error** error);

/* ---- ref_model.c ---- */

struct trf_lm;

struct trtmc_model {
	trf_arena arena;
	int64_t references; /* the handle and each stream; atomic */
	trtmc_string_view family, backend, bundle_task;
	trf_params params;
	const struct trf_lm* lm;
	pthread_mutex_t lock; /* held by a run while it executes */
	bool streaming;       /* a live stream owns the model; under lock */
	int64_t calls;        /* Task calls so far, for fail_every; under lock */
};

void trf_model_unref(trtmc_model* model);
bool trf_model_declares(const trtmc_model* model, trf_task_id task);
/* Takes the lock, then answers BUSY or UNSUPPORTED with the lock released again. OK keeps the lock. */
trtmc_status trf_model_begin(trtmc_model* model, trf_task_id task, trtmc_error** error);
void trf_model_end(trtmc_model* model);

trtmc_status trf_model_load(
	trtmc_string_view path, const trtmc_load_options_v1* options, trtmc_model** out, trtmc_error** error);
void trf_model_release(trtmc_model* model);
trtmc_status trf_model_info(const trtmc_model* model, trtmc_model_info_v1* out, trtmc_error** error);
trtmc_status trf_model_task_count(const trtmc_model* model, uint64_t* out, trtmc_error** error);
trtmc_status trf_model_task_info(
	const trtmc_model* model, uint64_t index, trtmc_task_info_v1* out, trtmc_error** error);
trtmc_status trf_model_get_task_api(const trtmc_model* model, trtmc_string_view task, uint32_t major, uint32_t minor,
	const trtmc_api_header** out, trtmc_error** error);
trtmc_status trf_config_field_count(const trtmc_model* model, trtmc_string_view task, uint32_t major, uint32_t minor,
	uint64_t* out, trtmc_error** error);
trtmc_status trf_config_field_info(const trtmc_model* model, trtmc_string_view task, uint32_t major, uint32_t minor,
	uint64_t index, trtmc_config_field_v1* out, trtmc_error** error);
trtmc_status trf_model_get_lora_api(
	const trtmc_model* model, uint32_t major, uint32_t minor, const trtmc_lora_api_v1** out, trtmc_error** error);

/* ---- ref_call.c: one Task call, its pace, its faults and the hook ---- */

struct trf_stream;

typedef struct trf_call {
	trtmc_model* model;
	trf_task_id task;
	struct trf_stream* stream; /* NULL for a one-shot call */
	int64_t start;             /* instants in nanoseconds */
	int64_t due;               /* until when the modelled work lasts */
	int64_t setup_end, prefill_end;
	trtmc_status status; /* of the failure, with its message */
	trtmc_error* error;
} trf_call;

/* Marks the begin of work: hook, then the faults that need no work. False: the call has failed. */
bool trf_call_begin(trf_call* call, trtmc_model* model, trf_task_id task, struct trf_stream* stream);
/* The modelled work takes ns more; sleeps until it would be done. False: cancelled. */
bool trf_call_spend(trf_call* call, double ns);
bool trf_call_setup(trf_call* call); /* spends setup time and notes its end */
bool trf_call_failed(trf_call* call, trtmc_status status, const char* format, ...) TRF_PRINTF(3, 4); /* returns false */
bool trf_call_out_of_memory(trf_call* call);
/* Calls the hook, whose wish may turn success into failure; returns the final status and hands the error over. */
trtmc_status trf_call_end(trf_call* call, trtmc_error** error);
bool trf_fault_is(const trtmc_model* model, const char* kind);
double trf_ms(int64_t from, int64_t to);

void trf_hook_call(
	const trtmc_model* model, trf_task_id task, uint32_t phase, trtmc_status status, trtmc_reference_action* action);

#pragma GCC visibility pop

#endif
