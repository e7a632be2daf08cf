package main

import "syscall"

// dieWithParent has the kernel kill a part when the supervisor itself is killed. The group of its
// own keeps an interrupt at the terminal from reaching parts before the supervisor ends them.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
