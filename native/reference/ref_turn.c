/* Making the assistant's turn: reasoning when asked for, then a tool call or a text. */
#include <stdio.h>

#include "ref_turn.h"

enum { MOST_REASONING = 24 };

void trf_turn_job_free(void* self) {
	trf_turn_job* job = self;
	trf_options_free(&job->options);
	trf_ids_free(&job->prompt);
	trf_buffer_free(&job->arguments);
	trf_arena_free(&job->arena);
	trf_free(job);
}

static trtmc_status read_request(
	trf_turn_job* job, const trtmc_text_conversation_request_v1* request, trtmc_error** error) {
	trf_buffer text = {0};
	trf_chat_render(request, &text);
	trf_lm_tokenize(job->model->lm, text.data, text.size, &job->prompt);
	bool failed = text.failed || job->prompt.failed;
	trf_buffer_free(&text);
	trf_tool_choice choice = trf_tool_choose(request);
	if (failed || !trf_arena_text(&job->arena, choice.name, &job->tool)) return trf_out_of_memory(error);
	trtmc_status st = choice.name.size ? trf_tool_arguments(&choice, &job->arguments, error) : TRTMC_OK;
	return st == TRTMC_OK ? trf_options_fit(&job->options, job->model, job->prompt.size, error) : st;
}

trtmc_status trf_turn_job_new(trtmc_model* model, const trf_config* config,
	const trtmc_text_conversation_request_v1* request, trf_turn_job** out, trtmc_error** error) {
	trf_turn_job* job = trf_alloc(sizeof *job);
	if (!job) return trf_out_of_memory(error);
	job->model = model;
	trtmc_status st = trf_options_read(&job->options, model, config, error);
	if (st == TRTMC_OK) st = read_request(job, request, error);
	if (st == TRTMC_OK)
		*out = job;
	else
		trf_turn_job_free(job);
	return st;
}

trtmc_result* trf_turn_event(uint32_t kind) {
	trtmc_result* r = trf_result_new(TRF_RESULT_CONVERSATION_EVENT);
	if (r) r->as.conversation_event.kind = kind;
	return r;
}

/* Pushes an event whose one text has been copied (copied says whether that worked). */
static bool push(trf_turn* t, trtmc_result* event, bool copied) {
	if (event && copied) return trf_stream_push(t->call, event);
	trf_result_release(event);
	return trf_call_out_of_memory(t->call);
}

static bool push_tokens(trf_turn* t, const int32_t* ids, size_t count) {
	if (!t->streamed || count == 0) return true;
	trtmc_result* r = trf_turn_event(TRTMC_CONVERSATION_STREAM_TOKENS);
	int32_t* copy = r ? trf_arena_copy(&r->arena, ids, count * sizeof *ids) : NULL;
	if (copy) r->as.conversation_event.content.token_ids = (trtmc_i32_view){copy, count};
	return push(t, r, copy != NULL);
}

static bool push_text(trf_turn* t, uint32_t kind, trtmc_string_view text) {
	if (!t->streamed || text.size == 0) return true;
	trtmc_result* r = trf_turn_event(
		kind == TRTMC_CONVERSATION_REASONING ? TRTMC_CONVERSATION_STREAM_REASONING : TRTMC_CONVERSATION_STREAM_TEXT);
	if (!r) return trf_call_out_of_memory(t->call);
	trtmc_conversation_text_delta_v1* to = kind == TRTMC_CONVERSATION_REASONING ?
		&r->as.conversation_event.content.reasoning :
		&r->as.conversation_event.content.text;
	to->part_index = t->part_count;
	return push(t, r, trf_arena_text(&r->arena, text, &to->text_delta));
}

static bool push_tool(trf_turn* t, trtmc_string_view name, trtmc_string_view arguments) {
	if (!t->streamed) return true;
	trtmc_result* r = trf_turn_event(TRTMC_CONVERSATION_STREAM_TOOL_DELTA);
	if (!r) return trf_call_out_of_memory(t->call);
	trtmc_conversation_tool_delta_v1* to = &r->as.conversation_event.content.tool_delta;
	to->part_index = t->part_count;
	to->has_call_id = name.size > 0;
	bool copied = name.size == 0 ||
		(trf_arena_text(&r->arena, trf_view(t->call_id), &to->call_id) &&
			trf_arena_text(&r->arena, name, &to->name_delta));
	return push(t, r, copied && trf_arena_text(&r->arena, arguments, &to->arguments_delta));
}

