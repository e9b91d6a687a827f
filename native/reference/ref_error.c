/* Error objects. When memory runs out there is none, and the status alone tells the truth. */
#include <stdio.h>

#include "ref_private.h"

struct trtmc_error {
	trtmc_status status;
	size_t size;
	char message[];
};

trtmc_status trf_fail_bytes(trtmc_error** error, trtmc_status status, const char* message, size_t size) {
	trtmc_error* e = trf_alloc(sizeof *e + size);
	if (e) {
		e->status = status;
		e->size = size;
		if (size) memcpy(e->message, message, size);
		trf_count(TRF_ERRORS, 1);
	}
	*error = e;
	return status;
}

trtmc_status trf_fail(trtmc_error** error, trtmc_status status, const char* format, ...) {
	char text[1024];
	va_list args;
	va_start(args, format);
	int n = vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (n < 0) n = 0;
	if ((size_t)n >= sizeof text) n = sizeof text - 1;
	return trf_fail_bytes(error, status, text, (size_t)n);
}

trtmc_status trf_out_of_memory(trtmc_error** error) { return trf_fail(error, TRTMC_OUT_OF_MEMORY, "out of memory"); }

trtmc_status trf_error_code(const trtmc_error* error) { return error ? error->status : TRTMC_OK; }

trtmc_string_view trf_error_message(const trtmc_error* error) {
	return error ? (trtmc_string_view){error->message, error->size} : (trtmc_string_view){NULL, 0};
}

void trf_error_release(trtmc_error* error) {
	if (!error) return;
	trf_count(TRF_ERRORS, -1);
	trf_free(error);
}

trf_shown trf_show(trtmc_string_view v) {
	trf_shown s = {{0}};
	size_t n = v.size < 80 ? (size_t)v.size : 80;
	while (n > 0 && n < v.size && ((unsigned char)v.data[n] & 0xC0) == 0x80) n--; /* do not cut inside a character */
	bool clean = trf_utf8_ok(v.data, n);
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)v.data[i];
		s.text[i] = c < 0x20 || c == 0x7F || (c >= 0x80 && !clean) ? '?' : (char)c;
	}
	if (n < v.size) memcpy(s.text + n, "...", 4);
	return s;
}
