/* text_to_video and its batch. */
#include <math.h>
#include <stdlib.h>

#include "driver.h"

static trtmc_result* make(trtmc_model* m, const char* prompt, trtmc_f32_view latents,
	const trtmc_config_view_v1* config, trtmc_video_result_view_v1* v) {
	trtmc_error* err;
	trtmc_result* r = NULL;
	const trtmc_text_to_video_api_v1* api = table(m, TRTMC_TASK_TEXT_TO_VIDEO);
	trtmc_text_to_video_request_v1 q = {sv(prompt), latents};
	EXPECT(api->run(m, &q, config, &r, &err), TRTMC_OK, NULL);
	EXPECT(api->result_view(r, v, &err), TRTMC_OK, NULL);
	return r;
}

static const trtmc_f32_view no_latents = {NULL, 0};

static uint64_t clip(trtmc_model* m, const char* prompt, const trtmc_config_view_v1* config) {
	trtmc_video_result_view_v1 v;
	trtmc_result* r = make(m, prompt, no_latents, config, &v);
	uint64_t h = digest(v.frames[0].pixels, v.frame_count * v.frames[0].pixel_count * sizeof(float));
	core->result_release(r);
	return h;
}

static void test_layout(trtmc_model* m) {
	trtmc_video_result_view_v1 v;
	trtmc_result* r = make(m, "a red ship", no_latents, NULL, &v);
	CHECK(v.frame_count == 9 && v.timestamps_seconds.size == 9 && v.conditioned_prefix_frames == 0 &&
		v.inference_ms > 0 && v.setup_ms >= 0);
	for (uint64_t i = 0; i < v.frame_count; i++) {
		const trtmc_image_result_view_v1* f = &v.frames[i];
		CHECK(f->width == 128 && f->height == 96 && f->channels == 3 && f->pixel_count == 128 * 96 * 3);
		CHECK(f->pixels == v.frames[0].pixels + i * f->pixel_count); /* one THWC buffer */
		CHECK(v.timestamps_seconds.data[i] == (double)i / 8);
		bool inside = true;
		for (uint64_t k = 0; k < f->pixel_count; k++) inside = inside && f->pixels[k] >= 0 && f->pixels[k] <= 1;
		CHECK(inside);
		if (i) CHECK(memcmp(f->pixels, v.frames[i - 1].pixels, f->pixel_count * sizeof(float)) != 0);
	}
	core->result_release(r);
}

static void test_settings(trtmc_model* m) {
	uint64_t base = clip(m, "a red ship", NULL);
	CHECK(base == clip(m, "a red ship", NULL));
	CHECK(base != clip(m, "a blue ship", NULL));
	CHECK(base != clip(m, "a red ship", CONFIG(set_i64("seed", 4))));
	CHECK(base == clip(m, "a red ship", CONFIG(set_i64("seed", -7)))); /* every negative seed is the same */
	CHECK(base != clip(m, "a red ship", CONFIG(set_i64("num_inference_steps", 8))));
	CHECK(base != clip(m, "a red ship", CONFIG(set_f64("guidance_scale", 1))));
	CHECK(base != clip(m, "a red ship", CONFIG(set_text("negative_prompt", "rain"))));
	CHECK(base != clip(m, "a red ship", CONFIG(set_f64("fps", 24))));
	trtmc_video_result_view_v1 v;
	trtmc_result* r = make(
		m, "", no_latents, CONFIG(set_i64("width", 17), set_i64("height", 33), set_i64("num_frames", 2)), &v);
	CHECK(v.frame_count == 2 && v.frames[1].width == 17 && v.frames[1].height == 33);
	core->result_release(r);
}

static void test_latents(trtmc_model* m) {
	trtmc_error* err;
	enum { N = 2 * 2 * 4 }; /* 2 frames of 32x16 */
	float latents[N + 1] = {0};
	for (int i = 0; i < N; i++) latents[i] = (float)i / N;
	trtmc_config_view_v1* config = CONFIG(set_i64("width", 32), set_i64("height", 16), set_i64("num_frames", 2));
	trtmc_video_result_view_v1 v, w;
	trtmc_result *a = make(m, "x", (trtmc_f32_view){latents, N}, config, &v), *b = make(m, "x", no_latents, config, &w),
				 *r = NULL;
	CHECK(memcmp(v.frames[0].pixels, w.frames[0].pixels, v.frames[0].pixel_count * sizeof(float)) != 0);
	core->result_release(a);
	core->result_release(b);
	const trtmc_text_to_video_api_v1* api = table(m, TRTMC_TASK_TEXT_TO_VIDEO);
	trtmc_text_to_video_request_v1 q = {sv("x"), {latents, N + 1}};
	EXPECT(api->run(m, &q, config, &r, &err), TRTMC_INVALID_ARGUMENT, "17 numbers; a clip of this size has 16");
	latents[3] = INFINITY;
	q.initial_latents.size = N;
	EXPECT(api->run(m, &q, config, &r, &err), TRTMC_INVALID_ARGUMENT, "initial_latents[3] is not finite");
	q.initial_latents = (trtmc_f32_view){NULL, 4};
	EXPECT(api->run(m, &q, config, &r, &err), TRTMC_INVALID_ARGUMENT, "malformed");
}