static bool push_tool_end(trf_turn* t, uint32_t state) {
	if (!t->streamed) return true;
	trtmc_result* r = trf_turn_event(TRTMC_CONVERSATION_STREAM_TOOL_END);
	if (r) r->as.conversation_event.content.tool_end = (trtmc_conversation_tool_end_v1){t->part_count, state};
	return push(t, r, true);
}

/* What trf_generate calls for one part. */
typedef struct part_sink {
	trf_turn* turn;
	uint32_t kind;
} part_sink;

static bool take_piece(void* user, trtmc_string_view text, int32_t token) {
	part_sink* to = user;
	if (!push_text(to->turn, to->kind, text)) return false;
	if (token < 0) return true;
	trf_ids_add(&to->turn->tokens, token);
	if (to->turn->tokens.failed) return trf_call_out_of_memory(to->turn->call);
	return push_tokens(to->turn, &token, 1);
}

static bool generate_part(trf_turn* t, uint32_t kind, const trf_options* options, const trf_ids* prompt, int64_t budget,
	bool to_sentence_end) {
	part_sink to = {t, kind};
	trf_generation g = {.call = t->call,
		.options = options,
		.prompt = prompt,
		.budget = budget,
		.to_sentence_end = to_sentence_end,
		.emit = take_piece,
		.user = &to};
	bool ok = trf_generate(&g);
	if (ok && g.text.size) {
		t->parts[t->part_count++] = (trf_part){.kind = kind, .text = g.text};
		g.text = (trf_buffer){0}; /* moved */
	}
	t->finish = g.finish;
	trf_generation_free(&g);
	return ok;
}

/* A sentence of reasoning, at most a quarter of the tokens. */
static bool reason(trf_turn* t) {
	trf_options o = t->job->options;
	int64_t budget = o.max_new_tokens / 4 < MOST_REASONING ? o.max_new_tokens / 4 : MOST_REASONING;
	o.min_tokens = 0;
	o.ignore_eos = false;
	o.stop_strings = (trtmc_strings_view){NULL, 0};
	o.stop_token_ids = (trtmc_i64_view){NULL, 0};
	return generate_part(t, TRTMC_CONVERSATION_REASONING, &o, &t->job->prompt, budget, true);
}

static bool answer(trf_turn* t) {
	trf_options o = t->job->options;
	int64_t used = (int64_t)t->tokens.size;
	trf_ids prompt = {0};
	for (size_t i = 0; i < t->job->prompt.size; i++) trf_ids_add(&prompt, t->job->prompt.data[i]);
	for (size_t i = 0; i < t->tokens.size; i++) trf_ids_add(&prompt, t->tokens.data[i]);
	o.min_tokens = o.min_tokens > used ? o.min_tokens - used : 0;
	bool ok = !prompt.failed || trf_call_out_of_memory(t->call);
	ok = ok && generate_part(t, TRTMC_CONVERSATION_TEXT, &o, &prompt, o.max_new_tokens - used, false);
	trf_ids_free(&prompt);
	return ok;
}

/* Spends the time of tokens [from, to) and notes them. */
static bool spend_tokens(trf_turn* t, const trf_ids* ids, size_t from, size_t to) {
	if (!trf_call_spend(t->call, (double)(to - from) * t->call->model->params.timing.decode_us_per_token * 1e3))
		return false;
	for (size_t i = from; i < to; i++) trf_ids_add(&t->tokens, ids->data[i]);
	return t->tokens.failed ? trf_call_out_of_memory(t->call) : push_tokens(t, ids->data + from, to - from);
}

static bool write_arguments(trf_turn* t, const trf_ids* ids, size_t limit) {
	trf_part* part = &t->parts[t->part_count];
	bool ok = true;
	for (size_t i = 0; ok && i < ids->size && i < limit; i++) {
		trtmc_string_view piece = t->call->model->lm->tokens[ids->data[i]];
		trf_buffer_add(&part->text, piece.data, (size_t)piece.size);
		ok = !part->text.failed || trf_call_out_of_memory(t->call);
		ok = ok && push_tool(t, (trtmc_string_view){NULL, 0}, piece) && spend_tokens(t, ids, i, i + 1);
	}
	return ok;
}

