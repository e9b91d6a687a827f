/* A procedural scene: a drifting colour gradient, a fine texture, shapes that move and turn, and noise that fades with
 * the number of steps. Everything follows from the hashes of prompt and seed. */
#include <math.h>

#include "ref_private.h"

#if defined(__GNUC__) && !defined(__clang__)
#define VECTORISE __attribute__((optimize("O3")))
#else
#define VECTORISE
#endif

enum { TILE = 64, MAX_SHAPES = 6 };

typedef struct shape {
	int kind; /* disc, square, ring */
	float colour[3];
	double radius, speed[2], phase[2], turn;
} shape;

struct trf_scene {
	trf_clip clip;
	float corners[4][3]; /* colours: top left, top right, bottom left, bottom right */
	shape shapes[MAX_SHAPES];
	int shape_count;
	float noise_level, softness;
	float *top, *bottom; /* gradient rows of the frame at hand, 3 samples a pixel */
	float* noise;        /* one row of latents, widened */
	float* texture;      /* TILE rows of width + TILE pixels */
};

/* The n-th random number in [0, 1) of a stream. */
static double pick(uint64_t stream, uint64_t n) {
	return (double)(trf_mix(stream + n * 0x9E3779B97F4A7C15u) >> 11) * 0x1p-53;
}

static int64_t latent_columns(const trf_clip* c) { return (c->width + TRF_LATENT - 1) / TRF_LATENT; }
static int64_t latent_rows(const trf_clip* c) { return (c->height + TRF_LATENT - 1) / TRF_LATENT; }

uint64_t trf_clip_latents(const trf_clip* c) { return (uint64_t)(c->frames * latent_rows(c) * latent_columns(c)); }

/* A colour between 0.1 and 0.8, away from the one to avoid, with the contrast that guidance asks for. */
static void choose_colour(const trf_clip* c, uint64_t stream, float out[3]) {
	double contrast = 0.5 + c->guidance_scale / (c->guidance_scale + 5);
	for (int i = 0; i < 3; i++) {
		double v = 0.1 + 0.7 * pick(stream, (uint64_t)i);
		if (c->avoid) v += 0.3 * (v - pick(c->avoid, (uint64_t)i));
		v = 0.45 + (v - 0.45) * contrast;
		out[i] = (float)(v < 0.05 ? 0.05 : v > 0.9 ? 0.9 : v);
	}
}

static void choose_shapes(trf_scene* s, uint64_t stream) {
	s->shape_count = 3 + (int)(pick(stream, 0) * (MAX_SHAPES - 2));
	double side = (double)(s->clip.width < s->clip.height ? s->clip.width : s->clip.height);
	for (int i = 0; i < s->shape_count; i++) {
		uint64_t own = trf_mix(stream + (uint64_t)i + 1);
		shape* p = &s->shapes[i];
		p->kind = (int)(pick(own, 10) * 3);
		p->radius = side * (0.08 + 0.12 * pick(own, 11));
		p->turn = 4 * (pick(own, 12) - 0.5);
		for (int d = 0; d < 2; d++) {
			p->speed[d] = 0.1 + 0.35 * pick(own, 13 + (uint64_t)d);
			p->phase[d] = pick(own, 15 + (uint64_t)d);
		}
		choose_colour(&s->clip, own, p->colour);
	}
}

static void weave_texture(trf_scene* s, uint64_t stream) {
	size_t columns = (size_t)s->clip.width + TILE;
	for (size_t y = 0; y < TILE; y++) {
		float* row = s->texture + y * columns * 3;
		for (size_t x = 0; x < columns; x++) {
			float v = 0.06f * (float)(pick(stream, y * TILE + x % TILE) - 0.5);
			row[3 * x] = row[3 * x + 1] = row[3 * x + 2] = v;
		}
	}
}

trf_scene* trf_scene_new(trf_arena* a, const trf_clip* clip) {
	trf_scene* s = trf_arena_alloc(a, sizeof *s);
	size_t row = (size_t)clip->width * 3 * sizeof(float);
	if (!s) return NULL;
	s->clip = *clip;
	s->top = trf_arena_alloc(a, row);
	s->bottom = trf_arena_alloc(a, row);
	s->noise = trf_arena_alloc(a, row);
	s->texture = trf_arena_alloc(a, ((size_t)clip->width + TILE) * 3 * TILE * sizeof(float));
	if (!s->top || !s->bottom || !s->noise || !s->texture) return NULL;
	uint64_t stream = trf_mix(clip->look ^ trf_mix(clip->seed));
	for (uint64_t i = 0; i < 4; i++) choose_colour(clip, trf_mix(stream + 100 + i), s->corners[i]);
	choose_shapes(s, trf_mix(stream + 200));
	weave_texture(s, trf_mix(stream + 300));
	s->noise_level = (float)(0.25 * pow(0.8, (double)clip->steps));
	s->softness = (float)(1 + 12.0 / (double)clip->steps);
	return s;
}

