/* The Tasks text_continuation and streaming_text_continuation. */
#include "ref_private.h"

typedef struct text_job {
	trtmc_model* model;
	trf_options options;
	trf_ids prompt;
} text_job;

static void job_free(void* self) {
	text_job* job = self;
	trf_options_free(&job->options);
	trf_ids_free(&job->prompt);
	trf_free(job);
}

static trtmc_status check_source(const trtmc_text_source_v1* s, trtmc_error** error) {
	if (s->kind == TRTMC_TEXT_UTF8)
		return trf_span_ok(s->as.text.data, s->as.text.size, 1) ?
			TRTMC_OK :
			trf_fail(error, TRTMC_INVALID_ARGUMENT, "prefix: malformed string view");
	if (s->kind == TRTMC_TEXT_TOKEN_IDS)
		return trf_span_ok(s->as.token_ids.data, s->as.token_ids.size, 4) ?
			TRTMC_OK :
			trf_fail(error, TRTMC_INVALID_ARGUMENT, "prefix: malformed token list view");
	return trf_fail(error, TRTMC_INVALID_ARGUMENT, "prefix: kind %u; it must be 1 (text) or 2 (token ids)", s->kind);
}

static trtmc_status read_prompt(text_job* job, const trtmc_text_source_v1* s, trtmc_error** error) {
	const trf_lm* lm = job->model->lm;
	if (s->kind == TRTMC_TEXT_UTF8) {
		bool turn = job->options.use_chat_template;
		if (turn) trf_lm_tokenize(lm, "user: ", 6, &job->prompt);
		trf_lm_tokenize(lm, s->as.text.data, (size_t)s->as.text.size, &job->prompt);
		if (turn) trf_lm_tokenize(lm, "\n", 1, &job->prompt);
	} else {
		for (uint64_t i = 0; i < s->as.token_ids.size; i++) {
			int32_t id = s->as.token_ids.data[i];
			if (id < 0 || id >= lm->token_count)
				return trf_fail(error, TRTMC_INVALID_ARGUMENT,
					"prefix: token id %d at position %llu; the vocabulary has %d tokens", id, (unsigned long long)i,
					lm->token_count);
			trf_ids_add(&job->prompt, id);
		}
	}
	if (job->prompt.failed) return trf_out_of_memory(error);
	return trf_options_fit(&job->options, job->model, job->prompt.size, error);
}

/* Judges settings and prefix, in the order of the ABI, and copies what the work needs. The source has been checked
 * already for a one-shot call; a stream checks it after the settings. */
static trtmc_status job_new(trtmc_model* model, trf_task_id task, const trtmc_text_continuation_request_v1* request,
	const trtmc_config_view_v1* view, text_job** out, trtmc_error** error) {
	trf_config config;
	trtmc_status st = trf_config_wire(view, "", error);
	if (st == TRTMC_OK) st = trf_config_read(&model->params, task, view, "", &config, error);
	if (st == TRTMC_OK) st = check_source(&request->prefix, error);
	if (st != TRTMC_OK) return st;
	text_job* job = trf_alloc(sizeof *job);
	if (!job) return trf_out_of_memory(error);
	job->model = model;
	st = trf_options_read(&job->options, model, &config, error);
	if (st == TRTMC_OK) st = read_prompt(job, &request->prefix, error);
	if (st == TRTMC_OK)
		*out = job;
	else
		job_free(job);
	return st;
}

static bool fill_view(trf_arena* a, const trf_call* call, const trf_generation* g, trtmc_text_result_view_v1* out) {
	int32_t* ids = trf_arena_copy(a, g->tokens.data, g->tokens.size * sizeof *ids);
	if (!ids || !trf_arena_text(a, (trtmc_string_view){g->text.data, g->text.size}, &out->text)) return false;
	out->token_ids = (trtmc_i32_view){ids, g->tokens.size};
	out->setup_ms = trf_ms(call->start, call->setup_end);
	out->prefill_ms = trf_ms(call->setup_end, call->prefill_end);
	out->decode_ms = trf_ms(call->prefill_end, trf_now());
	return true;
}

static bool work(text_job* job, trf_call* call, trf_generation* g) {
	g->call = call;
	g->options = &job->options;
	g->prompt = &job->prompt;
	g->budget = job->options.max_new_tokens;
	return trf_call_setup(call) && trf_prefill(call, job->prompt.size) && trf_generate(g);
}

/* One whole result, made on a locked model. */
static trtmc_status compute(text_job* job, trtmc_result** out, trtmc_error** error) {
	trf_call call;
	trf_generation g = {0};
	trtmc_result* r = NULL;
	if (trf_call_begin(&call, job->model, TRF_TEXT, NULL) && work(job, &call, &g)) {
		r = trf_result_new(TRF_RESULT_TEXT);
		if (!r || !fill_view(&r->arena, &call, &g, &r->as.text)) trf_call_out_of_memory(&call);
	}
	trf_generation_free(&g);
	trtmc_status st = trf_call_end(&call, error);
	if (st == TRTMC_OK)
		*out = r;
	else
		trf_result_release(r);
	return st;
}

