/* Calls that several tests make. */
#include <stdlib.h>

#include "driver.h"

trtmc_result* continue_text(
	trtmc_model* model, const char* prefix, const trtmc_config_view_v1* config, trtmc_text_result_view_v1* view) {
	trtmc_error* err;
	trtmc_result* r = NULL;
	const trtmc_text_continuation_api_v1* api = table(model, TRTMC_TASK_TEXT_CONTINUATION);
	trtmc_text_continuation_request_v1 request = {{TRTMC_TEXT_UTF8, {.text = sv(prefix)}}};
	if (!EXPECT(api->run(model, &request, config, &r, &err), TRTMC_OK, NULL)) exit(1);
	if (view) EXPECT(api->result_view(r, view, &err), TRTMC_OK, NULL);
	return r;
}

trtmc_text_stream* start_text(trtmc_model* model, const char* prefix, const trtmc_config_view_v1* config) {
	trtmc_error* err;
	trtmc_text_stream* s = NULL;
	const trtmc_streaming_text_continuation_api_v1* api = table(model, TRTMC_TASK_STREAMING_TEXT_CONTINUATION);
	trtmc_text_continuation_request_v1 request = {{TRTMC_TEXT_UTF8, {.text = sv(prefix)}}};
	if (!EXPECT(api->start(model, &request, config, &s, &err), TRTMC_OK, NULL)) exit(1);
	return s;
}

trtmc_status run_text(trtmc_model* m, trtmc_result** r, trtmc_error** err) {
	const trtmc_text_continuation_api_v1* api = table(m, TRTMC_TASK_TEXT_CONTINUATION);
	trtmc_text_continuation_request_v1 q = {{TRTMC_TEXT_UTF8, {.text = sv("We hold these")}}};
	*r = NULL;
	return api->run(m, &q, NULL, r, err);
}

const trtmc_text_stream_api_v1* stream_table(trtmc_model* m) {
	const trtmc_streaming_text_continuation_api_v1* api = table(m, TRTMC_TASK_STREAMING_TEXT_CONTINUATION);
	return api->stream_api;
}

/* Reads a stream to its end and counts what came; returns the first status that is not OK. */
trtmc_status drain(trtmc_text_stream* s, const trtmc_text_stream_api_v1* api, int kinds[4], char* joined, char* final) {
	trtmc_error* err = NULL;
	for (;;) {
		trtmc_result* r;
		trtmc_text_stream_event_view_v1 v = {0};
		trtmc_status st = api->next(s, -1, &r, &err);
		core->error_release(err);
		if (st != TRTMC_OK) return st;
		api->event_view(r, &v, &err);
		kinds[v.kind]++;
		if (v.kind == TRTMC_STREAM_DELTA)
			snprintf(joined + strlen(joined), 64, "%.*s", (int)v.text_delta.size, v.text_delta.data);
		if (v.kind == TRTMC_STREAM_COMPLETE)
			snprintf(final, 4096, "%.*s", (int)v.final_result.text.size, v.final_result.text.data);
		core->result_release(r);
	}
}
