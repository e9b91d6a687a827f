/* The settings that the families understand, and how a bundle declares those it offers. */
#include "ref_private.h"

enum {
	T = TRF_GROUP_TEXT,
	C = TRF_GROUP_CONVERSATION,
	R = TRF_GROUP_RELEVANCE,
	E = TRF_GROUP_EMBEDDING,
	V = TRF_GROUP_VIDEO,
};

static const struct {
	const char* name;
	uint32_t kind, groups;
} table[TRF_FIELD_IDS] = {
	[TRF_F_MAX_NEW_TOKENS] = {"max_new_tokens", TRTMC_CONFIG_I64, T | C},
	[TRF_F_TEMPERATURE] = {"temperature", TRTMC_CONFIG_F64, T | C},
	[TRF_F_TOP_K] = {"top_k", TRTMC_CONFIG_I64, T | C},
	[TRF_F_TOP_P] = {"top_p", TRTMC_CONFIG_F64, T | C},
	[TRF_F_MIN_P] = {"min_p", TRTMC_CONFIG_F64, T | C},
	[TRF_F_SEED] = {"seed", TRTMC_CONFIG_I64, T | C | V},
	[TRF_F_EOS_TOKEN_ID] = {"eos_token_id", TRTMC_CONFIG_I64, T | C},
	[TRF_F_GENERATION_MODE] = {"generation_mode", TRTMC_CONFIG_STRING, T | C},
	[TRF_F_USE_CHAT_TEMPLATE] = {"use_chat_template", TRTMC_CONFIG_BOOL, T},
	[TRF_F_ENABLE_THINKING] = {"enable_thinking", TRTMC_CONFIG_BOOL, T | C},
	[TRF_F_STOP_ON_BOXED_ANSWER] = {"stop_on_boxed_answer", TRTMC_CONFIG_BOOL, T | C},
	[TRF_F_STOP_CHECK_INTERVAL] = {"stop_check_interval", TRTMC_CONFIG_I64, T | C},
	[TRF_F_REPETITION_PENALTY] = {"repetition_penalty", TRTMC_CONFIG_F64, T | C},
	[TRF_F_IGNORE_EOS] = {"ignore_eos", TRTMC_CONFIG_BOOL, T | C},
	[TRF_F_MIN_TOKENS] = {"min_tokens", TRTMC_CONFIG_I64, T | C},
	[TRF_F_STOP_TOKEN_IDS] = {"stop_token_ids", TRTMC_CONFIG_I64_LIST, T | C},
	[TRF_F_STOP_STRINGS] = {"stop_strings", TRTMC_CONFIG_STRING_LIST, T | C},
	[TRF_F_INTERPOLATION] = {"interpolation", TRTMC_CONFIG_F64_LIST, T | C},
	[TRF_F_TRUNCATE] = {"truncate", TRTMC_CONFIG_STRING, R},
	[TRF_F_DIMENSIONS] = {"dimensions", TRTMC_CONFIG_I64, E},
	[TRF_F_WIDTH] = {"width", TRTMC_CONFIG_I64, V},
	[TRF_F_HEIGHT] = {"height", TRTMC_CONFIG_I64, V},
	[TRF_F_NUM_FRAMES] = {"num_frames", TRTMC_CONFIG_I64, V},
	[TRF_F_NUM_INFERENCE_STEPS] = {"num_inference_steps", TRTMC_CONFIG_I64, V},
	[TRF_F_GUIDANCE_SCALE] = {"guidance_scale", TRTMC_CONFIG_F64, V},
	[TRF_F_NEGATIVE_PROMPT] = {"negative_prompt", TRTMC_CONFIG_STRING, V},
	[TRF_F_FPS] = {"fps", TRTMC_CONFIG_F64, V},
};

static const char* const kind_names[] = {"", "i64", "f64", "bool", "string", "i64_list", "f64_list", "string_list"};

static trtmc_status wrong(trtmc_error** error, trtmc_string_view name, const char* rule) {
	return trf_fail(error, TRTMC_INTERNAL_ERROR, "section reference.json: field \"%s\" %s", trf_show(name).text, rule);
}

/* Copies a JSON list into an array of the kind's element. False: an element is of another kind; *memory: it ran out. */
static bool list_default(trf_arena* a, const trf_json* v, trtmc_config_value_v1* out, bool* memory) {
	size_t element = out->kind == TRTMC_CONFIG_STRING_LIST ? sizeof(trtmc_string_view) : 8;
	char* data = trf_arena_alloc(a, v->count * element);
	*memory = data == NULL;
	if (v->kind != TRF_ARRAY || !data) return false;
	char* to = data;
	for (const trf_json* x = v->first; x; x = x->next, to += element) {
		if (out->kind == TRTMC_CONFIG_I64_LIST && x->kind == TRF_NUMBER && x->integral)
			memcpy(to, &x->integer, 8);
		else if (out->kind == TRTMC_CONFIG_F64_LIST && x->kind == TRF_NUMBER)
			memcpy(to, &x->number, 8);
		else if (out->kind == TRTMC_CONFIG_STRING_LIST && x->kind == TRF_STRING)
			memcpy(to, &x->text, element);
		else
			return false;
	}
	if (out->kind == TRTMC_CONFIG_I64_LIST) out->as.i64_list = (trtmc_i64_view){(int64_t*)(void*)data, v->count};
	if (out->kind == TRTMC_CONFIG_F64_LIST) out->as.f64_list = (trtmc_f64_view){(double*)(void*)data, v->count};
	if (out->kind == TRTMC_CONFIG_STRING_LIST)
		out->as.string_list = (trtmc_strings_view){(trtmc_string_view*)(void*)data, v->count};
	return true;
}

