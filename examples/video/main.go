// Video embeds video jobs in a server of its own: a mux, one job service, one loaded bundle. Everything beside newMux is
// what any Go program with a model has to do.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/trtmc-go/trtmc/native"
	"github.com/trtmc-go/trtmc/native/reference"
	"github.com/trtmc-go/trtmc/native/task"
	"github.com/trtmc-go/trtmc/video"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// newMux is the embedding: these lines put video jobs beside whatever else a service serves. The caller closes the
// service, which waits for the calls in flight, before the models.
func newMux(dir, name string, lanes ...task.Model) (*http.ServeMux, *video.Service, error) {
	model, err := video.ModelOf(name, lanes...)
	if err != nil {
		return nil, nil, err
	}
	jobs, err := video.Open(video.Config{Dir: dir, Models: []video.Model{model}})
	if err != nil {
		return nil, nil, err
	}
	h := video.NewHandler(jobs, video.Options{})
	mux := http.NewServeMux()
	mux.Handle(video.RouteVideos, h)
	mux.Handle(video.RouteVideos+"/", h)
	return mux, jobs, nil
}

type settings struct {
	addr, name, library, bundle, dir string
	lanes                            int
}

// run serves until ctx ends. It returns the exit code: 0 after a clean stop, 1 after a failure, 2 for wrong usage.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("video", flag.ContinueOnError)
	flags.SetOutput(stderr)
	var s settings
	flags.StringVar(&s.addr, "addr", "127.0.0.1:8000", "address to listen on; port 0 takes a free one")
	flags.StringVar(&s.name, "name", "reference-video", "served model name")
	flags.StringVar(&s.library, "runtime", "", "absolute path of libtrtmc_c.so.1; empty for the CPU reference runtime")
	flags.StringVar(&s.bundle, "bundle", "", "bundle to load; empty for a reference bundle written for the occasion")
	flags.StringVar(&s.dir, "dir", "", "directory of jobs and artifacts, kept from run to run; empty for one that is removed at the end")
	flags.IntVar(&s.lanes, "lanes", 1, "how many handles of the bundle to load, each of which runs one job at a time")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if flags.NArg() > 0 || s.lanes < 1 {
		fmt.Fprintf(stderr, "video: want no arguments and at least one lane, got %q and %d\n", flags.Args(), s.lanes)
		return 2
	}
	if err := serve(ctx, stdout, s); err != nil {
		fmt.Fprintln(stderr, "video:", err)
		return 1
	}
	return 0
}

func serve(ctx context.Context, stdout io.Writer, s settings) (err error) {
	temp, err := os.MkdirTemp("", "trtmc-video-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	if s.dir == "" {
		s.dir = filepath.Join(temp, "videos")
	}
	if s.bundle == "" {
		s.bundle = filepath.Join(temp, "painter.bundle")
		if err := reference.WriteBundle(s.bundle, reference.VideoParams(416, 240, 17, 16, 8)); err != nil {
			return err
		}
	}
	rt, err := native.Open(native.Options{Library: s.library})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rt.Close()) }()
	lanes := make([]task.Model, s.lanes)
	for i := range lanes {
		if lanes[i], err = rt.Load(s.bundle, native.LoadOptions{}); err != nil {
			return err
		}
	}
	mux, jobs, err := newMux(s.dir, s.name, lanes...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, jobs.Close()) }()
	listener, err := net.Listen("tcp", s.addr)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "serving %s of %s on http://%s%s\n", s.name, rt.Version(), listener.Addr(), video.RouteVideos)
	return serveUntil(ctx, listener, mux, jobs)
}

// serveUntil serves until ctx ends, and then lets requests and jobs in flight finish for half a minute.
func serveUntil(ctx context.Context, listener net.Listener, handler http.Handler, jobs *video.Service) error {
	srv := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	err := errors.Join(srv.Shutdown(grace), jobs.Shutdown(grace))
	if served := <-failed; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}
