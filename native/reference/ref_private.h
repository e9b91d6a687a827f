/* What the files of the reference runtime share. Every name with external linkage starts with trf_ and is hidden. */
#ifndef TRTMC_REF_PRIVATE_H
#define TRTMC_REF_PRIVATE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "trtmc_reference.h"

#pragma GCC visibility push(hidden)

/* ---- ref_memory.c: allocation that can fail in tests, arenas, growing buffers ---- */

void* trf_alloc(size_t size); /* zeroed; NULL when out of memory */
void trf_free(void* p);

/* An arena frees everything at once. The zero value is empty and ready. */
typedef struct trf_arena {
	struct trf_block* blocks;
} trf_arena;

void* trf_arena_alloc(trf_arena* a, size_t size); /* zeroed, aligned for any type */
void* trf_arena_copy(trf_arena* a, const void* data, size_t size);
bool trf_arena_text(trf_arena* a, trtmc_string_view text, trtmc_string_view* out); /* false when out of memory */
void trf_arena_free(trf_arena* a);

/* A growing byte buffer. The zero value is empty and ready; failed stays set once memory ran out. */
typedef struct trf_buffer {
	char* data;
	size_t size, capacity;
	bool failed;
} trf_buffer;

void trf_buffer_add(trf_buffer* b, const void* data, size_t size);
void trf_buffer_text(trf_buffer* b, const char* text);
void trf_buffer_free(trf_buffer* b);

/* A growing list of token ids, in the same manner. */
typedef struct trf_ids {
	int32_t* data;
	size_t size, capacity;
	bool failed;
} trf_ids;

void trf_ids_add(trf_ids* v, int32_t id);
void trf_ids_free(trf_ids* v);

enum trf_counter { TRF_MODELS, TRF_RESULTS, TRF_ERRORS, TRF_BUNDLES, TRF_STREAMS, TRF_COUNTERS };
void trf_count(enum trf_counter which, int delta);

/* ---- ref_error.c ---- */

#define TRF_PRINTF(f, a) __attribute__((format(printf, f, a)))

/* Sets *error to a new object (NULL when memory ran out) and returns status. */
trtmc_status trf_fail(trtmc_error** error, trtmc_status status, const char* format, ...) TRF_PRINTF(3, 4);
trtmc_status trf_fail_bytes(trtmc_error** error, trtmc_status status, const char* message, size_t size);
trtmc_status trf_out_of_memory(trtmc_error** error);

/* A piece of a caller's text made fit for a message: printable, at most about 80 bytes. */
typedef struct trf_shown {
	char text[96];
} trf_shown;
trf_shown trf_show(trtmc_string_view v);

trtmc_status trf_error_code(const trtmc_error* error);
trtmc_string_view trf_error_message(const trtmc_error* error);
void trf_error_release(trtmc_error* error);

/* ---- ref_view.c: checks of what callers hand in ---- */

static inline trtmc_string_view trf_view(const char* text) { return (trtmc_string_view){text, strlen(text)}; }
static inline bool trf_equal(trtmc_string_view a, trtmc_string_view b) {
	return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, (size_t)a.size) == 0);
}
static inline bool trf_is(trtmc_string_view a, const char* text) { return trf_equal(a, trf_view(text)); }
bool trf_span_ok(const void* data, uint64_t count, size_t element); /* no NULL with a count, no overflow */
bool trf_strings_ok(trtmc_strings_view v);
bool trf_utf8_ok(const char* data, size_t size);
uint64_t trf_hash(const void* data, size_t size, uint64_t seed);
uint64_t trf_mix(uint64_t x);

/* ---- ref_json.c ---- */

typedef enum trf_json_kind { TRF_NULL, TRF_BOOL, TRF_NUMBER, TRF_STRING, TRF_ARRAY, TRF_OBJECT } trf_json_kind;

typedef struct trf_json {
	trf_json_kind kind;
	bool boolean;
	bool integral; /* the number is written without fraction and exponent and fits int64 */
	int64_t integer;
	double number;
	trtmc_string_view text; /* TRF_STRING; arena memory */
	trtmc_string_view key;  /* member of an object */
	struct trf_json* first; /* children of arrays and objects */
	struct trf_json* next;
	size_t count;
} trf_json;

