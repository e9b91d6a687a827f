package trace

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/trtmc-go/trtmc/internal/monotime"
)

// exchange is one request on its way. The goroutine that launches it writes its row until a connection takes it over;
// from then on the connection's goroutine does.
type exchange struct {
	s        *Sender
	ctx      context.Context
	item     Item
	done     func(Row)
	row      Row
	wire     *[]byte // owned by the writer; nil when the item was refused
	total    int64
	written  atomic.Int64
	writing  chan struct{} // closed when a writer of its own is done; nil when there is none
	deadline time.Time
	unwatch  func() bool // stops watching the context
}

// launch sends the request. It does not wait for the network when a connection is idle and its socket takes the bytes;
// everything that may wait has a goroutine of its own.
func (x *exchange) launch(ctx context.Context, scheduled monotime.Instant) {
	x.ctx = ctx
	x.row.ScheduledNS = int64(scheduled)
	x.deadline = time.Now().Add(positive(x.s.Timeout, DefaultTimeout))
	if x.wire == nil {
		x.unsent(x.row.ErrorCode, errors.New(x.row.Error))
		return
	}
	if ctx.Err() != nil {
		x.unsent(CodeCancelled, context.Cause(ctx))
		return
	}
	for {
		c := x.s.pool.take()
		if c == nil {
			go x.dialAndSend()
			return
		}
		if c.send(x, true) {
			return
		}
	}
}

// unsent settles a request of which no byte left.
func (x *exchange) unsent(code string, err error) {
	x.row.Result, x.row.ErrorCode = ResultNotSent, code
	if err != nil {
		x.row.Error = bounded(err.Error())
	}
	x.releaseWire()
	x.settle()
}

func (x *exchange) settle() {
	x.row.EndedNS = int64(x.s.Clock.Now())
	x.done(x.row)
}

func (x *exchange) releaseWire() {
	if x.wire != nil {
		x.s.buffers.Put(x.wire)
		x.wire = nil
	}
}

func (x *exchange) dialAndSend() {
	ctx, cancel := context.WithDeadline(x.ctx, x.deadline)
	defer cancel()
	dialCtx, cancelDial := context.WithTimeout(ctx, positive(x.s.DialTimeout, DefaultDialTimeout))
	defer cancelDial()
	c, err := x.s.connect(dialCtx)
	switch {
	case err == nil:
		x.row.NewConnection = true
		if !c.send(x, false) {
			x.unsent(CodeDialFailed, errors.New("the connection was closed before the request could be written"))
		}
	case x.ctx.Err() != nil:
		x.unsent(CodeCancelled, context.Cause(x.ctx))
	case dialCtx.Err() != nil || isTimeout(err):
		x.unsent(CodeDialTimeout, err)
	default:
		x.unsent(CodeDialFailed, err)
	}
}

func isTimeout(err error) bool {
	var ne net.Error
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &ne) && ne.Timeout()
}

// broken settles the row of a request whose connection failed after it had begun to leave.
func (x *exchange) broken(err error) {
	switch {
	case x.ctx.Err() != nil:
		x.row.Result, err = ResultCancelled, context.Cause(x.ctx)
	case isTimeout(err) && !time.Now().Before(x.deadline):
		x.row.Result = ResultTimeout
		err = fmt.Errorf("no whole answer within %v", positive(x.s.Timeout, DefaultTimeout))
	default:
		x.row.Result = ResultTransportError
	}
	x.row.Error = bounded(err.Error())
}

// maxErrorText bounds the error texts of rows, in bytes.
const maxErrorText = 400
