/* The Task text_to_embedding: words, pairs of words and letter triples hashed into a vector of length 1. */
#include <math.h>
#include <stdio.h>

#include "ref_private.h"

typedef struct vector {
	double* v;
	size_t size;
	const trf_lm* lm;
	uint64_t last; /* the word before */
} vector;

static void add(vector* x, uint64_t feature, double weight) {
	uint64_t h = trf_mix(feature);
	x->v[(h >> 1) % x->size] += h & 1 ? weight : -weight;
}

static void add_word(void* user, uint64_t word) {
	vector* x = user;
	double weight = trf_lm_rarity(x->lm, word);
	add(x, word, weight);
	if (x->last) add(x, x->last * 31 + word, 0.5 * weight);
	x->last = word;
}

static unsigned char lower(char c) { return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); }

/* The role shifts every vector a little in its own direction, so that a query and a document with the same text are
 * close and yet not equal; the constant also keeps the vector of an empty text from being zero. */
static void embed(vector* x, trtmc_string_view text, uint32_t role) {
	add(x, 0x726F6C65u + role, 0.5);
	trf_words_of(text.data, (size_t)text.size, add_word, x);
	for (uint64_t i = 0; i + 2 < text.size; i++) {
		uint64_t triple = (uint64_t)lower(text.data[i]) << 16 | (uint64_t)lower(text.data[i + 1]) << 8 |
			lower(text.data[i + 2]);
		add(x, triple | 1ull << 40, 0.1);
	}
}

/* Copies the leading n numbers, scaled to length 1. */
static void normalise(const double* v, size_t n, float* out) {
	double sum = 0;
	for (size_t i = 0; i < n; i++) sum += v[i] * v[i];
	double scale = sum > 0 ? 1 / sqrt(sum) : 0;
	for (size_t i = 0; i < n; i++) out[i] = (float)(v[i] * scale);
	if (sum == 0) out[0] = 1; /* nothing fell into the leading numbers: any unit vector will do, always the same */
}

static bool fill(trtmc_model* m, const trtmc_text_to_embedding_request_v1* request, size_t keep, trtmc_result* r) {
	size_t n = (size_t)m->params.dimensions;
	char space[64];
	snprintf(space, sizeof space, "trtmc-reference/hashed-words/%zu/%zu", n, keep);
	vector x = {trf_arena_alloc(&r->arena, n * sizeof(double)), n, m->lm, 0};
	float* out = trf_arena_alloc(&r->arena, keep * sizeof *out);
	if (!x.v || !out || !trf_arena_text(&r->arena, trf_view(space), &r->as.embedding.embedding_space)) return false;
	embed(&x, request->text, request->role);
	normalise(x.v, keep, out);
	r->as.embedding.values = out;
	r->as.embedding.count = keep;
	r->as.embedding.pooling = trf_view("sum");
	r->as.embedding.normalization = trf_view("l2");
	return true;
}

static trtmc_status compute(trtmc_model* m, const trtmc_text_to_embedding_request_v1* request, size_t keep,
	trtmc_result** out, trtmc_error** error) {
	trf_call call;
	trtmc_result* r = NULL;
	if (trf_call_begin(&call, m, TRF_EMBEDDING, NULL) && trf_call_setup(&call)) {
		r = trf_result_new(TRF_RESULT_EMBEDDING);
		if (r && fill(m, request, keep, r))
			trf_call_spend(&call, m->params.timing.document_us * 1e3);
		else
			trf_call_out_of_memory(&call);
	}
	trtmc_status st = trf_call_end(&call, error);
	if (st == TRTMC_OK)
		*out = r;
	else
		trf_result_release(r);
	return st;
}

static trtmc_status run(trtmc_model* m, const trtmc_text_to_embedding_request_v1* request,
	const trtmc_config_view_v1* view, trtmc_result** out, trtmc_error** error) {
	if (out) *out = NULL;
	if (!error) return TRTMC_INVALID_ARGUMENT;
	*error = NULL;
	if (!m || !request || !out)
		return trf_fail(error, TRTMC_INVALID_ARGUMENT, "the model, the request or the output pointer is NULL");
	if (!trf_span_ok(request->text.data, request->text.size, 1))
		return trf_fail(error, TRTMC_INVALID_ARGUMENT, "text: malformed string view");
	if (request->role > TRTMC_EMBEDDING_DOCUMENT)
		return trf_fail(
			error, TRTMC_INVALID_ARGUMENT, "role %u; it must be 0 (default), 1 (query) or 2 (document)", request->role);
	trf_config config;
	trtmc_status st = trf_config_wire(view, "", error);
	if (st == TRTMC_OK) st = trf_model_begin(m, TRF_EMBEDDING, error);
	if (st != TRTMC_OK) return st;
	st = trf_config_read(&m->params, TRF_EMBEDDING, view, "", &config, error);
	if (st == TRTMC_OK) {
		int64_t keep = trf_config_i64(&config, TRF_F_DIMENSIONS, m->params.dimensions);
		if (keep < 8 || keep > m->params.dimensions)
			st = trf_fail(error, TRTMC_INVALID_CONFIG, "config \"dimensions\" is %lld; it must be 8 to %lld",
				(long long)keep, (long long)m->params.dimensions);
		else
			st = compute(m, request, (size_t)keep, out, error);
	}
	trf_model_end(m);
	return st;
}

static trtmc_status result_view(
	const trtmc_result* result, trtmc_semantic_embedding_view_v1* out, trtmc_error** error) {
	trtmc_status st = trf_view_begin(result, TRF_RESULT_EMBEDDING, out, sizeof *out, error);
	if (st == TRTMC_OK) *out = result->as.embedding;
	return st;
}

const trtmc_text_to_embedding_api_v1 trf_embedding_api = {
	.header = TRF_TASK_HEADER(trtmc_text_to_embedding_api_v1),
	.run = run,
	.result_view = result_view,
};
