/* Judging what callers hand in, and hashing. */
#include "ref_private.h"

bool trf_span_ok(const void* data, uint64_t count, size_t element) {
	if (count == 0) return true;
	return data != NULL && count <= (uint64_t)PTRDIFF_MAX / element;
}

bool trf_strings_ok(trtmc_strings_view v) {
	if (!trf_span_ok(v.data, v.size, sizeof *v.data)) return false;
	for (uint64_t i = 0; i < v.size; i++)
		if (!trf_span_ok(v.data[i].data, v.data[i].size, 1)) return false;
	return true;
}

/* Length of the UTF-8 sequence at p, of which left bytes may be read; 0 when it is not one. */
static size_t sequence(const unsigned char* p, size_t left) {
	unsigned char c = p[0];
	if (c < 0x80) return 1;
	size_t n = c >= 0xC2 && c <= 0xDF ? 2 : c >= 0xE0 && c <= 0xEF ? 3 : c >= 0xF0 && c <= 0xF4 ? 4 : 0;
	if (n == 0 || left < n) return 0;
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xC0) != 0x80) return 0;
	if ((c == 0xE0 && p[1] < 0xA0) || (c == 0xED && p[1] > 0x9F)) return 0; /* overlong, surrogate */
	if ((c == 0xF0 && p[1] < 0x90) || (c == 0xF4 && p[1] > 0x8F)) return 0; /* overlong, above U+10FFFF */
	return n;
}

bool trf_utf8_ok(const char* data, size_t size) {
	for (size_t i = 0; i < size;) {
		size_t n = sequence((const unsigned char*)data + i, size - i);
		if (n == 0) return false;
		i += n;
	}
	return true;
}

/* The finalizer of splitmix64: every input bit reaches every output bit. */
uint64_t trf_mix(uint64_t x) {
	x += 0x9E3779B97F4A7C15u;
	x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
	x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
	return x ^ (x >> 31);
}

uint64_t trf_hash(const void* data, size_t size, uint64_t seed) {
	const unsigned char* p = data;
	uint64_t h = 0xCBF29CE484222325u ^ trf_mix(seed); /* FNV-1a, mixed at the end */
	for (size_t i = 0; i < size; i++) h = (h ^ p[i]) * 0x100000001B3u;
	return trf_mix(h);
}
