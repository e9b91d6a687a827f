/* The loop that makes a text, token by token, at the model's pace. */
#include "ref_private.h"

bool trf_prefill(trf_call* call, size_t tokens) {
	bool ok = trf_call_spend(call, (double)tokens * call->model->params.timing.prefill_us_per_token * 1e3);
	call->prefill_end = trf_now();
	return ok;
}

/* Where a stop string starts, looking only at what the bytes from position from on may complete; -1: nowhere. */
static ptrdiff_t find_stop(const trf_generation* g, size_t from) {
	const trtmc_strings_view stops = g->options->stop_strings;
	ptrdiff_t first = -1;
	for (uint64_t i = 0; i < stops.size; i++) {
		size_t n = (size_t)stops.data[i].size;
		size_t start = from >= n ? from - n + 1 : 0;
		if (g->text.size < start + n) continue;
		const char* hit = memmem(g->text.data + start, g->text.size - start, stops.data[i].data, n);
		if (hit && (first < 0 || hit - g->text.data < first)) first = hit - g->text.data;
	}
	return first;
}

/* How many bytes at the end may be the start of a stop string and are held back. */
static size_t held_back(const trf_generation* g) {
	const trtmc_strings_view stops = g->options->stop_strings;
	size_t held = 0;
	for (uint64_t i = 0; i < stops.size; i++) {
		size_t n = (size_t)stops.data[i].size - 1;
		if (n > g->text.size) n = g->text.size;
		while (n > held && memcmp(g->text.data + g->text.size - n, stops.data[i].data, n) != 0) n--;
		if (n > held) held = n;
	}
	return held;
}

static bool has_boxed_answer(const trf_generation* g) {
	static const char open[] = "\\boxed{";
	const char* at = g->text.size ? memmem(g->text.data, g->text.size, open, sizeof open - 1) : NULL;
	return at && memchr(at, '}', (size_t)(g->text.data + g->text.size - at));
}

static bool is_stop_token(const trf_options* o, int32_t id) {
	for (uint64_t i = 0; i < o->stop_token_ids.size; i++)
		if (o->stop_token_ids.data[i] == id) return true;
	return false;
}

static bool ends_sentence(const trf_generation* g) {
	return g->text.size && memchr(".!?", g->text.data[g->text.size - 1], 3);
}

/* Hands on text up to the given size together with a token. */
static bool emit(trf_generation* g, size_t upto, int32_t token) {
	trtmc_string_view fresh = {g->text.data ? g->text.data + g->emitted : "", upto - g->emitted};
	g->emitted = upto;
	return !g->emit || (fresh.size == 0 && token < 0) || g->emit(g->user, fresh, token);
}

/* Takes one token in: text, stops, delivery. *done ends the generation. */
static bool take(trf_generation* g, int32_t id, bool* done) {
	const trf_options* o = g->options;
	trtmc_string_view text = g->call->model->lm->tokens[id];
	size_t from = g->text.size;
	trf_buffer_add(&g->text, text.data, (size_t)text.size);
	trf_ids_add(&g->tokens, id);
	if (g->text.failed || g->tokens.failed) return trf_call_out_of_memory(g->call);
	bool may_stop = (int64_t)g->tokens.size >= o->min_tokens;
	ptrdiff_t stop = may_stop ? find_stop(g, from) : -1;
	if (stop >= 0) g->text.size = (size_t)stop;
	*done = stop >= 0 || (may_stop && is_stop_token(o, id)) || (g->to_sentence_end && ends_sentence(g)) ||
		(o->stop_on_boxed_answer && g->tokens.size % (size_t)o->stop_check_interval == 0 && has_boxed_answer(g));
	size_t upto = *done ? g->text.size : g->text.size - held_back(g);
	if (upto < g->emitted)
		upto = g->emitted; /* a stop string can only be held back, never sent; min_tokens may let one pass */
	return emit(g, upto, id);
}

/* Picks the next token, or TRF_END_TOKEN. */
static int32_t choose(trf_generation* g, trf_scratch* s, trf_sampling* sampling, const trf_ids* history) {
	const trf_options* o = g->options;
	size_t n = g->tokens.size;
	if (n == 1 && trf_fault_is(g->call->model, "embedded_nul")) return TRF_BYTE_TOKEN;
	trf_lm_predict(g->call->model->lm, s, sampling->weights, history->data, history->size);
	bool allow_end = !o->ignore_eos && (int64_t)n >= o->min_tokens;
	int32_t id = trf_sample(g->call->model->lm, s, sampling, allow_end);
	return allow_end && id == o->eos_token_id ? TRF_END_TOKEN : id;
}

static bool loop(trf_generation* g, trf_scratch* s, trf_ids* history) {
	const trf_params* p = &g->call->model->params;
	trf_sampling sampling = g->options->sampling;
	sampling.random ^= trf_hash(g->prompt->data, g->prompt->size * sizeof *g->prompt->data, 2);
	bool fails = trf_fault_is(g->call->model, "error_after_tokens");
	g->finish = TRTMC_FINISH_LENGTH;
	for (bool done = false; !done && (int64_t)g->tokens.size < g->budget;) {
		if (fails && (int64_t)g->tokens.size == p->fault.after_tokens)
			return trf_call_failed(g->call, TRTMC_INTERNAL_ERROR,
				"reference fault: error_after_tokens: failed after %zu tokens", g->tokens.size);
		int32_t id = choose(g, s, &sampling, history);
		if (!trf_call_spend(g->call, p->timing.decode_us_per_token * 1e3)) return false;
		done = id == TRF_END_TOKEN;
		if (!done && !take(g, id, &done)) return false;
		if (done) g->finish = TRTMC_FINISH_STOP;
		trf_ids_add(history, id);
		if (history->failed) return trf_call_out_of_memory(g->call);
	}
	return emit(g, g->text.size, -1);
}

bool trf_generate(trf_generation* g) {
	trf_arena arena = {0};
	trf_scratch scratch;
	trf_ids history = {0};
	size_t n = g->prompt->size, from = n > TRF_ORDER ? n - TRF_ORDER : 0;
	for (size_t i = from; i < n; i++) trf_ids_add(&history, g->prompt->data[i]);
	bool ok = !history.failed && trf_scratch_init(&scratch, &arena, g->call->model->lm, g->prompt->data, n);
	ok = ok ? loop(g, &scratch, &history) : trf_call_out_of_memory(g->call);
	trf_ids_free(&history);
	trf_arena_free(&arena);
	return ok;
}

void trf_generation_free(trf_generation* g) {
	trf_buffer_free(&g->text);
	trf_ids_free(&g->tokens);
}
