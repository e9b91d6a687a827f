package record

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

const (
	// syncEvery is the longest time that a written record stays out of stable storage while the disk keeps up.
	syncEvery = 50 * time.Millisecond
	// maxPending bounds the records that wait in memory for a slow disk.
	maxPending = 64 << 20
)

// Writer appends records to a file, each as one line. It is safe for concurrent use.
//
// Append hands a record over and returns; one goroutine writes what has gathered, in one system call a batch, at once.
// What it has written survives a kill of the process; what has been synchronised, at most 50 ms later on a disk that
// keeps up, survives a crash of the machine. The first error of the file stays: all later calls return it, because
// what follows a failed write could not be told from its remains.
type Writer struct {
	f       *os.File
	writing sync.WaitGroup // the goroutines

	mu      sync.Mutex
	pending []byte
	spare   []byte
	// Counts of bytes since the file was opened: handed over, written, in stable storage, and wanted there now.
	handed, written, synced, wanted int64
	closed                          bool
	err                             error

	// Who waits for what, each apart so that nobody is woken in vain.
	ready   sync.Cond // the writing goroutine, for pending bytes
	dirty   sync.Cond // the synchronising goroutine, for written bytes
	due     sync.Cond // the same, for the moment to synchronise
	settled sync.Cond // callers, for room or stable storage
}

// OpenWriter opens or creates the file at path for appending. When the file does not end in a line end, its last
// writer was killed in the middle of a line; a line end is then written first, so that the next record is a line of
// its own. One Writer at a time should hold a file: two would keep lines whole but mix their order.
func OpenWriter(path string) (*Writer, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open record file: %w", err)
	}
	if err := endLine(f); err != nil {
		return nil, errors.Join(fmt.Errorf("repair record file %q: %w", path, err), f.Close())
	}
	w := &Writer{f: f}
	w.ready.L, w.dirty.L, w.due.L, w.settled.L = &w.mu, &w.mu, &w.mu, &w.mu
	w.writing.Go(w.writeLoop)
	w.writing.Go(w.syncLoop)
	return w, nil
}

// endLine ends a torn last line.
func endLine(f *os.File) error {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil || size == 0 {
		return err
	}
	var last [1]byte
	if _, err := f.ReadAt(last[:], size-1); err != nil || last[0] == '\n' {
		return err
	}
	_, err = f.Write([]byte{'\n'})
	return err
}

// Append hands r over to be written; a zero Schema becomes [Schema]. It waits only when 64 MiB are waiting already.
// It returns the file's first error, [ErrClosed] after Close, or why r cannot be encoded.
func (w *Writer) Append(r Record) error {
	if r.Schema == 0 {
		r.Schema = Schema
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.pending) >= maxPending && w.err == nil && !w.closed {
		w.settled.Wait()
	}
	switch {
	case w.err != nil:
		return w.err
	case w.closed:
		return ErrClosed
	}
	before := len(w.pending)
	buf, err := appendRecord(w.pending, &r)
	if err != nil {
		return err
	}
	w.pending = buf
	w.handed += int64(len(buf) - before)
	if before == 0 {
		w.ready.Signal()
	}
	return nil
}

// Flush returns when every record appended before is in stable storage, or the file's first error.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return ErrClosed
	}
	return w.flush()
}

func (w *Writer) flush() error {
	goal := w.handed
	w.wanted = max(w.wanted, goal)
	w.due.Signal()
	for w.synced < goal && w.err == nil {
		w.settled.Wait()
	}
	return w.err
}

// Close writes and synchronises what was appended and closes the file. It returns the file's first error. Closing
// again returns nil.
func (w *Writer) Close() error {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return nil
	}
	w.closed = true
	w.ready.Signal()
	w.settled.Broadcast()
	err := w.flush()
	w.dirty.Signal()
	w.mu.Unlock()
	w.writing.Wait()
	return errors.Join(err, w.f.Close())
}

// writeLoop writes each batch as soon as the one before it is written.
func (w *Writer) writeLoop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		for len(w.pending) == 0 && !w.closed && w.err == nil {
			w.ready.Wait()
		}
		if len(w.pending) == 0 || w.err != nil {
			return
		}
		batch := w.pending
		w.pending, w.spare = w.spare[:0], nil
		if len(batch) >= maxPending {
			w.settled.Broadcast() // there is room again
		}
		w.mu.Unlock()
		_, err := w.f.Write(batch)
		w.mu.Lock()
		w.spare = batch
		w.written += int64(len(batch))
		w.fail("write", err)
		w.dirty.Signal()
		if w.isDue() {
			w.due.Signal()
		}
	}
}

// isDue reports whether somebody waits for stable storage of what has been written.
func (w *Writer) isDue() bool { return w.wanted > w.synced && w.written >= w.wanted }

// syncLoop synchronises what has been written, syncEvery after the first unsynchronised write or when it is wanted.
func (w *Writer) syncLoop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		for w.written == w.synced && w.err == nil && !(w.closed && w.synced == w.handed) {
			w.dirty.Wait()
		}
		if w.err != nil || w.written == w.synced {
			return
		}
		w.gather()
		goal := w.written
		w.mu.Unlock()
		err := w.f.Sync()
		w.mu.Lock()
		w.synced = goal
		w.fail("synchronise", err)
		w.settled.Broadcast()
	}
}

// gather waits syncEvery for more to be written, less when somebody waits for it now.
func (w *Writer) gather() {
	over := false
	timer := time.AfterFunc(syncEvery, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		over = true
		w.due.Signal()
	})
	defer timer.Stop()
	for !over && w.err == nil && !w.isDue() {
		w.due.Wait()
	}
}

// fail keeps the first error and wakes everybody.
func (w *Writer) fail(op string, err error) {
	if err == nil || w.err != nil {
		return
	}
	w.err = fmt.Errorf("%s record file: %w", op, err)
	for _, c := range []*sync.Cond{&w.ready, &w.dirty, &w.due, &w.settled} {
		c.Broadcast()
	}
}
