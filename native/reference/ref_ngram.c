/* An interpolated 4-gram model. The corpus' positions are sorted by the tokens before them, so that all places with
 * the same last 1, 2 or 3 tokens are one range, found by bisection; what follows there is counted on the fly. */
#include <stdlib.h>

#include "ref_private.h"

/* Token number back (1 is the nearest) before position at. */
static int32_t before(const trf_lm* lm, int32_t at, int back) {
	return at >= back ? lm->text.data[at - back] : TRF_END_TOKEN;
}

static int compare_contexts(const trf_lm* lm, int32_t a, int32_t b) {
	for (int back = 1; back < TRF_ORDER; back++) {
		int32_t x = before(lm, a, back), y = before(lm, b, back);
		if (x != y) return x < y ? -1 : 1;
	}
	return a < b ? -1 : a > b;
}

/* Heap sort, because qsort has no argument for the model and a static one would not be thread-safe. */
static void sift(const trf_lm* lm, int32_t* v, size_t from, size_t n) {
	for (size_t child; (child = from * 2 + 1) < n; from = child) {
		if (child + 1 < n && compare_contexts(lm, v[child], v[child + 1]) < 0) child++;
		if (compare_contexts(lm, v[from], v[child]) >= 0) return;
		int32_t t = v[from];
		v[from] = v[child];
		v[child] = t;
	}
}

bool trf_lm_index(trf_lm* lm) {
	size_t n = lm->text.size;
	lm->order = trf_arena_alloc(&lm->arena, n * sizeof *lm->order);
	lm->counts = trf_arena_alloc(&lm->arena, (size_t)lm->corpus_tokens * sizeof *lm->counts);
	if (!lm->order || !lm->counts) return false;
	for (size_t i = 0; i < n; i++) {
		lm->order[i] = (int32_t)i;
		lm->counts[lm->text.data[i]]++;
	}
	for (size_t i = n / 2; i-- > 0;) sift(lm, lm->order, i, n);
	for (size_t end = n; end-- > 1;) {
		int32_t t = lm->order[0];
		lm->order[0] = lm->order[end];
		lm->order[end] = t;
		sift(lm, lm->order, 0, end);
	}
	return true;
}

/* First place in order whose context of length k is not below (above: above) the end of history. */
static size_t bound(const trf_lm* lm, const int32_t* history, size_t size, int k, bool above) {
	size_t low = 0, high = lm->text.size;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int c = 0;
		for (int back = 1; back <= k && c == 0; back++) {
			int32_t x = before(lm, lm->order[mid], back);
			int32_t y = size >= (size_t)back ? history[size - (size_t)back] : TRF_END_TOKEN;
			c = x < y ? -1 : x > y;
		}
		if (c < 0 || (above && c == 0))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Mixes what followed the places in [from, to) into p. weight < 0: that of Witten and Bell, by how varied it is. */
static void mix(const trf_lm* lm, trf_scratch* s, size_t from, size_t to, double weight) {
	double n = (double)(to - from), kinds = 0;
	s->round++;
	for (size_t i = from; i < to; i++) {
		int32_t id = lm->text.data[lm->order[i]];
		kinds += s->mark[id] != s->round;
		s->mark[id] = s->round;
	}
	if (weight < 0) weight = n / (n + kinds);
	for (int32_t id = 0; id < lm->corpus_tokens; id++) s->p[id] *= 1 - weight;
	for (size_t i = from; i < to; i++) s->p[lm->text.data[lm->order[i]]] += weight / n;
}

bool trf_scratch_init(trf_scratch* s, trf_arena* a, const trf_lm* lm, const int32_t* prompt, size_t size) {
	size_t n = (size_t)lm->corpus_tokens;
	*s = (trf_scratch){0};
	s->p = trf_arena_alloc(a, n * sizeof *s->p);
	s->topic = trf_arena_alloc(a, n * sizeof *s->topic);
	s->mark = trf_arena_alloc(a, n * sizeof *s->mark);
	s->candidates = trf_arena_alloc(a, n * sizeof *s->candidates);
	if (!s->p || !s->topic || !s->mark || !s->candidates) return false;
	double total = 0;
	for (size_t i = 0; i < size; i++) {
		int32_t id = prompt[i];
		/* A word of the corpus, with its leading space, that is not among the most frequent ones. */
		if (id < TRF_WORD_TOKEN || id >= lm->corpus_tokens || lm->counts[id] * 500 > (int32_t)lm->text.size) continue;
		if (lm->tokens[id].size < 4 || lm->tokens[id].data[0] != ' ') continue;
		s->topic[id] += 1;
		total += 1;
	}
	s->has_topic = total > 0;
	for (size_t id = 0; s->has_topic && id < n; id++) s->topic[id] /= total;
	return true;
}

void trf_lm_predict(
	const trf_lm* lm, trf_scratch* s, const double weights[TRF_ORDER], const int32_t* history, size_t size) {
	double share = 0; /* of the orders so far, when the weights are given */
	bool given = false;
	for (int k = 0; k < TRF_ORDER; k++) given = given || weights[k] > 0;
	for (int32_t id = 0; id < lm->corpus_tokens; id++) s->p[id] = (double)lm->counts[id] / (double)lm->text.size;
	share = weights[0];
	for (int k = 1; k < TRF_ORDER; k++) {
		size_t from = bound(lm, history, size, k, false), to = bound(lm, history, size, k, true);
		if (from == to) break; /* longer contexts cannot be there either */
		share += weights[k];
		if (!given)
			mix(lm, s, from, to, -1);
		else if (weights[k] > 0)
			mix(lm, s, from, to, weights[k] / share);
	}
	if (!s->has_topic) return;
	const double topic = 0.03; /* a word that the prompt uses is likelier to come again */
	for (int32_t id = 0; id < lm->corpus_tokens; id++) s->p[id] += topic * (s->topic[id] - s->p[id]);
}
