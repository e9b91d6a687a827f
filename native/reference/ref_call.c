/* One Task call: its pace, the faults that need no work of a family, and the hook at both ends. */
#include <stdio.h>

#include "ref_private.h"

bool trf_fault_is(const trtmc_model* model, const char* kind) { return trf_is(model->params.fault.kind, kind); }

double trf_ms(int64_t from, int64_t to) { return (double)(to - from) / 1e6; }

bool trf_call_failed(trf_call* call, trtmc_status status, const char* format, ...) {
	char text[1024];
	va_list args;
	va_start(args, format);
	int n = vsnprintf(text, sizeof text, format, args);
	va_end(args);
	size_t size = n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
	trf_error_release(call->error);
	call->status = trf_fail_bytes(&call->error, status, text, size);
	return false;
}

bool trf_call_out_of_memory(trf_call* call) { return trf_call_failed(call, TRTMC_OUT_OF_MEMORY, "out of memory"); }

/* Fails with the message that the bundle gives its fault, or with the fault's name. */
static bool show_fault(trf_call* call, trtmc_status status) {
	const trf_fault* f = &call->model->params.fault;
	if (f->message.size == 0) return trf_call_failed(call, status, "reference fault: %s", trf_show(f->kind).text);
	call->status = trf_fail_bytes(&call->error, status, f->message.data, (size_t)f->message.size);
	return false;
}

static bool early_faults(trf_call* call) {
	const trf_fault* f = &call->model->params.fault;
	if (f->kind.size == 0) return true;
	if (trf_is(f->kind, "error")) return show_fault(call, TRTMC_INTERNAL_ERROR);
	if (trf_is(f->kind, "out_of_memory")) return show_fault(call, TRTMC_OUT_OF_MEMORY);
	if (trf_is(f->kind, "fail_every") && call->model->calls % f->every == 0)
		return show_fault(call, TRTMC_INTERNAL_ERROR);
	if (trf_is(f->kind, "error_without_object")) {
		call->status = TRTMC_INTERNAL_ERROR;
		return false;
	}
	if (trf_is(f->kind, "non_utf8_message")) {
		call->status = trf_fail_bytes(&call->error, TRTMC_INTERNAL_ERROR, "bad bytes \xFF\xFE\x80 here", 18);
		return false;
	}
	return true;
}

/* Makes the call fail when the hook asked for it. */
static bool obey(trf_call* call, const trtmc_reference_action* action) {
	if (action->status == TRTMC_OK) return true;
	trf_error_release(call->error);
	call->status = trf_fail_bytes(&call->error, action->status, action->message, action->message_size);
	return false;
}

bool trf_call_begin(trf_call* call, trtmc_model* model, trf_task_id task, struct trf_stream* stream) {
	*call = (trf_call){.model = model, .task = task, .stream = stream};
	model->calls++;
	trtmc_reference_action action;
	trf_hook_call(model, task, TRTMC_REFERENCE_BEGIN, TRTMC_OK, &action);
	call->start = call->due = call->setup_end = call->prefill_end = trf_now();
	return obey(call, &action) && early_faults(call);
}

bool trf_call_spend(trf_call* call, double ns) {
	call->due += ns < 1e18 ? (int64_t)ns : (int64_t)1e18; /* 31 years: no instant that matters, and no overflow */
	if (call->stream) return trf_stream_wait_until(call->stream, call->due);
	trf_sleep_until(call->due);
	return true;
}

/* A stream hangs until it is cancelled; a one-shot call, which nobody can cancel, fails after a while. */
static bool hang(trf_call* call) {
	if (call->stream) {
		trf_stream_wait_cancelled(call->stream);
		return false;
	}
	trf_sleep_until(call->start + call->model->params.fault.ms * 1000000);
	return show_fault(call, TRTMC_INTERNAL_ERROR);
}

bool trf_call_setup(trf_call* call) {
	double ms = call->model->params.timing.setup_ms;
	if (trf_fault_is(call->model, "hang_until_cancelled")) return hang(call);
	if (trf_fault_is(call->model, "slow")) ms += (double)call->model->params.fault.ms;
	bool ok = trf_call_spend(call, ms * 1e6);
	call->setup_end = call->prefill_end = trf_now();
	return ok;
}

trtmc_status trf_call_end(trf_call* call, trtmc_error** error) {
	trtmc_reference_action action;
	trf_hook_call(call->model, call->task, TRTMC_REFERENCE_FINISH, call->status, &action);
	obey(call, &action);
	*error = call->error;
	call->error = NULL;
	return call->status;
}
