/* The bundle file: header checks at open, sections read from the file when asked for. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ref_private.h"

enum { PREAMBLE = 16, MAX_HEADER = 100 << 20 };

#define BAD(error, format, ...) trf_fail(error, TRTMC_INTERNAL_ERROR, "bundle \"%s\": " format, __VA_ARGS__)

trtmc_status trf_path_check(trtmc_string_view path, const char* what, bool may_be_empty, trtmc_error** error) {
	if (!trf_span_ok(path.data, path.size, 1))
		return trf_fail(error, TRTMC_INVALID_ARGUMENT, "%s is a malformed string view", what);
	if (path.size == 0 && !may_be_empty) return trf_fail(error, TRTMC_INVALID_ARGUMENT, "%s is empty", what);
	if (path.size && memchr(path.data, 0, (size_t)path.size))
		return trf_fail(error, TRTMC_INVALID_ARGUMENT, "%s holds a NUL byte", what);
	return TRTMC_OK;
}

/* Makes the path absolute in arena memory; NULL when memory ran out. */
static char* absolute(trf_arena* a, trtmc_string_view path) {
	char* cwd = path.data[0] == '/' ? NULL : getcwd(NULL, 0);
	size_t before = cwd ? strlen(cwd) : 0;
	char* out = trf_arena_alloc(a, before + (size_t)path.size + 2);
	if (out) {
		if (cwd) snprintf(out, before + 2, "%s/", cwd);
		memcpy(out + strlen(out), path.data, (size_t)path.size);
	}
	free(cwd);
	return out;
}

/* Reads exactly size bytes at offset; false at a short file (errno 0) or a failure (errno set). */
static bool read_at(int fd, void* to, uint64_t size, uint64_t offset) {
	errno = 0;
	for (uint64_t done = 0; done < size;) {
		ssize_t n = pread(fd, (char*)to + done, (size_t)(size - done), (off_t)(offset + done));
		if (n == 0) return false;
		if (n < 0 && errno != EINTR) return false;
		if (n > 0) done += (uint64_t)n;
	}
	return true;
}

static trtmc_status open_file(const char* path, int* fd, trtmc_error** error) {
	*fd = open(path, O_RDONLY | O_CLOEXEC);
	if (*fd >= 0) return TRTMC_OK;
	return trf_fail(error, TRTMC_INTERNAL_ERROR, "bundle \"%s\" cannot be opened: %s", path, strerror(errno));
}

static trtmc_status read_word(
	const trtmc_bundle* b, const trf_json* header, const char* key, trtmc_string_view* out, trtmc_error** error) {
	const trf_json* v = trf_json_get(header, key);
	if (v->kind != TRF_STRING || v->text.size == 0) return BAD(error, "%s must be a non-empty string", b->path, key);
	*out = v->text;
	return TRTMC_OK;
}

static trtmc_status read_section(
	const trtmc_bundle* b, const trf_json* v, uint64_t room, trtmc_bundle_section_v1* out, trtmc_error** error) {
	trf_shown name = trf_show(v->key);
	const trf_json *offset = trf_json_get(v, "offset"), *length = trf_json_get(v, "length");
	if (v->key.size == 0) return BAD(error, "a section has an empty name", b->path);
	if (v->kind != TRF_OBJECT || v->count != 2 || !offset || !length)
		return BAD(error, "section \"%s\" must be an object with exactly offset and length", b->path, name.text);
	if (!offset->integral || !length->integral || offset->integer < 0 || length->integer < 0)
		return BAD(error, "section \"%s\": offset and length must be non-negative integers", b->path, name.text);
	uint64_t from = (uint64_t)offset->integer, size = (uint64_t)length->integer;
	if (from > room || size > room - from)
		return BAD(error, "section \"%s\" is bytes %llu+%llu of the payload, which has %llu bytes", b->path, name.text,
			(unsigned long long)from, (unsigned long long)size, (unsigned long long)room);
	*out = (trtmc_bundle_section_v1){v->key, from, size};
	return TRTMC_OK;
}

