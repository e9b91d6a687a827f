/* A program that calls the reference runtime as any C program would, and checks what it does. */
#ifndef DRIVER_H
#define DRIVER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../../trtmc_reference.h"

extern const trtmc_core_api_v1* core;
extern const char* bundles; /* directory */
extern _Atomic int checks, failures;

/* Counts a check and reports it when it fails. */
#define CHECK(condition) check(condition, #condition, __FILE__, __LINE__)
bool check(bool ok, const char* what, const char* file, int line);

/* Checks the status of a call that was given &err. With a want of text, the error's message must contain it. */
#define EXPECT(call, want, text)                                                                                       \
	(err = NULL, last_status = (call), expect(last_status, want, err, text, #call, __FILE__, __LINE__))
extern _Thread_local trtmc_status last_status;
bool expect(trtmc_status got, trtmc_status want, trtmc_error* error, const char* text, const char* what,
	const char* file, int line);

trtmc_string_view sv(const char* text);
bool contains(trtmc_string_view text, const char* part);
bool equal(trtmc_string_view a, trtmc_string_view b);
trtmc_model* load(const char* bundle);
const void* table(const trtmc_model* model, const char* task);
uint64_t digest(const void* data, size_t size); /* FNV-1a */

trtmc_config_entry_v1 set_i64(const char* name, int64_t v);
trtmc_config_entry_v1 set_f64(const char* name, double v);
trtmc_config_entry_v1 set_bool(const char* name, uint32_t v);
trtmc_config_entry_v1 set_text(const char* name, const char* v);
#define CONFIG(...)                                                                                                    \
	&(trtmc_config_view_v1){(trtmc_config_entry_v1[]){__VA_ARGS__},                                                    \
		sizeof((trtmc_config_entry_v1[]){__VA_ARGS__}) / sizeof(trtmc_config_entry_v1)}

/* A text continuation; the caller releases the result. NULL after a failed check. */
trtmc_result* continue_text(
	trtmc_model* model, const char* prefix, const trtmc_config_view_v1* config, trtmc_text_result_view_v1* view);
trtmc_text_stream* start_text(trtmc_model* model, const char* prefix, const trtmc_config_view_v1* config);

trtmc_status run_text(trtmc_model* m, trtmc_result** r, trtmc_error** err); /* greedy, after a fixed prefix */
const trtmc_text_stream_api_v1* stream_table(trtmc_model* m);
/* Reads a stream to its end and counts events by kind; returns the first status that is not OK. joined and final (4096
 * bytes each) get the text of all deltas and the final text. */
trtmc_status drain(trtmc_text_stream* s, const trtmc_text_stream_api_v1* api, int kinds[4], char* joined, char* final);

void test_internals(void);
void test_core(void);
void test_bundles(void);
void test_config(void);
void test_text(void);
void test_stream(void);
void test_chat(void);
void test_relevance(void);
void test_embedding(void);
void test_video(void);
void test_faults(void);
void test_hooks(void);
void test_memory(void);
void print_results(void);

#endif
