// Command supervisor runs one control plane for as long as its standard input stays open.
//
// It starts the parts as children, waits until they are of use, and says so in JSON lines on its
// standard output. When its input ends (its owner stopped, or died in whatever way) it ends every
// part and removes every file that the control plane had.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// startAttempts is how often a start is tried: another process can take a port between our choice
// of it and its use.
const startAttempts = 4

func init() {
	// On Linux a part dies with the *thread* that started it. Parts are started by the main
	// goroutine only, and this keeps it on the main thread, which lives as long as the process.
	runtime.LockOSThread()
}

func main() {
	os.Exit(run())
}

func run() int {
	options, err := parseOptions(os.Args[1:])
	if err != nil {
		report(message{Error: describe(err)})
		return 2
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	go cancelWhenOwnerIsGone(cancel)
	go cancelOnSignal(cancel)

	removeAbandoned(options.dataParent)
	plane, err := startWithRetries(ctx, options)
	if err != nil {
		report(message{Error: describe(err)})
		return 1
	}
	defer plane.stop()
	report(message{Ready: plane.description()})

	select {
	case <-ctx.Done():
		return 0
	case died := <-plane.died:
		// Nothing that still uses the plane could go on in a meaningful way.
		fmt.Fprintf(os.Stderr, "control plane: %v\n%s\n", died, died.tail)
		return 1
	}
}

func startWithRetries(ctx context.Context, options options) (*plane, error) {
	for attempt := 1; ; attempt++ {
		attemptContext, cancel := context.WithTimeout(ctx, options.limit)
		plane, err := startPlane(attemptContext, options)
		cancel()
		if err == nil {
			return plane, nil
		}
		if ctx.Err() != nil || attempt == startAttempts || !isPortTaken(err) {
			return nil, err
		}
	}
}

func isPortTaken(err error) bool {
	var failure *partError
	return errors.As(err, &failure) && strings.Contains(failure.tail, "address already in use")
}

type options struct {
	program    string
	assets     string
	dataParent string
	limit      time.Duration
	optional   map[string]bool
}

func parseOptions(args []string) (options, error) {
	var parsed options
	var parts string
	flags := flag.NewFlagSet("supervisor", flag.ContinueOnError)
	flags.StringVar(&parsed.program, "program", "", "program that holds all parts")
	flags.StringVar(&parsed.assets, "assets", "", "folder with one program per part, instead of -program")
	flags.StringVar(&parsed.dataParent, "data-parent", os.TempDir(), "where the data folder is made")
	flags.DurationVar(&parsed.limit, "limit", time.Minute, "how long a start may take")
	flags.StringVar(&parts, "parts", "", "what runs beside etcd and kube-apiserver, with commas")
	if err := flags.Parse(args); err != nil {
		return parsed, err
	}
	if (parsed.program == "") == (parsed.assets == "") {
		return parsed, errors.New("give either -program or -assets")
	}
	parsed.optional = map[string]bool{}
	for _, part := range strings.FieldsFunc(parts, func(r rune) bool { return r == ',' }) {
		switch part {
		case controllerManager, scheduler, kwok:
			parsed.optional[part] = true
		default:
			return parsed, fmt.Errorf("unknown part %q", part)
		}
	}
	return parsed, nil
}

func cancelWhenOwnerIsGone(cancel context.CancelCauseFunc) {
	_, _ = io.Copy(io.Discard, os.Stdin)
	cancel(errors.New("standard input ended"))
}

func cancelOnSignal(cancel context.CancelCauseFunc) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	received := <-signals
	cancel(fmt.Errorf("received %v", received))
}

// message is one line on the standard output. One field is set.
type message struct {
	Progress string       `json:"progress,omitempty"`
	Ready    *description `json:"ready,omitempty"`
	Error    *failure     `json:"error,omitempty"`
}

type failure struct {
	Part    string `json:"part,omitempty"`
	Message string `json:"message"`
	Log     string `json:"log,omitempty"`
}

func describe(err error) *failure {
	described := failure{Message: err.Error()}
	var part *partError
	if errors.As(err, &part) {
		described.Part, described.Log = part.part, part.tail
	}
	return &described
}

// report ignores errors: a reader that is gone closes standard input too.
func report(line message) {
	_ = json.NewEncoder(os.Stdout).Encode(line)
}
