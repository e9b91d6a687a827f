/* The published TensorRT-Model-Connect C ABI, version 1.0: the part that this project calls or serves.
 *
 * Written from interface facts (names, types, order, values); every size, offset, value and slot order below is
 * compared with testdata/native-abi-v1-layout.tsv by TestLayout. Platforms: 64-bit, LP64, natural alignment.
 *
 * Conventions of the ABI: strings are pointer + byte length, UTF-8, not NUL-terminated; a sequence is pointer + count;
 * every function table starts with a trtmc_api_header whose byte_size is the size of the whole table.
 */
#ifndef TRTMC_ABI_H
#define TRTMC_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct trtmc_model trtmc_model;
typedef struct trtmc_result trtmc_result;
typedef struct trtmc_error trtmc_error;
typedef struct trtmc_bundle trtmc_bundle;
typedef struct trtmc_text_stream trtmc_text_stream;
typedef struct trtmc_conversation_stream trtmc_conversation_stream;

typedef int32_t trtmc_status;

enum {
	TRTMC_OK = 0,
	TRTMC_END = 1,
	TRTMC_INVALID_ARGUMENT = 2,
	TRTMC_INVALID_CONFIG = 3,
	TRTMC_UNSUPPORTED = 4,
	TRTMC_VERSION_MISMATCH = 5,
	TRTMC_OUT_OF_MEMORY = 6,
	TRTMC_INTERNAL_ERROR = 7,
	TRTMC_AGAIN = 8,
	TRTMC_BUSY = 9,
};

typedef struct trtmc_string_view {
	const char* data;
	uint64_t size;
} trtmc_string_view;

typedef struct trtmc_i32_view {
	const int32_t* data;
	uint64_t size;
} trtmc_i32_view;

typedef struct trtmc_i64_view {
	const int64_t* data;
	uint64_t size;
} trtmc_i64_view;

typedef struct trtmc_f64_view {
	const double* data;
	uint64_t size;
} trtmc_f64_view;

typedef struct trtmc_f32_view {
	const float* data;
	uint64_t size;
} trtmc_f32_view;

typedef struct trtmc_strings_view {
	const trtmc_string_view* data;
	uint64_t size;
} trtmc_strings_view;

enum {
	TRTMC_CONFIG_I64 = 1,
	TRTMC_CONFIG_F64 = 2,
	TRTMC_CONFIG_BOOL = 3,
	TRTMC_CONFIG_STRING = 4,
	TRTMC_CONFIG_I64_LIST = 5,
	TRTMC_CONFIG_F64_LIST = 6,
	TRTMC_CONFIG_STRING_LIST = 7,
};

typedef struct trtmc_config_value_v1 {
	uint32_t kind;
	union {
		int64_t i64;
		double f64;
		uint32_t boolean;
		trtmc_string_view string;
		trtmc_i64_view i64_list;
		trtmc_f64_view f64_list;
		trtmc_strings_view string_list;
	} as;
} trtmc_config_value_v1;

typedef struct trtmc_config_entry_v1 {
	trtmc_string_view name;
	trtmc_config_value_v1 value;
} trtmc_config_entry_v1;

typedef struct trtmc_config_view_v1 {
	const trtmc_config_entry_v1* entries;
	uint64_t count;
} trtmc_config_view_v1;

typedef struct trtmc_config_field_v1 {
	trtmc_string_view name;
	uint32_t kind;
	uint32_t has_fixed_default;
	trtmc_config_value_v1 default_value;
	trtmc_string_view description;
} trtmc_config_field_v1;

typedef struct trtmc_api_header {
	uint32_t major;
	uint32_t minor;
	uint64_t byte_size;
} trtmc_api_header;

typedef struct trtmc_load_options_v1 {
	uint64_t struct_size;
	trtmc_string_view runtime_root;
	uint64_t kv_cache_size_bytes;
	trtmc_string_view runtime_cache_path;
	uint32_t cuda_graphs;
} trtmc_load_options_v1;

typedef struct trtmc_model_info_v1 {
	trtmc_string_view family;
	trtmc_string_view backend;
	trtmc_string_view bundle_task;
} trtmc_model_info_v1;

typedef struct trtmc_task_info_v1 {
	trtmc_string_view id;
	uint32_t major;
	uint32_t minor;
} trtmc_task_info_v1;

enum {
	TRTMC_TEXT_UTF8 = 1,
	TRTMC_TEXT_TOKEN_IDS = 2,
};

