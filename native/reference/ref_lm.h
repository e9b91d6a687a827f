/* Tokens, the language model, and generating text with it. */
#ifndef TRTMC_REF_LM_H
#define TRTMC_REF_LM_H

#include "ref_model.h"

#pragma GCC visibility push(hidden)

/* ---- ref_corpus_speech.c, ref_corpus_prose.c, ref_words.c ---- */

extern const char* const trf_corpus_speech[];
extern const char* const trf_corpus_prose[];
extern const char* const trf_words[];
extern const char* const trf_affixes[];

/* ---- ref_lm.c, ref_ngram.c, ref_sample.c: tokens and the language model ---- */

enum { TRF_END_TOKEN = 0, TRF_BYTE_TOKEN = 1, TRF_WORD_TOKEN = 257, TRF_ORDER = 4 };

typedef struct trf_lm {
	trf_arena arena;
	trtmc_string_view* tokens; /* text of each token; empty for TRF_END_TOKEN */
	int32_t token_count;
	int32_t corpus_tokens;         /* tokens below this id may be generated */
	int32_t* slots;                /* hash table of token ids + 1; 0 is free */
	size_t longest;                /* bytes of the longest token */
	trf_ids text;                  /* the corpus as tokens, TRF_END_TOKEN between documents */
	int32_t* order;                /* positions of text sorted by the tokens before them, nearest first */
	int32_t* counts;               /* how often each token stands in text */
	struct trf_word_counts* words; /* paragraphs by word */
} trf_lm;

/* The one model of the process, built when first asked for; NULL when memory ran out (the next call tries again). */
const trf_lm* trf_lm_get(void);
void trf_lm_tokenize(const trf_lm* lm, const char* text, size_t size, trf_ids* out);
bool trf_lm_index(trf_lm* lm); /* ref_ngram.c: fills order and counts */

/* ref_rarity.c: lower-case words of a text, by hash, and how rare they are */
typedef void (*trf_visit)(void* user, uint64_t word);
void trf_words_of(const char* text, size_t size, trf_visit visit, void* user);
bool trf_lm_count_words(trf_lm* lm);
double trf_lm_rarity(const trf_lm* lm, uint64_t word); /* inverse document frequency over the corpus' paragraphs */

typedef struct trf_sampling {
	double temperature, top_p, min_p;
	int64_t top_k;
	uint64_t random;           /* state of the generator */
	double weights[TRF_ORDER]; /* of the 1-gram to the 4-gram; all zero: from the context */
} trf_sampling;

typedef struct trf_candidate {
	double p;
	int32_t id;
} trf_candidate;

typedef struct trf_scratch {
	double* p;     /* probability of each corpus token */
	double* topic; /* probability by the rare words of the prompt */
	int32_t* mark; /* in which round a token was last seen */
	int32_t round;
	trf_candidate* candidates;
	bool has_topic;
} trf_scratch;

bool trf_scratch_init(trf_scratch* s, trf_arena* a, const trf_lm* lm, const int32_t* prompt, size_t size);
/* Fills s->p with the distribution after history (its last three tokens matter). */
void trf_lm_predict(
	const trf_lm* lm, trf_scratch* s, const double weights[TRF_ORDER], const int32_t* history, size_t size);
/* Picks from s->p; not TRF_END_TOKEN when allow_end is false. */
int32_t trf_sample(const trf_lm* lm, trf_scratch* s, trf_sampling* how, bool allow_end);

/* ---- ref_generate.c: options and the loop both text Task families use ---- */

typedef struct trf_options {
	int64_t max_new_tokens, min_tokens, eos_token_id, stop_check_interval;
	bool ignore_eos, use_chat_template, enable_thinking, stop_on_boxed_answer;
	trtmc_i64_view stop_token_ids;
	trtmc_strings_view stop_strings;
	trf_sampling sampling;
	trf_arena arena; /* holds copies, so that a stream may outlive the request */
} trf_options;

trtmc_status trf_options_read(trf_options* o, const trtmc_model* model, const trf_config* config, trtmc_error** error);
trtmc_status trf_options_fit(const trf_options* o, const trtmc_model* model, size_t prompt_tokens, trtmc_error** error);
void trf_options_free(trf_options* o);

/* Takes what is new: text that will not be taken back, and the token behind it (-1: none). False ends generation. */
typedef bool (*trf_emit)(void* user, trtmc_string_view text, int32_t token);

typedef struct trf_generation {
	trf_call* call;
	const trf_options* options;
	const trf_ids* prompt;
	int64_t budget;       /* most new tokens */
	bool to_sentence_end; /* ends after a full stop */
	trf_emit emit;
	void* user;
	trf_buffer text; /* what was generated */
	trf_ids tokens;
	size_t emitted;  /* bytes of text that emit has seen */
	uint32_t finish; /* TRTMC_FINISH_STOP or _LENGTH */
} trf_generation;

bool trf_prefill(trf_call* call, size_t tokens); /* spends their time; false: cancelled */
/* Generates, token by token, at the model's pace. False: the call failed, was cancelled or emit said no. */
bool trf_generate(trf_generation* g);
void trf_generation_free(trf_generation* g);

/* ---- ref_chat.c, ref_tool.c: what a conversation request says ---- */

typedef struct trf_tool_choice {
	trtmc_string_view name; /* empty: no tool is called */
	trtmc_string_view schema, message;
	uint64_t index; /* among the tools of the request */
} trf_tool_choice;

trtmc_status trf_chat_check(const trtmc_text_conversation_request_v1* request, trtmc_error** error);
/* Writes a checked request as one text, which the model continues. */
void trf_chat_render(const trtmc_text_conversation_request_v1* request, trf_buffer* out);
/* The first tool whose name the last message, a user's, contains. */
trf_tool_choice trf_tool_choose(const trtmc_text_conversation_request_v1* request);
/* Writes the call's arguments: each required property of the schema, filled from the message. */
trtmc_status trf_tool_arguments(const trf_tool_choice* choice, trf_buffer* out, trtmc_error** error);

#pragma GCC visibility pop

#endif
