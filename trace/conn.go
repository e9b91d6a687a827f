package trace

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/trtmc-go/trtmc/internal/monotime"
)

// maxAnswerHead bounds the status line and header lines of an answer, in bytes.
const maxAnswerHead = 256 << 10

// conn is one connection with its goroutine, which always reads: answers when a request is under way, and the end of
// the connection when none is, so that a dead idle connection is known before it is used.
type conn struct {
	s   *Sender
	nc  net.Conn
	br  *bufio.Reader
	try *tryWriter // nil when writes need a goroutine

	// Owned by the reading goroutine.
	readAt monotime.Instant // of the last bytes
	room   int64            // bytes that may still be read

	mu   sync.Mutex
	x    *exchange // under way
	dead bool
	werr error // of the request under way
}

var errHeadTooLong = fmt.Errorf("answer head is longer than %d bytes", maxAnswerHead)

// connect makes a connection and starts its goroutine.
func (s *Sender) connect(ctx context.Context) (*conn, error) {
	dial := s.Dial
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	nc, err := dial(ctx, "tcp", s.target.address)
	if err != nil {
		return nil, err
	}
	if s.target.tls {
		if nc, err = handshake(ctx, nc, s.TLS, s.target.address); err != nil {
			return nil, err
		}
	}
	c := &conn{s: s, nc: nc, try: newTryWriter(nc), room: math.MaxInt64}
	c.br = bufio.NewReaderSize(c, 8<<10)
	if !s.pool.add(c) {
		nc.Close()
		return nil, net.ErrClosed
	}
	go c.run()
	return c, nil
}

func handshake(ctx context.Context, nc net.Conn, config *tls.Config, address string) (net.Conn, error) {
	if config == nil {
		config = new(tls.Config)
	}
	config = config.Clone()
	config.NextProtos = []string{"http/1.1"}
	if config.ServerName == "" {
		config.ServerName, _, _ = net.SplitHostPort(address)
	}
	tc := tls.Client(nc, config)
	if err := tc.HandshakeContext(ctx); err != nil {
		nc.Close()
		return nil, fmt.Errorf("TLS handshake: %w", err)
	}
	return tc, nil
}

// Read reads from the network for the buffered reader, noting when bytes came and keeping to the room.
func (c *conn) Read(p []byte) (int, error) {
	if c.room <= 0 {
		return 0, errHeadTooLong
	}
	n, err := c.nc.Read(p[:min(int64(len(p)), c.room)])
	if n > 0 {
		c.readAt = c.s.Clock.Now()
		c.room -= int64(n)
	}
	return n, err
}

// send takes the request over and writes it. It returns false when the connection is dead; nothing was written then.
func (c *conn) send(x *exchange, inline bool) bool {
	// The deadline may end a read of an idle connection that has just been taken; run then sees the request and reads on.
	if c.nc.SetDeadline(x.deadline) != nil {
		return false
	}
	c.mu.Lock()
	if c.dead {
		c.mu.Unlock()
		return false
	}
	x.row.SentNS = int64(c.s.Clock.Now())
	// Watching must stand before the goroutine can end the request. A context that has ended already runs this at once.
	x.unwatch = context.AfterFunc(x.ctx, func() { c.interrupt(x) })
	c.x, c.werr = x, nil
	wire := *x.wire
	var n int
	var err error
	if inline && c.try != nil {
		// Under the lock, so that an answer that is already there finds what was written.
		n, err = c.try.write(wire)
		x.written.Store(int64(n))
	}
	if err == nil && n < len(wire) {
		x.writing = make(chan struct{})
	}
	c.mu.Unlock()

	switch {
	case x.writing == nil:
		c.wrote(x, err)
	case inline:
		go c.write(x, wire[n:])
	default:
		c.write(x, wire[n:])
	}
	return true
}

// interrupt wakes the goroutine of a request whose context has ended.
func (c *conn) interrupt(x *exchange) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.x == x {
		c.nc.SetDeadline(time.Unix(1, 0))
	}
}

// write writes the rest of a request; it may wait for the server.
func (c *conn) write(x *exchange, p []byte) {
	defer close(x.writing)
	for len(p) > 0 {
		n, err := c.nc.Write(p)
		x.written.Add(int64(n))
		if err != nil {
			c.wrote(x, err)
			return
		}
		p = p[n:]
	}
	c.wrote(x, nil)
}

