package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progress shows how far a replay has come: a bar on a terminal, else a plain line every few seconds. It is safe for
// concurrent use.
type progress struct {
	mu    sync.Mutex
	out   io.Writer
	name  string
	total int
	done  int
	bar   *progressbar.ProgressBar
	last  time.Time
	begun time.Time
}

// plainEvery is the time between two plain progress lines.
const plainEvery = 5 * time.Second

func newProgress(out io.Writer, name string, total int) *progress {
	p := &progress{out: out, name: name, total: total, begun: time.Now(), last: time.Now()}
	if isTerminal(out) {
		p.bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(out), progressbar.OptionSetDescription(name),
			progressbar.OptionShowCount(), progressbar.OptionSetElapsedTime(true), progressbar.OptionSetPredictTime(false),
			progressbar.OptionClearOnFinish())
	}
	return p
}

// step counts one ended request.
func (p *progress) step() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	if p.bar != nil {
		_ = p.bar.Add(1) // a terminal that went away must not end the run
		return
	}
	if time.Since(p.last) >= plainEvery {
		p.last = time.Now()
		fmt.Fprintf(p.out, "%s: %d of %d requests ended after %.0f s\n", p.name, p.done, p.total, time.Since(p.begun).Seconds())
	}
}

// finish ends the display with one line.
func (p *progress) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		_ = p.bar.Finish()
	}
	fmt.Fprintf(p.out, "%s: %d of %d requests ended after %.1f s\n", p.name, p.done, p.total, time.Since(p.begun).Seconds())
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
