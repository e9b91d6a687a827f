/* Memory: allocation that tests can make fail, arenas, growing buffers, and the counters of live objects. */
#include <stdatomic.h>
#include <stdlib.h>

#include "ref_private.h"

static _Atomic int64_t live[TRF_COUNTERS];

void trf_count(enum trf_counter which, int delta) { atomic_fetch_add(&live[which], delta); }

void trtmc_reference_live(trtmc_reference_counts* out) {
	out->models = atomic_load(&live[TRF_MODELS]);
	out->results = atomic_load(&live[TRF_RESULTS]);
	out->errors = atomic_load(&live[TRF_ERRORS]);
	out->bundles = atomic_load(&live[TRF_BUNDLES]);
	out->streams = atomic_load(&live[TRF_STREAMS]);
}

#ifdef TRTMC_TEST_ALLOC
static _Atomic int64_t countdown;

void trtmc_reference_fail_allocation(int64_t n) { atomic_store(&countdown, n); }

static bool must_fail(void) { return atomic_load(&countdown) > 0 && atomic_fetch_sub(&countdown, 1) == 1; }
#else
static bool must_fail(void) { return false; }
#endif

void* trf_alloc(size_t size) {
	if (must_fail()) return NULL;
	return calloc(1, size ? size : 1);
}

void trf_free(void* p) { free(p); }

struct trf_block {
	struct trf_block* next;
	size_t used, size;
	max_align_t data[];
};

enum { BLOCK = 4000, ALIGN = sizeof(max_align_t) };

void* trf_arena_alloc(trf_arena* a, size_t size) {
	if (size > PTRDIFF_MAX - 2 * BLOCK) return NULL;
	size = (size + ALIGN - 1) / ALIGN * ALIGN;
	struct trf_block* b = a->blocks;
	if (!b || b->size - b->used < size) {
		size_t room = size > BLOCK ? size : BLOCK;
		b = trf_alloc(sizeof *b + room);
		if (!b) return NULL;
		b->size = room;
		b->next = a->blocks;
		a->blocks = b;
	}
	void* p = (char*)b->data + b->used;
	b->used += size;
	return p;
}

void* trf_arena_copy(trf_arena* a, const void* data, size_t size) {
	void* p = trf_arena_alloc(a, size);
	if (p && size) memcpy(p, data, size);
	return p;
}

bool trf_arena_text(trf_arena* a, trtmc_string_view text, trtmc_string_view* out) {
	char* copy = trf_arena_copy(a, text.data, (size_t)text.size);
	if (!copy) return false;
	*out = (trtmc_string_view){copy, text.size};
	return true;
}

void trf_arena_free(trf_arena* a) {
	while (a->blocks) {
		struct trf_block* next = a->blocks->next;
		trf_free(a->blocks);
		a->blocks = next;
	}
}

/* Makes room for more elements behind the first size; false when memory ran out. */
static bool grow(void** data, size_t size, size_t* capacity, size_t more, size_t element) {
	if (more <= *capacity - size) return true;
	if (more > PTRDIFF_MAX / element - size) return false;
	size_t want = size + more;
	size_t next = *capacity * 2 > want ? *capacity * 2 : want + 16;
	void* p = trf_alloc(next * element);
	if (!p) return false;
	if (size) memcpy(p, *data, size * element);
	trf_free(*data);
	*data = p;
	*capacity = next;
	return true;
}

void trf_buffer_add(trf_buffer* b, const void* data, size_t size) {
	void* p = b->data;
	if (b->failed || !grow(&p, b->size, &b->capacity, size, 1)) {
		b->failed = true;
		return;
	}
	b->data = p;
	if (size) memcpy(b->data + b->size, data, size);
	b->size += size;
}

void trf_buffer_text(trf_buffer* b, const char* text) { trf_buffer_add(b, text, strlen(text)); }

void trf_buffer_free(trf_buffer* b) {
	trf_free(b->data);
	*b = (trf_buffer){0};
}

void trf_ids_add(trf_ids* v, int32_t id) {
	void* p = v->data;
	if (v->failed || !grow(&p, v->size, &v->capacity, 1, sizeof *v->data)) {
		v->failed = true;
		return;
	}
	v->data = p;
	v->data[v->size++] = id;
}

void trf_ids_free(trf_ids* v) {
	trf_free(v->data);
	*v = (trf_ids){0};
}
