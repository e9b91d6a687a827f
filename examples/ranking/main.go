// Ranking embeds the ranking adapter in a server of its own: a mux, one handler, one loaded bundle. Everything beside
// newMux is what any Go program with a model has to do.
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
	"github.com/trtmc-go/trtmc/ranking"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// newMux is the embedding: these lines put ranking beside whatever else a service serves.
func newMux(name string, model task.Model) (*http.ServeMux, error) {
	m, err := ranking.ModelOf(name, model)
	if err != nil {
		return nil, err
	}
	h := ranking.NewModelsHandler([]ranking.Model{m}, ranking.Options{})
	mux := http.NewServeMux()
	mux.Handle(ranking.RouteRanking, h)
	mux.Handle(ranking.RouteReranking, h)
	return mux, nil
}

type settings struct {
	addr, name, library, bundle, fault string
}

// run serves until ctx ends. It returns the exit code: 0 after a clean stop, 1 after a failure, 2 for wrong usage.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("ranking", flag.ContinueOnError)
	flags.SetOutput(stderr)
	var s settings
	flags.StringVar(&s.addr, "addr", "127.0.0.1:8000", "address to listen on; port 0 takes a free one")
	flags.StringVar(&s.name, "name", "trtmc/reference-ranker", "served model name")
	flags.StringVar(&s.library, "runtime", "", "absolute path of libtrtmc_c.so.1; empty for the CPU reference runtime")
	flags.StringVar(&s.bundle, "bundle", "", "bundle to load; empty for a reference bundle written for the occasion")
	flags.StringVar(&s.fault, "fault", "", "fault that the reference bundle shows, such as nan_score, short_scores, busy, out_of_memory or error")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(stderr, "ranking: unexpected argument %q\n", flags.Arg(0))
		return 2
	}
	if err := serve(ctx, stdout, s); err != nil {
		fmt.Fprintln(stderr, "ranking:", err)
		return 1
	}
	return 0
}

func serve(ctx context.Context, stdout io.Writer, s settings) (err error) {
	if s.bundle == "" {
		dir, err := os.MkdirTemp("", "trtmc-ranking-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		s.bundle = filepath.Join(dir, "ranker.bundle")
		params := reference.RankingParams()
		if s.fault != "" {
			params.Fault = &reference.Fault{Kind: reference.FaultKind(s.fault)}
		}
		if err := reference.WriteBundle(s.bundle, params); err != nil {
			return err
		}
	}
	rt, err := native.Open(native.Options{Library: s.library})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rt.Close()) }()
	model, err := rt.Load(s.bundle, native.LoadOptions{})
	if err != nil {
		return err
	}
	mux, err := newMux(s.name, model)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", s.addr)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "serving %s of %s on http://%s%s\n", s.name, rt.Version(), listener.Addr(), ranking.RouteRanking)
	return serveUntil(ctx, listener, mux)
}

// serveUntil serves until ctx ends and then lets requests in flight finish.
func serveUntil(ctx context.Context, listener net.Listener, handler http.Handler) error {
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
	err := srv.Shutdown(grace)
	if served := <-failed; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}
