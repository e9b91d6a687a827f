/* Reading reference.json: one table of members per object, unknown keys refused. */
#include "ref_private.h"

typedef enum member_kind { COUNT, AMOUNT, TEXT, NESTED } member_kind;

typedef struct member {
	const char* key;
	member_kind kind; /* int64_t, double, trtmc_string_view, const trf_json* at offset */
	size_t offset;
	bool required;
} member;

typedef struct document {
	trtmc_string_view family, bundle_task;
	const trf_json *tasks, *fields, *timing, *text, *relevance, *embedding, *video, *fault;
} document;

static trtmc_status wrong(trtmc_error** error, const char* where, trtmc_string_view key, const char* rule) {
	return trf_fail(error, TRTMC_INTERNAL_ERROR, "section reference.json: %s%s%s %s", where, where[0] ? "." : "",
		trf_show(key).text, rule);
}

static trtmc_status store(const char* where, const member* m, const trf_json* v, void* base, trtmc_error** error) {
	void* to = (char*)base + m->offset;
	switch (m->kind) {
	case COUNT:
		if (v->kind != TRF_NUMBER || !v->integral || v->integer < 0 || v->integer > INT32_MAX)
			return wrong(error, where, v->key, "must be an integer from 0 to 2147483647");
		*(int64_t*)to = v->integer;
		return TRTMC_OK;
	case AMOUNT:
		if (v->kind != TRF_NUMBER || v->number < 0 || v->number > 1e9)
			return wrong(error, where, v->key, "must be a number from 0 to 1e9");
		*(double*)to = v->number;
		return TRTMC_OK;
	case TEXT:
		if (v->kind != TRF_STRING) return wrong(error, where, v->key, "must be a string");
		*(trtmc_string_view*)to = v->text;
		return TRTMC_OK;
	case NESTED:
		*(const trf_json**)to = v;
		return TRTMC_OK;
	}
	return TRTMC_OK;
}

static trtmc_status read_object(
	const char* where, const trf_json* v, const member* members, size_t count, void* base, trtmc_error** error) {
	if (v->kind != TRF_OBJECT) return wrong(error, "", trf_view(where[0] ? where : "the whole"), "must be an object");
	for (const trf_json* child = v->first; child; child = child->next) {
		size_t i = 0;
		while (i < count && !trf_is(child->key, members[i].key)) i++;
		if (i == count) return wrong(error, where, child->key, "is not a known key");
		trtmc_status st = store(where, &members[i], child, base, error);
		if (st != TRTMC_OK) return st;
	}
	for (size_t i = 0; i < count; i++)
		if (members[i].required && !trf_json_get(v, members[i].key))
			return wrong(error, where, trf_view(members[i].key), "is missing");
	return TRTMC_OK;
}

#define READ(where, v, table, base, error) read_object(where, v, table, sizeof table / sizeof table[0], base, error)

static trtmc_status read_tasks(const trf_json* list, trf_params* p, trtmc_error** error) {
	if (list->kind != TRF_ARRAY) return wrong(error, "", trf_view("tasks"), "must be a list of strings");
	for (const trf_json* v = list->first; v; v = v->next) {
		trf_task_id id = v->kind == TRF_STRING ? trf_task_find(v->text) : TRF_NO_TASK;
		if (id == TRF_NO_TASK)
			return wrong(error, "tasks", v->kind == TRF_STRING ? v->text : trf_view("(not a string)"),
				"is not a Task of this runtime");
		for (size_t i = 0; i < p->task_count; i++)
			if (p->tasks[i] == id) return wrong(error, "tasks", v->text, "is declared twice");
		p->tasks[p->task_count++] = id;
	}
	return TRTMC_OK;
}

static trtmc_status read_sizes(const document* d, trf_params* p, trtmc_error** error) {
	static const member timing[] = {
		{"setup_ms", AMOUNT, offsetof(trf_params, timing.setup_ms), false},
		{"prefill_us_per_token", AMOUNT, offsetof(trf_params, timing.prefill_us_per_token), false},
		{"decode_us_per_token", AMOUNT, offsetof(trf_params, timing.decode_us_per_token), false},
		{"document_us", AMOUNT, offsetof(trf_params, timing.document_us), false},
		{"step_ms", AMOUNT, offsetof(trf_params, timing.step_ms), false},
		{"frame_ms", AMOUNT, offsetof(trf_params, timing.frame_ms), false},
	};
	static const member text[] = {
		{"context_tokens", COUNT, offsetof(trf_params, text.context_tokens), true},
		{"default_max_new_tokens", COUNT, offsetof(trf_params, text.default_max_new_tokens), true},
		{"max_new_tokens", COUNT, offsetof(trf_params, text.max_new_tokens), true},
	};
	static const member relevance[] = {
		{"max_document_tokens", COUNT, offsetof(trf_params, max_document_tokens), false}};
	static const member embedding[] = {{"dimensions", COUNT, offsetof(trf_params, dimensions), true}};
	static const member video[] = {
		{"width", COUNT, offsetof(trf_params, video.width), true},
		{"height", COUNT, offsetof(trf_params, video.height), true},
		{"frames", COUNT, offsetof(trf_params, video.frames), true},
		{"steps", COUNT, offsetof(trf_params, video.steps), true},
		{"guidance_scale", AMOUNT, offsetof(trf_params, video.guidance_scale), false},
		{"fps", AMOUNT, offsetof(trf_params, video.fps), false},
		{"max_pixels", COUNT, offsetof(trf_params, video.max_pixels), false},
	};
	static const member fault[] = {
		{"kind", TEXT, offsetof(trf_params, fault.kind), true},
		{"message", TEXT, offsetof(trf_params, fault.message), false},
		{"after_tokens", COUNT, offsetof(trf_params, fault.after_tokens), false},
		{"every", COUNT, offsetof(trf_params, fault.every), false},
		{"ms", COUNT, offsetof(trf_params, fault.ms), false},
	};
	trtmc_status st = d->timing ? READ("timing", d->timing, timing, p, error) : TRTMC_OK;
	if (st == TRTMC_OK && d->text) st = READ("text", d->text, text, p, error);
	if (st == TRTMC_OK && d->relevance) st = READ("relevance", d->relevance, relevance, p, error);
	if (st == TRTMC_OK && d->embedding) st = READ("embedding", d->embedding, embedding, p, error);
	if (st == TRTMC_OK && d->video) st = READ("video", d->video, video, p, error);
	if (st == TRTMC_OK && d->fault) st = READ("fault", d->fault, fault, p, error);
	return st;
}

