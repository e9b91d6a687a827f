/* The relevance Tasks: BM25 with document frequencies of the embedded corpus, so that the score of a document depends
 * on nothing but the query and itself. */
#include <math.h>
#include <stdlib.h>

#include "ref_private.h"

typedef struct query {
	trf_arena arena;
	const trf_lm* lm;
	uint64_t* words; /* distinct, ascending */
	double* rarity;
	int32_t* seen; /* in the document at hand */
	size_t count, capacity;
	double best;    /* what a document that is full of every word would score */
	int64_t length; /* words of the document at hand */
} query;

static void count_word(void* user, uint64_t word) {
	(void)word;
	((query*)user)->capacity++;
}

static void add_word(void* user, uint64_t word) {
	query* q = user;
	q->words[q->count++] = word;
}

static int ascending(const void* a, const void* b) {
	uint64_t x = *(const uint64_t*)a, y = *(const uint64_t*)b;
	return x < y ? -1 : x > y;
}

static const double saturation = 1.2, length_weight = 0.75, usual_length = 64;

static bool query_init(query* q, const trf_lm* lm, trtmc_string_view text) {
	*q = (query){.lm = lm};
	trf_words_of(text.data, (size_t)text.size, count_word, q);
	q->words = trf_arena_alloc(&q->arena, q->capacity * sizeof *q->words);
	q->rarity = trf_arena_alloc(&q->arena, q->capacity * sizeof *q->rarity);
	q->seen = trf_arena_alloc(&q->arena, q->capacity * sizeof *q->seen);
	if (!q->words || !q->rarity || !q->seen) return false;
	trf_words_of(text.data, (size_t)text.size, add_word, q);
	qsort(q->words, q->count, sizeof *q->words, ascending);
	size_t n = 0;
	for (size_t i = 0; i < q->count; i++) {
		if (n && q->words[n - 1] == q->words[i]) continue;
		q->words[n] = q->words[i];
		q->rarity[n] = trf_lm_rarity(lm, q->words[i]);
		q->best += q->rarity[n++] * (saturation + 1);
	}
	q->count = n;
	return true;
}

static void see(void* user, uint64_t word) {
	query* q = user;
	q->length++;
	const uint64_t* hit = q->count ? bsearch(&word, q->words, q->count, sizeof word, ascending) : NULL;
	if (hit) q->seen[hit - q->words]++;
}

/* A logit from -5 (no word of the query) towards 5. */
static float score(query* q, trtmc_string_view document) {
	memset(q->seen, 0, q->count * sizeof *q->seen);
	q->length = 0;
	trf_words_of(document.data, (size_t)document.size, see, q);
	double norm = saturation * (1 - length_weight + length_weight * (double)q->length / usual_length), sum = 0;
	for (size_t i = 0; i < q->count; i++)
		sum += q->rarity[i] * (double)q->seen[i] * (saturation + 1) / ((double)q->seen[i] + norm);
	return (float)(q->best > 0 ? 10 * sum / q->best - 5 : -5);
}

/* Cuts a document to the limit, or refuses it. index < 0: the only document. */
static trtmc_status fit(
	const trtmc_model* m, trtmc_string_view* document, int64_t index, bool cut, trtmc_error** error) {
	uint64_t limit = (uint64_t)m->params.max_document_tokens;
	if (limit == 0 || document->size <= limit) return TRTMC_OK; /* no token is shorter than a byte */
	trf_ids ids = {0};
	trf_lm_tokenize(m->lm, document->data, (size_t)document->size, &ids);
	bool failed = ids.failed;
	size_t n = ids.size, bytes = 0;
	for (size_t i = 0; i < n && i < limit; i++) bytes += (size_t)m->lm->tokens[ids.data[i]].size;
	trf_ids_free(&ids);
	if (failed) return trf_out_of_memory(error);
	if (n > limit && !cut) {
		if (index < 0)
			return trf_fail(error, TRTMC_INVALID_ARGUMENT,
				"document has %zu tokens; at most %llu are allowed unless truncate is END", n,
				(unsigned long long)limit);
		return trf_fail(error, TRTMC_INVALID_ARGUMENT,
			"documents[%lld] has %zu tokens; at most %llu are allowed unless truncate is END", (long long)index, n,
			(unsigned long long)limit);
	}
	document->size = bytes;
	return TRTMC_OK;
}

static trtmc_status read_truncate(const trf_config* c, bool* cut, trtmc_error** error) {
	trtmc_string_view v = trf_config_string(c, TRF_F_TRUNCATE, "NONE");
	*cut = trf_is(v, "END");
	if (*cut || trf_is(v, "NONE")) return TRTMC_OK;
	return trf_fail(
		error, TRTMC_INVALID_CONFIG, "config \"truncate\" is \"%s\"; it must be NONE or END", trf_show(v).text);
}

static trtmc_status score_all(trtmc_model* m, trtmc_string_view text, trtmc_strings_view documents, int64_t first_index,
	bool cut, float* scores, trtmc_error** error) {
	query q;
	trtmc_status st = query_init(&q, m->lm, text) ? TRTMC_OK : trf_out_of_memory(error);
	for (uint64_t i = 0; st == TRTMC_OK && i < documents.size; i++) {
		trtmc_string_view d = documents.data[i];
		st = fit(m, &d, first_index < 0 ? -1 : (int64_t)i, cut, error);
		if (st == TRTMC_OK) scores[i] = score(&q, d);
	}
	if (documents.size && trf_fault_is(m, "nan_score")) scores[0] = NAN;
	trf_arena_free(&q.arena);
	return st;
}

