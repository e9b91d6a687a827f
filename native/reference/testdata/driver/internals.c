/* Parts of the runtime by themselves: the JSON parser and the tokens. */
#include <stdlib.h>

#include "../../ref_private.h"
#include "driver.h"

/* "" accepts; else what the refusal says. */
static const struct {
	const char *text, *why;
} documents[] = {
	{"{}", ""},
	{" [1, -2.5e3, true, false, null, \"x\"] ", ""},
	{"\"\\u00e9\\ud83d\\ude00\\n\"", ""},
	{"0", ""},
	{"-0", ""},
	{"[[[[[[[[]]]]]]]]", ""},
	{"", "ends too early"},
	{"[", "ends too early"},
	{"{\"a\"", "expected ':'"},
	{"{a:1}", "expected a string"},
	{"[1,]", "expected a value"},
	{"{\"a\":1,}", "expected a string"},
	{"[1 2]", "',' or ']'"},
	{"{\"a\":1 \"b\":2}", "',' or '}'"},
	{"01", "malformed"},
	{"1.", "malformed"},
	{"1e", "malformed"},
	{"-", "malformed"},
	{"+1", "expected a value"},
	{"1e999", "too large"},
	{"nul", "expected a value"},
	{"truex", "more after"},
	{"{} {}", "more after"},
	{"\"abc", "not closed"},
	{"\"a\\", "not closed"},
	{"\"\\x\"", "wrong escape"},
	{"\"\\u12g4\"", "wrong escape"},
	{"\"\\ud800\"", "wrong escape"},
	{"\"\\udc00\"", "wrong escape"},
	{"\"a\tb\"", "control character"},
	{"\"\xff\"", "not UTF-8"},
	{"\"\xc0\x80\"", "not UTF-8"},
	{"\"\xed\xa0\x80\"", "not UTF-8"},
	{"{\"a\":1,\"\\u0061\":2}", "key twice"},
};

static void test_json(void) {
	const char* why;
	size_t at;
	for (size_t i = 0; i < sizeof documents / sizeof documents[0]; i++) {
		trf_arena a = {0};
		trf_json* v = trf_json_parse(&a, documents[i].text, strlen(documents[i].text), &why, &at);
		bool ok = documents[i].why[0] ? !v && why && contains(sv(why), documents[i].why) : v != NULL;
		if (!ok) printf("JSON %s: %s\n", documents[i].text, v ? "accepted" : why);
		CHECK(ok);
		trf_arena_free(&a);
	}
	char deep[200];
	memset(deep, '[', sizeof deep);
	trf_arena a = {0};
	CHECK(!trf_json_parse(&a, deep, sizeof deep, &why, &at) && contains(sv(why), "deeper"));
	static const char
		numbers[] = "[0.7, 1e-3, 123456789012345, -2.5e3, 9223372036854775807, 9223372036854775808, 0.1e1]";
	static const double want[] = {0.7, 1e-3, 123456789012345, -2.5e3, 9223372036854775807.0, 9223372036854775808.0, 1};
	const trf_json* v = trf_json_parse(&a, numbers, sizeof numbers - 1, &why, &at)->first;
	for (int i = 0; v; v = v->next, i++) CHECK(v->number == want[i] && v->integral == (i == 2 || i == 4));
	trf_buffer quoted = {0};
	trf_json_quote(&quoted, (trtmc_string_view){"a\"\\\n\0\xc3\xa9", 7});
	CHECK(equal((trtmc_string_view){quoted.data, quoted.size}, sv("\"a\\\"\\\\\\u000a\\u0000\xc3\xa9\"")));
	v = trf_json_parse(&a, quoted.data, quoted.size, &why, &at);
	CHECK(v && equal(v->text, (trtmc_string_view){"a\"\\\n\0\xc3\xa9", 7}));
	trf_buffer_free(&quoted);
	trf_arena_free(&a);
}

static void check_round_trip(const trf_lm* lm, const char* text, size_t size) {
	trf_ids ids = {0};
	trf_buffer back = {0};
	trf_lm_tokenize(lm, text, size, &ids);
	for (size_t i = 0; i < ids.size; i++)
		trf_buffer_add(&back, lm->tokens[ids.data[i]].data, (size_t)lm->tokens[ids.data[i]].size);
	CHECK(equal((trtmc_string_view){text, size}, (trtmc_string_view){back.data, back.size}) && ids.size <= size);
	trf_ids_free(&ids);
	trf_buffer_free(&back);
}

static void test_tokens(void) {
	const trf_lm* lm = trf_lm_get();
	char text[300];
	uint64_t state = 1;
	for (int round = 0; round < 500; round++) {
		size_t n = (size_t)(state % sizeof text);
		for (size_t i = 0; i < n; i++) {
			state = trf_mix(state);
			text[i] = round % 2 ? (char)state : " the people's Earth,\n"[state % 21];
		}
		check_round_trip(lm, text, n);
	}
	trf_ids ids = {0};
	static const char
		plain[] = "The house of the people is near the river and the children play with a small dog every morning";
	trf_lm_tokenize(lm, plain, sizeof plain - 1, &ids);
	CHECK(ids.size == 19); /* one a word */
	trf_ids_free(&ids);
	double total = 0;
	trf_arena a = {0};
	trf_scratch s;
	const double weights[TRF_ORDER] = {0};
	if (CHECK(trf_scratch_init(&s, &a, lm, lm->text.data, 40))) {
		trf_lm_predict(lm, &s, weights, lm->text.data, 40);
		for (int32_t id = 0; id < lm->corpus_tokens; id++) total += s.p[id];
		CHECK(total > 0.999999 && total < 1.000001); /* a distribution */
	}
	trf_arena_free(&a);
}

void test_internals(void) {
	test_json();
	test_tokens();
}
