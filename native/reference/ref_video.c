/* The Tasks text_to_video and batch_text_to_video. */
#include <math.h>
#include <stdio.h>

#include "ref_private.h"

enum { SMALLEST = 16, MOST_STEPS = 1000 };

/* One wanted clip: what was asked and where the answer goes. */
typedef struct wanted {
	const trtmc_text_to_video_request_v1* input;
	const trtmc_config_view_v1* config;
	trf_clip clip;
} wanted;

static trtmc_status range(
	trtmc_error** error, const char* prefix, const char* name, int64_t v, int64_t low, int64_t high) {
	if (v >= low && v <= high) return TRTMC_OK;
	return trf_fail(error, TRTMC_INVALID_CONFIG, "%sconfig \"%s\" is %lld; it must be %lld to %lld", prefix, name,
		(long long)v, (long long)low, (long long)high);
}

static trtmc_status check_clip(const trtmc_model* m, const trf_clip* c, const char* prefix, trtmc_error** error) {
	trtmc_status st = range(error, prefix, "width", c->width, SMALLEST, INT32_MAX);
	if (st == TRTMC_OK) st = range(error, prefix, "height", c->height, SMALLEST, INT32_MAX);
	if (st == TRTMC_OK) st = range(error, prefix, "num_frames", c->frames, 1, INT32_MAX);
	if (st == TRTMC_OK) st = range(error, prefix, "num_inference_steps", c->steps, 1, MOST_STEPS);
	if (st != TRTMC_OK) return st;
	int64_t most = m->params.video.max_pixels;
	if (c->width > most / c->height || c->frames > most / (c->width * c->height))
		return trf_fail(error, TRTMC_INVALID_CONFIG,
			"%sconfig: %lldx%lld with %lld frames; this bundle allows at most %lld pixels in a clip", prefix,
			(long long)c->width, (long long)c->height, (long long)c->frames, (long long)most);
	if (!(c->guidance_scale >= 0 && c->guidance_scale <= 1000))
		return trf_fail(error, TRTMC_INVALID_CONFIG, "%sconfig \"guidance_scale\" must be 0 to 1000", prefix);
	return TRTMC_OK;
}

static trtmc_status check_fps(const trtmc_model* m, const trf_config* config, const char* prefix, trtmc_error** error) {
	const trtmc_config_value_v1* fps = config->values[TRF_F_FPS];
	if (!fps) return TRTMC_OK;
	if (m->params.video.fps == 0)
		return trf_fail(
			error, TRTMC_INVALID_CONFIG, "%sconfig \"fps\" is given, but this bundle declares no rate", prefix);
	if (!(fps->as.f64 >= 1 && fps->as.f64 <= 240))
		return trf_fail(error, TRTMC_INVALID_CONFIG, "%sconfig \"fps\" must be 1 to 240", prefix);
	return TRTMC_OK;
}

/* Reads settings and latents of one clip. */
static trtmc_status read_clip(
	const trtmc_model* m, trf_task_id task, wanted* w, const char* prefix, trtmc_error** error) {
	trf_config config;
	trtmc_status st = trf_config_read(&m->params, task, w->config, prefix, &config, error);
	if (st == TRTMC_OK) st = check_fps(m, &config, prefix, error);
	if (st != TRTMC_OK) return st;
	trtmc_string_view negative = trf_config_string(&config, TRF_F_NEGATIVE_PROMPT, "");
	int64_t seed = trf_config_i64(&config, TRF_F_SEED, -1);
	trf_clip* c = &w->clip;
	*c = (trf_clip){
		.width = trf_config_i64(&config, TRF_F_WIDTH, m->params.video.width),
		.height = trf_config_i64(&config, TRF_F_HEIGHT, m->params.video.height),
		.frames = trf_config_i64(&config, TRF_F_NUM_FRAMES, m->params.video.frames),
		.steps = trf_config_i64(&config, TRF_F_NUM_INFERENCE_STEPS, m->params.video.steps),
		.guidance_scale = trf_config_f64(&config, TRF_F_GUIDANCE_SCALE, m->params.video.guidance_scale),
		.fps = trf_config_f64(&config, TRF_F_FPS, m->params.video.fps),
		.look = trf_hash(w->input->prompt.data, (size_t)w->input->prompt.size, 3),
		.avoid = negative.size ? trf_hash(negative.data, (size_t)negative.size, 4) : 0,
		.seed = trf_mix(seed < 0 ? 0x7265666572656E63u : (uint64_t)seed),
		.latents = w->input->initial_latents,
	};
	st = check_clip(m, c, prefix, error);
	if (st != TRTMC_OK || c->latents.size == 0) return st;
	if (c->latents.size != trf_clip_latents(c))
		return trf_fail(error, TRTMC_INVALID_ARGUMENT,
			"%sinitial_latents: %llu numbers; a clip of this size has %llu (frames x height/8 x width/8, rounded up)",
			prefix, (unsigned long long)c->latents.size, (unsigned long long)trf_clip_latents(c));
	for (uint64_t i = 0; i < c->latents.size; i++)
		if (!isfinite(c->latents.data[i]))
			return trf_fail(
				error, TRTMC_INVALID_ARGUMENT, "%sinitial_latents[%llu] is not finite", prefix, (unsigned long long)i);
	return TRTMC_OK;
}