typedef struct trtmc_text_source_v1 {
	uint32_t kind;
	union {
		trtmc_string_view text;
		trtmc_i32_view token_ids;
	} as;
} trtmc_text_source_v1;

typedef struct trtmc_text_continuation_request_v1 {
	trtmc_text_source_v1 prefix;
} trtmc_text_continuation_request_v1;

typedef struct trtmc_transcription_segment_v1 {
	double start_seconds;
	double end_seconds;
	trtmc_string_view text;
	trtmc_i32_view token_ids;
} trtmc_transcription_segment_v1;

typedef struct trtmc_text_result_view_v1 {
	trtmc_string_view text;
	trtmc_i32_view token_ids;
	double setup_ms;
	double prefill_ms;
	double decode_ms;
	const trtmc_transcription_segment_v1* segments;
	uint64_t segment_count;
} trtmc_text_result_view_v1;

typedef struct trtmc_bytes_view {
	const uint8_t* data;
	uint64_t size;
} trtmc_bytes_view;

typedef struct trtmc_bundle_section_v1 {
	trtmc_string_view name;
	uint64_t offset;
	uint64_t length;
} trtmc_bundle_section_v1;

typedef struct trtmc_bundle_info_v1 {
	int32_t format;
	trtmc_string_view family;
	trtmc_string_view task;
	trtmc_string_view backend;
	const trtmc_bundle_section_v1* sections;
	uint64_t section_count;
} trtmc_bundle_info_v1;

typedef struct trtmc_byok_options_v1 {
	uint64_t struct_size;
	trtmc_string_view runtime_root;
	trtmc_string_view library;
	trtmc_string_view function;
	trtmc_string_view kernel_name;
} trtmc_byok_options_v1;

typedef struct trtmc_lora_api_v1 {
	trtmc_api_header header;
	trtmc_status (*load)(trtmc_model*, trtmc_string_view adapter_id, trtmc_string_view adapter_path, trtmc_error**);
	trtmc_status (*unload)(trtmc_model*, trtmc_string_view adapter_id, trtmc_error**);
	trtmc_status (*list)(trtmc_model*, trtmc_result**, trtmc_error**);
	trtmc_status (*list_view)(const trtmc_result*, trtmc_strings_view*, trtmc_error**);
} trtmc_lora_api_v1;

typedef struct trtmc_f32_matrix_view_v1 {
	const float* data;
	uint64_t count;
	uint64_t rows;
	uint64_t columns;
} trtmc_f32_matrix_view_v1;

enum {
	TRTMC_SCORE_LOGIT = 1,
	TRTMC_SCORE_PROBABILITY = 2,
	TRTMC_SCORE_UNBOUNDED = 3,
};

typedef struct trtmc_label_scores_view_v1 {
	const float* scores;
	uint64_t count;
	trtmc_strings_view labels;
	uint32_t kind;
	trtmc_string_view vocabulary_id;
} trtmc_label_scores_view_v1;

typedef struct trtmc_tool_definition_v1 {
	trtmc_string_view name;
	trtmc_string_view description;
	trtmc_string_view parameters_schema_json;
} trtmc_tool_definition_v1;

typedef struct trtmc_tool_call_v1 {
	trtmc_string_view call_id;
	trtmc_string_view name;
	trtmc_string_view arguments_json;
	uint32_t state;
} trtmc_tool_call_v1;

enum {
	TRTMC_TOOL_CALL_UNKNOWN = 0,
	TRTMC_TOOL_CALL_COMPLETE = 1,
	TRTMC_TOOL_CALL_INCOMPLETE = 2,
	TRTMC_TOOL_CALL_MALFORMED = 3,
};

typedef struct trtmc_tool_result_v1 {
	trtmc_string_view call_id;
	trtmc_string_view content_text;
	uint32_t is_error;
} trtmc_tool_result_v1;

enum {
	TRTMC_IMAGE_UINT8 = 1,
	TRTMC_IMAGE_FLOAT32 = 2,
};

typedef struct trtmc_image_input_v1 {
	const void* data;
	uint64_t byte_size;
	uint32_t height;
	uint32_t width;
	uint32_t channels;
	uint32_t format;
} trtmc_image_input_v1;

typedef struct trtmc_image_mask_v1 {
	const float* data;
	uint64_t count;
	uint32_t height;
	uint32_t width;
} trtmc_image_mask_v1;

