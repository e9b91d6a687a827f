/* The Tasks text_conversation and streaming_text_conversation. */
#include "ref_turn.h"

static trtmc_status compute(trf_turn_job* job, trtmc_result** out, trtmc_error** error) {
	trf_call call;
	trf_turn turn = {.call = &call, .job = job};
	trtmc_result* r = NULL;
	if (trf_call_begin(&call, job->model, TRF_CONVERSATION, NULL) && trf_turn_make(&turn)) {
		r = trf_result_new(TRF_RESULT_CONVERSATION);
		if (!r || !trf_turn_view(&r->arena, &turn, &r->as.conversation)) trf_call_out_of_memory(&call);
	}
	trf_turn_free(&turn);
	trtmc_status st = trf_call_end(&call, error);
	if (st == TRTMC_OK)
		*out = r;
	else
		trf_result_release(r);
	return st;
}

static trtmc_status run(trtmc_model* model, const trtmc_text_conversation_request_v1* request,
	const trtmc_config_view_v1* view, trtmc_result** out, trtmc_error** error) {
	if (out) *out = NULL;
	if (!error) return TRTMC_INVALID_ARGUMENT;
	*error = NULL;
	if (!model || !request || !out)
		return trf_fail(error, TRTMC_INVALID_ARGUMENT, "the model, the request or the output pointer is NULL");
	trf_config config;
	trf_turn_job* job;
	trtmc_status st = trf_chat_check(request, error);
	if (st == TRTMC_OK) st = trf_config_wire(view, "", error);
	if (st == TRTMC_OK) st = trf_model_begin(model, TRF_CONVERSATION, error);
	if (st != TRTMC_OK) return st;
	st = trf_config_read(&model->params, TRF_CONVERSATION, view, "", &config, error);
	if (st == TRTMC_OK) st = trf_turn_job_new(model, &config, request, &job, error);
	if (st == TRTMC_OK) {
		st = compute(job, out, error);
		trf_turn_job_free(job);
	}
	trf_model_end(model);
	return st;
}

static trtmc_status result_view(
	const trtmc_result* result, trtmc_conversation_result_view_v1* out, trtmc_error** error) {
	trtmc_status st = trf_view_begin(result, TRF_RESULT_CONVERSATION, out, sizeof *out, error);
	if (st == TRTMC_OK) *out = result->as.conversation;
	return st;
}

static trtmc_result* cancelled(void) { return trf_turn_event(TRTMC_CONVERSATION_STREAM_CANCELLED); }

/* The fault delta_mismatch: the final turn says more than the deltas did. */
static void falsify(trf_turn* t) {
	if (t->part_count == 0) t->parts[t->part_count++].kind = TRTMC_CONVERSATION_TEXT;
	trf_buffer_text(&t->parts[t->part_count - 1].text, " (never sent as a delta)");
}

static trtmc_result* complete(trf_turn* t) {
	trtmc_result* r = trf_turn_event(TRTMC_CONVERSATION_STREAM_COMPLETE);
	if (r && trf_turn_view(&r->arena, t, &r->as.conversation_event.content.complete)) return r;
	trf_result_release(r);
	trf_call_out_of_memory(t->call);
	return NULL;
}

static bool produce(void* self, trf_call* call, trtmc_result** final) {
	trf_turn turn = {.call = call, .job = self, .streamed = true};
	bool ok = trf_turn_make(&turn);
	if (ok && trf_fault_is(call->model, "delta_mismatch")) falsify(&turn);
	if (ok && trf_fault_is(call->model, "two_terminals")) ok = trf_stream_push(call, complete(&turn));
	if (ok) *final = complete(&turn);
	trf_turn_free(&turn);
	return ok && *final;
}

static trtmc_status start(trtmc_model* model, const trtmc_text_conversation_request_v1* request,
	const trtmc_config_view_v1* view, trtmc_conversation_stream** out, trtmc_error** error) {
	if (out) *out = NULL;
	if (!error) return TRTMC_INVALID_ARGUMENT;
	*error = NULL;
	if (!model || !request || !out)
		return trf_fail(error, TRTMC_INVALID_ARGUMENT, "the model, the request or the output pointer is NULL");
	trf_config config;
	trf_turn_job* job;
	trtmc_status st = trf_model_begin(model, TRF_CONVERSATION_STREAM, error);
	if (st != TRTMC_OK) return st;
	st = trf_config_wire(view, "", error);
	if (st == TRTMC_OK) st = trf_config_read(&model->params, TRF_CONVERSATION_STREAM, view, "", &config, error);
	if (st == TRTMC_OK) st = trf_chat_check(request, error);
	if (st == TRTMC_OK) st = trf_turn_job_new(model, &config, request, &job, error);
	if (st != TRTMC_OK) {
		trf_model_end(model);
		return st;
	}
	trf_stream* s = NULL;
	st = trf_stream_start(
		model, TRF_CONVERSATION_STREAM, (trf_work){produce, trf_turn_job_free, cancelled, job}, &s, error);
	*out = (trtmc_conversation_stream*)s;
	return st;
}

static trtmc_status next(trtmc_conversation_stream* s, int64_t timeout_ms, trtmc_result** out, trtmc_error** error) {
	return trf_stream_next((trf_stream*)s, timeout_ms, out, error);
}

static trtmc_status event_view(
	const trtmc_result* result, trtmc_conversation_stream_event_view_v1* out, trtmc_error** error) {
	trtmc_status st = trf_view_begin(result, TRF_RESULT_CONVERSATION_EVENT, out, sizeof *out, error);
	if (st == TRTMC_OK) *out = result->as.conversation_event;
	return st;
}

static trtmc_status cancel(trtmc_conversation_stream* s, trtmc_error** error) {
	return trf_stream_cancel((trf_stream*)s, error);
}
static void release(trtmc_conversation_stream* s) { trf_stream_release((trf_stream*)s); }

const trtmc_text_conversation_api_v1 trf_conversation_api = {
	.header = TRF_TASK_HEADER(trtmc_text_conversation_api_v1),
	.run = run,
	.result_view = result_view,
};

static const trtmc_conversation_stream_api_v1 stream_api = {
	.header = TRF_STREAM_HEADER(trtmc_conversation_stream_api_v1),
	.next = next,
	.event_view = event_view,
	.cancel = cancel,
	.release = release,
};

const trtmc_streaming_text_conversation_api_v1 trf_conversation_stream_api = {
	.header = TRF_TASK_HEADER(trtmc_streaming_text_conversation_api_v1),
	.start = start,
	.stream_api = &stream_api,
};