/* The two gradient rows of a moment: the corner colours take turns slowly. */
static void mix_gradient(trf_scene* s, double time) {
	int64_t w = s->clip.width;
	float drift = (float)(0.5 - 0.5 * cos(0.7 * time));
	for (int64_t x = 0; x < w; x++) {
		float u = (float)x / (float)w, v = 1 - u;
		for (int i = 0; i < 3; i++) {
			float top = s->corners[0][i] * v + s->corners[1][i] * u,
				  bottom = s->corners[2][i] * v + s->corners[3][i] * u;
			s->top[3 * x + i] = top + (bottom - top) * 0.6f * drift;
			s->bottom[3 * x + i] = bottom + (top - bottom) * 0.6f * drift;
		}
	}
}

/* Widens one row of latents to pixels. */
static void widen_noise(trf_scene* s, int64_t frame, int64_t row) {
	int64_t columns = latent_columns(&s->clip);
	uint64_t at = (uint64_t)((frame * latent_rows(&s->clip) + row) * columns);
	float level = s->noise_level;
	for (int64_t x = 0; x < s->clip.width; x++) {
		if (x % TRF_LATENT == 0) {
			uint64_t n = at + (uint64_t)(x / TRF_LATENT);
			float v = s->clip.latents.size ? s->clip.latents.data[n] : (float)(2 * pick(s->clip.seed, n) - 1);
			level = s->noise_level * (v > 3 ? 3 : v < -3 ? -3 : v);
		}
		s->noise[3 * x] = s->noise[3 * x + 1] = s->noise[3 * x + 2] = level;
	}
}

VECTORISE static void blend_row(float* restrict out, const float* restrict top, const float* restrict bottom,
	const float* restrict noise, const float* restrict texture, float down, size_t n) {
	for (size_t i = 0; i < n; i++) {
		float v = top[i] + (bottom[i] - top[i]) * down + noise[i] + texture[i];
		v = v > 0 ? v : 0;
		out[i] = v < 1 ? v : 1;
	}
}

static double distance_inside(const shape* p, double dx, double dy, double cosine, double sine) {
	if (p->kind == 1) {
		double u = fabs(dx * cosine + dy * sine), v = fabs(dy * cosine - dx * sine);
		return 0.8 * p->radius - (u > v ? u : v);
	}
	double d = sqrt(dx * dx + dy * dy);
	return p->kind == 0 ? p->radius - d : 0.25 * p->radius - fabs(d - 0.75 * p->radius);
}

static int64_t clamp(double v, int64_t high) { return v<0 ? 0 : v>(double) high ? high : (int64_t)v; }

static void paint_shape(const trf_scene* s, const shape* p, double time, float* pixels) {
	const double turn = 6.283185307179586;
	int64_t w = s->clip.width, h = s->clip.height;
	double cx = (double)w * (0.5 + 0.38 * sin(turn * (p->speed[0] * time + p->phase[0])));
	double cy = (double)h * (0.5 + 0.38 * sin(turn * (p->speed[1] * time + p->phase[1])));
	double cosine = cos(p->turn * time), sine = sin(p->turn * time), reach = 1.2 * p->radius + s->softness;
	int64_t x0 = clamp(cx - reach, w), x1 = clamp(cx + reach + 1, w), y0 = clamp(cy - reach, h),
			y1 = clamp(cy + reach + 1, h);
	for (int64_t y = y0; y < y1; y++) {
		for (int64_t x = x0; x < x1; x++) {
			float cover = (float)(distance_inside(p, (double)x - cx, (double)y - cy, cosine, sine) / s->softness + 0.5);
			if (cover <= 0) continue;
			if (cover > 1) cover = 1;
			float* to = pixels + 3 * (y * w + x);
			for (int i = 0; i < 3; i++) to[i] += (p->colour[i] - to[i]) * cover;
		}
	}
}

void trf_scene_paint(trf_scene* s, int64_t frame, float* pixels) {
	int64_t w = s->clip.width, h = s->clip.height;
	double time = (double)frame / (s->clip.fps > 0 ? s->clip.fps : 24);
	int64_t slide = (int64_t)(time * 12);
	mix_gradient(s, time);
	for (int64_t y = 0; y < h; y++) {
		if (y % TRF_LATENT == 0) widen_noise(s, frame, y / TRF_LATENT);
		const float* texture = s->texture + (((y + slide) % TILE) * (w + TILE) + slide % TILE) * 3;
		blend_row(pixels + y * w * 3, s->top, s->bottom, s->noise, texture, (float)y / (float)h, (size_t)w * 3);
	}
	for (int i = 0; i < s->shape_count; i++) paint_shape(s, &s->shapes[i], time, pixels);
}
