/* Models: loading, what they declare, and the lock that makes one handle one lane. */
#include <stdio.h>

#include "ref_private.h"

static trtmc_status check_word(const char* what, trtmc_string_view word, trtmc_error** error) {
	bool ok = word.size > 0;
	for (uint64_t i = 0; ok && i < word.size; i++) {
		char c = word.data[i];
		ok = (c >= 'a' && c <= 'z') || (i > 0 && (c == '_' || (c >= '0' && c <= '9')));
	}
	if (ok) return TRTMC_OK;
	return trf_fail(error, TRTMC_INTERNAL_ERROR,
		"the bundle's %s \"%s\" must be a lower-case letter, then lower-case letters, digits or underscores", what,
		trf_show(word).text);
}

static trtmc_status check_options(const trtmc_load_options_v1* o, trtmc_error** error) {
	if (!o) return TRTMC_OK;
	if (o->struct_size < sizeof *o)
		return trf_fail(error, TRTMC_INVALID_ARGUMENT, "load options: struct_size is %llu; it must be at least %zu",
			(unsigned long long)o->struct_size, sizeof *o);
	trtmc_status st = trf_path_check(o->runtime_root, "load options: runtime_root", true, error);
	if (st == TRTMC_OK) st = trf_path_check(o->runtime_cache_path, "load options: runtime_cache_path", true, error);
	if (st == TRTMC_OK && o->cuda_graphs > 1)
		st = trf_fail(
			error, TRTMC_INVALID_ARGUMENT, "load options: cuda_graphs is %u; it must be 0 or 1", o->cuda_graphs);
	return st;
}

static trtmc_status check_header(const trtmc_bundle* b, const trtmc_load_options_v1* o, trtmc_error** error) {
	trtmc_status st = check_word("family", b->info.family, error);
	if (st == TRTMC_OK) st = check_word("task", b->info.task, error);
	if (st == TRTMC_OK) st = check_word("backend", b->info.backend, error);
	if (st != TRTMC_OK) return st;
	if (o && !trf_is(b->info.backend, "trt_rtx") && (o->runtime_cache_path.size || o->cuda_graphs))
		return trf_fail(error, TRTMC_INVALID_ARGUMENT,
			"load options: runtime_cache_path and cuda_graphs are for backend trt_rtx, not \"%s\"",
			trf_show(b->info.backend).text);
	if (!trf_is(b->info.backend, "reference"))
		return trf_fail(error, TRTMC_INTERNAL_ERROR,
			"bundle \"%s\" is for backend \"%s\"; this runtime has only the backend \"reference\"", b->path,
			trf_show(b->info.backend).text);
	return TRTMC_OK;
}

/* Fills the model from the bundle's parameters. */
static trtmc_status load_family(trtmc_model* m, const trtmc_bundle* b, trtmc_error** error) {
	trtmc_result* section;
	trtmc_status st = trf_bundle_read_section(b, trf_view("reference.json"), &section, error);
	if (st != TRTMC_OK) return st;
	st = trf_params_parse(
		&m->arena, (const char*)section->as.bytes.data, (size_t)section->as.bytes.size, &m->params, error);
	trf_result_release(section);
	if (st != TRTMC_OK) return st;
	if (!trf_equal(m->params.family, b->info.family) || !trf_equal(m->params.bundle_task, b->info.task))
		return trf_fail(error, TRTMC_INTERNAL_ERROR,
			"bundle \"%s\": its header says family \"%s\" and task \"%s\", its section reference.json \"%s\" and \"%s\"",
			b->path, trf_show(b->info.family).text, trf_show(b->info.task).text, trf_show(m->params.family).text,
			trf_show(m->params.bundle_task).text);
	m->lm = trf_lm_get();
	bool texts = trf_arena_text(&m->arena, b->info.family, &m->family) &&
		trf_arena_text(&m->arena, b->info.task, &m->bundle_task) &&
		trf_arena_text(&m->arena, b->info.backend, &m->backend);
	if (!m->lm || !texts) return trf_out_of_memory(error);
	if (trf_fault_is(m, "load_error")) return trf_fail(error, TRTMC_INTERNAL_ERROR, "reference fault: load_error");
	return TRTMC_OK;
}

trtmc_status trf_model_load(
	trtmc_string_view path, const trtmc_load_options_v1* options, trtmc_model** out, trtmc_error** error) {
	if (out) *out = NULL;
	if (!error) return TRTMC_INVALID_ARGUMENT;
	*error = NULL;
	if (!out) return trf_fail(error, TRTMC_INVALID_ARGUMENT, "the output pointer is NULL");
	trtmc_bundle* b = NULL;
	trtmc_status st = trf_path_check(path, "the bundle path", false, error);
	if (st == TRTMC_OK) st = check_options(options, error);
	if (st == TRTMC_OK) st = trf_bundle_open(path, &b, error);
	if (st == TRTMC_OK) st = check_header(b, options, error);
	if (st == TRTMC_OK) {
		trtmc_model* m = trf_alloc(sizeof *m);
		if (m) {
			m->references = 1;
			pthread_mutex_init(&m->lock, NULL);
			trf_count(TRF_MODELS, 1);
			st = load_family(m, b, error);
			if (st == TRTMC_OK)
				*out = m;
			else
				trf_model_unref(m);
		} else {
			st = trf_out_of_memory(error);
		}
	}
	trf_bundle_release(b);
	return st;
}

void trf_model_unref(trtmc_model* m) {
	if (__atomic_sub_fetch(&m->references, 1, __ATOMIC_ACQ_REL) > 0) return;
	pthread_mutex_destroy(&m->lock);
	trf_arena_free(&m->arena);
	trf_count(TRF_MODELS, -1);
	trf_free(m);
}

void trf_model_release(trtmc_model* model) {
	if (model) trf_model_unref(model);
}

bool trf_model_declares(const trtmc_model* m, trf_task_id task) {
	for (size_t i = 0; i < m->params.task_count; i++)
		if (m->params.tasks[i] == task) return true;
	return false;
}

trtmc_status trf_model_begin(trtmc_model* m, trf_task_id task, trtmc_error** error) {
	pthread_mutex_lock(&m->lock);
	trtmc_status st = TRTMC_OK;
	if (m->streaming)
		st = trf_fail(error, TRTMC_BUSY, "a live stream owns the model");
	else if (!trf_model_declares(m, task))
		st = trf_fail(error, TRTMC_UNSUPPORTED, "the model does not declare Task %s", trf_task_at(task)->id);
	else if (trf_fault_is(m, "busy"))
		st = trf_fail(error, TRTMC_BUSY, "reference fault: busy");
	if (st != TRTMC_OK) pthread_mutex_unlock(&m->lock);
	return st;
}

void trf_model_end(trtmc_model* m) { pthread_mutex_unlock(&m->lock); }