// answerAfterWriteError is how long an answer is awaited after the server stopped taking the request: it may have
// refused it early.
const answerAfterWriteError = time.Second

// wrote ends the writing of a request, which may already have been answered.
func (c *conn) wrote(x *exchange, err error) {
	x.releaseWire()
	if err == nil || isTimeout(err) { // the reader has the same deadline
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.x == x {
		c.werr = err
		c.nc.SetReadDeadline(time.Now().Add(answerAfterWriteError))
	}
}

// run reads until the connection ends.
func (c *conn) run() {
	defer c.s.pool.wg.Done()
	defer c.s.pool.remove(c)
	defer c.nc.Close()
	for {
		_, err := c.br.Peek(1)
		x, werr := c.current()
		if x == nil {
			return // whatever comes while no request is under way makes the connection useless
		}
		if err != nil {
			if isTimeout(err) && werr == nil && x.ctx.Err() == nil && time.Now().Before(x.deadline) {
				continue // the idle deadline, passed while the request took the connection over
			}
			c.fail(x, err)
			return
		}
		if !c.answer(x) {
			return
		}
	}
}

// current returns the request under way; when there is none, the connection is dead from here on.
func (c *conn) current() (*exchange, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.x == nil {
		c.dead = true
	}
	return c.x, c.werr
}

// fail settles the request under way as broken.
func (c *conn) fail(x *exchange, err error) {
	c.mu.Lock()
	if c.werr != nil {
		err = fmt.Errorf("write request: %w", c.werr)
	} else if errors.Is(err, io.EOF) {
		err = errors.New("the server closed the connection before the answer was whole")
	}
	c.mu.Unlock()
	x.broken(err)
	c.release(x, false)
}

// answer reads one answer into the row and settles it. It returns false when the connection is of no more use.
func (c *conn) answer(x *exchange) bool {
	x.row.FirstByteNS = int64(c.readAt)
	c.room = maxAnswerHead
	resp, err := c.readHead()
	c.room = math.MaxInt64
	whole := false
	if err == nil {
		x.row.Status = resp.StatusCode
		whole, err = c.readBody(x, resp)
	}
	x.row.LastByteNS = int64(c.readAt)
	if err != nil {
		c.fail(x, err)
		return false
	}
	return c.release(x, whole && !resp.Close && resp.StatusCode != http.StatusSwitchingProtocols && c.br.Buffered() == 0)
}

// readHead reads past interim answers, which a server may send unasked.
func (c *conn) readHead() (*http.Response, error) {
	for range 8 {
		resp, err := http.ReadResponse(c.br, nil)
		if err != nil {
			if errors.Is(err, io.ErrUnexpectedEOF) {
				err = io.EOF
			}
			return nil, err
		}
		if resp.StatusCode >= 200 || resp.StatusCode == http.StatusSwitchingProtocols {
			return resp, nil
		}
	}
	return nil, errors.New("more than 8 interim answers")
}

// writeGrace is how long a writer that has just handed over its last bytes gets to say so.
const writeGrace = 20 * time.Millisecond

// release takes the request off the connection, keeps the connection if it can be used again, and settles the row.
func (c *conn) release(x *exchange, reusable bool) bool {
	x.unwatch()
	if x.writing != nil {
		select {
		case <-x.writing:
		case <-time.After(writeGrace): // the server answered without taking the request
		}
	}
	x.row.BytesOut = x.written.Load()
	reusable = reusable && x.row.BytesOut == x.total
	c.mu.Lock()
	c.x = nil
	c.dead = !reusable
	c.mu.Unlock()
	if reusable {
		reusable = c.park(positive(c.s.IdleTimeout, DefaultIdleTimeout))
	}
	x.settle()
	return reusable
}

// park makes the connection idle for at most d. It returns false, and the connection is dead, when it cannot be kept.
func (c *conn) park(d time.Duration) bool {
	if c.nc.SetDeadline(time.Now().Add(d)) == nil && c.s.pool.put(c) {
		return true
	}
	c.mu.Lock()
	c.dead = true
	c.mu.Unlock()
	c.nc.Close()
	return false
}
