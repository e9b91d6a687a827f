package serving

import (
	"container/list"
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/trtmc-go/trtmc/serving/record"
)

// pool hands the lanes of one model to requests, first come, first served. It never holds a free lane and a waiting
// request at once.
type pool struct {
	limits Queue

	mu      sync.Mutex
	free    []int      // idle lanes, the one that has rested longest first
	lanes   int        // all of them
	waiting *list.List // of *waiter
	bytes   int64      // of the waiting requests
	stopped bool
	service time.Duration // moving average of how long a lane is held; 0 before the first
}

type waiter struct {
	bytes   int64
	job     bool          // see acquireJob
	granted chan struct{} // closed when lane or err is set
	lane    int
	err     error
	elem    *list.Element // nil once it waits no more
}

func newPool(lanes int, q Queue) *pool {
	p := &pool{limits: q, lanes: lanes, waiting: list.New()}
	for i := range lanes {
		p.free = append(p.free, i)
	}
	return p
}

// acquire returns a lane or why there is none: a fault that wraps ErrQueueFull, ErrQueueWait or ErrDraining, or the
// cause of ctx. It calls arrived with the number of requests waiting before this one. A caller whose ctx ends leaves
// the queue at once and never holds a lane.
func (p *pool) acquire(ctx context.Context, bytes int64, arrived func(depth int)) (int, error) {
	if ctx.Err() != nil {
		arrived(p.depth())
		return -1, context.Cause(ctx)
	}
	w, lane, err := p.enter(bytes, arrived)
	if w == nil {
		return lane, err
	}
	timer := time.NewTimer(p.limits.Wait)
	defer timer.Stop()
	select {
	case <-w.granted:
	case <-ctx.Done():
		p.leave(w, context.Cause(ctx))
	case <-timer.C:
		p.leave(w, p.waitExceeded())
	}
	return p.granted(ctx, w)
}

// granted is how the waiting of w ended. A lane granted in the same moment that the context ended goes to the next.
func (p *pool) granted(ctx context.Context, w *waiter) (int, error) {
	if w.err == nil && ctx.Err() != nil {
		p.release(w.lane, 0)
		return -1, context.Cause(ctx)
	}
	return w.lane, w.err
}

// acquireJob is acquire for a job, which was admitted to a bounded queue of its own when it was made: it is not refused
// for the length of this queue nor for how long it waits, and only the end of ctx ends its waiting.
func (p *pool) acquireJob(ctx context.Context) (int, error) {
	if ctx.Err() != nil {
		return -1, context.Cause(ctx)
	}
	p.mu.Lock()
	if len(p.free) > 0 {
		defer p.mu.Unlock()
		return p.take(), nil
	}
	w := p.join(0)
	w.job = true
	p.mu.Unlock()
	select {
	case <-w.granted:
	case <-ctx.Done():
		p.leave(w, context.Cause(ctx))
	}
	return p.granted(ctx, w)
}

// enter takes a free lane, or joins the queue, or refuses.
func (p *pool) enter(bytes int64, arrived func(depth int)) (*waiter, int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	depth := p.waiting.Len()
	arrived(depth)
	switch {
	case p.stopped:
		return nil, -1, draining()
	case len(p.free) > 0:
		return nil, p.take(), nil
	case depth >= p.limits.Count:
		return nil, -1, p.full(record.ReasonQueueFull, "the queue for this model is full")
	case p.bytes+bytes > p.limits.Bytes:
		return nil, -1, p.full(record.ReasonQueueBytes, "the requests waiting for this model hold too many bytes")
	}
	return p.join(bytes), -1, nil
}

// take takes the lane that has rested longest; p.mu is held and there is one.
func (p *pool) take() int {
	lane := p.free[0]
	p.free = append(p.free[:0], p.free[1:]...)
	return lane
}

// join goes to the end of the queue; p.mu is held.
func (p *pool) join(bytes int64) *waiter {
	w := &waiter{bytes: bytes, granted: make(chan struct{}), lane: -1}
	w.elem = p.waiting.PushBack(w)
	p.bytes += bytes
	return w
}

// leave takes w out of the queue with err, unless a lane has been granted meanwhile.
func (p *pool) leave(w *waiter, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.elem != nil {
		p.settle(w, -1, err)
	}
}

func (p *pool) settle(w *waiter, lane int, err error) {
	p.waiting.Remove(w.elem)
	p.bytes -= w.bytes
	w.elem, w.lane, w.err = nil, lane, err
	close(w.granted)
}

// release gives a lane back after it was held for so long; 0 says that no Task call was made.
func (p *pool) release(lane int, held time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if held > 0 {
		if p.service == 0 {
			p.service = held
		}
		p.service += (held - p.service) / 8
	}
	if first := p.waiting.Front(); first != nil {
		p.settle(first.Value.(*waiter), lane, nil)
		return
	}
	p.free = append(p.free, lane)
}

// stop refuses all requests that wait and that come. Jobs end by their own context.
func (p *pool) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
	for e := p.waiting.Front(); e != nil; {
		w := e.Value.(*waiter)
		e = e.Next()
		if !w.job {
			p.settle(w, -1, draining())
		}
	}
}

func (p *pool) depth() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.waiting.Len()
}

// state returns busy lanes, waiting requests and their bytes.
func (p *pool) state() (busy, waiting int, bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lanes - len(p.free), p.waiting.Len(), p.bytes
}

// retry estimates when a lane will be free for a request that comes after all that wait now: between 1 s and 60 s.
func (p *pool) retry() time.Duration {
	d := p.service * time.Duration(p.waiting.Len()+1) / time.Duration(p.lanes)
	return min(max(d, time.Second), time.Minute)
}

func (p *pool) full(reason record.Reason, msg string) *fault {
	return &fault{status: http.StatusTooManyRequests, reason: reason, msg: msg, retry: p.retry(), cause: ErrQueueFull}
}

func (p *pool) waitExceeded() *fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	return &fault{status: http.StatusTooManyRequests, reason: record.ReasonQueueWait, msg: "no lane became free in time", retry: p.retry(), cause: ErrQueueWait}
}

func draining() *fault {
	return &fault{status: http.StatusServiceUnavailable, reason: record.ReasonDraining, msg: "the server is shutting down", retry: time.Second, cause: ErrDraining}
}
