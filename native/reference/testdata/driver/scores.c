/* Relevance and embedding. */
#include "driver.h"

static float pair(trtmc_model* m, const char* query, const char* document) {
	trtmc_error* err;
	const trtmc_text_pair_to_relevance_api_v1* api = table(m, TRTMC_TASK_TEXT_PAIR_TO_RELEVANCE);
	trtmc_text_pair_to_relevance_request_v1 q = {sv(query), sv(document)};
	trtmc_result* r = NULL;
	trtmc_relevance_view_v1 v = {0};
	EXPECT(api->run(m, &q, NULL, &r, &err), TRTMC_OK, NULL);
	EXPECT(api->result_view(r, &v, &err), TRTMC_OK, NULL);
	CHECK(v.kind == TRTMC_SCORE_LOGIT);
	core->result_release(r);
	return v.score;
}

static void test_refusals(trtmc_model* m) {
	trtmc_error* err;
	const trtmc_text_query_documents_to_relevance_api_v1* api = table(m, TRTMC_TASK_TEXT_QUERY_DOCUMENTS_TO_RELEVANCE);
	const trtmc_text_pair_to_relevance_api_v1* pairs = table(m, TRTMC_TASK_TEXT_PAIR_TO_RELEVANCE);
	trtmc_string_view one = {NULL, 4};
	trtmc_result* r = (trtmc_result*)m;
	trtmc_text_query_documents_to_relevance_request_v1 q = {sv("q"), {NULL, 2}}, bad_text = {sv("q"), {&one, 1}},
													   bad_query = {{NULL, 2}, {NULL, 0}}, none = {sv("q"), {NULL, 0}};
	trtmc_text_pair_to_relevance_request_v1 p = {sv("q"), one};
	CHECK(api->run(m, &q, NULL, &r, NULL) == TRTMC_INVALID_ARGUMENT && !r);
	EXPECT(api->run(m, NULL, NULL, &r, &err), TRTMC_INVALID_ARGUMENT, "NULL");
	EXPECT(api->run(m, &q, NULL, &r, &err), TRTMC_INVALID_ARGUMENT, "documents");
	EXPECT(api->run(m, &bad_text, NULL, &r, &err), TRTMC_INVALID_ARGUMENT, "documents");
	EXPECT(api->run(m, &bad_query, NULL, &r, &err), TRTMC_INVALID_ARGUMENT, "query");
	EXPECT(pairs->run(m, &p, NULL, &r, &err), TRTMC_INVALID_ARGUMENT, "document");
	EXPECT(api->run(m, &none, CONFIG(set_text("truncate", "MIDDLE")), &r, &err), TRTMC_INVALID_CONFIG, "MIDDLE");
	EXPECT(api->run(m, &none, NULL, &r, &err), TRTMC_OK, NULL);
	trtmc_document_relevance_view_v1 v = {0};
	EXPECT(api->result_view(r, &v, &err), TRTMC_OK, NULL);
	CHECK(v.count == 0 && v.kind == TRTMC_SCORE_LOGIT);
	trtmc_relevance_view_v1 w = {1, 1};
	EXPECT(pairs->result_view(r, &w, &err), TRTMC_INVALID_ARGUMENT, "relevance");
	CHECK(w.score == 0 && w.kind == 0);
	core->result_release(r);
}

static void test_long(trtmc_model* m) {
	trtmc_error* err;
	static char text[8000];
	size_t n = 0;
	for (int i = 0; i < 800; i++) n += (size_t)snprintf(text + n, sizeof text - n, " liberty");
	const trtmc_text_query_documents_to_relevance_api_v1* api = table(m, TRTMC_TASK_TEXT_QUERY_DOCUMENTS_TO_RELEVANCE);
	trtmc_string_view documents[2] = {sv("short"), {text, n}};
	trtmc_text_query_documents_to_relevance_request_v1 q = {sv("liberty"), {documents, 2}};
	trtmc_result* r = NULL;
	EXPECT(api->run(m, &q, NULL, &r, &err), TRTMC_INVALID_ARGUMENT, "documents[1] has 800 tokens; at most 685");
	CHECK(!r);
	EXPECT(api->run(m, &q, CONFIG(set_text("truncate", "END")), &r, &err), TRTMC_OK, NULL);
	core->result_release(r);
}

