// Command native opens a runtime, loads a bundle, lists what it declares and calls each of its Tasks once. It is the
// quickest check of a GPU host, and of a bundle.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/trtmc-go/trtmc/native"
	"github.com/trtmc-go/trtmc/native/bundle"
	"github.com/trtmc-go/trtmc/native/reference"
	"github.com/trtmc-go/trtmc/native/task"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

type options struct {
	library   string
	bundle    string
	noTimings bool
}

// run returns 0 when every call went well, 1 when something failed and 2 for a usage error.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var o options
	fs := flag.NewFlagSet("native", flag.ContinueOnError)
	fs.SetOutput(io.Discard) // one line of our own is enough for a mistake
	fs.StringVar(&o.library, "runtime", "", "path of a libtrtmc_c.so.1; empty for the reference runtime that is linked in")
	fs.StringVar(&o.bundle, "bundle", "", "path of a bundle; empty for one with every Task, written to a temporary directory")
	fs.BoolVar(&o.noTimings, "notimings", false, "leave the timings out, so that two runs give equal output")
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fs.SetOutput(stderr)
			fs.PrintDefaults()
			return 0
		}
		fmt.Fprintf(stderr, "native: %v\n", err)
		return 2
	}
	if fs.NArg() > 0 {
		fmt.Fprintf(stderr, "native: unexpected argument %q; all settings are flags\n", fs.Arg(0))
		return 2
	}
	if err := show(ctx, o, stdout); err != nil {
		fmt.Fprintf(stderr, "native: %v\n", err)
		return 1
	}
	return 0
}

func show(ctx context.Context, o options, out io.Writer) error {
	path, cleanup, err := bundlePath(o.bundle)
	if err != nil {
		return err
	}
	defer cleanup()
	rt, err := openRuntime(o.library, out)
	if err != nil {
		return err
	}
	defer rt.Close()
	if err := printBundle(rt, path, o.bundle == "", out); err != nil {
		return err
	}
	m, err := rt.Load(path, native.LoadOptions{})
	if err != nil {
		return err
	}
	defer m.Close()
	printModel(m.Info(), out)
	return printCalls(ctx, m, !o.noTimings, out)
}

// bundlePath returns the given bundle, or one that it writes.
func bundlePath(given string) (path string, cleanup func(), err error) {
	if given != "" {
		return given, func() {}, nil
	}
	dir, err := os.MkdirTemp("", "trtmc-native")
	if err != nil {
		return "", nil, err
	}
	cleanup = func() { _ = os.RemoveAll(dir) }
	path = filepath.Join(dir, "all.bundle")
	if err := reference.WriteBundle(path, reference.AllParams()); err != nil {
		cleanup()
		return "", nil, err
	}
	return path, cleanup, nil
}

func openRuntime(library string, out io.Writer) (*native.Runtime, error) {
	how := "linked in"
	if library != "" {
		abs, err := filepath.Abs(library)
		if err != nil {
			return nil, err
		}
		library, how = abs, abs
	}
	rt, err := native.Open(native.Options{Library: library})
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(out, "opened   %s\n", how)
	fmt.Fprintf(out, "runtime  %s\n", rt.Version())
	if rt.Reference() {
		fmt.Fprintln(out, "         CPU reference runtime: shows the path, qualifies nothing")
	}
	return rt, nil
}

func printBundle(rt *native.Runtime, path string, written bool, out io.Writer) error {
	b, err := rt.OpenBundle(path)
	if err != nil {
		return err
	}
	defer b.Close()
	file, err := bundle.Open(path)
	if err != nil {
		return err
	}
	digest, err := file.Digest()
	if err != nil {
		return err
	}
	if written {
		path = "written for this run"
	}
	info := b.Info()
	fmt.Fprintf(out, "bundle   %s\n", path)
	fmt.Fprintf(out, "         family %s, task %s, backend %s, sha256 %s\n", info.Family, info.Task, info.Backend, digest)
	for _, s := range info.Sections {
		fmt.Fprintf(out, "         section %s: %d bytes\n", s.Name, s.Length)
	}
	return nil
}

func printModel(info task.Info, out io.Writer) {
	fmt.Fprintf(out, "model    family %s, backend %s, bundle task %s, %d tasks\n", info.Family, info.Backend, info.BundleTask, len(info.Tasks))
	for _, d := range info.Tasks {
		fmt.Fprintf(out, "\n%s %d.%d\n", d.ID, d.Major, d.Minor)
		for _, f := range d.Fields {
			def := f.Default.String()
			if f.Default.Kind() == task.KindNone {
				def = "computed"
			}
			fmt.Fprintf(out, "  %-20s %-8s %-10s %s\n", f.Name, f.Kind, def, f.Description)
		}
	}
	fmt.Fprintln(out)
}

func printCalls(ctx context.Context, m task.Model, timings bool, out io.Writer) error {
	known := calls()
	var failed []string
	for _, d := range m.Info().Tasks {
		call, ok := known[d.ID]
		if !ok {
			fmt.Fprintf(out, "%-34s not called: unknown to this program\n", d.ID)
			continue
		}
		got, timing, err := call(ctx, m, d)
		if err != nil {
			failed = append(failed, string(d.ID))
			fmt.Fprintf(out, "%-34s failed: %v\n", d.ID, err)
			continue
		}
		fmt.Fprintf(out, "%-34s %s\n", d.ID, got)
		if timings {
			fmt.Fprintf(out, "  timings: %s\n", timingText(timing))
		}
	}
	if failed != nil {
		return fmt.Errorf("these tasks failed: %s", strings.Join(failed, ", "))
	}
	return nil
}
