/* A strict JSON parser into arena memory. */
#include <math.h>

#include "ref_private.h"

enum { MAX_DEPTH = 64 };

typedef struct parser {
	trf_arena* arena;
	const char* text;
	size_t size, at;
	const char* why; /* set once; NULL with failed set means out of memory */
	bool failed;
} parser;

static void* refuse(parser* p, const char* why) {
	if (!p->failed) p->why = why;
	p->failed = true;
	return NULL;
}

static int peek(const parser* p) { return p->at < p->size ? (unsigned char)p->text[p->at] : -1; }

static void skip_space(parser* p) {
	while (p->at < p->size && memchr(" \t\r\n", p->text[p->at], 4)) p->at++;
}

static bool take(parser* p, const char* word) {
	size_t n = strlen(word);
	if (p->size - p->at < n || memcmp(p->text + p->at, word, n) != 0) return false;
	p->at += n;
	return true;
}

static trf_json* node(parser* p, trf_json_kind kind) {
	trf_json* v = trf_arena_alloc(p->arena, sizeof *v);
	if (!v) return refuse(p, NULL);
	v->kind = kind;
	return v;
}

static int hex_digit(int c) {
	if (c >= '0' && c <= '9') return c - '0';
	if (c >= 'a' && c <= 'f') return c - 'a' + 10;
	if (c >= 'A' && c <= 'F') return c - 'A' + 10;
	return -1;
}

/* Reads four hexadecimal digits; -1 when there are none. */
static int32_t hex4(parser* p) {
	int32_t v = 0;
	for (int i = 0; i < 4; i++) {
		int digit = hex_digit(peek(p));
		if (digit < 0) return -1;
		v = v * 16 + digit;
		p->at++;
	}
	return v;
}

static size_t put_utf8(char* out, int32_t c) {
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
	for (size_t i = n - 1; i > 0; i--, c >>= 6) out[i] = (char)(0x80 | (c & 0x3F));
	out[0] = (char)(lead[n] | c);
	return n;
}

/* Reads what follows a backslash into out; 0 when it is no escape. */
static size_t escape(parser* p, char* out) {
	static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
	int c = peek(p);
	p->at++;
	const char* found = c > 0 ? strchr(names, c) : NULL;
	if (found) {
		*out = values[found - names];
		return 1;
	}
	if (c != 'u') return 0;
	int32_t code = hex4(p);
	if (code >= 0xD800 && code <= 0xDBFF) {
		if (!take(p, "\\u")) return 0;
		int32_t low = hex4(p);
		if (low < 0xDC00 || low > 0xDFFF) return 0;
		code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
	} else if (code < 0 || (code >= 0xDC00 && code <= 0xDFFF)) {
		return 0;
	}
	return put_utf8(out, code);
}

static bool string(parser* p, trtmc_string_view* out) {
	if (peek(p) != '"') return refuse(p, "expected a string") != NULL;
	size_t from = ++p->at, end = from;
	while (end < p->size && p->text[end] != '"') end += p->text[end] == '\\' ? 2 : 1;
	if (end >= p->size) return refuse(p, "a string is not closed") != NULL;
	char* copy = trf_arena_alloc(p->arena, end - from + 1); /* escapes only shrink */
	if (!copy) return refuse(p, NULL) != NULL;
	size_t n = 0;
	while (p->at < end) {
		unsigned char c = (unsigned char)p->text[p->at++];
		if (c < 0x20) return refuse(p, "a string holds a control character") != NULL;
		if (c != '\\') {
			copy[n++] = (char)c;
			continue;
		}
		size_t got = escape(p, copy + n);
		if (got == 0) return refuse(p, "a string holds a wrong escape") != NULL;
		n += got;
	}
	p->at = end + 1;
	*out = (trtmc_string_view){copy, n};
	return true;
}

static size_t digits(parser* p) {
	size_t from = p->at;
	while (peek(p) >= '0' && peek(p) <= '9') p->at++;
	return p->at - from;
}

/* Turns the number written in text into a double without asking the locale; exact for up to 15 digits. */
static double decimal(const char* text, size_t size) {
	uint64_t mantissa = 0;
	int exponent = 0, shift = 0, sign = 1;
	size_t i = text[0] == '-';
	bool fraction = false;
	for (; i < size && text[i] != 'e' && text[i] != 'E'; i++) {
		if (text[i] == '.') {
			fraction = true;
			continue;
		}
		if (mantissa < UINT64_MAX / 10 - 1)
			mantissa = mantissa * 10 + (uint64_t)(text[i] - '0');
		else
			shift++; /* digits beyond the nineteenth only count as places */
		shift -= fraction;
	}
	if (i++ < size) {
		if (text[i] == '-' || text[i] == '+') sign = text[i++] == '-' ? -1 : 1;
		for (; i < size && exponent < 10000; i++) exponent = exponent * 10 + (text[i] - '0');
	}
	exponent = sign * exponent + shift;
	double scale = pow(10, exponent < 0 ? -exponent : exponent);
	double v = mantissa == 0 ? 0 : exponent < 0 ? (double)mantissa / scale : (double)mantissa * scale;
	return text[0] == '-' ? -v : v;
}

