/* Everything that the files of the reference runtime share. */
#ifndef TRTMC_REF_PRIVATE_H
#define TRTMC_REF_PRIVATE_H

#include "ref_lm.h"

#pragma GCC visibility push(hidden)

/* ---- ref_scene.c: the moving picture of the video Tasks ---- */

enum { TRF_LATENT = 8 }; /* one latent stands for 8 by 8 pixels of a frame */

typedef struct trf_clip {
	int64_t width, height, frames, steps;
	double guidance_scale, fps; /* fps 0: no rate is declared */
	uint64_t look, avoid;       /* hashes of prompt and negative prompt; avoid 0: none */
	uint64_t seed;
	trtmc_f32_view latents; /* empty: made from the seed */
} trf_clip;

typedef struct trf_scene trf_scene;

uint64_t trf_clip_latents(const trf_clip* clip);                      /* how many latents a clip has */
trf_scene* trf_scene_new(trf_arena* a, const trf_clip* clip);         /* NULL when out of memory */
void trf_scene_paint(trf_scene* scene, int64_t frame, float* pixels); /* RGB, each sample in [0, 1] */

/* ---- ref_stream.c: one producer thread, a short queue, one reader ---- */

enum { TRF_QUEUE = 8 };

typedef struct trf_work {
	/* Runs on the producer thread: pushes events and leaves the COMPLETE event in *final. False: failed or cancelled. */
	bool (*produce)(void* self, trf_call* call, trtmc_result** final);
	void (*destroy)(void* self);
	trtmc_result* (*cancelled)(void); /* makes a CANCELLED event */
	void* self;
} trf_work;

typedef struct trf_stream trf_stream;

/* Starts a stream on a locked model and unlocks it. Takes work over in every case. */
trtmc_status trf_stream_start(
	trtmc_model* model, trf_task_id task, trf_work work, trf_stream** out, trtmc_error** error);
bool trf_stream_push(trf_call* call, trtmc_result* event); /* takes event; false: cancelled */
bool trf_stream_wait_until(trf_stream* s, int64_t due);    /* false: cancelled */
void trf_stream_wait_cancelled(trf_stream* s);
trtmc_status trf_stream_next(trf_stream* s, int64_t timeout_ms, trtmc_result** out, trtmc_error** error);
trtmc_status trf_stream_cancel(trf_stream* s, trtmc_error** error);
void trf_stream_release(trf_stream* s);

/* ---- the Task tables ---- */

/* The headers of the tables. The macros are faults chosen when compiling, listed in ref_core.c. */
#ifndef TRTMC_FAULT_MAJOR
#define TRTMC_FAULT_MAJOR 1
#endif
#ifndef TRTMC_FAULT_MINOR
#define TRTMC_FAULT_MINOR 0
#endif
#ifndef TRTMC_FAULT_SHORT
#define TRTMC_FAULT_SHORT 0
#endif
#ifndef TRTMC_FAULT_TASK_MAJOR
#define TRTMC_FAULT_TASK_MAJOR 1
#endif
#ifndef TRTMC_FAULT_TASK_SHORT
#define TRTMC_FAULT_TASK_SHORT 0
#endif
#ifndef TRTMC_FAULT_STREAM_SHORT
#define TRTMC_FAULT_STREAM_SHORT 0
#endif
#ifndef TRTMC_FAULT_LONG
#define TRTMC_FAULT_LONG 0
#endif
#define TRF_CORE_HEADER(type)                                                                                          \
	{TRTMC_FAULT_MAJOR, TRTMC_FAULT_MINOR, sizeof(type) - TRTMC_FAULT_SHORT + TRTMC_FAULT_LONG}
#define TRF_TASK_HEADER(type) {TRTMC_FAULT_TASK_MAJOR, 0, sizeof(type) - TRTMC_FAULT_TASK_SHORT + TRTMC_FAULT_LONG}
#define TRF_STREAM_HEADER(type) {1, 0, sizeof(type) - TRTMC_FAULT_STREAM_SHORT + TRTMC_FAULT_LONG}

extern const trtmc_text_continuation_api_v1 trf_text_api;
extern const trtmc_streaming_text_continuation_api_v1 trf_text_stream_api;
extern const trtmc_text_conversation_api_v1 trf_conversation_api;
extern const trtmc_streaming_text_conversation_api_v1 trf_conversation_stream_api;
extern const trtmc_text_pair_to_relevance_api_v1 trf_pair_api;
extern const trtmc_text_query_documents_to_relevance_api_v1 trf_documents_api;
extern const trtmc_text_to_embedding_api_v1 trf_embedding_api;
extern const trtmc_text_to_video_api_v1 trf_video_api;
extern const trtmc_batch_text_to_video_api_v1 trf_video_batch_api;

#pragma GCC visibility pop

#endif