typedef struct trtmc_image_result_view_v1 {
	const float* pixels;
	uint64_t pixel_count;
	uint32_t height;
	uint32_t width;
	uint32_t channels;
} trtmc_image_result_view_v1;

typedef struct trtmc_text_to_image_request_v1 {
	trtmc_string_view prompt;
	trtmc_f32_view initial_latents;
} trtmc_text_to_image_request_v1;

typedef struct trtmc_audio_view_v1 {
	const float* samples;
	uint64_t sample_count;
	uint32_t has_sample_rate;
	uint32_t sample_rate;
	uint32_t channels;
} trtmc_audio_view_v1;

typedef struct trtmc_audio_result_view_v1 {
	trtmc_audio_view_v1 audio;
	double setup_ms;
	double inference_ms;
} trtmc_audio_result_view_v1;

typedef struct trtmc_video_view_v1 {
	const trtmc_image_input_v1* frames;
	uint64_t frame_count;
	trtmc_f64_view timestamps_seconds;
} trtmc_video_view_v1;

typedef struct trtmc_video_result_view_v1 {
	const trtmc_image_result_view_v1* frames;
	uint64_t frame_count;
	trtmc_f64_view timestamps_seconds;
	uint64_t conditioned_prefix_frames;
	double setup_ms;
	double inference_ms;
} trtmc_video_result_view_v1;

typedef struct trtmc_audio_video_result_view_v1 {
	trtmc_video_result_view_v1 video;
	trtmc_audio_result_view_v1 audio;
	double audio_start_seconds;
} trtmc_audio_video_result_view_v1;

typedef struct trtmc_text_to_video_request_v1 {
	trtmc_string_view prompt;
	trtmc_f32_view initial_latents;
} trtmc_text_to_video_request_v1;

typedef struct trtmc_initial_image_text_to_video_request_v1 {
	trtmc_image_input_v1 initial_image;
	trtmc_string_view prompt;
} trtmc_initial_image_text_to_video_request_v1;

typedef struct trtmc_batch_text_to_video_item_v1 {
	trtmc_text_to_video_request_v1 input;
	trtmc_config_view_v1 config;
} trtmc_batch_text_to_video_item_v1;

typedef struct trtmc_batch_text_to_video_request_v1 {
	const trtmc_batch_text_to_video_item_v1* items;
	uint64_t count;
} trtmc_batch_text_to_video_request_v1;

enum {
	TRTMC_ROLE_SYSTEM = 1,
	TRTMC_ROLE_DEVELOPER = 2,
	TRTMC_ROLE_USER = 3,
	TRTMC_ROLE_ASSISTANT = 4,
	TRTMC_ROLE_TOOL = 5,
	TRTMC_MEDIA_TEXT = 1,
	TRTMC_MEDIA_IMAGE = 2,
	TRTMC_MEDIA_VIDEO = 3,
	TRTMC_MEDIA_AUDIO = 4,
	TRTMC_MEDIA_ALIGNED_AUDIO_VIDEO = 5,
	TRTMC_MEDIA_REASONING = 6,
	TRTMC_MEDIA_TOOL_CALL = 7,
	TRTMC_MEDIA_TOOL_RESULT = 8,
	TRTMC_CONVERSATION_TEXT = 1,
	TRTMC_CONVERSATION_REASONING = 2,
	TRTMC_CONVERSATION_TOOL_CALL = 3,
	TRTMC_CONVERSATION_TOOL_RESULT = 4,
};

typedef struct trtmc_conversation_part_v1 {
	uint32_t kind;
	union {
		trtmc_string_view text;
		trtmc_tool_call_v1 tool_call;
		trtmc_tool_result_v1 tool_result;
	} content;
} trtmc_conversation_part_v1;

typedef struct trtmc_conversation_message_v1 {
	uint32_t role;
	const trtmc_conversation_part_v1* parts;
	uint64_t part_count;
} trtmc_conversation_message_v1;

typedef struct trtmc_text_conversation_request_v1 {
	const trtmc_conversation_message_v1* messages;
	uint64_t message_count;
	const trtmc_tool_definition_v1* tools;
	uint64_t tool_count;
} trtmc_text_conversation_request_v1;

