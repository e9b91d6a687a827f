/* The assistant's turn of a conversation: shared by ref_turn.c, which makes it, and ref_conversation.c, which tells it. */
#ifndef TRTMC_REF_TURN_H
#define TRTMC_REF_TURN_H

#include "ref_private.h"

#pragma GCC visibility push(hidden)

typedef struct trf_turn_job {
	trtmc_model* model;
	trf_options options;
	trf_ids prompt;
	trf_arena arena;
	trtmc_string_view tool; /* name of the tool to call; empty: none */
	trf_buffer arguments;   /* of that call */
} trf_turn_job;

typedef struct trf_part {
	uint32_t kind;   /* TRTMC_CONVERSATION_TEXT, _REASONING or _TOOL_CALL; 0: no such part */
	trf_buffer text; /* of a tool call: its arguments */
	uint32_t state;  /* of a tool call */
} trf_part;

typedef struct trf_turn {
	trf_call* call;
	trf_turn_job* job;
	bool streamed;
	trf_part parts[2];
	size_t part_count;
	trf_ids tokens;
	char call_id[24];
	uint32_t finish;
} trf_turn;

trtmc_status trf_turn_job_new(trtmc_model* model, const trf_config* config,
	const trtmc_text_conversation_request_v1* request, trf_turn_job** out, trtmc_error** error);
void trf_turn_job_free(void* self);
/* Makes the turn at the model's pace; when streamed, pushes its events. False: failed or cancelled. */
bool trf_turn_make(trf_turn* turn);
bool trf_turn_view(
	trf_arena* a, const trf_turn* turn, trtmc_conversation_result_view_v1* out); /* false: out of memory */
void trf_turn_free(trf_turn* turn);
trtmc_result* trf_turn_event(uint32_t kind);

#pragma GCC visibility pop

#endif
