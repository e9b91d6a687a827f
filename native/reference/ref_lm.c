/* Tokens. Any bytes become tokens and come back exactly: words of the vocabulary (with their leading space), parts of
 * words, and single bytes for everything else. */
#include "ref_private.h"

enum { SLOTS = 1 << 16, MAX_TOKENS = SLOTS / 2, MAX_PIECE = 64 };

static bool is_letter(unsigned char c) {
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '\'' || c >= 0x80;
}

/* Length of the piece at the start of text: an optional space and a word, or one byte. */
static size_t piece(const char* text, size_t size) {
	const unsigned char* p = (const unsigned char*)text;
	size_t n = p[0] == ' ' && size > 1 && is_letter(p[1]) ? 1 : 0;
	if (!is_letter(p[n])) return 1;
	while (n < size && is_letter(p[n]) && n < MAX_PIECE) n++;
	return n;
}

static size_t slot_of(const trf_lm* lm, const char* text, size_t size) {
	size_t i = (size_t)trf_hash(text, size, 1) & (SLOTS - 1);
	while (lm->slots[i]) {
		trtmc_string_view t = lm->tokens[lm->slots[i] - 1];
		if (t.size == size && memcmp(t.data, text, size) == 0) break;
		i = (i + 1) & (SLOTS - 1);
	}
	return i;
}

/* Adds a token unless it is there or the table is full; false when memory ran out. */
static bool add(trf_lm* lm, const char* text, size_t size) {
	size_t slot = slot_of(lm, text, size);
	if (lm->slots[slot] || lm->token_count == MAX_TOKENS) return true;
	if (!trf_arena_text(&lm->arena, (trtmc_string_view){text, size}, &lm->tokens[lm->token_count])) return false;
	lm->slots[slot] = ++lm->token_count;
	if (size > lm->longest) lm->longest = size;
	return true;
}

static bool add_bytes(trf_lm* lm) {
	static const char* const none = "";
	lm->tokens[lm->token_count++] = (trtmc_string_view){none, 0};
	for (int c = 0; c < 256; c++) {
		char byte = (char)c;
		if (!add(lm, &byte, 1)) return false;
	}
	return true;
}

static bool add_text(trf_lm* lm, const char* text, size_t size) {
	for (size_t i = 0; i < size;) {
		size_t n = piece(text + i, size - i);
		if (!add(lm, text + i, n)) return false;
		i += n;
	}
	return true;
}

/* Adds a list of words; with forms, each also with a space before it and with a capital. */
static bool add_words(trf_lm* lm, const char* const* lines, bool forms) {
	for (; *lines; lines++) {
		const char* at = *lines;
		while (*at) {
			size_t n = strcspn(at, " ");
			char form[MAX_PIECE + 1] = " ";
			memcpy(form + 1, at, n);
			bool ok = add(lm, at, n);
			if (forms) {
				ok = ok && add(lm, form, n + 1);
				if (form[1] >= 'a' && form[1] <= 'z') form[1] = (char)(form[1] - 'a' + 'A');
				ok = ok && add(lm, form, n + 1) && add(lm, form + 1, n);
			}
			if (!ok) return false;
			at += n + (at[n] == ' ');
		}
	}
	return true;
}

/* Joins the corpus into one text per document and calls take for each. */
static bool each_document(trf_lm* lm, const char* const* pieces, bool (*take)(trf_lm*, const char*, size_t)) {
	trf_buffer b = {0};
	bool ok = true;
	for (; ok && *pieces; pieces++) {
		if (**pieces) {
			trf_buffer_text(&b, *pieces);
			continue;
		}
		ok = !b.failed && take(lm, b.data, b.size);
		b.size = 0;
	}
	trf_buffer_free(&b);
	return ok;
}

static bool learn(trf_lm* lm, const char* text, size_t size) {
	trf_lm_tokenize(lm, text, size, &lm->text);
	trf_ids_add(&lm->text, TRF_END_TOKEN);
	return !lm->text.failed;
}

static bool build(trf_lm* lm) {
	lm->tokens = trf_arena_alloc(&lm->arena, MAX_TOKENS * sizeof *lm->tokens);
	lm->slots = trf_arena_alloc(&lm->arena, SLOTS * sizeof *lm->slots);
	if (!lm->tokens || !lm->slots || !add_bytes(lm)) return false;
	if (!each_document(lm, trf_corpus_speech, add_text) || !each_document(lm, trf_corpus_prose, add_text)) return false;
	lm->corpus_tokens = lm->token_count;
	if (!add_words(lm, trf_words, true) || !add_words(lm, trf_affixes, false)) return false;
	trf_ids_add(&lm->text, TRF_END_TOKEN);
	if (!each_document(lm, trf_corpus_speech, learn) || !each_document(lm, trf_corpus_prose, learn)) return false;
	return trf_lm_index(lm) && trf_lm_count_words(lm);
}

const trf_lm* trf_lm_get(void) {
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static trf_lm model;
	static bool ready;
	pthread_mutex_lock(&lock);
	if (!ready) {
		ready = build(&model);
		if (!ready) {
			trf_arena_free(&model.arena);
			trf_ids_free(&model.text);
			model = (trf_lm){0};
		}
	}
	bool ok = ready;
	pthread_mutex_unlock(&lock);
	return ok ? &model : NULL;
}

/* The longest token at the start of text; single bytes always match. */
static int32_t longest(const trf_lm* lm, const char* text, size_t size) {
	for (size_t n = size < lm->longest ? size : lm->longest; n > 0; n--) {
		int32_t found = lm->slots[slot_of(lm, text, n)];
		if (found) return found - 1;
	}
	return TRF_BYTE_TOKEN + (unsigned char)text[0];
}

void trf_lm_tokenize(const trf_lm* lm, const char* text, size_t size, trf_ids* out) {
	for (size_t i = 0; i < size && !out->failed;) {
		size_t n = piece(text + i, size - i);
		for (size_t end = i + n; i < end;) {
			int32_t id = longest(lm, text + i, end - i);
			trf_ids_add(out, id);
			i += (size_t)lm->tokens[id].size;
		}
	}
}
