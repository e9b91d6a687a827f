//go:build cgo

package reference

// #include "trtmc_reference.h"
// extern void trtmcReferenceHook(void*, trtmc_reference_event*, trtmc_reference_action*);
import "C"

import (
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"
	"unsafe"

	pointer "github.com/mattn/go-pointer"
)

// hook is what a token of go-pointer stands for.
type hook struct{ call func(Event) Action }

// SetHook makes call the hook of the embedded runtime in place of any other, and returns what takes it away again,
// which must be called once it is no longer wanted; further calls of remove do nothing.
//
// The hook is called at the begin and at the end of every Task call, on the thread of that call (for the end of a
// stream: on a thread of the runtime), possibly on several threads at once. A panic in it makes the call fail with
// INTERNAL_ERROR. SetHook and remove return when no call of the former hook is running any more, so a hook must not
// call them. A runtime opened as a shared library has no hook.
func SetHook(call func(Event) Action) (remove func()) {
	token := pointer.Save(&hook{call})
	C.trtmc_reference_count_hooks(1)
	C.trtmc_reference_set_hook(C.trtmc_reference_hook(unsafe.Pointer(C.trtmcReferenceHook)), token)
	return sync.OnceFunc(func() {
		C.trtmc_reference_remove_hook(token)
		pointer.Unref(token)
		C.trtmc_reference_count_hooks(-1)
	})
}

// LiveHooks returns how many hooks have been set and not yet removed. Safe for concurrent use.
func LiveHooks() int { return int(C.trtmc_reference_count_hooks(0)) }

//export trtmcReferenceHook
func trtmcReferenceHook(user unsafe.Pointer, event *C.trtmc_reference_event, action *C.trtmc_reference_action) {
	defer func() {
		if r := recover(); r != nil {
			fill(action, Action{Status: 7, Message: fmt.Sprintf("hook panicked: %v", r)})
		}
	}()
	h := pointer.Restore(user).(*hook)
	fill(action, h.call(Event{
		Task:   C.GoString(event.task),
		Phase:  Phase(event.phase),
		Status: int32(event.status),
		Model:  uint64(event.model),
		Thread: uint64(event.thread),
	}))
}

// fill copies a into memory of C, so that C never sees an address of Go.
func fill(action *C.trtmc_reference_action, a Action) {
	text := strings.ToValidUTF8(a.Message, "?")
	n := copy(unsafe.Slice((*byte)(unsafe.Pointer(&action.message[0])), len(action.message)), text)
	for n < len(text) && !utf8.RuneStart(text[n]) { // do not cut inside a character
		n--
	}
	action.status = C.trtmc_status(a.Status)
	action.message_size = C.uint32_t(n)
}
