#include "shim.h"

void cabi_model_load(cabi_frame* f, trtmc_string_view path, const trtmc_load_options_v1* options)
{
	trtmc_error* error = NULL;
	trtmc_model* model = NULL;
	if (!cabi_need(f, f->core->model_load && f->core->model_release, "model_load"))
		return;
	f->status = f->core->model_load(path, options, &model, &error);
	cabi_settle(f, &error);
	if (f->status == TRTMC_OK && !model)
		f->status = CABI_NO_RESULT;
	if (f->status != TRTMC_OK)
		return;
	f->model = model;
	cabi_count_model(1);
}

void cabi_model_release(const trtmc_core_api_v1* core, trtmc_model* model)
{
	core->model_release(model);
	cabi_count_model(-1);
}

void cabi_model_info(cabi_frame* f)
{
	trtmc_error* error = NULL;
	if (!cabi_need(f, f->core->model_info != NULL, "model_info"))
		return;
	f->status = f->core->model_info(f->model, &f->model_info, &error);
	cabi_settle(f, &error);
}

void cabi_model_task_count(cabi_frame* f)
{
	trtmc_error* error = NULL;
	if (!cabi_need(f, f->core->model_task_count != NULL, "model_task_count"))
		return;
	f->status = f->core->model_task_count(f->model, &f->count, &error);
	cabi_settle(f, &error);
}

void cabi_model_task_info(cabi_frame* f)
{
	trtmc_error* error = NULL;
	if (!cabi_need(f, f->core->model_task_info != NULL, "model_task_info"))
		return;
	f->status = f->core->model_task_info(f->model, f->index, &f->task_info, &error);
	cabi_settle(f, &error);
}

void cabi_model_get_task_api(cabi_frame* f, trtmc_string_view task, uint32_t major, uint32_t minor)
{
	trtmc_error* error = NULL;
	f->api = NULL;
	if (!cabi_need(f, f->core->model_get_task_api != NULL, "model_get_task_api"))
		return;
	f->status = f->core->model_get_task_api(f->model, task, major, minor, &f->api, &error);
	cabi_settle(f, &error);
	if (f->status == TRTMC_OK && !f->api)
		f->status = CABI_NO_RESULT;
}

void cabi_config_field_count(cabi_frame* f, trtmc_string_view task, uint32_t major, uint32_t minor)
{
	trtmc_error* error = NULL;
	if (!cabi_need(f, f->core->config_field_count != NULL, "config_field_count"))
		return;
	f->status = f->core->config_field_count(f->model, task, major, minor, &f->count, &error);
	cabi_settle(f, &error);
}

void cabi_config_field_info(cabi_frame* f, trtmc_string_view task, uint32_t major, uint32_t minor)
{
	trtmc_error* error = NULL;
	if (!cabi_need(f, f->core->config_field_info != NULL, "config_field_info"))
		return;
	f->status = f->core->config_field_info(f->model, task, major, minor, f->index, &f->field, &error);
	cabi_settle(f, &error);
}

void cabi_model_get_lora_api(cabi_frame* f)
{
	trtmc_error* error = NULL;
	const trtmc_lora_api_v1* api = NULL;
	if (!cabi_need(f, f->core->model_get_lora_api != NULL, "model_get_lora_api"))
		return;
	f->status = f->core->model_get_lora_api(f->model, 1, 0, &api, &error);
	cabi_settle(f, &error);
	f->api = api ? &api->header : NULL;
	if (f->status == TRTMC_OK && !api)
		f->status = CABI_NO_RESULT;
}
