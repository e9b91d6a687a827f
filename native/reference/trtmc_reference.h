/* What the reference runtime offers beside the published ABI: its static entry point, a hook for tests and counters. */
#ifndef TRTMC_REFERENCE_H
#define TRTMC_REFERENCE_H

#include "../internal/cabi/trtmc_abi.h"

/* The same function as trtmc_get_api of the shared library, under a name that cannot clash with one. */
trtmc_status trtmc_reference_get_api(uint32_t major, uint32_t minor, const trtmc_core_api_v1** out);

/* Live objects by type. */
typedef struct trtmc_reference_counts {
	int64_t models, results, errors, bundles, streams;
} trtmc_reference_counts;

void trtmc_reference_live(trtmc_reference_counts* out);

enum {
	TRTMC_REFERENCE_BEGIN = 1, /* checks are done, work begins; the model is locked (a stream: reserved) */
	TRTMC_REFERENCE_FINISH = 2, /* work has ended with status; the model is still locked (a stream: reserved) */
};

typedef struct trtmc_reference_event {
	const char* task; /* Task id, static storage */
	uint32_t phase;
	trtmc_status status; /* FINISH only */
	uint64_t model;      /* identity of the model object */
	uint64_t thread;     /* identity of the calling thread; a stream finishes on its producer thread */
} trtmc_reference_event;

/* Zero on entry. A status other than OK makes the call fail with it and with the first message_size bytes of message. */
typedef struct trtmc_reference_action {
	trtmc_status status;
	uint32_t message_size;
	char message[512];
} trtmc_reference_action;

typedef void (*trtmc_reference_hook)(void* user, const trtmc_reference_event* event, trtmc_reference_action* action);

/* Sets the one hook, or removes it when hook is NULL, and returns the user pointer of the one that was set before.
 * Returns once no call of the former hook is running; so a hook must not call this function. */
void* trtmc_reference_set_hook(trtmc_reference_hook hook, void* user);

/* Removes the hook if its user pointer is user, else does nothing. Returns 1 when it removed it. */
int trtmc_reference_remove_hook(void* user);

/* Adds delta to the number of hook owners and returns it. Kept here so that callers in other languages need no global. */
int64_t trtmc_reference_count_hooks(int64_t delta);

#ifdef TRTMC_TEST_ALLOC
/* Lets the n-th allocation from now on fail (n >= 1), once; 0 lets none fail. Only for the tests of the runtime. */
void trtmc_reference_fail_allocation(int64_t n);
#endif

#endif
