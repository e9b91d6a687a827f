/* Lower-case words of a text, and how rare each is among the paragraphs of the corpus. */
#include <math.h>

#include "ref_private.h"

enum { SLOTS = 1 << 13 };

typedef struct trf_word_counts {
	uint64_t words[SLOTS]; /* hash; 0 is free */
	int32_t in[SLOTS];     /* paragraphs with that word */
	int32_t last[SLOTS];   /* the last of them */
	int32_t paragraphs;
	int32_t used;
} trf_word_counts;

static unsigned char lower(unsigned char c) { return c >= 'A' && c <= 'Z' ? (unsigned char)(c - 'A' + 'a') : c; }
static bool is_word(unsigned char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c >= 0x80; }

void trf_words_of(const char* text, size_t size, trf_visit visit, void* user) {
	for (size_t i = 0; i < size;) {
		uint64_t h = 0xCBF29CE484222325u;
		size_t from = i;
		for (unsigned char c; i < size && is_word(c = lower((unsigned char)text[i])); i++) h = (h ^ c) * 0x100000001B3u;
		if (i > from)
			visit(user, trf_mix(h) | 1);
		else
			i++;
	}
}

static size_t find(const trf_word_counts* w, uint64_t word) {
	size_t i = (size_t)(word >> 20) & (SLOTS - 1);
	while (w->words[i] && w->words[i] != word) i = (i + 1) & (SLOTS - 1);
	return i;
}

static void count(void* user, uint64_t word) {
	trf_word_counts* w = user;
	size_t i = find(w, word);
	if (!w->words[i]) {
		if (w->used == SLOTS / 2) return; /* the corpus has far fewer words */
		w->words[i] = word;
		w->used++;
	}
	if (w->last[i] != w->paragraphs) w->in[i]++;
	w->last[i] = w->paragraphs;
}

bool trf_lm_count_words(trf_lm* lm) {
	lm->words = trf_arena_alloc(&lm->arena, sizeof *lm->words);
	if (!lm->words) return false;
	const char* const* halves[] = {trf_corpus_speech, trf_corpus_prose};
	for (int half = 0; half < 2; half++) {
		for (const char* const* piece = halves[half]; *piece; piece++) {
			lm->words->paragraphs++;
			trf_words_of(*piece, strlen(*piece), count, lm->words);
		}
	}
	return true;
}

double trf_lm_rarity(const trf_lm* lm, uint64_t word) {
	double in = (double)lm->words->in[find(lm->words, word)], n = (double)lm->words->paragraphs;
	return log(1 + (n - in + 0.5) / (in + 0.5));
}