/* The work of both Tasks on a locked model: scores for all documents, in result memory. */
static trtmc_status compute(trtmc_model* m, trf_task_id task, trtmc_string_view text, trtmc_strings_view documents,
	bool cut, trtmc_result** out, trtmc_error** error) {
	trf_call call;
	trtmc_result* r = NULL;
	if (trf_call_begin(&call, m, task, NULL) && trf_call_setup(&call)) {
		r = trf_result_new(task == TRF_PAIR ? TRF_RESULT_PAIR : TRF_RESULT_SCORES);
		float* scores = r ? trf_arena_alloc(&r->arena, (size_t)documents.size * sizeof *scores) : NULL;
		if (!scores) {
			trf_call_out_of_memory(&call);
		} else {
			call.status = score_all(m, text, documents, task == TRF_PAIR ? -1 : 0, cut, scores, &call.error);
			if (call.status == TRTMC_OK)
				trf_call_spend(&call, (double)documents.size * m->params.timing.document_us * 1e3);
			bool shorter = documents.size && trf_fault_is(m, "short_scores");
			if (task == TRF_PAIR)
				r->as.pair = (trtmc_relevance_view_v1){scores[0], TRTMC_SCORE_LOGIT};
			else
				r->as.scores = (trtmc_document_relevance_view_v1){scores, documents.size - shorter, TRTMC_SCORE_LOGIT};
		}
	}
	trtmc_status st = trf_call_end(&call, error);
	if (st == TRTMC_OK)
		*out = r;
	else
		trf_result_release(r);
	return st;
}

/* From the checked request to the result: settings' wire, lock, declaration, settings, work. */
static trtmc_status call_task(trtmc_model* m, trf_task_id task, trtmc_string_view text, trtmc_strings_view documents,
	const trtmc_config_view_v1* view, trtmc_result** out, trtmc_error** error) {
	trf_config config;
	bool cut = false;
	trtmc_status st = trf_config_wire(view, "", error);
	if (st == TRTMC_OK) st = trf_model_begin(m, task, error);
	if (st != TRTMC_OK) return st;
	st = trf_config_read(&m->params, task, view, "", &config, error);
	if (st == TRTMC_OK) st = read_truncate(&config, &cut, error);
	if (st == TRTMC_OK) st = compute(m, task, text, documents, cut, out, error);
	trf_model_end(m);
	return st;
}

static trtmc_status begin(const trtmc_model* m, const void* request, trtmc_result** out, trtmc_error** error) {
	if (out) *out = NULL;
	if (!error) return TRTMC_INVALID_ARGUMENT;
	*error = NULL;
	if (m && request && out) return TRTMC_OK;
	return trf_fail(error, TRTMC_INVALID_ARGUMENT, "the model, the request or the output pointer is NULL");
}

static trtmc_status run_pair(trtmc_model* m, const trtmc_text_pair_to_relevance_request_v1* request,
	const trtmc_config_view_v1* config, trtmc_result** out, trtmc_error** error) {
	trtmc_status st = begin(m, request, out, error);
	if (st != TRTMC_OK) return st;
	if (!trf_span_ok(request->query.data, request->query.size, 1))
		return trf_fail(error, TRTMC_INVALID_ARGUMENT, "query: malformed string view");
	if (!trf_span_ok(request->document.data, request->document.size, 1))
		return trf_fail(error, TRTMC_INVALID_ARGUMENT, "document: malformed string view");
	return call_task(m, TRF_PAIR, request->query, (trtmc_strings_view){&request->document, 1}, config, out, error);
}

static trtmc_status run_documents(trtmc_model* m, const trtmc_text_query_documents_to_relevance_request_v1* request,
	const trtmc_config_view_v1* config, trtmc_result** out, trtmc_error** error) {
	trtmc_status st = begin(m, request, out, error);
	if (st != TRTMC_OK) return st;
	if (!trf_span_ok(request->query.data, request->query.size, 1))
		return trf_fail(error, TRTMC_INVALID_ARGUMENT, "query: malformed string view");
	if (!trf_strings_ok(request->documents))
		return trf_fail(error, TRTMC_INVALID_ARGUMENT, "documents: malformed list or string view");
	return call_task(m, TRF_DOCUMENTS, request->query, request->documents, config, out, error);
}

static trtmc_status pair_view(const trtmc_result* result, trtmc_relevance_view_v1* out, trtmc_error** error) {
	trtmc_status st = trf_view_begin(result, TRF_RESULT_PAIR, out, sizeof *out, error);
	if (st == TRTMC_OK) *out = result->as.pair;
	return st;
}

static trtmc_status documents_view(
	const trtmc_result* result, trtmc_document_relevance_view_v1* out, trtmc_error** error) {
	trtmc_status st = trf_view_begin(result, TRF_RESULT_SCORES, out, sizeof *out, error);
	if (st == TRTMC_OK) *out = result->as.scores;
	return st;
}

const trtmc_text_pair_to_relevance_api_v1 trf_pair_api = {
	.header = TRF_TASK_HEADER(trtmc_text_pair_to_relevance_api_v1),
	.run = run_pair,
	.result_view = pair_view,
};

const trtmc_text_query_documents_to_relevance_api_v1 trf_documents_api = {
	.header = TRF_TASK_HEADER(trtmc_text_query_documents_to_relevance_api_v1),
	.run = run_documents,
	.result_view = documents_view,
};
