/* Choosing the next token from a distribution. */
#include <math.h>
#include <stdlib.h>

#include "ref_private.h"

static int likelier(const void* a, const void* b) {
	const trf_candidate *x = a, *y = b;
	if (x->p != y->p) return x->p > y->p ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* A number in [0, 1). */
static double uniform(uint64_t* state) {
	*state += 0x9E3779B97F4A7C15u;
	return (double)(trf_mix(*state) >> 11) * 0x1p-53;
}

static int32_t greedy(const trf_lm* lm, const trf_scratch* s, bool allow_end) {
	int32_t best = allow_end ? TRF_END_TOKEN : TRF_END_TOKEN + 1;
	for (int32_t id = best; id < lm->corpus_tokens; id++)
		if (s->p[id] > s->p[best]) best = id;
	return best;
}

int32_t trf_sample(const trf_lm* lm, trf_scratch* s, trf_sampling* how, bool allow_end) {
	if (how->temperature == 0 || how->top_k == 1) return greedy(lm, s, allow_end);
	double best = s->p[greedy(lm, s, allow_end)];
	size_t n = 0;
	for (int32_t id = allow_end ? 0 : 1; id < lm->corpus_tokens; id++) {
		if (s->p[id] <= 0) continue;
		/* Relative to the likeliest, so that low temperatures do not underflow it. */
		double p = pow(s->p[id] / best, 1 / how->temperature);
		if (p > 0 && p >= how->min_p) s->candidates[n++] = (trf_candidate){p, id};
	}
	qsort(s->candidates, n, sizeof *s->candidates, likelier);
	if (how->top_k > 0 && (uint64_t)how->top_k < n) n = (size_t)how->top_k;
	double total = 0, kept = 0;
	for (size_t i = 0; i < n; i++) total += s->candidates[i].p;
	size_t k = 0;
	while (k < n && (k == 0 || kept < how->top_p * total)) kept += s->candidates[k++].p;
	double at = uniform(&how->random) * kept;
	for (size_t i = 0; i + 1 < k; i++) {
		at -= s->candidates[i].p;
		if (at < 0) return s->candidates[i].id;
	}
	return s->candidates[k - 1].id;
}
