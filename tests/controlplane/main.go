// Command controlplane is a Kubernetes control plane in one program: its first argument names the
// part to run, the others are that part's own.
package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// parts maps the name of a part to what runs it. Each takes the part's arguments, without a program
// name, and returns the exit code.
var parts = map[string]func(args []string) int{
	"etcd":                    runEtcd,
	"kube-apiserver":          runAPIServer,
	"kube-controller-manager": runControllerManager,
	"kube-scheduler":          runScheduler,
	"kwok":                    runKWOK,
}

func main() {
	if len(os.Args) < 2 {
		usage("no part given")
	}
	run, known := parts[os.Args[1]]
	if !known {
		usage(fmt.Sprintf("unknown part %q", os.Args[1]))
	}
	// Every part reads os.Args itself at some place or other, so it must look as if it stood alone.
	os.Args = os.Args[1:]
	os.Exit(run(os.Args[1:]))
}

func usage(problem string) {
	names := make([]string, 0, len(parts))
	for name := range parts {
		names = append(names, name)
	}
	slices.Sort(names)
	fmt.Fprintf(os.Stderr, "controlplane: %s\nusage: controlplane %s [flags]\n",
		problem, strings.Join(names, "|"))
	os.Exit(2)
}