/* Allocates the one buffer of a clip, its frame views and its instants. */
static float* lay_out(trf_arena* a, const trf_clip* c, trtmc_video_result_view_v1* out) {
	size_t samples = (size_t)(c->width * c->height * 3), n = (size_t)c->frames;
	trtmc_image_result_view_v1* frames = trf_arena_alloc(a, n * sizeof *frames);
	double* instants = trf_arena_alloc(a, n * sizeof *instants);
	float* pixels = trf_arena_alloc(a, n * samples * sizeof *pixels);
	if (!frames || !instants || !pixels) return NULL;
	for (size_t i = 0; i < n; i++) {
		frames[i] = (trtmc_image_result_view_v1){
			pixels + i * samples, samples, (uint32_t)c->height, (uint32_t)c->width, 3};
		instants[i] = c->fps > 0 ? (double)i / c->fps : 0;
	}
	out->frames = frames;
	out->frame_count = n;
	if (c->fps > 0) out->timestamps_seconds = (trtmc_f64_view){instants, n};
	return pixels;
}

static void spoil(const trtmc_model* m, const trf_clip* c, trtmc_video_result_view_v1* out, float* pixels) {
	trtmc_image_result_view_v1* last = (trtmc_image_result_view_v1*)&out->frames[out->frame_count - 1];
	if (trf_fault_is(m, "nan_frame")) pixels[c->width * 3 / 2] = NAN;
	if (trf_fault_is(m, "unequal_frames")) {
		last->height--;
		last->pixel_count -= (uint64_t)c->width * 3;
	}
	if (trf_fault_is(m, "zero_frames")) {
		out->frame_count = 0;
		out->timestamps_seconds = (trtmc_f64_view){NULL, 0};
	}
}

static bool paint(trf_call* call, const trf_clip* c, trf_arena* a, trtmc_video_result_view_v1* out) {
	const trf_params* p = &call->model->params;
	trf_arena scratch = {0};
	int64_t start = trf_now();
	trf_scene* scene = trf_scene_new(&scratch, c);
	float* pixels = scene ? lay_out(a, c, out) : NULL;
	if (!pixels) {
		trf_arena_free(&scratch);
		return trf_call_out_of_memory(call);
	}
	trf_call_spend(call, (double)c->steps * p->timing.step_ms * 1e6);
	for (int64_t i = 0; i < c->frames; i++) {
		trf_scene_paint(scene, i, pixels + i * c->width * c->height * 3);
		trf_call_spend(call, p->timing.frame_ms * 1e6);
	}
	trf_arena_free(&scratch);
	spoil(call->model, c, out, pixels);
	out->setup_ms = trf_ms(call->start, call->setup_end);
	out->inference_ms = trf_ms(start, trf_now());
	return true;
}

/* All wanted clips in one result, on a locked model. */
static trtmc_status compute(
	trtmc_model* m, trf_task_id task, const wanted* list, uint64_t count, trtmc_result** out, trtmc_error** error) {
	trf_call call;
	trtmc_result* r = NULL;
	if (trf_call_begin(&call, m, task, NULL) && trf_call_setup(&call)) {
		r = trf_result_new(task == TRF_VIDEO ? TRF_RESULT_VIDEO : TRF_RESULT_VIDEOS);
		trtmc_video_result_view_v1* items = r ? trf_arena_alloc(&r->arena, (size_t)count * sizeof *items) : NULL;
		bool ok = items || trf_call_out_of_memory(&call);
		for (uint64_t i = 0; ok && i < count; i++) ok = paint(&call, &list[i].clip, &r->arena, &items[i]);
		if (ok) {
			r->as.videos.items = items;
			r->as.videos.count = count;
		}
	}
	trtmc_status st = trf_call_end(&call, error);
	if (st == TRTMC_OK)
		*out = r;
	else
		trf_result_release(r);
	return st;
}

static trtmc_status check_input(const trtmc_text_to_video_request_v1* input, const char* prefix, trtmc_error** error) {
	if (!trf_span_ok(input->prompt.data, input->prompt.size, 1))
		return trf_fail(error, TRTMC_INVALID_ARGUMENT, "%sprompt: malformed string view", prefix);
	if (!trf_span_ok(input->initial_latents.data, input->initial_latents.size, sizeof(float)))
		return trf_fail(error, TRTMC_INVALID_ARGUMENT, "%sinitial_latents: malformed view", prefix);
	return TRTMC_OK;
}

