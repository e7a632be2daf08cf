package main

import (
	"os"
	"path/filepath"
	"syscall"
	"time"
)

const (
	folderPattern = "whipstaff-controlplane-"
	lockName      = "lock"
	// abandonedAge keeps a folder that has just been made, and is not locked yet, from being swept.
	abandonedAge = time.Minute
)

// dataFolder is where everything lives that a control plane writes. The lock on a file in it tells
// others that its supervisor is alive.
type dataFolder struct {
	path string
	lock *os.File
}

func makeDataFolder(parent string) (*dataFolder, error) {
	path, err := os.MkdirTemp(parent, folderPattern)
	if err != nil {
		return nil, err
	}
	lock, err := os.Create(filepath.Join(path, lockName))
	if err == nil {
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	if err != nil {
		_ = os.RemoveAll(path)
		return nil, err
	}
	return &dataFolder{path: path, lock: lock}, nil
}

func (f *dataFolder) remove() {
	_ = os.RemoveAll(f.path)
	_ = f.lock.Close()
}

func (f *dataFolder) file(name string) string { return filepath.Join(f.path, name) }

// write puts a file that only the owner may read: most of them are credentials.
func (f *dataFolder) write(name string, content []byte) (string, error) {
	path := f.file(name)
	return path, os.WriteFile(path, content, 0o600)
}

// removeAbandoned removes data folders of supervisors that were killed before they could do so.
func removeAbandoned(parent string) {
	folders, _ := filepath.Glob(filepath.Join(parent, folderPattern+"*"))
	for _, folder := range folders {
		info, err := os.Stat(folder)
		if err != nil || time.Since(info.ModTime()) < abandonedAge {
			continue
		}
		removeIfUnlocked(folder)
	}
}

func removeIfUnlocked(folder string) {
	lock, err := os.Open(filepath.Join(folder, lockName))
	if err != nil {
		return
	}
	defer lock.Close()
	if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
		_ = os.RemoveAll(folder)
	}
}