/* The call of the chosen tool; cut short, and then incomplete, when the tokens do not suffice. */
static bool call_tool(trf_turn* t) {
	const trf_turn_job* job = t->job;
	trf_ids name = {0}, arguments = {0};
	trf_lm_tokenize(t->call->model->lm, job->tool.data, (size_t)job->tool.size, &name);
	trf_lm_tokenize(t->call->model->lm, job->arguments.data, job->arguments.size, &arguments);
	size_t left = (size_t)(job->options.max_new_tokens - (int64_t)t->tokens.size);
	size_t of_name = name.size < left ? name.size : left;
	bool whole = name.size + arguments.size <= left;
	trf_part* part = &t->parts[t->part_count];
	part->kind = TRTMC_CONVERSATION_TOOL_CALL;
	part->state = whole ? TRTMC_TOOL_CALL_COMPLETE : TRTMC_TOOL_CALL_INCOMPLETE;
	bool ok = !(name.failed || arguments.failed) || trf_call_out_of_memory(t->call);
	ok = ok && push_tool(t, job->tool, (trtmc_string_view){NULL, 0}) && spend_tokens(t, &name, 0, of_name);
	ok = ok && write_arguments(t, &arguments, left - of_name) && push_tool_end(t, part->state);
	t->part_count += ok;
	t->finish = whole ? TRTMC_FINISH_TOOL_CALLS : TRTMC_FINISH_LENGTH;
	trf_ids_free(&name);
	trf_ids_free(&arguments);
	return ok;
}

bool trf_turn_make(trf_turn* t) {
	const trf_ids* prompt = &t->job->prompt;
	uint64_t h = trf_hash(prompt->data, prompt->size * sizeof *prompt->data, 5);
	snprintf(t->call_id, sizeof t->call_id, "call_%016llx", (unsigned long long)h);
	if (!trf_call_setup(t->call) || !trf_prefill(t->call, prompt->size)) return false;
	if (t->job->options.enable_thinking && !reason(t)) return false;
	return t->job->tool.size ? call_tool(t) : answer(t);
}

static bool view_part(trf_arena* a, const trf_turn* t, const trf_part* p, trtmc_conversation_part_v1* out) {
	trtmc_string_view text = {p->text.data, p->text.size};
	out->kind = p->kind;
	if (p->kind != TRTMC_CONVERSATION_TOOL_CALL) return trf_arena_text(a, text, &out->content.text);
	trtmc_tool_call_v1* c = &out->content.tool_call;
	c->state = p->state;
	return trf_arena_text(a, trf_view(t->call_id), &c->call_id) && trf_arena_text(a, t->job->tool, &c->name) &&
		trf_arena_text(a, text, &c->arguments_json);
}

bool trf_turn_view(trf_arena* a, const trf_turn* t, trtmc_conversation_result_view_v1* out) {
	trtmc_conversation_part_v1* parts = trf_arena_alloc(a, t->part_count * sizeof *parts);
	int32_t* ids = trf_arena_copy(a, t->tokens.data, t->tokens.size * sizeof *ids);
	if (!parts || !ids) return false;
	for (size_t i = 0; i < t->part_count; i++)
		if (!view_part(a, t, &t->parts[i], &parts[i])) return false;
	uint64_t input = t->job->prompt.size, output = t->tokens.size;
	*out = (trtmc_conversation_result_view_v1){
		.parts = parts,
		.part_count = t->part_count,
		.token_ids = {ids, output},
		.setup_ms = trf_ms(t->call->start, t->call->setup_end),
		.prefill_ms = trf_ms(t->call->setup_end, t->call->prefill_end),
		.decode_ms = trf_ms(t->call->prefill_end, trf_now()),
		.finish_reason = t->finish,
		.usage = {1, 1, 1, input, output, input + output},
	};
	return true;
}

void trf_turn_free(trf_turn* t) {
	for (size_t i = 0; i < 2; i++) trf_buffer_free(&t->parts[i].text);
	trf_ids_free(&t->tokens);
}
