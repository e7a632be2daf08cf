package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// The names of the parts, which are also the names of their programs.
const (
	etcd              = "etcd"
	apiServer         = "kube-apiserver"
	controllerManager = "kube-controller-manager"
	scheduler         = "kube-scheduler"
	kwok              = "kwok"
)

// tailBytes is how much of a failed part's log an error carries.
const tailBytes = 4096

// partError is a failure of one part, with the end of its log.
type partError struct {
	part  string
	cause error
	tail  string
}

func (e *partError) Error() string { return fmt.Sprintf("%s: %v", e.part, e.cause) }

func (e *partError) Unwrap() error { return e.cause }

// part is a running child process.
type part struct {
	name    string
	command *exec.Cmd
	logPath string
	// exited is closed once the process is gone and waited for.
	exited chan struct{}
	result error
}

// startPart must be called on the main goroutine; see init.
func startPart(options options, folder, name string, args ...string) (*part, error) {
	program, args, err := locate(options, name, args)
	if err != nil {
		return nil, &partError{part: name, cause: err}
	}
	started := &part{
		name:    name,
		command: exec.Command(program, args...),
		logPath: filepath.Join(folder, name+".log"),
		exited:  make(chan struct{}),
	}
	log, err := os.Create(started.logPath)
	if err != nil {
		return nil, &partError{part: name, cause: err}
	}
	defer log.Close()
	started.command.Dir = folder
	// KWOK reads its home folder, and proxies and kubeconfigs of the caller concern no part.
	started.command.Env = []string{"HOME=" + folder, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + folder}
	started.command.Stdout, started.command.Stderr = log, log
	started.command.SysProcAttr = dieWithParent()
	if err := started.command.Start(); err != nil {
		return nil, &partError{part: name, cause: err}
	}
	go func() {
		started.result = started.command.Wait()
		close(started.exited)
	}()
	return started, nil
}

func locate(options options, name string, args []string) (string, []string, error) {
	if options.assets == "" {
		return options.program, append([]string{name}, args...), nil
	}
	program := filepath.Join(options.assets, name)
	if _, err := os.Stat(program); err != nil {
		return "", nil, fmt.Errorf("there is no program `%s` in the folder `%s`", name, options.assets)
	}
	return program, args, nil
}

// failed makes an error about this part, with the end of its log.
func (p *part) failed(cause error) *partError {
	return &partError{part: p.name, cause: cause, tail: tail(p.logPath)}
}

// ended tells how the process went, after exited is closed.
func (p *part) ended() *partError {
	if p.result == nil {
		return p.failed(fmt.Errorf("ended by itself"))
	}
	return p.failed(fmt.Errorf("ended by itself: %w", p.result))
}

// kill needs no mercy: all data of a control plane goes away with it.
func (p *part) kill() {
	_ = p.command.Process.Kill()
	<-p.exited
}

func tail(path string) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.Size() > tailBytes {
		_, _ = file.Seek(-tailBytes, io.SeekEnd)
	}
	content, _ := io.ReadAll(io.LimitReader(file, tailBytes))
	return string(content)
}
