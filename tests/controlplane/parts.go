package main

import (
	"fmt"
	"os"
	_ "time/tzdata" // CronJobs name time zones, and a test machine need not have them.

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // Registers client metrics.
	_ "k8s.io/component-base/metrics/prometheus/version"  // Registers the version metric.
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kwokconfig "sigs.k8s.io/kwok/pkg/config"
	kwok "sigs.k8s.io/kwok/pkg/kwok/cmd"
	kwoklog "sigs.k8s.io/kwok/pkg/log"
	"sigs.k8s.io/kwok/pkg/utils/signals"
)

func runEtcd(args []string) int {
	etcdmain.Main(append([]string{"etcd"}, args...))
	return 0
}

func runAPIServer(args []string) int {
	return runCommand(apiserver.NewAPIServerCommand(), args)
}

func runControllerManager(args []string) int {
	return runCommand(controllermanager.NewControllerManagerCommand(), args)
}

func runScheduler(args []string) int {
	return runCommand(scheduler.NewSchedulerCommand(), args)
}

func runCommand(command *cobra.Command, args []string) int {
	command.SetArgs(args)
	return cli.Run(command)
}

// runKWOK sets up what KWOK's commands expect from their caller: a context with a logger and the
// configuration files, both of which look for flags of their own before the command does.
func runKWOK(args []string) int {
	// Kubernetes puts a `--version` of another type into the global flags when it is imported.
	pflag.CommandLine = pflag.NewFlagSet("kwok", pflag.ContinueOnError)

	global := pflag.NewFlagSet("global", pflag.ContinueOnError)
	global.ParseErrorsAllowlist.UnknownFlags = true
	global.Usage = func() {}
	ctx, _ := kwoklog.InitFlags(signals.SetupSignalContext(), global)
	ctx, err := kwokconfig.InitFlags(ctx, global)
	if err != nil {
		fmt.Fprintln(os.Stderr, "kwok: configuration:", err)
		return 1
	}

	command := kwok.NewCommand(ctx)
	command.PersistentFlags().AddFlagSet(global)
	command.SetArgs(args)
	if err := command.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "kwok:", err)
		return 1
	}
	return 0
}
