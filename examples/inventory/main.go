// Inventory prints the checkpoints that are to be served and qualified, and holds a bundle against its row.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/trtmc-go/trtmc/native"
	"github.com/trtmc-go/trtmc/native/task"
	"github.com/trtmc-go/trtmc/qual/inventory"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

type options struct {
	json                     bool
	bundle, library, profile string
}

// run prints the inventory. It returns the exit code: 0, 1 after a failure, 2 for wrong usage.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var o options
	flags := flag.NewFlagSet("inventory", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.BoolVar(&o.json, "json", false, "print JSON instead of Markdown")
	flags.StringVar(&o.bundle, "bundle", "", "bundle to load and compare with the inventory")
	flags.StringVar(&o.library, "runtime", "", "with -bundle: absolute path of libtrtmc_c.so.1; empty for the CPU reference runtime")
	flags.StringVar(&o.profile, "profile", "", "with -bundle: the row it belongs to; empty for every row in scope whose Task the bundle declares")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if flags.NArg() > 0 || o.bundle == "" && (o.library != "" || o.profile != "") {
		fmt.Fprintln(stderr, "inventory: no arguments are taken, and -runtime and -profile need -bundle")
		return 2
	}
	if err := show(ctx, o, stdout); err != nil {
		fmt.Fprintln(stderr, "inventory:", err)
		return 1
	}
	return 0
}

func show(ctx context.Context, o options, stdout io.Writer) error {
	inv, err := inventory.Load()
	if err != nil {
		return err
	}
	var found []inventory.Reconciliation
	if o.bundle != "" {
		info, err := modelInfo(ctx, o.library, o.bundle)
		if err != nil {
			return err
		}
		if found, err = reconcile(inv, info, o.profile); err != nil {
			return err
		}
	}
	if o.json {
		enc := json.NewEncoder(stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(struct {
			inventory.Inventory
			Reconciled []inventory.Reconciliation `json:"reconciled,omitempty"`
		}{inv, found})
	}
	if err := inv.WriteMarkdown(stdout, nil); err != nil {
		return err
	}
	for _, r := range found {
		fmt.Fprintln(stdout)
		if err := r.WriteMarkdown(stdout); err != nil {
			return err
		}
	}
	return nil
}

// modelInfo loads the bundle just long enough to ask what it declares.
func modelInfo(ctx context.Context, library, bundle string) (info task.Info, err error) {
	rt, err := native.Open(native.Options{Library: library})
	if err != nil {
		return info, err
	}
	defer func() { err = errors.Join(err, rt.Close()) }()
	if err := ctx.Err(); err != nil {
		return info, err
	}
	model, err := rt.Load(bundle, native.LoadOptions{})
	if err != nil {
		return info, err
	}
	defer func() { err = errors.Join(err, model.Close()) }()
	return model.Info(), nil
}

func reconcile(inv inventory.Inventory, info task.Info, profile string) ([]inventory.Reconciliation, error) {
	if profile != "" {
		row, err := inv.Row(profile)
		if err != nil {
			return nil, err
		}
		return []inventory.Reconciliation{inventory.Reconcile(row, info)}, nil
	}
	var out []inventory.Reconciliation
	var wanted []string
	for _, row := range inv.Rows {
		if row.Scope != inventory.InScope {
			continue
		}
		if _, ok := info.Decl(row.Tasks[0]); ok {
			out = append(out, inventory.Reconcile(row, info))
		}
		wanted = append(wanted, string(row.Tasks[0]))
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("the bundle declares none of %s", strings.Join(wanted, ", "))
	}
	return out, nil
}
