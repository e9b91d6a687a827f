//go:build unix

package aiperf

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup makes the process the leader of a new process group, so that its helpers can be stopped with it.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func terminateGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

// killGroup kills what is left of the group and reports whether anything was. The leader may have been waited for
// already: as long as the group has a member, its number is not given to another process.
func killGroup(cmd *exec.Cmd) bool { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) == nil }

func signalName(state *os.ProcessState) string {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return status.Signal().String()
	}
	return ""
}