/* Parses strictly (RFC 8259, UTF-8, no doubled keys, depth at most 64, nothing after the value). Returns NULL with
 * *why set to a static text, or to NULL when memory ran out; *at is the byte where it stopped. */
trf_json* trf_json_parse(trf_arena* a, const char* text, size_t size, const char** why, size_t* at);
const trf_json* trf_json_get(const trf_json* object, const char* key); /* NULL when absent */
void trf_json_quote(trf_buffer* out, trtmc_string_view text);          /* appends a JSON string */

/* ---- ref_timing.c ---- */

int64_t trf_now(void); /* CLOCK_MONOTONIC in nanoseconds */
void trf_sleep_until(int64_t due);
void trf_cond_init(pthread_cond_t* cond); /* for trf_cond_wait_until */
/* Waits until signalled or due; false when due has come. */
bool trf_cond_wait_until(pthread_cond_t* cond, pthread_mutex_t* lock, int64_t due);
uint64_t trf_thread_id(void);

/* ---- results ---- */

typedef enum trf_result_kind {
	TRF_RESULT_BYTES = 1,
	TRF_RESULT_TEXT,
	TRF_RESULT_CONVERSATION,
	TRF_RESULT_PAIR,
	TRF_RESULT_SCORES,
	TRF_RESULT_EMBEDDING,
	TRF_RESULT_VIDEO,
	TRF_RESULT_VIDEOS,
	TRF_RESULT_TEXT_EVENT,
	TRF_RESULT_CONVERSATION_EVENT,
} trf_result_kind;

struct trtmc_result {
	trf_result_kind kind;
	trf_arena arena;
	union {
		trtmc_bytes_view bytes;
		trtmc_text_result_view_v1 text;
		trtmc_conversation_result_view_v1 conversation;
		trtmc_relevance_view_v1 pair;
		trtmc_document_relevance_view_v1 scores;
		trtmc_semantic_embedding_view_v1 embedding;
		struct {
			trtmc_video_result_view_v1* items;
			uint64_t count;
		} videos; /* TRF_RESULT_VIDEO has one */
		trtmc_text_stream_event_view_v1 text_event;
		trtmc_conversation_stream_event_view_v1 conversation_event;
	} as;
};

trtmc_result* trf_result_new(trf_result_kind kind);
void trf_result_release(trtmc_result* result);
/* The checks that every view function shares: clears size bytes at out, then judges the arguments. */
trtmc_status trf_view_begin(const trtmc_result* result, trf_result_kind kind, void* out, size_t size, trtmc_error** error);

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

enum { TRF_GROUP_TEXT = 1, TRF_GROUP_CONVERSATION = 2, TRF_GROUP_RELEVANCE = 4, TRF_GROUP_EMBEDDING = 8, TRF_GROUP_VIDEO = 16 };

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
trtmc_status trf_config_read(const trf_params* p, trf_task_id task, const trtmc_config_view_v1* view, const char* prefix, trf_config* out, trtmc_error** error);
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
trtmc_status trf_bundle_read_section(const trtmc_bundle* bundle, trtmc_string_view name, trtmc_result** out, trtmc_error** error);
trtmc_status trf_bytes_result_view(const trtmc_result* result, trtmc_bytes_view* out, trtmc_error** error);
trtmc_status trf_path_check(trtmc_string_view path, const char* what, bool may_be_empty, trtmc_error** error);

/* ---- ref_model.c ---- */

struct trf_lm;

struct trtmc_model {
	trf_arena arena;
	int64_t references;    /* the handle and each stream; atomic */
	trtmc_string_view family, backend, bundle_task;
	trf_params params;
	const struct trf_lm* lm;
	pthread_mutex_t lock;  /* held by a run while it executes */
	bool streaming;        /* a live stream owns the model; under lock */
	int64_t calls;         /* Task calls so far, for fail_every; under lock */
};

