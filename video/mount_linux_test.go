package video

import "syscall"

// mountSmall mounts a file system of 512 KiB.
func mountSmall(dir string) error { return syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=512k") }

func unmount(dir string) error { return syscall.Unmount(dir, 0) }
