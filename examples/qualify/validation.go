package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/trtmc-go/trtmc/qual"
)

// validate runs the plan's validation commands one after another, before anything is served, and keeps their evidence
// with a copy of the plan. A command that fails is evidence, not an error.
func (s *session) validate(ctx context.Context) error {
	p := s.set.planned
	if p == nil {
		return nil
	}
	dir := filepath.Join(s.dir, qual.EvidenceDir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	text, err := os.ReadFile(s.set.plan)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "plan.yaml"), text, 0o644); err != nil {
		return err
	}
	for i, v := range p.Validations {
		at := slices.IndexFunc(s.set.models, func(m modelSpec) bool { return m.name == v.Bundle })
		if at < 0 {
			continue // -model replaced the plan's bundles
		}
		got, err := runValidation(ctx, dir, i+1, v, s.set.models[at].bundle)
		if err != nil {
			return fmt.Errorf("validation of %s: %w", v.Bundle, err)
		}
		if err := qual.WriteValidation(s.dir, i+1, got); err != nil {
			return err
		}
		fmt.Fprintf(s.out, "validation of %s: %s (exit code %d)\n", v.Bundle, got.Result(), got.ExitCode)
	}
	return nil
}

// defaultValidationTimeout is the limit of a validation command without one of its own.
const defaultValidationTimeout = time.Hour

// runValidation runs one command. {bundle} in its arguments is the bundle's path.
func runValidation(ctx context.Context, dir string, n int, v planValidation, bundle string) (qual.Validation, error) {
	out := qual.Validation{
		Schema: qual.ValidationSchema, Model: v.Bundle, Started: time.Now().UTC(), Environment: []string{}, ExitCode: -1,
		Stdout: fmt.Sprintf("validation-%d.stdout", n), Stderr: fmt.Sprintf("validation-%d.stderr", n),
	}
	bundle, err := filepath.Abs(bundle)
	if err != nil {
		return out, err
	}
	for _, arg := range v.Command {
		out.Command = append(out.Command, strings.ReplaceAll(arg, "{bundle}", bundle))
	}
	for _, name := range slices.Sorted(maps.Keys(v.Env)) {
		out.Environment = append(out.Environment, name+"="+v.Env[name])
	}
	if out.BundleBefore, _, err = digest(bundle); err != nil {
		return out, err
	}
	out.Error, err = execute(ctx, dir, v.Timeout, &out)
	out.WallNS = int64(time.Since(out.Started))
	if err != nil {
		return out, err
	}
	out.BundleAfter, _, err = digest(bundle)
	return out, err
}

// execute runs the command with its output in files. What keeps the command itself from running is returned in words.
func execute(ctx context.Context, dir string, limit time.Duration, v *qual.Validation) (words string, err error) {
	stdout, err := os.Create(filepath.Join(dir, v.Stdout))
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, stdout.Close()) }()
	stderr, err := os.Create(filepath.Join(dir, v.Stderr))
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, stderr.Close()) }()
	if limit == 0 {
		limit = defaultValidationTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, v.Command[0], v.Command[1:]...)
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = stdout, stderr, 10*time.Second
	cmd.Env = append(os.Environ(), v.Environment...)
	failed := cmd.Run()
	if cmd.ProcessState != nil {
		v.ExitCode = cmd.ProcessState.ExitCode()
	}
	var exit *exec.ExitError
	if failed == nil || errors.As(failed, &exit) && v.ExitCode >= 0 {
		return "", nil
	}
	return failed.Error(), nil
}