static int by_name(const void* a, const void* b) {
	trtmc_string_view x = ((const trtmc_bundle_section_v1*)a)->name, y = ((const trtmc_bundle_section_v1*)b)->name;
	int c = memcmp(x.data, y.data, (size_t)(x.size < y.size ? x.size : y.size));
	return c ? c : (x.size > y.size) - (x.size < y.size);
}

static trtmc_status read_sections(trtmc_bundle* b, const trf_json* list, uint64_t room, trtmc_error** error) {
	if (list->kind != TRF_OBJECT) return BAD(error, "sections must be an object", b->path);
	trtmc_bundle_section_v1* out = trf_arena_alloc(&b->arena, list->count * sizeof *out);
	if (!out) return trf_out_of_memory(error);
	size_t n = 0;
	for (const trf_json* v = list->first; v; v = v->next, n++) {
		trtmc_status st = read_section(b, v, room, &out[n], error);
		if (st != TRTMC_OK) return st;
	}
	if (n) qsort(out, n, sizeof *out, by_name);
	b->info.sections = out;
	b->info.section_count = n;
	return TRTMC_OK;
}

static trtmc_status read_header(trtmc_bundle* b, const char* text, size_t size, uint64_t room, trtmc_error** error) {
	static const char* const keys[] = {"format", "family", "task", "backend", "sections"};
	enum { KEYS = sizeof keys / sizeof keys[0] };
	const char* why;
	size_t at;
	const trf_json* v = trf_json_parse(&b->arena, text, size, &why, &at);
	if (!v && !why) return trf_out_of_memory(error);
	if (!v) return BAD(error, "the header is not valid JSON at byte %zu: %s", b->path, at, why);
	if (v->kind != TRF_OBJECT) return BAD(error, "the header must be a JSON object", b->path);
	for (size_t i = 0; i < KEYS; i++)
		if (!trf_json_get(v, keys[i])) return BAD(error, "the header lacks the key \"%s\"", b->path, keys[i]);
	for (const trf_json* m = v->first; m; m = m->next) {
		size_t i = 0;
		while (i < KEYS && !trf_is(m->key, keys[i])) i++;
		if (i == KEYS) return BAD(error, "the header has the unknown key \"%s\"", b->path, trf_show(m->key).text);
	}
	const trf_json* format = trf_json_get(v, "format");
	if (!format->integral || format->integer != 1) return BAD(error, "format must be the integer 1", b->path);
	b->info.format = 1;
	trtmc_status st = read_word(b, v, "family", &b->info.family, error);
	if (st == TRTMC_OK) st = read_word(b, v, "task", &b->info.task, error);
	if (st == TRTMC_OK) st = read_word(b, v, "backend", &b->info.backend, error);
	return st == TRTMC_OK ? read_sections(b, trf_json_get(v, "sections"), room, error) : st;
}

static trtmc_status read_bundle(trtmc_bundle* b, int fd, trtmc_error** error) {
	struct stat st;
	unsigned char head[PREAMBLE];
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) return BAD(error, "not a regular file", b->path);
	if (st.st_size < PREAMBLE || !read_at(fd, head, PREAMBLE, 0))
		return BAD(error, "shorter than the %d bytes a bundle has at least", b->path, PREAMBLE);
	if (memcmp(head, "BUNDLE\x01\x00", 8) != 0) return BAD(error, "does not start with the magic of a bundle", b->path);
	uint64_t size = 0, left = (uint64_t)st.st_size - PREAMBLE;
	for (int i = 7; i >= 0; i--) size = size << 8 | head[8 + i];
	if (size > MAX_HEADER)
		return BAD(error, "header length %llu is above %d", b->path, (unsigned long long)size, MAX_HEADER);
	if (size > left)
		return BAD(error, "header length %llu passes the end of the file", b->path, (unsigned long long)size);
	char* text = trf_alloc((size_t)size);
	if (!text) return trf_out_of_memory(error);
	b->payload = PREAMBLE + size;
	trtmc_status status;
	if (read_at(fd, text, size, PREAMBLE))
		status = read_header(b, text, (size_t)size, left - size, error);
	else
		status = BAD(error, "the header cannot be read", b->path);
	trf_free(text);
	return status;
}