static trf_json* number(parser* p) {
	size_t from = p->at;
	bool negative = take(p, "-");
	bool zero = peek(p) == '0';
	size_t whole = digits(p);
	if (whole == 0 || (zero && whole > 1)) return refuse(p, "a number is malformed");
	bool integral = true;
	if (take(p, ".")) {
		integral = false;
		if (digits(p) == 0) return refuse(p, "a number is malformed");
	}
	if (peek(p) == 'e' || peek(p) == 'E') {
		integral = false;
		p->at++;
		if (peek(p) == '+' || peek(p) == '-') p->at++;
		if (digits(p) == 0) return refuse(p, "a number is malformed");
	}
	trf_json* v = node(p, TRF_NUMBER);
	if (!v) return NULL;
	v->number = decimal(p->text + from, p->at - from);
	if (!isfinite(v->number)) return refuse(p, "a number is too large");
	uint64_t n = 0;
	for (size_t i = from + negative; integral && i < p->at; i++) {
		uint64_t digit = (uint64_t)(p->text[i] - '0');
		if (n > ((uint64_t)INT64_MAX - digit) / 10)
			integral = false;
		else
			n = n * 10 + digit;
	}
	v->integral = integral;
	v->integer = integral ? (negative ? -(int64_t)n : (int64_t)n) : 0;
	return v;
}

static trf_json* value(parser* p, int depth);

static bool key(parser* p, const trf_json* object, trtmc_string_view* out) {
	if (!string(p, out)) return false;
	for (const trf_json* m = object->first; m; m = m->next)
		if (trf_equal(m->key, *out)) return refuse(p, "an object has a key twice") != NULL;
	skip_space(p);
	if (!take(p, ":")) return refuse(p, "expected ':' after a key") != NULL;
	return true;
}

static trf_json* container(parser* p, trf_json_kind kind, int depth) {
	const char* close = kind == TRF_ARRAY ? "]" : "}";
	if (depth >= MAX_DEPTH) return refuse(p, "nested deeper than 64");
	trf_json* v = node(p, kind);
	if (!v) return NULL;
	trf_json** tail = &v->first;
	p->at++;
	skip_space(p);
	if (take(p, close)) return v;
	do {
		trtmc_string_view name = {NULL, 0};
		skip_space(p);
		if (kind == TRF_OBJECT && !key(p, v, &name)) return NULL;
		trf_json* child = value(p, depth + 1);
		if (!child) return NULL;
		child->key = name;
		*tail = child;
		tail = &child->next;
		v->count++;
		skip_space(p);
	} while (take(p, ","));
	if (!take(p, close)) return refuse(p, kind == TRF_ARRAY ? "expected ',' or ']'" : "expected ',' or '}'");
	return v;
}

static trf_json* value(parser* p, int depth) {
	skip_space(p);
	trf_json* v;
	switch (peek(p)) {
	case '{':
		return container(p, TRF_OBJECT, depth);
	case '[':
		return container(p, TRF_ARRAY, depth);
	case '"':
		v = node(p, TRF_STRING);
		return v && string(p, &v->text) ? v : NULL;
	case 't':
	case 'f':
		v = node(p, TRF_BOOL);
		if (v) v->boolean = peek(p) == 't';
		return v && (take(p, "true") || take(p, "false")) ? v : refuse(p, "expected a value");
	case 'n':
		return take(p, "null") ? node(p, TRF_NULL) : refuse(p, "expected a value");
	case -1:
		return refuse(p, "the text ends too early");
	}
	if (peek(p) == '-' || (peek(p) >= '0' && peek(p) <= '9')) return number(p);
	return refuse(p, "expected a value");
}

trf_json* trf_json_parse(trf_arena* a, const char* text, size_t size, const char** why, size_t* at) {
	parser p = {.arena = a, .text = text, .size = size};
	trf_json* v = trf_utf8_ok(text, size) ? value(&p, 0) : refuse(&p, "the text is not UTF-8");
	skip_space(&p);
	if (v && p.at < p.size) v = refuse(&p, "there is more after the value");
	*why = p.why;
	*at = p.at;
	return v;
}

const trf_json* trf_json_get(const trf_json* object, const char* name) {
	if (!object || object->kind != TRF_OBJECT) return NULL;
	for (const trf_json* m = object->first; m; m = m->next)
		if (trf_is(m->key, name)) return m;
	return NULL;
}

void trf_json_quote(trf_buffer* out, trtmc_string_view text) {
	static const char hex[] = "0123456789abcdef";
	bool clean = trf_utf8_ok(text.data, (size_t)text.size);
	trf_buffer_text(out, "\"");
	for (uint64_t i = 0; i < text.size; i++) {
		unsigned char c = (unsigned char)text.data[i];
		if (c == '"' || c == '\\') {
			char two[2] = {'\\', (char)c};
			trf_buffer_add(out, two, 2);
		} else if (c < 0x20) {
			char six[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
			trf_buffer_add(out, six, 6);
		} else if (c >= 0x80 && !clean) {
			trf_buffer_text(out, "\xEF\xBF\xBD"); /* U+FFFD */
		} else {
			trf_buffer_add(out, &text.data[i], 1);
		}
	}
	trf_buffer_text(out, "\"");
}
