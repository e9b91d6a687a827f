//go:build !unix

package aiperf

import (
	"os"
	"os/exec"
)

// Without process groups only the first process can be stopped.
func ownGroup(*exec.Cmd) {}

func terminateGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

func killGroup(*exec.Cmd) bool { return false }

func signalName(*os.ProcessState) string { return "" }
