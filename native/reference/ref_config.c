/* Judging the settings of one request: first the wire, then the declaration. */
#include "ref_private.h"

static const char* const kind_names[] = {"", "I64", "F64", "BOOL", "STRING", "I64_LIST", "F64_LIST", "STRING_LIST"};

/* NULL when the value is well formed, else what is wrong with it. */
static const char* value_fault(const trtmc_config_value_v1* v) {
	switch (v->kind) {
	case TRTMC_CONFIG_I64:
	case TRTMC_CONFIG_F64:
		return NULL;
	case TRTMC_CONFIG_BOOL:
		return v->as.boolean <= 1 ? NULL : "is a boolean that is neither 0 nor 1";
	case TRTMC_CONFIG_STRING:
		return trf_span_ok(v->as.string.data, v->as.string.size, 1) ? NULL : "is a malformed string view";
	case TRTMC_CONFIG_I64_LIST:
		return trf_span_ok(v->as.i64_list.data, v->as.i64_list.size, 8) ? NULL : "is a malformed list view";
	case TRTMC_CONFIG_F64_LIST:
		return trf_span_ok(v->as.f64_list.data, v->as.f64_list.size, 8) ? NULL : "is a malformed list view";
	case TRTMC_CONFIG_STRING_LIST:
		return trf_strings_ok(v->as.string_list) ? NULL : "is a malformed list view";
	}
	return "has a kind outside 1 to 7";
}

trtmc_status trf_config_wire(const trtmc_config_view_v1* view, const char* prefix, trtmc_error** error) {
	if (!view) return TRTMC_OK;
	if (!trf_span_ok(view->entries, view->count, sizeof *view->entries))
		return trf_fail(error, TRTMC_INVALID_ARGUMENT, "%sconfig: malformed view of %llu entries", prefix,
			(unsigned long long)view->count);
	for (uint64_t i = 0; i < view->count; i++) {
		const trtmc_config_entry_v1* e = &view->entries[i];
		if (!trf_span_ok(e->name.data, e->name.size, 1))
			return trf_fail(error, TRTMC_INVALID_ARGUMENT, "%sconfig[%llu]: the name is a malformed string view",
				prefix, (unsigned long long)i);
		const char* why = value_fault(&e->value);
		if (why)
			return trf_fail(error, TRTMC_INVALID_ARGUMENT, "%sconfig \"%s\" %s", prefix, trf_show(e->name).text, why);
	}
	return TRTMC_OK;
}

static const trf_field* find(const trf_params* p, trf_task_id task, trtmc_string_view name) {
	for (size_t i = 0; i < p->field_count; i++)
		if (p->fields[i].groups & trf_task_at(task)->group && trf_equal(p->fields[i].info.name, name))
			return &p->fields[i];
	return NULL;
}

trtmc_status trf_config_read(const trf_params* p, trf_task_id task, const trtmc_config_view_v1* view,
	const char* prefix, trf_config* out, trtmc_error** error) {
	*out = (trf_config){{0}};
	for (uint64_t i = 0; view && i < view->count; i++) {
		const trtmc_config_entry_v1* e = &view->entries[i];
		const trf_field* f = find(p, task, e->name);
		trf_shown shown = trf_show(e->name);
		const char* name = shown.text;
		if (!f)
			return trf_fail(error, TRTMC_INVALID_CONFIG, "%sconfig \"%s\" is not declared by Task %s", prefix, name,
				trf_task_at(task)->id);
		if (out->values[f->id])
			return trf_fail(error, TRTMC_INVALID_CONFIG, "%sconfig \"%s\" is given twice", prefix, name);
		if (e->value.kind != f->info.kind)
			return trf_fail(error, TRTMC_INVALID_CONFIG, "%sconfig \"%s\" is of kind %s; it must be %s", prefix, name,
				kind_names[e->value.kind], kind_names[f->info.kind]);
		out->values[f->id] = &e->value;
	}
	for (size_t i = 0; i < p->field_count; i++) {
		const trf_field* f = &p->fields[i];
		if (f->groups & trf_task_at(task)->group && !out->values[f->id] && f->info.has_fixed_default)
			out->values[f->id] = &f->info.default_value;
	}
	return TRTMC_OK;
}

int64_t trf_config_i64(const trf_config* c, trf_field_id id, int64_t absent) {
	return c->values[id] ? c->values[id]->as.i64 : absent;
}
double trf_config_f64(const trf_config* c, trf_field_id id, double absent) {
	return c->values[id] ? c->values[id]->as.f64 : absent;
}
bool trf_config_bool(const trf_config* c, trf_field_id id, bool absent) {
	return c->values[id] ? c->values[id]->as.boolean == 1 : absent;
}

trtmc_string_view trf_config_string(const trf_config* c, trf_field_id id, const char* absent) {
	return c->values[id] ? c->values[id]->as.string : trf_view(absent);
}

const trf_field* trf_config_field(const trf_params* p, trf_task_id task, uint64_t index) {
	for (size_t i = 0; i < p->field_count; i++)
		if (p->fields[i].groups & trf_task_at(task)->group && index-- == 0) return &p->fields[i];
	return NULL;
}

uint64_t trf_config_count(const trf_params* p, trf_task_id task) {
	uint64_t n = 0;
	while (trf_config_field(p, task, n)) n++;
	return n;
}