static trtmc_status run(trtmc_model* model, const trtmc_text_continuation_request_v1* request,
	const trtmc_config_view_v1* config, trtmc_result** out, trtmc_error** error) {
	if (out) *out = NULL;
	if (!error) return TRTMC_INVALID_ARGUMENT;
	*error = NULL;
	if (!model || !request || !out)
		return trf_fail(error, TRTMC_INVALID_ARGUMENT, "the model, the request or the output pointer is NULL");
	trtmc_status st = trf_model_begin(model, TRF_TEXT, error);
	if (st != TRTMC_OK) return st;
	text_job* job = NULL;
	st = check_source(&request->prefix, error);
	if (st == TRTMC_OK) st = job_new(model, TRF_TEXT, request, config, &job, error);
	if (st == TRTMC_OK) {
		st = compute(job, out, error);
		job_free(job);
	}
	trf_model_end(model);
	return st;
}

static trtmc_status result_view(const trtmc_result* result, trtmc_text_result_view_v1* out, trtmc_error** error) {
	trtmc_status st = trf_view_begin(result, TRF_RESULT_TEXT, out, sizeof *out, error);
	if (st == TRTMC_OK) *out = result->as.text;
	return st;
}

static trtmc_result* event_new(uint32_t kind) {
	trtmc_result* r = trf_result_new(TRF_RESULT_TEXT_EVENT);
	if (r) r->as.text_event.kind = kind;
	return r;
}

static trtmc_result* cancelled(void) { return event_new(TRTMC_STREAM_CANCELLED); }

static bool push_delta(void* user, trtmc_string_view text, int32_t token) {
	trf_call* call = user;
	trtmc_result* r = event_new(TRTMC_STREAM_DELTA);
	int32_t* id = r ? trf_arena_copy(&r->arena, &token, sizeof token) : NULL;
	if (!id || !trf_arena_text(&r->arena, text, &r->as.text_event.text_delta)) {
		trf_result_release(r);
		return trf_call_out_of_memory(call);
	}
	r->as.text_event.token_ids = (trtmc_i32_view){id, token >= 0};
	return trf_stream_push(call, r);
}

static trtmc_result* complete(trf_call* call, trf_generation* g) {
	if (trf_fault_is(call->model, "delta_mismatch")) trf_buffer_text(&g->text, " (never sent as a delta)");
	trtmc_result* r = g->text.failed ? NULL : event_new(TRTMC_STREAM_COMPLETE);
	if (r && fill_view(&r->arena, call, g, &r->as.text_event.final_result)) return r;
	trf_result_release(r);
	trf_call_out_of_memory(call);
	return NULL;
}

static bool produce(void* self, trf_call* call, trtmc_result** final) {
	trf_generation g = {.emit = push_delta, .user = call};
	bool ok = work(self, call, &g);
	if (ok && trf_fault_is(call->model, "two_terminals")) ok = trf_stream_push(call, complete(call, &g));
	if (ok) *final = complete(call, &g);
	trf_generation_free(&g);
	return ok && *final;
}

static trtmc_status start(trtmc_model* model, const trtmc_text_continuation_request_v1* request,
	const trtmc_config_view_v1* config, trtmc_text_stream** out, trtmc_error** error) {
	if (out) *out = NULL;
	if (!error) return TRTMC_INVALID_ARGUMENT;
	*error = NULL;
	if (!model || !request || !out)
		return trf_fail(error, TRTMC_INVALID_ARGUMENT, "the model, the request or the output pointer is NULL");
	trtmc_status st = trf_model_begin(model, TRF_TEXT_STREAM, error);
	if (st != TRTMC_OK) return st;
	text_job* job;
	st = job_new(model, TRF_TEXT_STREAM, request, config, &job, error);
	if (st != TRTMC_OK) {
		trf_model_end(model);
		return st;
	}
	trf_stream* s = NULL;
	st = trf_stream_start(model, TRF_TEXT_STREAM, (trf_work){produce, job_free, cancelled, job}, &s, error);
	*out = (trtmc_text_stream*)s;
	return st;
}

static trtmc_status next(trtmc_text_stream* s, int64_t timeout_ms, trtmc_result** out, trtmc_error** error) {
	return trf_stream_next((trf_stream*)s, timeout_ms, out, error);
}

static trtmc_status event_view(const trtmc_result* result, trtmc_text_stream_event_view_v1* out, trtmc_error** error) {
	trtmc_status st = trf_view_begin(result, TRF_RESULT_TEXT_EVENT, out, sizeof *out, error);
	if (st == TRTMC_OK) *out = result->as.text_event;
	return st;
}

static trtmc_status cancel(trtmc_text_stream* s, trtmc_error** error) {
	return trf_stream_cancel((trf_stream*)s, error);
}
static void release(trtmc_text_stream* s) { trf_stream_release((trf_stream*)s); }

const trtmc_text_continuation_api_v1 trf_text_api = {
	.header = TRF_TASK_HEADER(trtmc_text_continuation_api_v1),
#ifndef TRTMC_FAULT_NULL_RUN
	.run = run,
#endif
	.result_view = result_view,
};

static const trtmc_text_stream_api_v1 stream_api = {
	.header = TRF_STREAM_HEADER(trtmc_text_stream_api_v1),
	.next = next,
	.event_view = event_view,
	.cancel = cancel,
	.release = release,
};

const trtmc_streaming_text_continuation_api_v1 trf_text_stream_api = {
	.header = TRF_TASK_HEADER(trtmc_streaming_text_continuation_api_v1),
	.start = start,
	.stream_api = &stream_api,
};
