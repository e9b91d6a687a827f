package trace

import "sync"

// pool holds the idle connections of a sender, the one used last on top, and knows all of them for closing.
type pool struct {
	max int

	mu     sync.Mutex
	idle   []*conn
	all    map[*conn]struct{}
	closed bool
	wg     sync.WaitGroup // of connection goroutines
}

// take returns an idle connection, or nil.
func (p *pool) take() *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.idle)
	if n == 0 {
		return nil
	}
	c := p.idle[n-1]
	p.idle[n-1] = nil
	p.idle = p.idle[:n-1]
	return c
}

// put keeps an idle connection, or returns false when there are enough or the pool is closed.
func (p *pool) put(c *conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.idle) >= p.max {
		return false
	}
	p.idle = append(p.idle, c)
	return true
}

// add registers a new connection and the goroutine it will run, or returns false when the pool is closed.
func (p *pool) add(c *conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	if p.all == nil {
		p.all = map[*conn]struct{}{}
	}
	p.all[c] = struct{}{}
	p.wg.Add(1)
	return true
}

// remove forgets a connection.
func (p *pool) remove(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.all, c)
	for i, other := range p.idle {
		if other == c {
			p.idle = append(p.idle[:i], p.idle[i+1:]...)
			return
		}
	}
}

func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	for c := range p.all {
		c.nc.Close()
	}
	p.mu.Unlock()
	p.wg.Wait()
}