void trf_model_unref(trtmc_model* model);
bool trf_model_declares(const trtmc_model* model, trf_task_id task);
/* Takes the lock, then answers BUSY or UNSUPPORTED with the lock released again. OK keeps the lock. */
trtmc_status trf_model_begin(trtmc_model* model, trf_task_id task, trtmc_error** error);
void trf_model_end(trtmc_model* model);

trtmc_status trf_model_load(trtmc_string_view path, const trtmc_load_options_v1* options, trtmc_model** out, trtmc_error** error);
void trf_model_release(trtmc_model* model);
trtmc_status trf_model_info(const trtmc_model* model, trtmc_model_info_v1* out, trtmc_error** error);
trtmc_status trf_model_task_count(const trtmc_model* model, uint64_t* out, trtmc_error** error);
trtmc_status trf_model_task_info(const trtmc_model* model, uint64_t index, trtmc_task_info_v1* out, trtmc_error** error);
trtmc_status trf_model_get_task_api(const trtmc_model* model, trtmc_string_view task, uint32_t major, uint32_t minor, const trtmc_api_header** out, trtmc_error** error);
trtmc_status trf_config_field_count(const trtmc_model* model, trtmc_string_view task, uint32_t major, uint32_t minor, uint64_t* out, trtmc_error** error);
trtmc_status trf_config_field_info(const trtmc_model* model, trtmc_string_view task, uint32_t major, uint32_t minor, uint64_t index, trtmc_config_field_v1* out, trtmc_error** error);
trtmc_status trf_model_get_lora_api(const trtmc_model* model, uint32_t major, uint32_t minor, const trtmc_lora_api_v1** out, trtmc_error** error);

/* ---- ref_call.c: one Task call, its pace, its faults and the hook ---- */

struct trf_stream;

