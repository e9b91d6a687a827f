package tasktest

import (
	"fmt"
	"runtime"
	"time"

	"github.com/trtmc-go/trtmc/native/task"
)

func leakChecks() []check {
	return []check{
		{Case{"nothing-left", "After Close no native handle is left, and no goroutine."}, nothingLeft},
	}
}

// nothingLeft makes good and refused calls on a model of its own. Goroutines that end by themselves get time to do so.
func nothingLeft(p *probe) error {
	handles := func() int {
		if p.cfg.Live == nil {
			return 0
		}
		return p.cfg.Live()
	}
	beforeHandles, beforeRoutines := handles(), runtime.NumGoroutine()
	m, err := p.another(p.cfg.Open)
	if err != nil {
		return err
	}
	q := &probe{cfg: p.cfg, ctx: p.ctx, model: m, info: p.info}
	err = q.each(func(c call) error {
		// Whether the second call is refused is another case; here it is one more way to leave something behind.
		_, _ = c.do(q.ctx, m, q.settings(c.id).With("no_such_setting", task.Int(1)))
		_, err := c.run(q)
		return err
	})
	if closeErr := m.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	for wait := time.Millisecond; runtime.NumGoroutine() > beforeRoutines && wait < time.Second; wait *= 2 {
		time.Sleep(wait)
	}
	if h, r := handles(), runtime.NumGoroutine(); h != beforeHandles || r > beforeRoutines {
		return fmt.Errorf("handles were %d and are %d, goroutines were %d and are %d", beforeHandles, h, beforeRoutines, r)
	}
	return nil
}
