package aiperf

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// Run starts AIPerf as the Spec says and waits for it. It returns an error when the run could not be started or its
// files could not be read; how the client fared, whatever its exit code, is in the Result.
//
// The client runs in a process group of its own (on Unix), with its output in files. When ctx ends or the deadline
// passes, the group gets SIGTERM and, after the grace period, SIGKILL. Nothing of the group is left running.
func Run(ctx context.Context, spec Spec) (Result, error) {
	args, err := spec.Args()
	if err == nil {
		err = spec.absolute()
	}
	if err == nil {
		args, err = spec.Args() // once more, with absolute paths
	}
	if err != nil {
		return Result{}, err
	}
	res, cmd, err := prepare(&spec, args)
	if err != nil {
		return res, fmt.Errorf("prepare %s run: %w", spec.Workload, err)
	}
	if err := execute(ctx, &spec, cmd, &res); err != nil {
		return res, fmt.Errorf("run %s: %w", spec.Executable, err)
	}
	if res.End != Exited || res.ExitCode != 0 {
		res.LastLines = lastLines(10, res.Stderr, res.Stdout)
	}
	res.Files, err = DigestFiles(spec.ArtifactDir)
	return res, err
}

func prepare(spec *Spec, args []string) (Result, *exec.Cmd, error) {
	res := Result{
		Schema: 1, Workload: spec.Workload, Artifacts: spec.ArtifactDir, Environment: spec.env(),
		Command: append([]string{spec.Executable}, args...), Removed: []string{}, Files: []File{},
		Stdout: filepath.Join(spec.LogDir, "aiperf-"+string(spec.Workload)+".stdout"),
		Stderr: filepath.Join(spec.LogDir, "aiperf-"+string(spec.Workload)+".stderr"),
	}
	if i := slices.Index(res.Command, "--api-key"); i >= 0 && spec.APIKey != "" {
		res.Command[i+1] = "***"
	}
	if spec.Workload == Video {
		res.PollNS = int64(DefaultPollInterval)
		if spec.PollInterval > 0 {
			res.PollNS = int64(spec.PollInterval)
		}
	}
	var err error
	if res.InputSHA256, _, err = digestFile(spec.InputFile); err != nil {
		return res, nil, err
	}
	cmd := exec.Command(spec.Executable, args...)
	var removed []string
	cmd.Env, removed = spec.Environ(os.Environ())
	res.Removed = append(res.Removed, removed...)
	cmd.Dir = spec.LogDir
	ownGroup(cmd)
	return res, cmd, nil
}

func execute(ctx context.Context, spec *Spec, cmd *exec.Cmd, res *Result) error {
	out, err := os.Create(res.Stdout)
	if err != nil {
		return err
	}
	defer out.Close()
	errOut, err := os.Create(res.Stderr)
	if err != nil {
		return err
	}
	defer errOut.Close()
	cmd.Stdout, cmd.Stderr = out, errOut
	if err := ctx.Err(); err != nil {
		return err
	}
	start := time.Now()
	res.Started = start.UTC()
	if err := cmd.Start(); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	err = supervise(ctx, spec, cmd, done, res)
	res.WallNS = int64(time.Since(start))
	res.LeftBehind = killGroup(cmd)
	res.ExitCode = cmd.ProcessState.ExitCode()
	res.Signal = signalName(cmd.ProcessState)
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return err
	}
	return nil
}

// supervise waits for the process and stops its group when its time is over.
func supervise(ctx context.Context, spec *Spec, cmd *exec.Cmd, done <-chan error, res *Result) error {
	var deadline <-chan time.Time
	if spec.Deadline > 0 {
		timer := time.NewTimer(spec.Deadline)
		defer timer.Stop()
		deadline = timer.C
	}
	select {
	case err := <-done:
		res.End = Exited
		return err
	case <-deadline:
		res.End = DeadlineHit
	case <-ctx.Done():
		res.End = Stopped
	}
	terminateGroup(cmd)
	grace := spec.Grace
	if grace == 0 {
		grace = 10 * time.Second
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
	}
	killGroup(cmd)
	return <-done
}