trtmc_status trf_bundle_open(trtmc_string_view path, trtmc_bundle** out, trtmc_error** error) {
	if (out) *out = NULL;
	if (!error) return TRTMC_INVALID_ARGUMENT;
	*error = NULL;
	if (!out) return trf_fail(error, TRTMC_INVALID_ARGUMENT, "the output pointer is NULL");
	trtmc_status st = trf_path_check(path, "the bundle path", false, error);
	if (st != TRTMC_OK) return st;
	trtmc_bundle* b = trf_alloc(sizeof *b);
	if (!b) return trf_out_of_memory(error);
	trf_count(TRF_BUNDLES, 1);
	int fd = -1;
	b->path = absolute(&b->arena, path);
	st = b->path ? open_file(b->path, &fd, error) : trf_out_of_memory(error);
	if (st == TRTMC_OK) st = read_bundle(b, fd, error);
	if (fd >= 0) close(fd);
	if (st == TRTMC_OK)
		*out = b;
	else
		trf_bundle_release(b);
	return st;
}

void trf_bundle_release(trtmc_bundle* bundle) {
	if (!bundle) return;
	trf_arena_free(&bundle->arena);
	trf_count(TRF_BUNDLES, -1);
	trf_free(bundle);
}

trtmc_status trf_bundle_info(const trtmc_bundle* bundle, trtmc_bundle_info_v1* out, trtmc_error** error) {
	if (out) *out = (trtmc_bundle_info_v1){0};
	if (!error) return TRTMC_INVALID_ARGUMENT;
	*error = NULL;
	if (!bundle || !out) return trf_fail(error, TRTMC_INVALID_ARGUMENT, "the bundle or the output pointer is NULL");
	*out = bundle->info;
	return TRTMC_OK;
}

static trtmc_status load_section(
	const trtmc_bundle* b, const trtmc_bundle_section_v1* s, trtmc_result* r, trtmc_error** error) {
	int fd;
	uint8_t* data = trf_arena_alloc(&r->arena, (size_t)s->length);
	if (!data) return trf_out_of_memory(error);
	trtmc_status st = open_file(b->path, &fd, error);
	if (st != TRTMC_OK) return st;
	bool whole = read_at(fd, data, s->length, b->payload + s->offset);
	close(fd);
	if (!whole) return BAD(error, "section \"%s\" cannot be read whole", b->path, trf_show(s->name).text);
	r->as.bytes = (trtmc_bytes_view){data, s->length};
	return TRTMC_OK;
}

trtmc_status trf_bundle_read_section(
	const trtmc_bundle* bundle, trtmc_string_view name, trtmc_result** out, trtmc_error** error) {
	if (out) *out = NULL;
	if (!error) return TRTMC_INVALID_ARGUMENT;
	*error = NULL;
	if (!bundle || !out) return trf_fail(error, TRTMC_INVALID_ARGUMENT, "the bundle or the output pointer is NULL");
	if (!trf_span_ok(name.data, name.size, 1))
		return trf_fail(error, TRTMC_INVALID_ARGUMENT, "the section name is a malformed string view");
	uint64_t i = 0;
	while (i < bundle->info.section_count && !trf_equal(bundle->info.sections[i].name, name)) i++;
	if (i == bundle->info.section_count)
		return BAD(error, "there is no section \"%s\"", bundle->path, trf_show(name).text);
	trtmc_result* r = trf_result_new(TRF_RESULT_BYTES);
	if (!r) return trf_out_of_memory(error);
	trtmc_status st = load_section(bundle, &bundle->info.sections[i], r, error);
	if (st == TRTMC_OK)
		*out = r;
	else
		trf_result_release(r);
	return st;
}

trtmc_status trf_bytes_result_view(const trtmc_result* result, trtmc_bytes_view* out, trtmc_error** error) {
	trtmc_status st = trf_view_begin(result, TRF_RESULT_BYTES, out, sizeof *out, error);
	if (st == TRTMC_OK) *out = result->as.bytes;
	return st;
}
