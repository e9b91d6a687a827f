package main

import (
	"flag"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"time"
)

// settings are the command line.
type settings struct {
	models      []named
	runtime     string // absolute path; empty for the reference runtime
	runtimeRoot string
	lanes       int
	addr        string
	queue       int
	queueBytes  int64
	queueWait   time.Duration
	records     string
	keyFile     string
	context     int
	maxOutput   int
	maxBody     int64
	maxPrompt   int
	grace       time.Duration
	videoDir    string
	videoQueue  int
	videoTTL    time.Duration
}

// named is one -model NAME=BUNDLE.
type named struct{ name, path string }

// parse reads the command line; the help goes to out.
func parse(args []string, out io.Writer) (*settings, error) {
	s := &settings{}
	fs := flag.NewFlagSet("serve", flag.ContinueOnError)
	fs.SetOutput(io.Discard) // one line of our own is enough for a mistake
	fs.Usage = func() {}
	fs.Func("model", "serve the bundle at a path under a name, `NAME=BUNDLE`; may be repeated (default: write and serve a reference bundle named "+referenceModel+")", s.addModel)
	fs.StringVar(&s.runtime, "runtime", "", "path of a libtrtmc_c.so.1 (default: the CPU reference runtime that is linked in)")
	fs.StringVar(&s.runtimeRoot, "runtime-root", "", "directory of the runtime's backend libraries (default: that of -runtime)")
	fs.IntVar(&s.lanes, "lanes", 1, "model handles of each bundle; each runs one call at a time")
	fs.StringVar(&s.addr, "addr", "127.0.0.1:8000", "`HOST:PORT` to listen on; a host beyond loopback needs -api-key-file")
	fs.IntVar(&s.queue, "queue", 64, "most requests of one model that wait for a lane; 0 for none")
	fs.Int64Var(&s.queueBytes, "queue-bytes", 64<<20, "most body bytes of all waiting requests of one model")
	fs.DurationVar(&s.queueWait, "queue-wait", 30*time.Second, "longest wait for a lane")
	fs.StringVar(&s.records, "records", "", "`FILE` that one JSON line is appended to for each request (default: no records)")
	fs.StringVar(&s.keyFile, "api-key-file", "", "`FILE` that holds the key which clients must send as a bearer token")
	fs.IntVar(&s.context, "context", 0, "most tokens of prompt and output together (default: what a reference bundle says, else unknown)")
	fs.IntVar(&s.maxOutput, "max-output", 0, "most tokens that a request may ask for (default: what a reference bundle says, else no limit)")
	fs.Int64Var(&s.maxBody, "max-body", 4<<20, "most bytes of a request body")
	fs.IntVar(&s.maxPrompt, "max-prompt", 0, "most bytes of a prompt (default: -max-body)")
	fs.DurationVar(&s.grace, "grace", 30*time.Second, "how long a shutdown waits for requests under way")
	fs.StringVar(&s.videoDir, "video-dir", "", "`DIR` for video jobs and their files; needed when a bundle of -model declares text_to_video")
	fs.IntVar(&s.videoQueue, "video-queue", 64, "most video jobs of one model that wait for a lane")
	fs.DurationVar(&s.videoTTL, "video-ttl", 24*time.Hour, "how long a finished video job and its file are kept")
	if err := fs.Parse(args); err != nil {
		if err == flag.ErrHelp {
			fmt.Fprintln(out, "usage: serve [flags]")
			fs.SetOutput(out)
			fs.PrintDefaults()
		}
		return nil, err
	}
	if fs.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q; all settings are flags", fs.Arg(0))
	}
	return s, s.check()
}

func (s *settings) addModel(arg string) error {
	name, path, ok := strings.Cut(arg, "=")
	if !ok || name == "" || path == "" {
		return fmt.Errorf("want NAME=BUNDLE")
	}
	s.models = append(s.models, named{name, path})
	return nil
}

// check refuses what can be seen to be wrong before anything is opened.
func (s *settings) check() error {
	switch {
	case s.lanes < 1:
		return fmt.Errorf("-lanes is %d, want at least 1", s.lanes)
	case s.queue < 0:
		return fmt.Errorf("-queue is %d, want 0 or more", s.queue)
	case s.queueBytes < 1 || s.maxBody < 1:
		return fmt.Errorf("-queue-bytes and -max-body want at least 1")
	case s.queueWait <= 0 || s.grace <= 0:
		return fmt.Errorf("-queue-wait and -grace want a duration above 0, such as 30s")
	case s.videoQueue < 1 || s.videoTTL <= 0:
		return fmt.Errorf("-video-queue wants at least 1, and -video-ttl a duration above 0, such as 24h")
	case s.context < 0 || s.maxOutput < 0 || s.maxPrompt < 0:
		return fmt.Errorf("-context, -max-output and -max-prompt want 0 or more")
	}
	host, _, err := net.SplitHostPort(s.addr)
	if err != nil {
		return fmt.Errorf("-addr %q: want HOST:PORT, such as 127.0.0.1:8000", s.addr)
	}
	if ip := net.ParseIP(host); s.keyFile == "" && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("-addr %q is beyond loopback, which needs -api-key-file", s.addr)
	}
	for _, p := range []*string{&s.runtime, &s.runtimeRoot} {
		if *p == "" {
			continue
		}
		abs, err := filepath.Abs(*p)
		if err != nil {
			return fmt.Errorf("-runtime %q: %w", *p, err)
		}
		*p = abs
	}
	return nil
}
