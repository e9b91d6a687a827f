/* The one hook of the process. Calls of it hold a read lock, so that whoever replaces it knows that none is running. */
#include "ref_private.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static trtmc_reference_hook hook;
static void* hook_user;

int64_t trtmc_reference_count_hooks(int64_t delta) {
	static int64_t owners;
	return __atomic_add_fetch(&owners, delta, __ATOMIC_SEQ_CST);
}

void* trtmc_reference_set_hook(trtmc_reference_hook next, void* user) {
	pthread_rwlock_wrlock(&lock);
	void* before = hook_user;
	hook = next;
	hook_user = next ? user : NULL;
	pthread_rwlock_unlock(&lock);
	return before;
}

int trtmc_reference_remove_hook(void* user) {
	pthread_rwlock_wrlock(&lock);
	int mine = hook && hook_user == user;
	if (mine) {
		hook = NULL;
		hook_user = NULL;
	}
	pthread_rwlock_unlock(&lock);
	return mine;
}

void trf_hook_call(
	const trtmc_model* model, trf_task_id task, uint32_t phase, trtmc_status status, trtmc_reference_action* action) {
	memset(action, 0, sizeof *action);
	pthread_rwlock_rdlock(&lock);
	if (hook) {
		trtmc_reference_event event = {
			trf_task_at(task)->id, phase, status, (uint64_t)(uintptr_t)model, trf_thread_id()};
		hook(hook_user, &event, action);
		if (action->message_size > sizeof action->message) action->message_size = sizeof action->message;
	}
	pthread_rwlock_unlock(&lock);
}
