/* The settings of a text request, with the ranges of this family. */
#include <math.h>

#include "ref_private.h"

static trtmc_status out_of_range(trtmc_error** error, const char* name, const char* rule) {
	return trf_fail(error, TRTMC_INVALID_CONFIG, "config \"%s\" must be %s", name, rule);
}

/* All integer settings but seed are 32-bit numbers from low upwards. */
static trtmc_status check_integers(const trf_config* c, trtmc_error** error) {
	static const struct {
		trf_field_id id;
		const char* name;
		int64_t low;
	} rows[] = {
		{TRF_F_MAX_NEW_TOKENS, "max_new_tokens", 0},
		{TRF_F_TOP_K, "top_k", 0},
		{TRF_F_EOS_TOKEN_ID, "eos_token_id", INT32_MIN},
		{TRF_F_STOP_CHECK_INTERVAL, "stop_check_interval", 1},
		{TRF_F_MIN_TOKENS, "min_tokens", 0},
		{TRF_F_SEED, "seed", INT32_MIN},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		int64_t v = trf_config_i64(c, rows[i].id, rows[i].low);
		if (v < rows[i].low || v > INT32_MAX)
			return trf_fail(error, TRTMC_INVALID_CONFIG, "config \"%s\" is %lld; it must be %lld to %d", rows[i].name,
				(long long)v, (long long)rows[i].low, INT32_MAX);
	}
	return TRTMC_OK;
}

static trtmc_status read_sampling(trf_sampling* s, const trf_config* c, trtmc_error** error) {
	trtmc_string_view mode = trf_config_string(c, TRF_F_GENERATION_MODE, "auto");
	s->temperature = trf_config_f64(c, TRF_F_TEMPERATURE, 1);
	s->top_p = trf_config_f64(c, TRF_F_TOP_P, 1);
	s->min_p = trf_config_f64(c, TRF_F_MIN_P, 0);
	s->top_k = trf_config_i64(c, TRF_F_TOP_K, 1);
	if (!(s->temperature >= 0 && s->temperature <= 100)) return out_of_range(error, "temperature", "0 to 100");
	if (!(s->top_p > 0 && s->top_p <= 1)) return out_of_range(error, "top_p", "above 0 and at most 1");
	if (!(s->min_p >= 0 && s->min_p <= 1)) return out_of_range(error, "min_p", "0 to 1");
	if (trf_config_f64(c, TRF_F_REPETITION_PENALTY, 1) != 1)
		return out_of_range(error, "repetition_penalty", "1, the only one supported");
	if (trf_is(mode, "greedy"))
		s->top_k = 1;
	else if (trf_is(mode, "sample") && s->top_k == 1)
		s->top_k = 0;
	else if (!trf_is(mode, "auto") && !trf_is(mode, "sample"))
		return out_of_range(error, "generation_mode", "auto, greedy or sample");
	const trtmc_config_value_v1* v = c->values[TRF_F_INTERPOLATION];
	if (!v || v->as.f64_list.size == 0) return TRTMC_OK;
	double total = 0;
	for (uint64_t i = 0; i < v->as.f64_list.size; i++) {
		double w = v->as.f64_list.data[i];
		if (v->as.f64_list.size != TRF_ORDER || !(w >= 0 && w <= 1) || (i == 0 && w == 0))
			return out_of_range(error, "interpolation", "4 numbers from 0 to 1, the first above 0");
		s->weights[i] = w;
		total += w;
	}
	return fabs(total - 1) < 1e-6 ? TRTMC_OK : out_of_range(error, "interpolation", "4 numbers whose sum is 1");
}