enum {
	TRTMC_FINISH_UNKNOWN = 0,
	TRTMC_FINISH_STOP = 1,
	TRTMC_FINISH_LENGTH = 2,
	TRTMC_FINISH_TOOL_CALLS = 3,
	TRTMC_FINISH_CONTENT_FILTER = 4,
	TRTMC_FINISH_OTHER = 5,
};

typedef struct trtmc_token_usage_v1 {
	uint32_t has_input_tokens;
	uint32_t has_output_tokens;
	uint32_t has_total_tokens;
	uint64_t input_tokens;
	uint64_t output_tokens;
	uint64_t total_tokens;
} trtmc_token_usage_v1;

typedef struct trtmc_conversation_result_view_v1 {
	const trtmc_conversation_part_v1* parts;
	uint64_t part_count;
	trtmc_i32_view token_ids;
	double setup_ms;
	double prefill_ms;
	double decode_ms;
	uint32_t finish_reason;
	trtmc_string_view other_finish_reason;
	trtmc_token_usage_v1 usage;
} trtmc_conversation_result_view_v1;

enum {
	TRTMC_BATCH_CONVERSATION_TEXT = 1,
	TRTMC_BATCH_CONVERSATION_IMAGES_TEXT = 2,
	TRTMC_BATCH_CONVERSATION_VIDEO_TEXT = 3,
	TRTMC_BATCH_CONVERSATION_AUDIO_TEXT = 4,
	TRTMC_BATCH_CONVERSATION_IMAGE_AUDIO_TEXT = 5,
};

typedef struct trtmc_batch_text_conversation_item_v1 {
	trtmc_text_conversation_request_v1 input;
	trtmc_config_view_v1 config;
} trtmc_batch_text_conversation_item_v1;

typedef struct trtmc_batch_text_conversation_request_v1 {
	const trtmc_batch_text_conversation_item_v1* items;
	uint64_t count;
} trtmc_batch_text_conversation_request_v1;

enum {
	TRTMC_STREAM_DELTA = 1,
	TRTMC_STREAM_COMPLETE = 2,
	TRTMC_STREAM_CANCELLED = 3,
};

typedef struct trtmc_text_stream_event_view_v1 {
	uint32_t kind;
	trtmc_string_view text_delta;
	trtmc_i32_view token_ids;
	trtmc_text_result_view_v1 final_result;
} trtmc_text_stream_event_view_v1;

enum {
	TRTMC_CONVERSATION_STREAM_TEXT = 1,
	TRTMC_CONVERSATION_STREAM_REASONING = 2,
	TRTMC_CONVERSATION_STREAM_TOOL_DELTA = 3,
	TRTMC_CONVERSATION_STREAM_TOOL_END = 4,
	TRTMC_CONVERSATION_STREAM_TOKENS = 5,
	TRTMC_CONVERSATION_STREAM_COMPLETE = 6,
	TRTMC_CONVERSATION_STREAM_CANCELLED = 7,
};

typedef struct trtmc_conversation_text_delta_v1 {
	uint64_t part_index;
	trtmc_string_view text_delta;
} trtmc_conversation_text_delta_v1;

typedef struct trtmc_conversation_tool_delta_v1 {
	uint64_t part_index;
	uint32_t has_call_id;
	trtmc_string_view call_id;
	trtmc_string_view name_delta;
	trtmc_string_view arguments_delta;
} trtmc_conversation_tool_delta_v1;

typedef struct trtmc_conversation_tool_end_v1 {
	uint64_t part_index;
	uint32_t state;
} trtmc_conversation_tool_end_v1;

typedef struct trtmc_conversation_stream_event_view_v1 {
	uint32_t kind;
	union {
		trtmc_conversation_text_delta_v1 text;
		trtmc_conversation_text_delta_v1 reasoning;
		trtmc_conversation_tool_delta_v1 tool_delta;
		trtmc_conversation_tool_end_v1 tool_end;
		trtmc_i32_view token_ids;
		trtmc_conversation_result_view_v1 complete;
	} content;
} trtmc_conversation_stream_event_view_v1;

typedef struct trtmc_text_stream_api_v1 {
	trtmc_api_header header;
	trtmc_status (*next)(trtmc_text_stream*, int64_t timeout_ms, trtmc_result**, trtmc_error**);
	trtmc_status (*event_view)(const trtmc_result*, trtmc_text_stream_event_view_v1*, trtmc_error**);
	trtmc_status (*cancel)(trtmc_text_stream*, trtmc_error**);
	void (*release)(trtmc_text_stream*);
} trtmc_text_stream_api_v1;

