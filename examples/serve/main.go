// Command serve serves bundles over HTTP. README.md beside this file shows the requests and their answers.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// The exit codes.
const (
	exitDrained = 0 // a signal came and everything under way was answered
	exitFailed  = 1
	exitUsage   = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the whole program. It serves until ctx ends, then drains. Every failure is one line on stderr.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	set, err := parse(args, stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitDrained
	case err != nil:
		fmt.Fprintf(stderr, "serve: %v\n", err)
		return exitUsage
	}
	if err := serve(ctx, set, stdout, stderr); err != nil {
		fmt.Fprintf(stderr, "serve: %v\n", err)
		return exitFailed
	}
	return exitDrained
}