/* Copies the lists, because a stream outlives the request. */
static trtmc_status read_stops(trf_options* o, const trf_config* c, trtmc_error** error) {
	const trtmc_config_value_v1 *ids = c->values[TRF_F_STOP_TOKEN_IDS], *texts = c->values[TRF_F_STOP_STRINGS];
	if (ids) {
		int64_t* copy = trf_arena_copy(&o->arena, ids->as.i64_list.data, (size_t)ids->as.i64_list.size * sizeof *copy);
		if (!copy) return trf_out_of_memory(error);
		o->stop_token_ids = (trtmc_i64_view){copy, ids->as.i64_list.size};
	}
	if (!texts) return TRTMC_OK;
	trtmc_strings_view given = texts->as.string_list;
	trtmc_string_view* copy = trf_arena_alloc(&o->arena, (size_t)given.size * sizeof *copy);
	if (!copy) return trf_out_of_memory(error);
	for (uint64_t i = 0; i < given.size; i++) {
		if (given.data[i].size == 0) return out_of_range(error, "stop_strings", "non-empty strings");
		if (!trf_arena_text(&o->arena, given.data[i], &copy[i])) return trf_out_of_memory(error);
	}
	o->stop_strings = (trtmc_strings_view){copy, given.size};
	return TRTMC_OK;
}

trtmc_status trf_options_read(trf_options* o, const trtmc_model* model, const trf_config* c, trtmc_error** error) {
	const trf_params* p = &model->params;
	trtmc_status st = check_integers(c, error);
	if (st == TRTMC_OK) st = read_sampling(&o->sampling, c, error);
	if (st == TRTMC_OK) st = read_stops(o, c, error);
	if (st != TRTMC_OK) return st;
	o->max_new_tokens = trf_config_i64(c, TRF_F_MAX_NEW_TOKENS, p->text.default_max_new_tokens);
	o->min_tokens = trf_config_i64(c, TRF_F_MIN_TOKENS, 0);
	o->eos_token_id = trf_config_i64(c, TRF_F_EOS_TOKEN_ID, -1);
	o->stop_check_interval = trf_config_i64(c, TRF_F_STOP_CHECK_INTERVAL, 16);
	o->ignore_eos = trf_config_bool(c, TRF_F_IGNORE_EOS, false);
	o->use_chat_template = trf_config_bool(c, TRF_F_USE_CHAT_TEMPLATE, false);
	o->enable_thinking = trf_config_bool(c, TRF_F_ENABLE_THINKING, false);
	o->stop_on_boxed_answer = trf_config_bool(c, TRF_F_STOP_ON_BOXED_ANSWER, false);
	if (o->max_new_tokens > p->text.max_new_tokens)
		return trf_fail(error, TRTMC_INVALID_CONFIG,
			"config \"max_new_tokens\" is %lld; this bundle allows at most %lld", (long long)o->max_new_tokens,
			(long long)p->text.max_new_tokens);
	if (o->min_tokens > o->max_new_tokens)
		return trf_fail(error, TRTMC_INVALID_CONFIG,
			"config \"min_tokens\" is %lld, above max_new_tokens, which is %lld", (long long)o->min_tokens,
			(long long)o->max_new_tokens);
	if (o->eos_token_id >= model->lm->token_count)
		return trf_fail(error, TRTMC_INVALID_CONFIG, "config \"eos_token_id\" is %lld; the vocabulary has %d tokens",
			(long long)o->eos_token_id, model->lm->token_count);
	int64_t seed = trf_config_i64(c, TRF_F_SEED, -1);
	o->sampling.random = trf_mix(seed < 0 ? 0x7265666572656E63u : (uint64_t)seed);
	return TRTMC_OK;
}

trtmc_status trf_options_fit(
	const trf_options* o, const trtmc_model* model, size_t prompt_tokens, trtmc_error** error) {
	int64_t limit = model->params.text.context_tokens;
	if (prompt_tokens <= (uint64_t)limit && o->max_new_tokens <= limit - (int64_t)prompt_tokens) return TRTMC_OK;
	return trf_fail(error, TRTMC_INVALID_ARGUMENT,
		"context length exceeded: the prompt has %zu tokens and max_new_tokens is %lld, together %llu; the limit is %lld tokens",
		prompt_tokens, (long long)o->max_new_tokens,
		(unsigned long long)prompt_tokens + (unsigned long long)o->max_new_tokens, (long long)limit);
}

void trf_options_free(trf_options* o) { trf_arena_free(&o->arena); }