typedef struct trtmc_conversation_stream_api_v1 {
	trtmc_api_header header;
	trtmc_status (*next)(trtmc_conversation_stream*, int64_t timeout_ms, trtmc_result**, trtmc_error**);
	trtmc_status (*event_view)(const trtmc_result*, trtmc_conversation_stream_event_view_v1*, trtmc_error**);
	trtmc_status (*cancel)(trtmc_conversation_stream*, trtmc_error**);
	void (*release)(trtmc_conversation_stream*);
} trtmc_conversation_stream_api_v1;

typedef struct trtmc_streaming_text_continuation_api_v1 {
	trtmc_api_header header;
	trtmc_status (*start)(trtmc_model*, const trtmc_text_continuation_request_v1*, const trtmc_config_view_v1*, trtmc_text_stream**, trtmc_error**);
	const trtmc_text_stream_api_v1* stream_api;
} trtmc_streaming_text_continuation_api_v1;

typedef struct trtmc_streaming_text_conversation_api_v1 {
	trtmc_api_header header;
	trtmc_status (*start)(trtmc_model*, const trtmc_text_conversation_request_v1*, const trtmc_config_view_v1*, trtmc_conversation_stream**, trtmc_error**);
	const trtmc_conversation_stream_api_v1* stream_api;
} trtmc_streaming_text_conversation_api_v1;

enum {
	TRTMC_EMBEDDING_DEFAULT = 0,
	TRTMC_EMBEDDING_QUERY = 1,
	TRTMC_EMBEDDING_DOCUMENT = 2,
	TRTMC_FEATURE_INPUT_PADDING = -2,
	TRTMC_FEATURE_INPUT_SPECIAL = -1,
};

typedef struct trtmc_pooled_features_view_v1 {
	const float* values;
	uint64_t count;
	trtmc_string_view pooling;
	trtmc_string_view normalization;
} trtmc_pooled_features_view_v1;

typedef struct trtmc_semantic_embedding_view_v1 {
	const float* values;
	uint64_t count;
	trtmc_string_view embedding_space;
	trtmc_string_view pooling;
	trtmc_string_view normalization;
} trtmc_semantic_embedding_view_v1;

typedef struct trtmc_head_scores_view_v1 {
	const float* values;
	uint64_t count;
	const uint64_t* shape;
	uint64_t rank;
	uint32_t kind;
	trtmc_string_view pooling;
	trtmc_string_view normalization;
} trtmc_head_scores_view_v1;

typedef struct trtmc_relevance_view_v1 {
	float score;
	uint32_t kind;
} trtmc_relevance_view_v1;

typedef struct trtmc_document_relevance_view_v1 {
	const float* scores;
	uint64_t count;
	uint32_t kind;
} trtmc_document_relevance_view_v1;

typedef struct trtmc_text_query_documents_to_relevance_request_v1 {
	trtmc_string_view query;
	trtmc_strings_view documents;
} trtmc_text_query_documents_to_relevance_request_v1;

typedef struct trtmc_text_pair_to_relevance_request_v1 {
	trtmc_string_view query;
	trtmc_string_view document;
} trtmc_text_pair_to_relevance_request_v1;

typedef struct trtmc_text_to_embedding_request_v1 {
	trtmc_string_view text;
	uint32_t role;
} trtmc_text_to_embedding_request_v1;

typedef struct trtmc_title_body_to_embedding_request_v1 {
	trtmc_string_view title;
	trtmc_string_view body;
} trtmc_title_body_to_embedding_request_v1;

typedef struct trtmc_batch_text_to_embedding_item_v1 {
	trtmc_text_to_embedding_request_v1 input;
	trtmc_config_view_v1 config;
} trtmc_batch_text_to_embedding_item_v1;

typedef struct trtmc_batch_text_to_embedding_request_v1 {
	const trtmc_batch_text_to_embedding_item_v1* items;
	uint64_t count;
} trtmc_batch_text_to_embedding_request_v1;

typedef struct trtmc_text_continuation_api_v1 {
	trtmc_api_header header;
	trtmc_status (*run)(trtmc_model*, const trtmc_text_continuation_request_v1*, const trtmc_config_view_v1*, trtmc_result**, trtmc_error**);
	trtmc_status (*result_view)(const trtmc_result*, trtmc_text_result_view_v1*, trtmc_error**);
} trtmc_text_continuation_api_v1;

