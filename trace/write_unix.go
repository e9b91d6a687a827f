//go:build unix

package trace

import (
	"net"
	"syscall"
)

// tryWriter writes what the socket takes at once, so that the goroutine that keeps the schedule never waits for a
// peer.
type tryWriter struct {
	raw syscall.RawConn
	buf []byte
	n   int
	err error
	do  func(fd uintptr) bool
}

// newTryWriter returns nil when the connection is not a plain socket.
func newTryWriter(nc net.Conn) *tryWriter {
	sc, ok := nc.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return nil
	}
	w := &tryWriter{raw: raw}
	w.do = func(fd uintptr) bool {
		w.n, w.err = syscall.Write(int(fd), w.buf)
		return true // once, whatever came of it
	}
	return w
}

// write returns how many bytes the socket took, which may be 0. Only a lasting error is returned.
func (w *tryWriter) write(p []byte) (int, error) {
	w.buf, w.n, w.err = p, 0, nil
	err := w.raw.Write(w.do)
	w.buf = nil
	if err == nil {
		err = w.err
	}
	if err == syscall.EAGAIN || err == syscall.EINTR {
		err = nil
	}
	return max(w.n, 0), err
}
