package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"time"
)

// plane is a running control plane.
type plane struct {
	options     options
	folder      *dataFolder
	credentials *credentials
	server      string
	node        string
	began       time.Time
	parts       []*part
	// died gets the first part that ends without being told to.
	died chan *partError
}

// description is what an owner needs to know of a plane.
type description struct {
	Server       string         `json:"server"`
	Authority    string         `json:"authority"`
	Token        string         `json:"token"`
	Kubeconfig   string         `json:"kubeconfig"`
	KubeFile     string         `json:"kubeconfigPath"`
	AuditLog     string         `json:"auditLog"`
	DataFolder   string         `json:"dataFolder"`
	Node         string         `json:"node,omitempty"`
	Supervisor   int            `json:"supervisor"`
	Processes    map[string]int `json:"processes"`
	Milliseconds int64          `json:"milliseconds"`
}

const auditLogName = "audit.log"

func startPlane(ctx context.Context, options options) (_ *plane, err error) {
	folder, err := makeDataFolder(options.dataParent)
	if err != nil {
		return nil, err
	}
	starting := &plane{options: options, folder: folder, began: time.Now(), died: make(chan *partError, 1)}
	defer func() {
		if err != nil {
			starting.stop()
		}
	}()
	if starting.credentials, err = makeCredentials(); err != nil {
		return nil, err
	}
	if err = starting.startServers(ctx); err != nil {
		return nil, err
	}
	if err = starting.startControllers(ctx); err != nil {
		return nil, err
	}
	for _, running := range starting.parts {
		go starting.watch(running)
	}
	return starting, nil
}

// startServers starts etcd and the API server and waits for both.
func (p *plane) startServers(ctx context.Context) error {
	ports, err := freePorts(3)
	if err != nil {
		return err
	}
	etcdURL, peerURL := "http://127.0.0.1:"+ports[0], "http://127.0.0.1:"+ports[1]
	p.server = "https://127.0.0.1:" + ports[2]

	report(message{Progress: "starting " + etcd})
	store, err := p.start(etcd, etcdFlags(p.folder, etcdURL, peerURL)...)
	if err != nil {
		return err
	}
	flags, err := p.apiServerFlags(etcdURL, ports[2])
	if err != nil {
		return err
	}
	if err := waitFor(ctx, store, func(ctx context.Context) error { return get(ctx, plainClient, etcdURL+"/health", "") }); err != nil {
		return err
	}

	report(message{Progress: "starting " + apiServer})
	server, err := p.start(apiServer, flags...)
	if err != nil {
		return err
	}
	api, err := p.api()
	if err != nil {
		return err
	}
	return waitFor(ctx, server, func(ctx context.Context) error { return api.get(ctx, "/readyz") })
}

// startControllers starts the optional parts together, and waits until a pod could run.
func (p *plane) startControllers(ctx context.Context) error {
	if len(p.options.optional) == 0 {
		return nil
	}
	running := map[string]*part{}
	for _, name := range []string{controllerManager, scheduler, kwok} {
		if !p.options.optional[name] {
			continue
		}
		report(message{Progress: "starting " + name})
		flags, err := p.controllerFlags(name)
		if err != nil {
			return err
		}
		if running[name], err = p.start(name, flags...); err != nil {
			return err
		}
	}
	api, err := p.api()
	if err != nil {
		return err
	}
	if manager := running[controllerManager]; manager != nil {
		// Namespaces get their service accounts from it.
		path := "/api/v1/namespaces/default/serviceaccounts/default"
		if err := waitFor(ctx, manager, func(ctx context.Context) error { return api.get(ctx, path) }); err != nil {
			return err
		}
	}
	if running[kwok] == nil {
		return nil
	}
	p.node = nodeName
	if err := api.createNode(ctx); err != nil {
		return running[kwok].failed(err)
	}
	withManager := running[controllerManager] != nil
	return waitFor(ctx, running[kwok], func(ctx context.Context) error { return api.nodeReady(ctx, withManager) })
}

func (p *plane) start(name string, args ...string) (*part, error) {
	started, err := startPart(p.options, p.folder.path, name, args...)
	if err == nil {
		p.parts = append(p.parts, started)
	}
	return started, err
}

func (p *plane) watch(running *part) {
	<-running.exited
	select {
	case p.died <- running.ended():
	default:
	}
}

// stop ends all parts, clients before servers, and leaves nothing behind.
func (p *plane) stop() {
	for _, running := range slices.Backward(p.parts) {
		running.kill()
	}
	p.folder.remove()
}

func (p *plane) description() *description {
	processes := map[string]int{}
	for _, running := range p.parts {
		processes[running.name] = running.command.Process.Pid
	}
	return &description{
		Server:       p.server,
		Authority:    string(p.credentials.authority),
		Token:        p.credentials.tokens[adminUser],
		Kubeconfig:   string(p.credentials.kubeconfig(p.server, adminUser)),
		KubeFile:     p.folder.file(adminUser + ".kubeconfig"),
		AuditLog:     p.folder.file(auditLogName),
		DataFolder:   p.folder.path,
		Node:         p.node,
		Supervisor:   os.Getpid(),
		Processes:    processes,
		Milliseconds: time.Since(p.began).Milliseconds(),
	}
}

// pollEvery is short, since a start is mostly waiting.
const pollEvery = 25 * time.Millisecond

// waitFor asks until there is no error, the part ends, or time is up.
func waitFor(ctx context.Context, waited *part, ask func(context.Context) error) error {
	for {
		problem := ask(ctx)
		if problem == nil {
			return nil
		}
		select {
		case <-waited.exited:
			return waited.ended()
		case <-ctx.Done():
			return waited.failed(fmt.Errorf("not ready: %w; last answer: %w", ctx.Err(), problem))
		case <-time.After(pollEvery):
		}
	}
}

// freePorts are free now. All listeners are held until the last is found, so that they differ.
func freePorts(count int) ([]string, error) {
	ports := make([]string, 0, count)
	for range count {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer listener.Close()
		ports = append(ports, strconv.Itoa(listener.Addr().(*net.TCPAddr).Port))
	}
	return ports, nil
}