typedef struct trtmc_text_conversation_api_v1 {
	trtmc_api_header header;
	trtmc_status (*run)(trtmc_model*, const trtmc_text_conversation_request_v1*, const trtmc_config_view_v1*, trtmc_result**, trtmc_error**);
	trtmc_status (*result_view)(const trtmc_result*, trtmc_conversation_result_view_v1*, trtmc_error**);
} trtmc_text_conversation_api_v1;

typedef struct trtmc_batch_text_conversation_api_v1 {
	trtmc_api_header header;
	trtmc_status (*run)(trtmc_model*, const trtmc_batch_text_conversation_request_v1*, trtmc_result**, trtmc_error**);
	trtmc_status (*result_count)(const trtmc_result*, uint64_t*, trtmc_error**);
	trtmc_status (*result_item_view)(const trtmc_result*, uint64_t, trtmc_conversation_result_view_v1*, trtmc_error**);
} trtmc_batch_text_conversation_api_v1;

typedef struct trtmc_text_pair_to_relevance_api_v1 {
	trtmc_api_header header;
	trtmc_status (*run)(trtmc_model*, const trtmc_text_pair_to_relevance_request_v1*, const trtmc_config_view_v1*, trtmc_result**, trtmc_error**);
	trtmc_status (*result_view)(const trtmc_result*, trtmc_relevance_view_v1*, trtmc_error**);
} trtmc_text_pair_to_relevance_api_v1;

typedef struct trtmc_text_query_documents_to_relevance_api_v1 {
	trtmc_api_header header;
	trtmc_status (*run)(trtmc_model*, const trtmc_text_query_documents_to_relevance_request_v1*, const trtmc_config_view_v1*, trtmc_result**, trtmc_error**);
	trtmc_status (*result_view)(const trtmc_result*, trtmc_document_relevance_view_v1*, trtmc_error**);
} trtmc_text_query_documents_to_relevance_api_v1;

typedef struct trtmc_text_to_embedding_api_v1 {
	trtmc_api_header header;
	trtmc_status (*run)(trtmc_model*, const trtmc_text_to_embedding_request_v1*, const trtmc_config_view_v1*, trtmc_result**, trtmc_error**);
	trtmc_status (*result_view)(const trtmc_result*, trtmc_semantic_embedding_view_v1*, trtmc_error**);
} trtmc_text_to_embedding_api_v1;

typedef struct trtmc_title_body_to_embedding_api_v1 {
	trtmc_api_header header;
	trtmc_status (*run)(trtmc_model*, const trtmc_title_body_to_embedding_request_v1*, const trtmc_config_view_v1*, trtmc_result**, trtmc_error**);
	trtmc_status (*result_view)(const trtmc_result*, trtmc_semantic_embedding_view_v1*, trtmc_error**);
} trtmc_title_body_to_embedding_api_v1;

typedef struct trtmc_batch_text_to_embedding_api_v1 {
	trtmc_api_header header;
	trtmc_status (*run)(trtmc_model*, const trtmc_batch_text_to_embedding_request_v1*, trtmc_result**, trtmc_error**);
	trtmc_status (*result_count)(const trtmc_result*, uint64_t*, trtmc_error**);
	trtmc_status (*result_item_view)(const trtmc_result*, uint64_t, trtmc_semantic_embedding_view_v1*, trtmc_error**);
} trtmc_batch_text_to_embedding_api_v1;

typedef struct trtmc_text_to_video_api_v1 {
	trtmc_api_header header;
	trtmc_status (*run)(trtmc_model*, const trtmc_text_to_video_request_v1*, const trtmc_config_view_v1*, trtmc_result**, trtmc_error**);
	trtmc_status (*result_view)(const trtmc_result*, trtmc_video_result_view_v1*, trtmc_error**);
} trtmc_text_to_video_api_v1;

typedef struct trtmc_initial_image_text_to_video_api_v1 {
	trtmc_api_header header;
	trtmc_status (*run)(trtmc_model*, const trtmc_initial_image_text_to_video_request_v1*, const trtmc_config_view_v1*, trtmc_result**, trtmc_error**);
	trtmc_status (*result_view)(const trtmc_result*, trtmc_video_result_view_v1*, trtmc_error**);
} trtmc_initial_image_text_to_video_api_v1;

