#include "shim.h"

void cabi_bundle_open(cabi_frame* f, trtmc_string_view path)
{
	trtmc_error* error = NULL;
	trtmc_bundle* bundle = NULL;
	if (!cabi_need(f, f->core->bundle_open && f->core->bundle_release, "bundle_open"))
		return;
	f->status = f->core->bundle_open(path, &bundle, &error);
	cabi_settle(f, &error);
	if (f->status == TRTMC_OK && !bundle)
		f->status = CABI_NO_RESULT;
	if (f->status != TRTMC_OK)
		return;
	f->handle = bundle;
	cabi_count_bundle(1);
}

void cabi_bundle_release(const trtmc_core_api_v1* core, void* bundle)
{
	core->bundle_release(bundle);
	cabi_count_bundle(-1);
}

void cabi_bundle_info(cabi_frame* f)
{
	trtmc_error* error = NULL;
	if (!cabi_need(f, f->core->bundle_info != NULL, "bundle_info"))
		return;
	f->status = f->core->bundle_info(f->handle, &f->bundle_info, &error);
	cabi_settle(f, &error);
}

void cabi_bundle_read_section(cabi_frame* f, trtmc_string_view name)
{
	trtmc_error* error = NULL;
	trtmc_result* result = NULL;
	if (!cabi_need(f, f->core->bundle_read_section != NULL, "bundle_read_section") ||
	    !cabi_need(f, f->core->bytes_result_view != NULL, "bytes_result_view") ||
	    !cabi_need(f, f->core->result_release != NULL, "result_release"))
		return;
	f->status = f->core->bundle_read_section(f->handle, name, &result, &error);
	cabi_settle(f, &error);
	if (!cabi_keep(f, result))
		return;
	f->stage = CABI_STAGE_VIEW;
	f->status = f->core->bytes_result_view(result, &f->bytes, &error);
	cabi_settle(f, &error);
	if (f->status != TRTMC_OK)
		cabi_drop(f);
}
