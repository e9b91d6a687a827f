/* The ground of the reference runtime: memory, errors, views, JSON, time, results. Names with external linkage start
 * with trf_ and are hidden. */
#ifndef TRTMC_REF_BASE_H
#define TRTMC_REF_BASE_H

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
trtmc_status trf_view_begin(
	const trtmc_result* result, trf_result_kind kind, void* out, size_t size, trtmc_error** error);

#pragma GCC visibility pop

#endif
