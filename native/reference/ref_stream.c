/* Streams: one producer thread, a queue of at most TRF_QUEUE events, one reader at a time, one terminal event. */
#include <signal.h>

#include "ref_private.h"

struct trf_stream {
	trtmc_model* model; /* kept alive by a reference of its own */
	trf_work work;
	trf_call call; /* the producer's, once it runs */
	pthread_t thread;
	bool joined;          /* the reader's, or release's */
	pthread_mutex_t lock; /* guards everything below */
	pthread_cond_t readable, producer;
	trtmc_result* queue[TRF_QUEUE];
	size_t head, count;
	bool reading;        /* a reader is inside next() */
	bool cancelled;      /* asked for before the work was done */
	bool finishing;      /* the work is done: a cancel comes too late */
	bool produced;       /* the producer has nothing more to say */
	bool ended;          /* the terminal event or failure was handed out */
	trtmc_status status; /* OK, END for cancelled, or a failure with error */
	trtmc_error* error;
	trtmc_result* terminal; /* COMPLETE */
	trtmc_result* cancel_event;
};

static void drop_queue(trf_stream* s) {
	while (s->count) {
		trf_result_release(s->queue[s->head]);
		s->head = (s->head + 1) % TRF_QUEUE;
		s->count--;
	}
}

static void* produce(void* arg) {
	trf_stream* s = arg;
	trtmc_result* final = NULL;
	bool ok = s->work.produce(s->work.self, &s->call, &final);
	pthread_mutex_lock(&s->lock);
	s->finishing = true;
	if (s->cancelled) {
		ok = false;
		if (s->call.status == TRTMC_OK) s->call.status = TRTMC_END;
	}
	pthread_mutex_unlock(&s->lock);
	trtmc_error* error;
	trtmc_status status = trf_call_end(&s->call, &error);
	if (!ok || status != TRTMC_OK) {
		trf_result_release(final);
		final = NULL;
	}
	pthread_mutex_lock(&s->lock);
	s->status = status;
	s->error = error;
	s->terminal = final;
	s->produced = true;
	pthread_cond_broadcast(&s->readable);
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

static void destroy(trf_stream* s) {
	drop_queue(s);
	trf_result_release(s->terminal);
	trf_result_release(s->cancel_event);
	trf_error_release(s->error);
	s->work.destroy(s->work.self);
	pthread_cond_destroy(&s->readable);
	pthread_cond_destroy(&s->producer);
	pthread_mutex_destroy(&s->lock);
	trf_count(TRF_STREAMS, -1);
	trf_free(s);
}

/* Starts the producer with all signals blocked: they belong to the program's own threads. */
static bool start_thread(trf_stream* s) {
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int failed = pthread_create(&s->thread, NULL, produce, s);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return !failed;
}

static trtmc_status reserve(trf_stream* s, trf_task_id task, trtmc_error** error) {
	if (!trf_call_begin(&s->call, s->model, task, s)) return trf_call_end(&s->call, error);
	if (!s->cancel_event || !start_thread(s)) {
		trf_call_out_of_memory(&s->call);
		return trf_call_end(&s->call, error);
	}
	s->model->streaming = true;
	__atomic_add_fetch(&s->model->references, 1, __ATOMIC_RELAXED);
	return TRTMC_OK;
}

trtmc_status trf_stream_start(
	trtmc_model* model, trf_task_id task, trf_work work, trf_stream** out, trtmc_error** error) {
	trtmc_status st;
	trf_stream* s = trf_alloc(sizeof *s);
	if (s) {
		trf_count(TRF_STREAMS, 1);
		s->model = model;
		s->work = work;
		pthread_mutex_init(&s->lock, NULL);
		trf_cond_init(&s->readable);
		trf_cond_init(&s->producer);
		s->cancel_event = work.cancelled();
		st = reserve(s, task, error);
		if (st == TRTMC_OK)
			*out = s;
		else
			destroy(s);
	} else {
		work.destroy(work.self);
		st = trf_out_of_memory(error);
	}
	trf_model_end(model);
	return st;
}

bool trf_stream_wait_until(trf_stream* s, int64_t due) {
	pthread_mutex_lock(&s->lock);
	while (!s->cancelled && trf_now() < due) trf_cond_wait_until(&s->producer, &s->lock, due);
	bool ok = !s->cancelled;
	pthread_mutex_unlock(&s->lock);
	return ok;
}

void trf_stream_wait_cancelled(trf_stream* s) {
	pthread_mutex_lock(&s->lock);
	while (!s->cancelled) pthread_cond_wait(&s->producer, &s->lock);
	pthread_mutex_unlock(&s->lock);
}

bool trf_stream_push(trf_call* call, trtmc_result* event) {
	trf_stream* s = call->stream;
	if (!event) return trf_call_out_of_memory(call);
	pthread_mutex_lock(&s->lock);
	bool full = s->count == TRF_QUEUE;
	while (s->count == TRF_QUEUE && !s->cancelled) pthread_cond_wait(&s->producer, &s->lock);
	bool ok = !s->cancelled;
	if (ok) {
		s->queue[(s->head + s->count++) % TRF_QUEUE] = event;
		pthread_cond_broadcast(&s->readable);
	}
	pthread_mutex_unlock(&s->lock);
	if (!ok) trf_result_release(event);
	/* Time spent waiting for a slow reader is not caught up afterwards. */
	int64_t now = full ? trf_now() : 0;
	if (now > call->due) call->due = now;
	return ok;
}

/* Waits for the producer's end and gives the model back. Called without the lock, by one thread at a time. */
static void join(trf_stream* s) {
	if (s->joined) return;
	s->joined = true;
	pthread_join(s->thread, NULL);
	pthread_mutex_lock(&s->model->lock);
	s->model->streaming = false;
	pthread_mutex_unlock(&s->model->lock);
}

/* Waits for an event or the producer's end; false when the time is over. Holds the lock. */
static bool await(trf_stream* s, int64_t timeout_ms) {
	const int64_t forever = 1000000000;
	int64_t due = timeout_ms > 0 && timeout_ms < forever ? trf_now() + timeout_ms * 1000000 : 0;
	while (s->count == 0 && !s->produced) {
		if (timeout_ms == 0 || (due && trf_now() >= due)) return false;
		if (due)
			trf_cond_wait_until(&s->readable, &s->lock, due);
		else
			pthread_cond_wait(&s->readable, &s->lock);
	}
	return true;
}

/* Hands out the one terminal event or failure, after the model has become idle. */
static trtmc_status finish(trf_stream* s, trtmc_result** out, trtmc_error** error) {
	join(s);
	trtmc_status st = s->status;
	trtmc_result** event = st == TRTMC_OK ? &s->terminal : &s->cancel_event;
	if (st == TRTMC_OK || st == TRTMC_END) {
		*out = *event;
		*event = NULL;
		return TRTMC_OK;
	}
	*error = s->error;
	s->error = NULL;
	return st;
}

static trtmc_status read_next(trf_stream* s, int64_t timeout_ms, trtmc_result** out, trtmc_error** error) {
	pthread_mutex_lock(&s->lock);
	if (s->reading || s->ended) {
		bool reading = s->reading;
		pthread_mutex_unlock(&s->lock);
		return reading ? trf_fail(error, TRTMC_BUSY, "another reader is inside next() of this stream") : TRTMC_END;
	}
	s->reading = true;
	trtmc_status st = TRTMC_OK;
	if (!await(s, timeout_ms)) {
		st = TRTMC_AGAIN;
	} else if (s->count) {
		*out = s->queue[s->head];
		s->head = (s->head + 1) % TRF_QUEUE;
		s->count--;
		pthread_cond_broadcast(&s->producer);
	} else {
		pthread_mutex_unlock(&s->lock);
		st = finish(s, out, error);
		pthread_mutex_lock(&s->lock);
		s->ended = true;
	}
	s->reading = false;
	pthread_mutex_unlock(&s->lock);
	return st;
}

trtmc_status trf_stream_next(trf_stream* s, int64_t timeout_ms, trtmc_result** out, trtmc_error** error) {
	if (out) *out = NULL;
	if (!error) return TRTMC_INVALID_ARGUMENT;
	*error = NULL;
	if (!s || !out) return trf_fail(error, TRTMC_INVALID_ARGUMENT, "the stream or the output pointer is NULL");
	if (timeout_ms < -1)
		return trf_fail(
			error, TRTMC_INVALID_ARGUMENT, "timeout_ms is %lld; it must be -1 or more", (long long)timeout_ms);
	return read_next(s, timeout_ms, out, error);
}

static void cancel(trf_stream* s) {
	pthread_mutex_lock(&s->lock);
	if (!s->finishing && !s->cancelled) {
		s->cancelled = true;
		drop_queue(s);
		pthread_cond_broadcast(&s->producer);
	}
	pthread_mutex_unlock(&s->lock);
}

trtmc_status trf_stream_cancel(trf_stream* s, trtmc_error** error) {
	if (!error) return TRTMC_INVALID_ARGUMENT;
	*error = NULL;
	if (!s) return trf_fail(error, TRTMC_INVALID_ARGUMENT, "the stream is NULL");
	cancel(s);
	return TRTMC_OK;
}

void trf_stream_release(trf_stream* s) {
	if (!s) return;
	trtmc_model* model = s->model;
	cancel(s);
	join(s);
	destroy(s);
	trf_model_unref(model);
}