static bool json_default(trf_arena* a, const trf_json* v, trtmc_config_value_v1* out, bool* memory) {
	switch (out->kind) {
	case TRTMC_CONFIG_I64:
		out->as.i64 = v->integer;
		return v->kind == TRF_NUMBER && v->integral;
	case TRTMC_CONFIG_F64:
		out->as.f64 = v->number;
		return v->kind == TRF_NUMBER;
	case TRTMC_CONFIG_BOOL:
		out->as.boolean = v->boolean;
		return v->kind == TRF_BOOL;
	case TRTMC_CONFIG_STRING:
		out->as.string = v->text;
		return v->kind == TRF_STRING;
	}
	return list_default(a, v, out, memory);
}

/* The default of a field that the bundle states as a size. False: the field has none. */
static bool size_default(const trf_params* p, trf_field_id id, trtmc_config_value_v1* out) {
	switch (id) {
	case TRF_F_MAX_NEW_TOKENS:
		out->as.i64 = p->text.default_max_new_tokens;
		return true;
	case TRF_F_DIMENSIONS:
		out->as.i64 = p->dimensions;
		return true;
	case TRF_F_WIDTH:
		out->as.i64 = p->video.width;
		return true;
	case TRF_F_HEIGHT:
		out->as.i64 = p->video.height;
		return true;
	case TRF_F_NUM_FRAMES:
		out->as.i64 = p->video.frames;
		return true;
	case TRF_F_NUM_INFERENCE_STEPS:
		out->as.i64 = p->video.steps;
		return true;
	case TRF_F_GUIDANCE_SCALE:
		out->as.f64 = p->video.guidance_scale;
		return true;
	case TRF_F_FPS:
		out->as.f64 = p->video.fps;
		return p->video.fps > 0;
	default:
		return false;
	}
}

static trtmc_status read_field(trf_arena* a, const trf_json* v, trf_params* p, trtmc_error** error) {
	const trf_json *name = trf_json_get(v, "name"), *kind = trf_json_get(v, "kind");
	const trf_json *value = trf_json_get(v, "default"), *description = trf_json_get(v, "description");
	if (!name || name->kind != TRF_STRING || name->text.size == 0)
		return wrong(error, trf_view(""), "needs a non-empty name");
	trf_field* f = &p->fields[p->field_count];
	for (size_t i = 0; i < p->field_count; i++)
		if (trf_equal(p->fields[i].info.name, name->text)) return wrong(error, name->text, "is declared twice");
	f->id = 0;
	while (f->id < TRF_FIELD_IDS && !trf_is(name->text, table[f->id].name)) f->id++;
	if (f->id == TRF_FIELD_IDS) return wrong(error, name->text, "is not known to this runtime");
	f->groups = table[f->id].groups;
	f->info = (trtmc_config_field_v1){.name = name->text, .kind = table[f->id].kind};
	if (!kind || kind->kind != TRF_STRING || !trf_is(kind->text, kind_names[f->info.kind]))
		return trf_fail(error, TRTMC_INTERNAL_ERROR, "section reference.json: field \"%s\" must be of kind %s",
			table[f->id].name, kind_names[f->info.kind]);
	if (description && description->kind == TRF_STRING) f->info.description = description->text;
	trtmc_config_value_v1 out = {.kind = f->info.kind};
	bool memory = false, given = value && value->kind != TRF_NULL;
	if (given && !json_default(a, value, &out, &memory))
		return memory ? trf_out_of_memory(error) : wrong(error, name->text, "has a default of another kind");
	if (given || size_default(p, f->id, &out)) {
		f->info.has_fixed_default = 1;
		f->info.default_value = out;
	}
	p->field_count++;
	return TRTMC_OK;
}

trtmc_status trf_fields_parse(trf_arena* a, const trf_json* list, trf_params* p, trtmc_error** error) {
	if (list->kind != TRF_ARRAY || list->count > TRF_MAX_FIELDS)
		return trf_fail(error, TRTMC_INTERNAL_ERROR,
			"section reference.json: fields must be a list of at most %d objects", TRF_MAX_FIELDS);
	for (const trf_json* v = list->first; v; v = v->next) {
		trtmc_status st = read_field(a, v, p, error);
		if (st != TRTMC_OK) return st;
	}
	return TRTMC_OK;
}