void test_relevance(void) {
	trtmc_error* err;
	trtmc_model* m = load("ranking");
	test_refusals(m);
	test_long(m);
	const trtmc_text_query_documents_to_relevance_api_v1* api = table(m, TRTMC_TASK_TEXT_QUERY_DOCUMENTS_TO_RELEVANCE);
	const char* query = "who planted the garden of Eden?";
	const char* texts[5] = {"The Lord God planted a garden eastward in Eden.", "", "Alice went down the rabbit-hole.",
		"GARDEN garden garden", "planted"};
	trtmc_string_view documents[5], reversed[5];
	for (int i = 0; i < 5; i++) documents[i] = reversed[4 - i] = sv(texts[i]);
	trtmc_text_query_documents_to_relevance_request_v1 q = {sv(query), {documents, 5}}, p = {sv(query), {reversed, 5}};
	trtmc_result *r = NULL, *back = NULL;
	trtmc_document_relevance_view_v1 v = {0}, w = {0};
	EXPECT(api->run(m, &q, NULL, &r, &err), TRTMC_OK, NULL);
	EXPECT(api->run(m, &p, NULL, &back, &err), TRTMC_OK, NULL);
	EXPECT(api->result_view(r, &v, &err), TRTMC_OK, NULL);
	EXPECT(api->result_view(back, &w, &err), TRTMC_OK, NULL);
	CHECK(v.count == 5 && w.count == 5 && v.kind == TRTMC_SCORE_LOGIT);
	for (int i = 0; i < 5; i++) CHECK(v.scores[i] == w.scores[4 - i] && v.scores[i] == pair(m, query, texts[i]));
	CHECK(v.scores[0] > v.scores[3] && v.scores[3] > v.scores[1] && v.scores[0] > v.scores[2] && v.scores[1] == -5);
	core->model_release(m);
	core->result_release(r);
	core->result_release(back);
}

static void embed(trtmc_model* m, const char* text, uint32_t role, float out[256]) {
	trtmc_error* err;
	const trtmc_text_to_embedding_api_v1* api = table(m, TRTMC_TASK_TEXT_TO_EMBEDDING);
	trtmc_text_to_embedding_request_v1 q = {sv(text), role};
	trtmc_result* r = NULL;
	trtmc_semantic_embedding_view_v1 v = {0};
	EXPECT(api->run(m, &q, NULL, &r, &err), TRTMC_OK, NULL);
	EXPECT(api->result_view(r, &v, &err), TRTMC_OK, NULL);
	CHECK(v.count == 256 && v.embedding_space.size && v.pooling.size && equal(v.normalization, sv("l2")));
	double norm = 0;
	for (int i = 0; i < 256; i++) norm += (double)v.values[i] * v.values[i];
	CHECK(norm > 0.99999 && norm < 1.00001);
	memcpy(out, v.values, 256 * sizeof *out);
	core->result_release(r);
}

static double dot(const float* a, const float* b) {
	double sum = 0;
	for (int i = 0; i < 256; i++) sum += (double)a[i] * b[i];
	return sum;
}

void test_embedding(void) {
	trtmc_error* err;
	trtmc_model* m = load("all");
	float a[256], b[256], c[256], d[256];
	embed(m, "The garden of Eden was planted.", TRTMC_EMBEDDING_DOCUMENT, a);
	embed(m, "who planted the garden of Eden?", TRTMC_EMBEDDING_QUERY, b);
	embed(m, "mice and bats in the hall of doors", TRTMC_EMBEDDING_DOCUMENT, c);
	CHECK(dot(a, b) > dot(c, b) + 0.2);
	embed(m, "The garden of Eden was planted.", TRTMC_EMBEDDING_DOCUMENT, d);
	CHECK(memcmp(a, d, sizeof a) == 0);
	embed(m, "The garden of Eden was planted.", TRTMC_EMBEDDING_QUERY, d);
	CHECK(memcmp(a, d, sizeof a) != 0 && dot(a, d) > 0.9);
	embed(m, "", TRTMC_EMBEDDING_DEFAULT, d);
	const trtmc_text_to_embedding_api_v1* api = table(m, TRTMC_TASK_TEXT_TO_EMBEDDING);
	trtmc_text_to_embedding_request_v1 q = {sv("x"), 3};
	trtmc_result* r = (trtmc_result*)m;
	EXPECT(api->run(m, &q, NULL, &r, &err), TRTMC_INVALID_ARGUMENT, "role 3");
	CHECK(!r);
	q.role = 0;
	EXPECT(api->run(m, &q, CONFIG(set_i64("dimensions", 300)), &r, &err), TRTMC_INVALID_CONFIG, "8 to 256");
	EXPECT(api->run(m, &q, CONFIG(set_i64("dimensions", 16)), &r, &err), TRTMC_OK, NULL);
	trtmc_semantic_embedding_view_v1 v = {0};
	EXPECT(api->result_view(r, &v, &err), TRTMC_OK, NULL);
	CHECK(v.count == 16);
	core->result_release(r);
	q.text = (trtmc_string_view){NULL, 1};
	EXPECT(api->run(m, &q, NULL, &r, &err), TRTMC_INVALID_ARGUMENT, "text");
	core->model_release(m);
}
