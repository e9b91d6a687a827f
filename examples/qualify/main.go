// Command qualify replays a production trace against a served bundle, accounts for every request and judges the run.
// README.md beside this file explains flags, output folder and report.
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
	exitHeld   = 0 // every check held
	exitFailed = 1 // a check failed, or the run could not be made
	exitUsage  = 2 // the command line is wrong
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the whole program: args[0] is its name. Every failure is one line on stderr.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	set, err := parseFlags(args, stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitHeld
	case err != nil:
		return fail(stderr, exitUsage, err)
	}
	if set.compare[0] != "" {
		if err := set.compareFolders(stdout); err != nil {
			return fail(stderr, exitFailed, err)
		}
		return exitHeld
	}
	ran := set.judge == ""
	if ran {
		if err := qualify(ctx, set, stdout); err != nil {
			return fail(stderr, exitFailed, err)
		}
		set.judge = set.out
	}
	held, err := judge(set.judge, set.claim, stdout)
	if ran && set.aiperf == "" {
		fmt.Fprintln(stdout, aiperfHint)
	}
	if err == nil && set.publish != "" {
		err = set.publishFolder(set.judge, stdout)
	}
	switch {
	case err != nil:
		return fail(stderr, exitFailed, err)
	case !held:
		return exitFailed
	}
	return exitHeld
}

func fail(stderr io.Writer, code int, err error) int {
	fmt.Fprintf(stderr, "qualify: %v\n", err)
	return code
}
