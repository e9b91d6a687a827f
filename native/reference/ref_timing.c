/* The monotonic clock, and waiting until an instant of it without burning a core. */
#include <errno.h>
#include <time.h>

#include "ref_private.h"

#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

enum { SECOND = 1000000000 };

static struct timespec spec(int64_t ns) {
	if (ns < 0) ns = 0;
	return (struct timespec){.tv_sec = (time_t)(ns / SECOND), .tv_nsec = (long)(ns % SECOND)};
}

int64_t trf_now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * SECOND + t.tv_nsec;
}

#if defined(__APPLE__) /* neither clock_nanosleep nor a monotonic condition variable: wait for the rest instead */

void trf_sleep_until(int64_t due) {
	for (int64_t left; (left = due - trf_now()) > 0;) {
		struct timespec t = spec(left);
		nanosleep(&t, NULL);
	}
}

void trf_cond_init(pthread_cond_t* cond) { pthread_cond_init(cond, NULL); }

bool trf_cond_wait_until(pthread_cond_t* cond, pthread_mutex_t* lock, int64_t due) {
	struct timespec t = spec(due - trf_now());
	return pthread_cond_timedwait_relative_np(cond, lock, &t) != ETIMEDOUT;
}

#else

void trf_sleep_until(int64_t due) {
	struct timespec t = spec(due);
	while (trf_now() < due && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) {
	}
}

void trf_cond_init(pthread_cond_t* cond) {
	pthread_condattr_t attr;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
}

bool trf_cond_wait_until(pthread_cond_t* cond, pthread_mutex_t* lock, int64_t due) {
	struct timespec t = spec(due);
	return pthread_cond_timedwait(cond, lock, &t) != ETIMEDOUT;
}

#endif

uint64_t trf_thread_id(void) {
#if defined(__linux__)
	return (uint64_t)syscall(SYS_gettid);
#else
	return (uint64_t)(uintptr_t)pthread_self();
#endif
}
