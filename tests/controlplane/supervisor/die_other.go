//go:build !linux

package main

import "syscall"

// dieWithParent can only set the process group here: parts outlive a supervisor that is killed with
// SIGKILL, though not one whose owner is.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