typedef struct trf_call {
	trtmc_model* model;
	trf_task_id task;
	struct trf_stream* stream; /* NULL for a one-shot call */
	int64_t start;             /* instants in nanoseconds */
	int64_t due;               /* until when the modelled work lasts */
	int64_t setup_end, prefill_end;
	trtmc_status status;       /* of the failure, with its message */
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

void trf_hook_call(const trtmc_model* model, trf_task_id task, uint32_t phase, trtmc_status status, trtmc_reference_action* action);

/* ---- ref_corpus_speech.c, ref_corpus_prose.c, ref_words.c ---- */

extern const char* const trf_corpus_speech[];
extern const char* const trf_corpus_prose[];
extern const char* const trf_words[];
extern const char* const trf_affixes[];

/* ---- ref_lm.c, ref_ngram.c, ref_sample.c: tokens and the language model ---- */

enum { TRF_END_TOKEN = 0, TRF_BYTE_TOKEN = 1, TRF_WORD_TOKEN = 257, TRF_ORDER = 4 };

typedef struct trf_lm {
	trf_arena arena;
	trtmc_string_view* tokens; /* text of each token; empty for TRF_END_TOKEN */
	int32_t token_count;
	int32_t corpus_tokens;     /* tokens below this id may be generated */
	int32_t* slots;            /* hash table of token ids + 1; 0 is free */
	size_t longest;            /* bytes of the longest token */
	trf_ids text;              /* the corpus as tokens, TRF_END_TOKEN between documents */
	int32_t* order;            /* positions of text sorted by the tokens before them, nearest first */
	int32_t* counts;           /* how often each token stands in text */
	struct trf_word_counts* words; /* paragraphs by word */
} trf_lm;

/* The one model of the process, built when first asked for; NULL when memory ran out (the next call tries again). */
const trf_lm* trf_lm_get(void);
void trf_lm_tokenize(const trf_lm* lm, const char* text, size_t size, trf_ids* out);
bool trf_lm_index(trf_lm* lm); /* ref_ngram.c: fills order and counts */

/* ref_rarity.c: lower-case words of a text, by hash, and how rare they are */
typedef void (*trf_visit)(void* user, uint64_t word);
void trf_words_of(const char* text, size_t size, trf_visit visit, void* user);
bool trf_lm_count_words(trf_lm* lm);
double trf_lm_rarity(const trf_lm* lm, uint64_t word); /* inverse document frequency over the corpus' paragraphs */

typedef struct trf_sampling {
	double temperature, top_p, min_p;
	int64_t top_k;
	uint64_t random;           /* state of the generator */
	double weights[TRF_ORDER]; /* of the 1-gram to the 4-gram; all zero: from the context */
} trf_sampling;

typedef struct trf_candidate {
	double p;
	int32_t id;
} trf_candidate;

typedef struct trf_scratch {
	double* p;     /* probability of each corpus token */
	double* topic; /* probability by the rare words of the prompt */
	int32_t* mark; /* in which round a token was last seen */
	int32_t round;
	trf_candidate* candidates;
	bool has_topic;
} trf_scratch;

bool trf_scratch_init(trf_scratch* s, trf_arena* a, const trf_lm* lm, const int32_t* prompt, size_t size);
/* Fills s->p with the distribution after history (its last three tokens matter). */
void trf_lm_predict(const trf_lm* lm, trf_scratch* s, const double weights[TRF_ORDER], const int32_t* history, size_t size);
/* Picks from s->p; not TRF_END_TOKEN when allow_end is false. */
int32_t trf_sample(const trf_lm* lm, trf_scratch* s, trf_sampling* how, bool allow_end);

/* ---- ref_generate.c: options and the loop both text Task families use ---- */

typedef struct trf_options {
	int64_t max_new_tokens, min_tokens, eos_token_id, stop_check_interval;
	bool ignore_eos, use_chat_template, enable_thinking, stop_on_boxed_answer;
	trtmc_i64_view stop_token_ids;
	trtmc_strings_view stop_strings;
	trf_sampling sampling;
	trf_arena arena; /* holds copies, so that a stream may outlive the request */
} trf_options;

trtmc_status trf_options_read(trf_options* o, const trtmc_model* model, const trf_config* config, trtmc_error** error);
trtmc_status trf_options_fit(const trf_options* o, const trtmc_model* model, size_t prompt_tokens, trtmc_error** error);
void trf_options_free(trf_options* o);

/* Takes what is new: text that will not be taken back, and the token behind it (-1: none). False ends generation. */
typedef bool (*trf_emit)(void* user, trtmc_string_view text, int32_t token);

typedef struct trf_generation {
	trf_call* call;
	const trf_options* options;
	const trf_ids* prompt;
	int64_t budget;          /* most new tokens */
	bool to_sentence_end;    /* ends after a full stop */
	trf_emit emit;
	void* user;
	trf_buffer text;         /* what was generated */
	trf_ids tokens;
	size_t emitted;          /* bytes of text that emit has seen */
	uint32_t finish;         /* TRTMC_FINISH_STOP or _LENGTH */
} trf_generation;

bool trf_prefill(trf_call* call, size_t tokens); /* spends their time; false: cancelled */
/* Generates, token by token, at the model's pace. False: the call failed, was cancelled or emit said no. */
bool trf_generate(trf_generation* g);
void trf_generation_free(trf_generation* g);

/* ---- ref_chat.c, ref_tool.c: what a conversation request says ---- */

typedef struct trf_tool_choice {
	trtmc_string_view name; /* empty: no tool is called */
	trtmc_string_view schema, message;
	uint64_t index; /* among the tools of the request */
} trf_tool_choice;

trtmc_status trf_chat_check(const trtmc_text_conversation_request_v1* request, trtmc_error** error);
/* Writes a checked request as one text, which the model continues. */
void trf_chat_render(const trtmc_text_conversation_request_v1* request, trf_buffer* out);
/* The first tool whose name the last message, a user's, contains. */
trf_tool_choice trf_tool_choose(const trtmc_text_conversation_request_v1* request);
/* Writes the call's arguments: each required property of the schema, filled from the message. */
trtmc_status trf_tool_arguments(const trf_tool_choice* choice, trf_buffer* out, trtmc_error** error);

/* ---- ref_scene.c: the moving picture of the video Tasks ---- */

enum { TRF_LATENT = 8 }; /* one latent stands for 8 by 8 pixels of a frame */

typedef struct trf_clip {
	int64_t width, height, frames, steps;
	double guidance_scale, fps; /* fps 0: no rate is declared */
	uint64_t look, avoid;       /* hashes of prompt and negative prompt; avoid 0: none */
	uint64_t seed;
	trtmc_f32_view latents;     /* empty: made from the seed */
} trf_clip;

typedef struct trf_scene trf_scene;

uint64_t trf_clip_latents(const trf_clip* clip); /* how many latents a clip has */
trf_scene* trf_scene_new(trf_arena* a, const trf_clip* clip); /* NULL when out of memory */
void trf_scene_paint(trf_scene* scene, int64_t frame, float* pixels); /* RGB, each sample in [0, 1] */

/* ---- ref_stream.c: one producer thread, a short queue, one reader ---- */

enum { TRF_QUEUE = 8 };

typedef struct trf_work {
	/* Runs on the producer thread: pushes events and leaves the COMPLETE event in *final. False: failed or cancelled. */
	bool (*produce)(void* self, trf_call* call, trtmc_result** final);
	void (*destroy)(void* self);
	trtmc_result* (*cancelled)(void); /* makes a CANCELLED event */
	void* self;
} trf_work;

typedef struct trf_stream trf_stream;

/* Starts a stream on a locked model and unlocks it. Takes work over in every case. */
trtmc_status trf_stream_start(trtmc_model* model, trf_task_id task, trf_work work, trf_stream** out, trtmc_error** error);
bool trf_stream_push(trf_call* call, trtmc_result* event); /* takes event; false: cancelled */
bool trf_stream_wait_until(trf_stream* s, int64_t due);    /* false: cancelled */
void trf_stream_wait_cancelled(trf_stream* s);
trtmc_status trf_stream_next(trf_stream* s, int64_t timeout_ms, trtmc_result** out, trtmc_error** error);
trtmc_status trf_stream_cancel(trf_stream* s, trtmc_error** error);
void trf_stream_release(trf_stream* s);

/* ---- the Task tables ---- */

/* The headers of the tables. The macros are faults chosen when compiling, listed in ref_core.c. */
#ifndef TRTMC_FAULT_MAJOR
#define TRTMC_FAULT_MAJOR 1
#endif
#ifndef TRTMC_FAULT_MINOR
#define TRTMC_FAULT_MINOR 0
#endif
#ifndef TRTMC_FAULT_SHORT
#define TRTMC_FAULT_SHORT 0
#endif
#ifndef TRTMC_FAULT_TASK_MAJOR
#define TRTMC_FAULT_TASK_MAJOR 1
#endif
#ifndef TRTMC_FAULT_TASK_SHORT
#define TRTMC_FAULT_TASK_SHORT 0
#endif
#ifndef TRTMC_FAULT_STREAM_SHORT
#define TRTMC_FAULT_STREAM_SHORT 0
#endif
#ifndef TRTMC_FAULT_LONG
#define TRTMC_FAULT_LONG 0
#endif
#define TRF_CORE_HEADER(type) {TRTMC_FAULT_MAJOR, TRTMC_FAULT_MINOR, sizeof(type) - TRTMC_FAULT_SHORT + TRTMC_FAULT_LONG}
#define TRF_TASK_HEADER(type) {TRTMC_FAULT_TASK_MAJOR, 0, sizeof(type) - TRTMC_FAULT_TASK_SHORT + TRTMC_FAULT_LONG}
#define TRF_STREAM_HEADER(type) {1, 0, sizeof(type) - TRTMC_FAULT_STREAM_SHORT + TRTMC_FAULT_LONG}

extern const trtmc_text_continuation_api_v1 trf_text_api;
extern const trtmc_streaming_text_continuation_api_v1 trf_text_stream_api;
extern const trtmc_text_conversation_api_v1 trf_conversation_api;
extern const trtmc_streaming_text_conversation_api_v1 trf_conversation_stream_api;
extern const trtmc_text_pair_to_relevance_api_v1 trf_pair_api;
extern const trtmc_text_query_documents_to_relevance_api_v1 trf_documents_api;
extern const trtmc_text_to_embedding_api_v1 trf_embedding_api;
extern const trtmc_text_to_video_api_v1 trf_video_api;
extern const trtmc_batch_text_to_video_api_v1 trf_video_batch_api;

#pragma GCC visibility pop

#endif
