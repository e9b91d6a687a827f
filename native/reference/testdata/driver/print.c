/* Results as text, for comparing runs and builds. */
#include "driver.h"

/* Results of fixed calls as text: two runs, and two builds, must agree. */
void print_results(void) {
	trtmc_error* err;
	trtmc_model* m = load("all");
	static const char* const prompts[] = {
		"", "Once upon a time", "When in the Course", "What is the capital of France?", "caf\xC3\xA9 na\xC3\xAFve 123"};
	for (size_t i = 0; i < sizeof prompts / sizeof prompts[0]; i++) {
		for (int64_t seed = -1; seed < 3; seed++) {
			trtmc_text_result_view_v1 v;
			trtmc_result* r = continue_text(m, prompts[i],
				CONFIG(set_i64("seed", seed), set_i64("top_k", seed < 0 ? 1 : 0), set_f64("temperature", 0.9)), &v);
			printf("text %zu seed %d: %d tokens: %.*s\n", i, (int)seed, (int)v.token_ids.size, (int)v.text.size,
				v.text.data);
			core->result_release(r);
		}
	}
	const trtmc_text_to_video_api_v1* video = table(m, TRTMC_TASK_TEXT_TO_VIDEO);
	trtmc_text_to_video_request_v1 q = {sv("a ship at sea"), {NULL, 0}};
	trtmc_result* r = NULL;
	trtmc_video_result_view_v1 v = {0};
	EXPECT(video->run(m, &q, CONFIG(set_i64("seed", 9)), &r, &err), TRTMC_OK, NULL);
	EXPECT(video->result_view(r, &v, &err), TRTMC_OK, NULL);
	printf("video: %016llx\n",
		(unsigned long long)digest(v.frames[0].pixels, v.frame_count * v.frames[0].pixel_count * sizeof(float)));
	core->result_release(r);
	core->model_release(m);
}