static void test_refusals(trtmc_model* m) {
	trtmc_error* err;
	const trtmc_text_to_video_api_v1* api = table(m, TRTMC_TASK_TEXT_TO_VIDEO);
	trtmc_text_to_video_request_v1 q = {sv("x"), {NULL, 0}};
	trtmc_result* r = (trtmc_result*)m;
	CHECK(api->run(m, &q, NULL, &r, NULL) == TRTMC_INVALID_ARGUMENT && !r);
	const struct {
		const trtmc_config_view_v1* config;
		const char* text;
	} rows[] = {
		{CONFIG(set_i64("width", 15)), "\"width\" is 15; it must be 16"},
		{CONFIG(set_i64("height", -1)), "height"},
		{CONFIG(set_i64("num_frames", 0)), "num_frames"},
		{CONFIG(set_i64("num_inference_steps", 1001)), "num_inference_steps"},
		{CONFIG(set_f64("guidance_scale", NAN)), "guidance_scale"},
		{CONFIG(set_f64("fps", 0)), "fps"},
		{CONFIG(set_i64("width", 2000000000), set_i64("height", 2000000000)), "pixels in a clip"},
		{CONFIG(set_i64("num_frames", 2000000000)), "pixels in a clip"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		EXPECT(api->run(m, &q, rows[i].config, &r, &err), TRTMC_INVALID_CONFIG, rows[i].text);
}

static void test_batch(trtmc_model* m) {
	trtmc_error* err;
	const trtmc_batch_text_to_video_api_v1* api = table(m, TRTMC_TASK_BATCH_TEXT_TO_VIDEO);
	trtmc_config_view_v1 *small = CONFIG(set_i64("num_frames", 2)), *unknown = CONFIG(set_i64("nope", 1)),
						 wire = {NULL, 1};
	trtmc_batch_text_to_video_item_v1 items[2] = {
		{{sv("one"), {NULL, 0}}, {NULL, 0}}, {{sv("two"), {NULL, 0}}, *small}};
	trtmc_batch_text_to_video_request_v1 q = {items, 2}, none = {items, 0}, broken = {NULL, 1};
	trtmc_result* r = (trtmc_result*)m;
	uint64_t count = 9;
	trtmc_video_result_view_v1 v = {.frame_count = 5}, single;
	EXPECT(api->run(m, &none, &r, &err), TRTMC_INVALID_ARGUMENT, "at least one");
	CHECK(!r);
	EXPECT(api->run(m, &broken, &r, &err), TRTMC_INVALID_ARGUMENT, "malformed");
	items[1].config = *unknown;
	EXPECT(api->run(m, &q, &r, &err), TRTMC_INVALID_CONFIG, "batch item[1]: config \"nope\"");
	items[1].config = wire;
	EXPECT(api->run(m, &q, &r, &err), TRTMC_INVALID_ARGUMENT, "batch item[1]: config");
	items[1].config = *small;
	EXPECT(api->run(m, &q, &r, &err), TRTMC_OK, NULL);
	EXPECT(api->result_count(r, &count, &err), TRTMC_OK, NULL);
	CHECK(count == 2);
	EXPECT(api->result_item_view(r, 2, &v, &err), TRTMC_INVALID_ARGUMENT, "item 2");
	CHECK(v.frame_count == 0);
	EXPECT(api->result_item_view(r, 1, &v, &err), TRTMC_OK, NULL);
	CHECK(v.frame_count == 2);
	trtmc_result* one = make(m, "two", no_latents, small, &single);
	CHECK(memcmp(v.frames[0].pixels, single.frames[0].pixels, 2 * v.frames[0].pixel_count * sizeof(float)) == 0);
	EXPECT(api->result_count(one, &count, &err), TRTMC_INVALID_ARGUMENT, "a video, not a batch");
	CHECK(count == 0);
	const trtmc_text_to_video_api_v1* plain = table(m, TRTMC_TASK_TEXT_TO_VIDEO);
	EXPECT(plain->result_view(r, &v, &err), TRTMC_INVALID_ARGUMENT, "a batch of videos, not a video");
	core->result_release(one);
	core->result_release(r);
}

void test_video(void) {
	trtmc_error* err;
	trtmc_model* m = load("all");
	test_layout(m);
	test_settings(m);
	test_latents(m);
	test_refusals(m);
	test_batch(m);
	core->model_release(m);
	m = load("no_rate");
	trtmc_video_result_view_v1 v;
	trtmc_result* r = make(m, "x", no_latents, NULL, &v);
	CHECK(v.frame_count == 3 && v.timestamps_seconds.size == 0);
	core->result_release(r);
	const trtmc_text_to_video_api_v1* api = table(m, TRTMC_TASK_TEXT_TO_VIDEO);
	trtmc_text_to_video_request_v1 q = {sv("x"), {NULL, 0}};
	EXPECT(api->run(m, &q, CONFIG(set_f64("fps", 24)), &r, &err), TRTMC_INVALID_CONFIG, "declares no rate");
	core->model_release(m);
}