static trtmc_status check_fault(const trf_params* p, trtmc_error** error) {
	static const char* const kinds[] = {
		"",
		"slow",
		"hang_until_cancelled",
		"error",
		"error_after_tokens",
		"error_without_object",
		"non_utf8_message",
		"embedded_nul",
		"out_of_memory",
		"busy",
		"fail_every",
		"load_error",
		"nan_score",
		"short_scores",
		"unequal_frames",
		"zero_frames",
		"nan_frame",
		"two_terminals",
		"delta_mismatch",
	};
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (trf_is(p->fault.kind, kinds[i])) return TRTMC_OK;
	return wrong(error, "fault", p->fault.kind, "is not a known fault");
}

/* What a Task needs must be there, and sizes must make sense together. */
static trtmc_status check(const document* d, const trf_params* p, trtmc_error** error) {
	for (size_t i = 0; i < p->task_count; i++) {
		uint32_t group = trf_task_at(p->tasks[i])->group;
		const char* lacks = NULL;
		if (group & (TRF_GROUP_TEXT | TRF_GROUP_CONVERSATION) && !d->text) lacks = "text";
		if (group & TRF_GROUP_EMBEDDING && !d->embedding) lacks = "embedding";
		if (group & TRF_GROUP_VIDEO && !d->video) lacks = "video";
		if (lacks)
			return trf_fail(error, TRTMC_INTERNAL_ERROR, "section reference.json: %s is missing, which Task %s needs",
				lacks, trf_task_at(p->tasks[i])->id);
	}
	if (d->text && (p->text.context_tokens == 0 || p->text.default_max_new_tokens > p->text.max_new_tokens))
		return wrong(error, "", trf_view("text"),
			"needs context_tokens above 0 and default_max_new_tokens of at most max_new_tokens");
	if (d->embedding && (p->dimensions < 8 || p->dimensions > 65536))
		return wrong(error, "embedding", trf_view("dimensions"), "must be 8 to 65536");
	if (d->video && (p->video.width < 16 || p->video.height < 16 || p->video.frames < 1 || p->video.steps < 1))
		return wrong(
			error, "", trf_view("video"), "needs width and height of at least 16, frames and steps of at least 1");
	if (d->video && p->video.fps != 0 && !(p->video.fps >= 1 && p->video.fps <= 240))
		return wrong(error, "video", trf_view("fps"), "must be 0 (no rate) or 1 to 240");
	return check_fault(p, error);
}

static void set_fault_defaults(trf_params* p) {
	if (p->fault.after_tokens == 0) p->fault.after_tokens = 4;
	if (p->fault.every == 0) p->fault.every = 10;
	if (p->fault.ms == 0) p->fault.ms = trf_is(p->fault.kind, "slow") ? 200 : 1000;
	if (p->video.max_pixels == 0) p->video.max_pixels = 1 << 28;
}

trtmc_status trf_params_parse(trf_arena* a, const char* text, size_t size, trf_params* p, trtmc_error** error) {
	static const member top[] = {
		{"tasks", NESTED, offsetof(document, tasks), true},
		{"fields", NESTED, offsetof(document, fields), true},
		{"timing", NESTED, offsetof(document, timing), false},
		{"text", NESTED, offsetof(document, text), false},
		{"relevance", NESTED, offsetof(document, relevance), false},
		{"embedding", NESTED, offsetof(document, embedding), false},
		{"video", NESTED, offsetof(document, video), false},
		{"fault", NESTED, offsetof(document, fault), false},
		{"family", TEXT, offsetof(document, family), true},
		{"bundle_task", TEXT, offsetof(document, bundle_task), true},
	};
	const char* why;
	size_t at;
	const trf_json* v = trf_json_parse(a, text, size, &why, &at);
	if (!v && !why) return trf_out_of_memory(error);
	if (!v)
		return trf_fail(
			error, TRTMC_INTERNAL_ERROR, "section reference.json is not valid JSON at byte %zu: %s", at, why);
	document d = {0};
	trtmc_status st = READ("", v, top, &d, error);
	if (st != TRTMC_OK) return st;
	p->family = d.family;
	p->bundle_task = d.bundle_task;
	st = read_tasks(d.tasks, p, error);
	if (st == TRTMC_OK) st = read_sizes(&d, p, error);
	if (st == TRTMC_OK) st = check(&d, p, error);
	set_fault_defaults(p);
	return st == TRTMC_OK ? trf_fields_parse(a, d.fields, p, error) : st;
}
