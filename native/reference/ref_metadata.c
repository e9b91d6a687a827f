/* What a loaded model says of itself. Immutable after load, so no lock is taken. */
#include "ref_private.h"

/* The checks all metadata functions share; *out has been cleared by the caller. */
static trtmc_status begin(const trtmc_model* model, const void* out, trtmc_error** error) {
	if (!error) return TRTMC_INVALID_ARGUMENT;
	*error = NULL;
	if (!model || !out) return trf_fail(error, TRTMC_INVALID_ARGUMENT, "the model or the output pointer is NULL");
	return TRTMC_OK;
}

trtmc_status trf_model_info(const trtmc_model* model, trtmc_model_info_v1* out, trtmc_error** error) {
	if (out) *out = (trtmc_model_info_v1){0};
	trtmc_status st = begin(model, out, error);
	if (st == TRTMC_OK) *out = (trtmc_model_info_v1){model->family, model->backend, model->bundle_task};
	return st;
}

trtmc_status trf_model_task_count(const trtmc_model* model, uint64_t* out, trtmc_error** error) {
	if (out) *out = 0;
	trtmc_status st = begin(model, out, error);
	if (st == TRTMC_OK) *out = model->params.task_count;
	return st;
}

trtmc_status trf_model_task_info(
	const trtmc_model* model, uint64_t index, trtmc_task_info_v1* out, trtmc_error** error) {
	if (out) *out = (trtmc_task_info_v1){0};
	trtmc_status st = begin(model, out, error);
	if (st != TRTMC_OK) return st;
	if (index >= model->params.task_count)
		return trf_fail(error, TRTMC_INVALID_ARGUMENT, "task index %llu; the model declares %zu Tasks",
			(unsigned long long)index, model->params.task_count);
	*out = (trtmc_task_info_v1){trf_view(trf_task_at(model->params.tasks[index])->id), 1, 0};
	return TRTMC_OK;
}

/* Finds a declared Task of version 1.0. */
static trtmc_status find(const trtmc_model* model, trtmc_string_view task, uint32_t major, uint32_t minor,
	trf_task_id* out, trtmc_error** error) {
	if (!trf_span_ok(task.data, task.size, 1))
		return trf_fail(error, TRTMC_INVALID_ARGUMENT, "the Task id is a malformed string view");
	*out = trf_task_find(task);
	if (*out == TRF_NO_TASK || !trf_model_declares(model, *out))
		return trf_fail(error, TRTMC_UNSUPPORTED, "the model does not declare Task \"%s\"", trf_show(task).text);
	if (major != 1 || minor != 0)
		return trf_fail(
			error, TRTMC_VERSION_MISMATCH, "Task %s has version 1.0, not %u.%u", trf_task_at(*out)->id, major, minor);
	return TRTMC_OK;
}

trtmc_status trf_model_get_task_api(const trtmc_model* model, trtmc_string_view task, uint32_t major, uint32_t minor,
	const trtmc_api_header** out, trtmc_error** error) {
	if (out) *out = NULL;
	trf_task_id id;
	trtmc_status st = begin(model, out, error);
	if (st == TRTMC_OK) st = find(model, task, major, minor, &id, error);
	if (st == TRTMC_OK) *out = trf_task_at(id)->table;
	return st;
}

trtmc_status trf_config_field_count(const trtmc_model* model, trtmc_string_view task, uint32_t major, uint32_t minor,
	uint64_t* out, trtmc_error** error) {
	if (out) *out = 0;
	trf_task_id id;
	trtmc_status st = begin(model, out, error);
	if (st == TRTMC_OK) st = find(model, task, major, minor, &id, error);
	if (st == TRTMC_OK) *out = trf_config_count(&model->params, id);
	return st;
}

trtmc_status trf_config_field_info(const trtmc_model* model, trtmc_string_view task, uint32_t major, uint32_t minor,
	uint64_t index, trtmc_config_field_v1* out, trtmc_error** error) {
	if (out) *out = (trtmc_config_field_v1){0};
	trf_task_id id;
	trtmc_status st = begin(model, out, error);
	if (st == TRTMC_OK) st = find(model, task, major, minor, &id, error);
	if (st != TRTMC_OK) return st;
	const trf_field* f = trf_config_field(&model->params, id, index);
	if (!f)
		return trf_fail(error, TRTMC_INVALID_ARGUMENT, "config field index %llu; Task %s declares %llu",
			(unsigned long long)index, trf_task_at(id)->id, (unsigned long long)trf_config_count(&model->params, id));
	*out = f->info;
	return TRTMC_OK;
}

trtmc_status trf_model_get_lora_api(
	const trtmc_model* model, uint32_t major, uint32_t minor, const trtmc_lora_api_v1** out, trtmc_error** error) {
	if (out) *out = NULL;
	trtmc_status st = begin(model, out, error);
	if (st != TRTMC_OK) return st;
	if (major != 1 || minor != 0)
		return trf_fail(error, TRTMC_VERSION_MISMATCH, "the LoRA table has version 1.0, not %u.%u", major, minor);
	return trf_fail(error, TRTMC_UNSUPPORTED, "the model has no LoRA adapters");
}