/* "batch item[i]: " for the batch Task, "" for the other. */
static const char* prefix_of(trf_task_id task, uint64_t i, char out[40]) {
	out[0] = 0;
	if (task == TRF_VIDEO_BATCH) snprintf(out, 40, "batch item[%llu]: ", (unsigned long long)i);
	return out;
}

/* From the wanted clips to the result, in the order of the ABI: inputs, settings' wire, lock, settings, work. */
static trtmc_status call_task(
	trtmc_model* m, trf_task_id task, wanted* list, uint64_t count, trtmc_result** out, trtmc_error** error) {
	char prefix[40];
	trtmc_status st = TRTMC_OK;
	for (uint64_t i = 0; st == TRTMC_OK && i < count; i++)
		st = check_input(list[i].input, prefix_of(task, i, prefix), error);
	for (uint64_t i = 0; st == TRTMC_OK && i < count; i++)
		st = trf_config_wire(list[i].config, prefix_of(task, i, prefix), error);
	if (st == TRTMC_OK) st = trf_model_begin(m, task, error);
	if (st != TRTMC_OK) return st;
	for (uint64_t i = 0; st == TRTMC_OK && i < count; i++)
		st = read_clip(m, task, &list[i], prefix_of(task, i, prefix), error);
	if (st == TRTMC_OK) st = compute(m, task, list, count, out, error);
	trf_model_end(m);
	return st;
}

static trtmc_status begin(const trtmc_model* m, const void* request, trtmc_result** out, trtmc_error** error) {
	if (out) *out = NULL;
	if (!error) return TRTMC_INVALID_ARGUMENT;
	*error = NULL;
	if (m && request && out) return TRTMC_OK;
	return trf_fail(error, TRTMC_INVALID_ARGUMENT, "the model, the request or the output pointer is NULL");
}

static trtmc_status run(trtmc_model* m, const trtmc_text_to_video_request_v1* request,
	const trtmc_config_view_v1* config, trtmc_result** out, trtmc_error** error) {
	trtmc_status st = begin(m, request, out, error);
	wanted one = {.input = request, .config = config};
	return st == TRTMC_OK ? call_task(m, TRF_VIDEO, &one, 1, out, error) : st;
}

static trtmc_status run_batch(
	trtmc_model* m, const trtmc_batch_text_to_video_request_v1* request, trtmc_result** out, trtmc_error** error) {
	trtmc_status st = begin(m, request, out, error);
	if (st != TRTMC_OK) return st;
	if (request->count == 0) return trf_fail(error, TRTMC_INVALID_ARGUMENT, "items: there must be at least one");
	if (!trf_span_ok(request->items, request->count, sizeof *request->items))
		return trf_fail(error, TRTMC_INVALID_ARGUMENT, "items: malformed view");
	wanted* list = trf_alloc((size_t)request->count * sizeof *list);
	if (!list) return trf_out_of_memory(error);
	for (uint64_t i = 0; i < request->count; i++)
		list[i] = (wanted){.input = &request->items[i].input, .config = &request->items[i].config};
	st = call_task(m, TRF_VIDEO_BATCH, list, request->count, out, error);
	trf_free(list);
	return st;
}

static trtmc_status result_view(const trtmc_result* result, trtmc_video_result_view_v1* out, trtmc_error** error) {
	trtmc_status st = trf_view_begin(result, TRF_RESULT_VIDEO, out, sizeof *out, error);
	if (st == TRTMC_OK) *out = result->as.videos.items[0];
	return st;
}

static trtmc_status result_count(const trtmc_result* result, uint64_t* out, trtmc_error** error) {
	trtmc_status st = trf_view_begin(result, TRF_RESULT_VIDEOS, out, sizeof *out, error);
	if (st == TRTMC_OK) *out = result->as.videos.count;
	return st;
}

static trtmc_status result_item_view(
	const trtmc_result* result, uint64_t index, trtmc_video_result_view_v1* out, trtmc_error** error) {
	trtmc_status st = trf_view_begin(result, TRF_RESULT_VIDEOS, out, sizeof *out, error);
	if (st != TRTMC_OK) return st;
	if (index >= result->as.videos.count)
		return trf_fail(error, TRTMC_INVALID_ARGUMENT, "item %llu; the batch has %llu", (unsigned long long)index,
			(unsigned long long)result->as.videos.count);
	*out = result->as.videos.items[index];
	return TRTMC_OK;
}

const trtmc_text_to_video_api_v1 trf_video_api = {
	.header = TRF_TASK_HEADER(trtmc_text_to_video_api_v1),
	.run = run,
	.result_view = result_view,
};

const trtmc_batch_text_to_video_api_v1 trf_video_batch_api = {
	.header = TRF_TASK_HEADER(trtmc_batch_text_to_video_api_v1),
	.run = run_batch,
	.result_count = result_count,
	.result_item_view = result_item_view,
};