typedef struct trtmc_batch_text_to_video_api_v1 {
	trtmc_api_header header;
	trtmc_status (*run)(trtmc_model*, const trtmc_batch_text_to_video_request_v1*, trtmc_result**, trtmc_error**);
	trtmc_status (*result_count)(const trtmc_result*, uint64_t*, trtmc_error**);
	trtmc_status (*result_item_view)(const trtmc_result*, uint64_t, trtmc_video_result_view_v1*, trtmc_error**);
} trtmc_batch_text_to_video_api_v1;

typedef struct trtmc_core_api_v1 {
	trtmc_api_header header;
	trtmc_string_view (*runtime_version)(void);
	trtmc_status (*error_code)(const trtmc_error*);
	trtmc_string_view (*error_message)(const trtmc_error*);
	void (*error_release)(trtmc_error*);
	trtmc_status (*model_load)(trtmc_string_view bundle_path, const trtmc_load_options_v1*, trtmc_model**, trtmc_error**);
	void (*model_release)(trtmc_model*);
	trtmc_status (*model_info)(const trtmc_model*, trtmc_model_info_v1*, trtmc_error**);
	trtmc_status (*model_task_count)(const trtmc_model*, uint64_t*, trtmc_error**);
	trtmc_status (*model_task_info)(const trtmc_model*, uint64_t index, trtmc_task_info_v1*, trtmc_error**);
	trtmc_status (*model_get_task_api)(const trtmc_model*, trtmc_string_view task, uint32_t major, uint32_t minor, const trtmc_api_header**, trtmc_error**);
	trtmc_status (*config_field_count)(const trtmc_model*, trtmc_string_view task, uint32_t major, uint32_t minor, uint64_t*, trtmc_error**);
	trtmc_status (*config_field_info)(const trtmc_model*, trtmc_string_view task, uint32_t major, uint32_t minor, uint64_t index, trtmc_config_field_v1*, trtmc_error**);
	void (*result_release)(trtmc_result*);
	trtmc_status (*bundle_open)(trtmc_string_view path, trtmc_bundle**, trtmc_error**);
	void (*bundle_release)(trtmc_bundle*);
	trtmc_status (*bundle_info)(const trtmc_bundle*, trtmc_bundle_info_v1*, trtmc_error**);
	trtmc_status (*bundle_read_section)(const trtmc_bundle*, trtmc_string_view name, trtmc_result**, trtmc_error**);
	trtmc_status (*bytes_result_view)(const trtmc_result*, trtmc_bytes_view*, trtmc_error**);
	trtmc_status (*byok_load)(const trtmc_byok_options_v1*, trtmc_error**);
	trtmc_status (*model_get_lora_api)(const trtmc_model*, uint32_t major, uint32_t minor, const trtmc_lora_api_v1**, trtmc_error**);
} trtmc_core_api_v1;

#define TRTMC_TASK_TEXT_CONTINUATION "text_continuation"
#define TRTMC_TASK_STREAMING_TEXT_CONTINUATION "streaming_text_continuation"
#define TRTMC_TASK_TEXT_CONVERSATION "text_conversation"
#define TRTMC_TASK_STREAMING_TEXT_CONVERSATION "streaming_text_conversation"
#define TRTMC_TASK_BATCH_TEXT_CONVERSATION "batch_text_conversation"
#define TRTMC_TASK_TEXT_PAIR_TO_RELEVANCE "text_pair_to_relevance"
#define TRTMC_TASK_TEXT_QUERY_DOCUMENTS_TO_RELEVANCE "text_query_documents_to_relevance"
#define TRTMC_TASK_TEXT_TO_EMBEDDING "text_to_embedding"
#define TRTMC_TASK_TITLE_BODY_TO_EMBEDDING "title_body_to_embedding"
#define TRTMC_TASK_BATCH_TEXT_TO_EMBEDDING "batch_text_to_embedding"
#define TRTMC_TASK_TEXT_TO_VIDEO "text_to_video"
#define TRTMC_TASK_INITIAL_IMAGE_TEXT_TO_VIDEO "initial_image_text_to_video"
#define TRTMC_TASK_BATCH_TEXT_TO_VIDEO "batch_text_to_video"

/* The one exported symbol. NULL out is INVALID_ARGUMENT; any version but (1,0) is VERSION_MISMATCH with *out NULL. */
typedef trtmc_status (*trtmc_get_api_fn)(uint32_t major, uint32_t minor, const trtmc_core_api_v1** out);

#ifdef __cplusplus
}
#endif

#endif
